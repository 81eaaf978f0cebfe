"""What a caller wants beside the words of the question: attention, an agent, what payloads must say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

COUNTER_WORDS = ("failure", "correction", "blocked", "risk", "contradiction")
"""Words by which a text speaks against something."""


@dataclass(frozen=True, kw_only=True)
class Wishes:
    """One caller's wishes; the default is none.

    focus, suppress: texts.  boosts, held_back: atom types, and `turn`.  novelty: 0 … 1,000,000.
    recency_days: horizon of recency in place of the profile's.  subject: the agent whose acts are meant.
    attributions: whose doing a claim may be, all when empty.  denied: capabilities that are not there now.
    shown: values that the payload of a shown claim must have.  is_about_acts: agency counts.
    is_about_skills: what a claim says that it is not for counts.
    guards: kinds of memory of which the best must be among what is ranked.
    """

    focus: tuple[str, ...] = ()
    suppress: tuple[str, ...] = ()
    boosts: frozenset[str] = frozenset()
    held_back: frozenset[str] = frozenset()
    needs_counterevidence: bool = False
    novelty: int = 0
    recency_days: int | None = None
    subject: str | None = None
    attributions: tuple[str, ...] = ()
    denied: tuple[str, ...] = ()
    shown: Mapping[str, Any] = field(default_factory=dict)
    is_about_acts: bool = False
    is_about_skills: bool = False
    guards: tuple[str, ...] = ()

    @property
    def is_plain(self) -> bool:
        """Return whether nothing is wished for."""
        return self == _NONE

    @property
    def reads_payloads(self) -> bool:
        """Return whether payloads decide about claims."""
        return bool(self.guards or self.attributions or self.denied or self.shown)


_NONE = Wishes()
NO_WISHES = _NONE
