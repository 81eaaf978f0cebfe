"""Compile who asks and what they ask for into row masks; every read path goes through here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from amos.errors import UsageError
from amos.retrieval.rows import KINDS, LIFECYCLES, ROLES, TRUSTS, UNKNOWN_US, Array, Rows, text_hash
from amos.schemas.columns import SCOPE_NAMES
from amos.schemas.vocabulary import UNSEEN, Role, SourceFlag, Trust

Mask = npt.NDArray[np.bool_]

GLOBAL = "global"
"""A scope value that fits every request."""
NEVER_SHOWN = SourceFlag.OFF_THREAD | SourceFlag.HIDDEN | SourceFlag.NOT_A_MESSAGE | UNSEEN
TRUSTED = (Trust.TRUSTED_USER, Trust.AGENT)
UNTRUSTED_KINDS = ("tool_use", "tool_result", "attachment")
OMISSION_OF_HEALTH = {
    "confounding": "confounding_suppressed",
    "contradicted": "contradicted",
    "privacy_sensitive": "access_denied",
    "review_required": "review_required",
    "stale": "stale_suppressed",
}
"""Why a claim of some health is left out; the others are `health_hidden`."""


@dataclass(frozen=True, kw_only=True)
class Reader:
    """Who asks.  The owner of a store reads all of it, anyone else nothing unless allowed.

    scopes: for each scope name the values this reader may see; a name that is absent is free.
    """

    may_read: bool
    may_audit: bool = False
    scopes: Mapping[str, frozenset[str]] = field(default_factory=lambda: MappingProxyType({}))


OWNER = Reader(may_read=True, may_audit=True)
NOBODY = Reader(may_read=False)


@dataclass(frozen=True, kw_only=True)
class RowFilter:
    """What a request may see and wants to see.

    scope: narrows to rows of these values and rows without one.  now_us: the instant of the
    request.  as_of_us: show the claims that held then and the turns said until then.  types: atom
    types wanted, all and the turns when empty; the word turn stands for the turns.  include_private: what is
    privacy sensitive may be shown.  is_high_impact: what waits for a review may not.  only: ids of the
    claims to be considered at all, with None for every one; messages are then no part of it.
    has_claims_alone: messages are no items.
    """

    reader: Reader
    now_us: int
    scope: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    as_of_us: int | None = None
    include_superseded: bool = False
    include_untrusted: bool = False
    include_archived: bool = False
    include_low_health: bool = False
    include_contradicted: bool = True
    types: tuple[str, ...] = ()
    excluded_types: tuple[str, ...] = ()
    include_stale: bool = False
    include_incoherent: bool = False
    include_private: bool = True
    is_high_impact: bool = False
    only: frozenset[bytes] | None = None
    has_claims_alone: bool = False

    @cached_property
    def key(self) -> tuple[object, ...]:
        """Return a hashable form: equal keys show equal rows."""
        kinds = (self.include_superseded, self.include_archived, self.hidden_health)
        return (
            *self.turn_key,
            self.now_us,
            *kinds,
            self.types,
            self.excluded_types,
            self.only,
            self.has_claims_alone,
        )

    @property
    def has_turns(self) -> bool:
        """Return whether messages may be items of their own."""
        return self.only is None and not self.has_claims_alone and (not self.types or "turn" in self.types)

    @property
    def hidden_health(self) -> tuple[str, ...]:
        """Return the health statuses that keep a claim out."""
        opened = {
            "confounding": self.include_low_health,
            "low_utility": self.include_low_health,
            "redundant": self.include_low_health,
            "incoherent": self.include_incoherent,
            "orphaned": self.include_low_health,
            "stale": self.include_low_health or self.include_stale,
            "privacy_sensitive": self.include_private,
            "review_required": not self.is_high_impact,
            "contradicted": self.include_contradicted,
        }
        return tuple(status for status, is_open in opened.items() if not is_open)

    @cached_property
    def turn_key(self) -> tuple[object, ...]:
        """Return a hashable form of what decides which turns are shown."""
        scopes = {name: tuple(sorted(allowed)) for name, allowed in self.reader.scopes.items()}
        who = (self.reader.may_read, tuple(sorted(scopes.items())))
        return (who, tuple(sorted(self.scope.items())), self.as_of_us, self.include_untrusted)

    @property
    def instant_us(self) -> int:
        """Return the instant at which intervals must hold."""
        return self.now_us if self.as_of_us is None else self.as_of_us


def check_scope(scope: Mapping[str, str]) -> None:
    """Raise UsageError when `scope` names something that is no scope inside a shard."""
    unknown = sorted(set(scope) - set(SCOPE_NAMES))
    if unknown:
        raise UsageError(f"no scope is called {unknown[0]!r}", advice=f"Scopes are {', '.join(SCOPE_NAMES)}.")


def may_see(rows: Rows, reader: Reader) -> Mask:
    """Return which rows the reader's access covers, whatever is asked."""
    allowed = {name: frozenset(values) for name, values in reader.scopes.items()}
    return _within(rows, allowed) & reader.may_read


def in_scope(rows: Rows, scope: Mapping[str, str]) -> Mask:
    """Return which rows fit the scope asked for: equal, global or without one."""
    return _within(rows, {name: frozenset((value,)) for name, value in scope.items()})


def _within(rows: Rows, allowed: Mapping[str, frozenset[str]]) -> Mask:
    inside = np.ones(len(rows["id"]), bool)
    for name, values in allowed.items():
        known = [0, text_hash(GLOBAL), *(text_hash(value) for value in sorted(values))]
        inside &= np.isin(rows[f"scope_{name}"], np.array(known, np.uint64))
    return inside


def shown_turns(rows: Rows, wanted: RowFilter, held: Array) -> Mask:
    """Return which turns may be searched, scope aside.  held: S16 ids of sources held back."""
    shown = (rows["flags"] & int(NEVER_SHOWN)) == 0
    shown &= rows["role"] != ROLES.index(Role.SYSTEM)
    shown &= rows["role"] != ROLES.index(Role.RECORD)
    shown &= (rows["kind"] != KINDS.index("thinking")) & (rows["kind"] != KINDS.index("record"))
    shown &= rows["trust"] != TRUSTS.index(Trust.RECALL)
    if not wanted.include_untrusted:
        is_trusted = np.isin(rows["trust"], np.array([TRUSTS.index(trust) for trust in TRUSTED], np.uint8))
        # a model's caption helps to find the picture's message; it is never an answer of its own
        is_caption = (rows["kind"] == KINDS.index("caption")) & (rows["trust"] == TRUSTS.index(Trust.TOOL))
        shown &= is_trusted | is_caption
        shown &= ~np.isin(rows["kind"], np.array([KINDS.index(kind) for kind in UNTRUSTED_KINDS], np.uint8))
    if len(held):
        shown &= ~np.isin(rows["id"], held)
    if wanted.as_of_us is not None:
        said_us = np.where(rows["event_us"] == UNKNOWN_US, rows["ingest_us"], rows["event_us"])
        shown &= said_us <= wanted.as_of_us
    return shown


def holds_at(rows: Rows, instant_us: int) -> Mask:
    """Return which atoms have an interval that holds at the instant; the others are superseded."""
    pairs = rows["intervals_values"].reshape(-1, 2)
    inside = (pairs[:, 0] <= instant_us) & (instant_us < pairs[:, 1])
    holding = np.concatenate([[0], np.cumsum(inside)])
    bounds = rows["intervals_at"] // 2
    return holding[bounds[1:]] > holding[bounds[:-1]]


def atom_omissions(rows: Rows, wanted: RowFilter) -> list[tuple[str, Mask]]:
    """Return the reasons that keep visible atoms out, each with its rows; the first one counts."""
    lifecycle = rows["lifecycle"]
    is_out = lifecycle != LIFECYCLES.index("active")
    if wanted.include_archived:
        is_out &= lifecycle != LIFECYCLES.index("archived")
    reasons = [("lifecycle_hidden", is_out)]
    for status in wanted.hidden_health:
        reason = OMISSION_OF_HEALTH.get(status, "health_hidden")
        reasons.append((reason, rows["health"] == np.uint64(text_hash(status))))
    is_over = ~holds_at(rows, wanted.instant_us)
    if wanted.as_of_us is not None:
        # what was told later may tell of then; what began later neither held nor had been replaced
        reasons.append(("not_yet_held", is_over & (rows["event_us"] > wanted.as_of_us)))
    if not wanted.include_superseded:
        reasons.append(("superseded", is_over))
    if wanted.types:
        reasons.append(("type_not_requested", ~_is_of(rows, wanted.types)))
    if wanted.excluded_types:
        reasons.append(("type_not_requested", _is_of(rows, wanted.excluded_types)))
    if wanted.only is not None:
        reasons.append(("payload_filtered", ~np.isin(rows["id"], np.array(sorted(wanted.only), "S16"))))
    return reasons


def _is_of(rows: Rows, types: tuple[str, ...]) -> Mask:
    kinds = np.array([text_hash(kind) for kind in types], np.uint64)
    return np.isin(rows["type"], kinds)


def superseded_turns(turn_count: int, claims: tuple[Array, Array], visible: Mask, holding: Mask) -> Mask:
    """Return which turns have visible claims, none of which holds.

    claims: turn row and atom row of every support, equally long.  visible, holding: per atom row.
    """
    turn, atom = claims
    seen = visible[atom]
    stated = np.bincount(turn[seen], minlength=turn_count)
    held = np.bincount(turn[seen & holding[atom]], minlength=turn_count)
    return (stated > 0) & (held == 0)
