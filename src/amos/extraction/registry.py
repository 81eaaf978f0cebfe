"""Find extractors: the built-in rules and what other packages register as `amos.extractors`."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Protocol

import pyarrow as pa

from amos.errors import UsageError
from amos.extraction.grammar import GRAMMARS, load_grammar
from amos.extraction.propose import EXTRACTOR, Proposal, propose

GROUP = "amos.extractors"
PROPOSALS = "proposals@1"
"""Takes what a model proposed; made with the place of its answers, see `extraction.model`."""


class Extractor(Protocol):
    """Reads claims from a batch of texts; pure, so that a batch can be read again."""

    @property
    def name(self) -> str:
        """Name and version, `name@version`; raise the version when results change."""
        ...

    def propose(self, sources: pa.Table, *, is_compiled: bool) -> Proposal:
        """Return the claims of `sources` (SEGMENTABLE) and the notes for the rest."""
        ...


@dataclass(frozen=True)
class RulesExtractor:
    """A built-in extractor: the token kernel driven by one of the shipped grammars.

    name: one of GRAMMARS.
    """

    name: str = EXTRACTOR

    def propose(self, sources: pa.Table, *, is_compiled: bool) -> Proposal:
        """Return the claims of `sources` (SEGMENTABLE) and the notes for the rest."""
        return propose(sources, load_grammar(self.name), is_compiled=is_compiled)


def extractor_names() -> list[str]:
    """Return the names of all extractors that can be asked for."""
    return sorted({*GRAMMARS, PROPOSALS, *(entry.name for entry in entry_points(group=GROUP))})


def find_extractor(name: str = EXTRACTOR) -> Extractor:
    """Return the extractor called `name`.  Raises UsageError naming those that exist."""
    if name in GRAMMARS:
        return RulesExtractor(name)
    if name == PROPOSALS:
        raise UsageError(
            f"{PROPOSALS} reads the answers of a model, and none are named", advice="Add `--proposals FILE`."
        )
    registered = {entry.name: entry for entry in entry_points(group=GROUP)}
    if name not in registered:
        known = ", ".join(extractor_names())
        raise UsageError(f"no extractor {name!r}; there are: {known}", path=name)
    found: Extractor = registered[name].load()()
    return found


def fallback_reasons(extractor: Extractor) -> dict[str, int]:
    """Return why an extractor took another way than its own, and how often; empty for most."""
    return dict(getattr(extractor, "fallback_reasons", {}))
