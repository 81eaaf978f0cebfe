"""Make items of candidates: a claim and the turn it cites are one, what is outdated leaves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from amos.kernels.postings import spread
from amos.retrieval.candidates import (
    DIRECT_CUE_MATCH,
    DISPUTED,
    HOLDER_MATCH,
    NEIGHBOURS,
    SUPERSEDED,
    WORDS,
    Scored,
    keep,
    position_of,
    score_of,
)
from amos.retrieval.profile import MILLION, Profile
from amos.retrieval.rows import ERASED, NO_ID, UNKNOWN_US, Array, id_array, text_hash
from amos.retrieval.view import View
from amos.schemas.columns import INTS
from amos.schemas.ranked import RANKED, SIGNALS

I64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
_KIND_BYTES = 4
"""Of `atom` and of `turn`."""


def without_erased(view: View, turns: Scored) -> tuple[Scored, int]:
    """Return the turns of which something is left to show, and how many others there were."""
    is_out = is_erased(view, turns.row)
    return keep(turns, ~is_out), len(np.unique(turns.row[is_out]))


def is_erased(view: View, row: I64) -> Mask:
    """Return of which turns, by row, nothing is left that was said."""
    found: Mask = (view.corpus.turns.rows["flags"][row] & ERASED) != 0
    return found


def without_outdated(view: View, turns: Scored, atoms: Scored) -> tuple[Scored, int]:
    """Return the turns without those that match only where a superseded claim stands, and their number.

    Turns that hold nothing of the question and stand beside outdated ones alone leave with them, uncounted.
    """
    is_out = outdated_turns(view, (turns.row, turns.held), (atoms.row, atoms.held))
    if is_out is None:
        return turns, 0
    is_named = (turns.components[:, HOLDER_MATCH] > 0) | (turns.components[:, NEIGHBOURS] == 0)
    is_echo = echoes(view, turns.place, turns.held, is_out) & ~is_named
    return keep(turns, ~(is_out | is_echo)), len(np.unique(turns.row[is_out]))


def outdated_turns(view: View, turns: tuple[I64, I64], atoms: tuple[I64, I64]) -> Mask | None:
    """Return which turns match only where a superseded claim stands; None where none does.

    A turn is outdated when a claim of it that no longer holds has as much of the question as the turn
    itself, and no claim of it that holds has.
    turns, atoms: rows of the candidates, and what they hold of the question.
    """
    (row, held), (claim, claim_held) = turns, atoms
    if view.wanted.include_superseded or not len(row) or view.holding[claim].all():
        return None
    best_held = np.zeros(view.corpus.turns.count, np.int64)
    np.maximum.at(best_held, row, held)
    turn, at_atom = view.corpus.turns_of(claim)
    covers = (claim_held[at_atom] >= best_held[turn]) & (best_held[turn] > 0)
    holds = view.holding[claim[at_atom]]
    is_outdated = np.zeros(view.corpus.turns.count, bool)
    is_outdated[turn[covers & ~holds]] = True
    is_outdated[turn[covers & holds]] = False
    is_out: Mask = is_outdated[row]
    return is_out if is_out.any() else None


def echoes(view: View, place: I64, held: I64, is_out: Mask) -> Mask:
    """Return which turns have of the question only what outdated ones beside them said.

    place, held: of the candidates; is_out: which of them are outdated.
    """
    session = view.turns.session
    if session is None:
        return np.zeros(len(place), bool)
    is_said = held > 0
    said_before, said_still = (
        np.isin(place, spread(slots, np.zeros_like(slots), session, 0, 0)[0])
        for slots in (place[is_said & is_out], place[is_said & ~is_out])
    )
    is_echo: Mask = ~is_said & said_before & ~said_still
    return is_echo


def _best_per_row(scored: Scored) -> Scored:
    """Return the best passage of each row, rows ascending."""
    order = np.lexsort((scored.place, -scored.score, scored.row))
    row = scored.row[order]
    is_first = np.ones(len(row), bool)
    is_first[1:] = row[1:] != row[:-1]
    return keep(scored, order[is_first])


class Reserved(NamedTuple):
    """What is kept even where it is not among the best.

    types: groups of atom types, the best claim of each of which is kept; see `Retriever.rank`.
    guards: (atom rows,) claims of which the best is kept.
    """

    types: Sequence[Sequence[str]] = ()
    guards: Sequence[Array] = ()


def fold_items(
    view: View,
    turns: Scored,
    atoms: Scored,
    profile: Profile,
    k: int,
    reserved: Reserved | None = None,
) -> tuple[Items, int]:
    """Return the best `k` items and how many there were: a claim and the turn it cites are one."""
    turns, atoms = _best_per_row(turns), _best_per_row(atoms)
    shown_by = _shown_by(view, turns, atoms)
    has_turn = shown_by >= 0
    components = atoms.components.copy()
    components[has_turn] = joined_components(components[has_turn], turns.components[shown_by[has_turn]])
    signals = _joined_signals(atoms, turns, has_turn, shown_by)
    score = score_of(components, profile, signals)
    alone = np.ones(len(turns.row), bool)
    alone[shown_by[has_turn]] = False
    if not view.wanted.has_turns:
        alone[:] = False
    source_row = view.corpus.cited_turn[atoms.row]
    source_row[has_turn] = turns.row[shown_by[has_turn]]
    turn_rows, atom_rows = view.corpus.turns.rows, view.corpus.atoms.rows
    is_turn = np.arange(len(score) + int(alone.sum())) >= len(score)
    all_scores = np.concatenate([score, turns.score[alone]])
    ties = np.concatenate([atom_rows["tie"][atoms.row], turn_rows["tie"][turns.row[alone]]])
    order = np.lexsort((is_turn, cited_ties(view, source_row, ties), ties, -all_scores))
    best = order[:k]
    if reserved is not None and len(order) > k:
        kinds = np.zeros(len(is_turn), np.uint64)
        kinds[: len(score)] = atom_rows["type"][atoms.row]
        matches = np.concatenate([components, turns.components[alone]])[:, DIRECT_CUE_MATCH]
        kept = _reserved(matches[order], kinds[order], reserved.types)
        claims = np.concatenate([atoms.row, np.full(int(alone.sum()), -1)])[order]
        kept = np.concatenate([kept, *(_first_of(claims, guard) for guard in reserved.guards)])
        best = order[np.union1d(np.arange(k), kept)]
    items = Items(
        score=all_scores[best],
        components=np.concatenate([components, turns.components[alone]])[best],
        signals=None if signals is None else np.concatenate([signals, _signals_of(turns)[alone]])[best],
        atom_row=np.concatenate([atoms.row, np.full(int(alone.sum()), -1)])[best],
        turn_row=np.concatenate([source_row, turns.row[alone]])[best],
    )
    return items, len(is_turn)


def joined_components(claim: I64, turn: I64) -> I64:
    """Return what a claim and the turn that says it bring together: the better of the two in each component.

    What has ended or is disputed is so by the claim.  Words and neighbours stay one share.
    """
    joined = np.maximum(claim, turn)
    joined[:, [SUPERSEDED, DISPUTED]] = claim[:, [SUPERSEDED, DISPUTED]]
    joined[:, NEIGHBOURS] = np.minimum(joined[:, NEIGHBOURS], MILLION - joined[:, WORDS])
    return joined


def _signals_of(scored: Scored) -> I64:
    found = scored.signals
    return np.zeros((len(scored.row), len(SIGNALS)), np.int64) if found is None else found


def _joined_signals(atoms: Scored, turns: Scored, has_turn: Array, shown_by: I64) -> I64 | None:
    """Return what a claim and its turn bring together: of words the better, else what the claim is worth."""
    if atoms.signals is None:
        return None
    joined = atoms.signals.copy()
    better = np.maximum(joined[has_turn], _signals_of(turns)[shown_by[has_turn]])
    joined[has_turn] = np.where(_OF_EITHER, better, joined[has_turn])
    return joined


_OF_EITHER = np.isin(SIGNALS, ("semantic_similarity", "attention_focus", "attention_suppression_penalty"))
"""Signals of the words of a text, which a claim shares with the turn that says it."""


def _reserved(matches: I64, kinds: Array, groups: Sequence[Sequence[str]]) -> I64:
    """Return the position of the best item of each group, where it matches half as much as the first item.

    matches: (n,) direct match, best item first.  kinds: (n,) hash of the atom type, 0 for a turn.
    """
    first = [
        np.flatnonzero(np.isin(kinds, np.array([text_hash(kind) for kind in group], np.uint64)))[:1]
        for group in groups
    ]
    found = np.concatenate([np.zeros(0, np.int64), *first])
    return found[2 * matches[found] >= matches[0]]


def _first_of(claims: I64, guard: Array) -> I64:
    """Return the position of the best claim that serves a guardrail, nothing where none does."""
    return np.flatnonzero((claims >= 0) & guard[claims])[:1]


def cited_ties(view: View, source_row: Array, ties: Array) -> Array:
    """Return the ties of what claims cite, for claims of equal words; lone turns keep their own."""
    second = ties.copy()
    own = view.corpus.turns.rows["tie"]
    cited = np.flatnonzero(source_row >= 0)
    second[cited] = own[source_row[cited]]
    return second


def _shown_by(view: View, turns: Scored, atoms: Scored) -> I64:
    """Return per claim the position in `turns` of the best turn it is cited from, each turn once."""
    result = np.full(len(atoms.row), -1, np.int64)
    if not len(turns.row) or not len(atoms.row):
        return result
    turn, claim = view.corpus.turns_of(atoms.row)
    at_turn = position_of(turns.row, turn)
    at_turn, claim = at_turn[at_turn >= 0], claim[at_turn >= 0]
    tie = view.corpus.atoms.rows["tie"][atoms.row[claim]]
    order = np.lexsort((tie, -atoms.score[claim], -turns.score[at_turn]))
    taken = set()
    for at, chosen in zip(at_turn[order].tolist(), claim[order].tolist(), strict=True):
        if at not in taken and result[chosen] < 0:
            result[chosen] = at
            taken.add(at)
    return result


@dataclass(frozen=True, kw_only=True)
class Items:
    """Chosen items, best first; -1 stands for no atom or no turn."""

    score: I64
    components: I64
    signals: I64 | None
    atom_row: I64
    turn_row: I64

    def first(self, count: int) -> Items:
        """Return the first of them."""
        return Items(
            score=self.score[:count],
            components=self.components[:count],
            signals=None if self.signals is None else self.signals[:count],
            atom_row=self.atom_row[:count],
            turn_row=self.turn_row[:count],
        )


def ranked_table(view: View, items: Items) -> pa.Table:
    """Return chosen items as RANKED, in their order."""
    is_turn = items.atom_row < 0
    atoms, turns = view.corpus.atoms.rows, view.corpus.turns.rows
    in_sight = (items.turn_row >= 0) & _at(view.shown_turn, items.turn_row)
    turn_ids = np.where(in_sight, _at(turns["id"], items.turn_row), NO_ID).astype("S16")
    atom_ids = np.where(is_turn, NO_ID, _at(atoms["id"], items.atom_row)).astype("S16")
    times = np.where(is_turn, _at(turns["event_us"], items.turn_row), _at(atoms["event_us"], items.atom_row))
    stale = np.where(is_turn, _at(view.stale_turn, items.turn_row), ~_at(view.holding, items.atom_row))
    parts = pa.array(np.ascontiguousarray(items.components.T, np.int32).reshape(-1))
    columns = [
        pa.array(np.arange(1, len(is_turn) + 1, dtype=np.int32)),
        _item_kinds(is_turn),
        id_array(atom_ids),
        id_array(turn_ids),
        pa.array(np.clip(items.score, 0, MILLION).astype(np.int32)),
        *(parts.slice(at * len(is_turn), len(is_turn)) for at in range(items.components.shape[1])),
        _signal_lists(items.signals, len(is_turn)),
        pa.array(stale.astype(bool)),
        pa.array(times.astype(np.int64), mask=times == UNKNOWN_US).view(RANKED.field("event_time").type),
    ]
    return pa.Table.from_arrays(columns, schema=RANKED)


def _signal_lists(signals: I64 | None, count: int) -> pa.Array:
    if signals is None:
        return pa.nulls(count, INTS)
    starts = np.arange(count + 1, dtype=np.int32) * len(SIGNALS)
    return pa.ListArray.from_arrays(starts, pa.array(signals.reshape(-1)), type=INTS)


def _item_kinds(is_turn: Mask) -> pa.Array:
    """Return `atom` or `turn` per item, both of which have four letters."""
    offsets = np.arange(len(is_turn) + 1, dtype=np.int32) * _KIND_BYTES
    letters = np.where(is_turn, b"turn", b"atom")
    return pa.StringArray.from_buffers(len(is_turn), pa.py_buffer(offsets), pa.py_buffer(letters))


def _at(values: Array, rows: I64) -> Array:
    """Return the values at `rows`; anything where there is no row, as in an empty table."""
    if not len(values):
        return np.zeros(len(rows), values.dtype)
    return values[rows]
