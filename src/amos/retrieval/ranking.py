"""Rank claims and turns for a question: components, floor, folding, order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from amos.retrieval.cues import Cue
from amos.retrieval.mentions import Mention
from amos.retrieval.profile import MILLION, Profile
from amos.retrieval.rows import NO_ID, TRUSTS, UNKNOWN_US, Array, id_array
from amos.retrieval.scoring import WordScores, mapped, score_words
from amos.retrieval.view import CONTRADICTED, Places, View
from amos.schemas.ranked import COMPONENTS, OMITTED, RANKED

I64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

DAY_US = 86_400_000_000
RECENCY_DAYS = 30
SAMPLE = 5
"""Omitted rows named per reason."""


@dataclass(frozen=True, kw_only=True)
class Ranking:
    """What a question brought.

    items: RANKED.  omitted: counts per reason.  sample: OMITTED.  empty_reason: set when items is
    empty.  is_withheld: rows that the reader may not see hold a word of the question.
    total: items that passed, of which the best are here.  degradation: what the index disclosed.
    """

    items: pa.Table
    omitted: dict[str, int]
    sample: pa.Table
    empty_reason: str | None
    is_withheld: bool
    total: int
    degradation: tuple[str, ...]
    profile: str


@dataclass(frozen=True, kw_only=True)
class _Scored:
    """Candidates of one kind: `place` ascending, components (candidates, 8) and score beside them.

    held: millionths of the question's weight in the candidate itself.  below: how many missed the floor.
    """

    place: I64
    row: I64
    components: I64
    score: I64
    held: I64
    below: int


def rank_view(view: View, cues: Sequence[Cue], profile: Profile, k: int) -> Ranking:
    """Return the best `k` items of what `view` shows, best first."""
    mentions = [Mention(view, cue) for cue in cues]
    turns = _score_turns(view, cues, mentions, profile)
    atoms = _score_atoms(view, cues, mentions, profile)
    reasons = view.reasons[atoms.row]
    omitted = {
        name: int((reasons == number).sum())
        for number, name in enumerate(view.reason_names)
        if number and (reasons == number).any()
    }
    turns, outdated = _without_outdated(view, turns, atoms)
    if outdated:
        omitted["superseded"] = omitted.get("superseded", 0) + outdated
    below = turns.below + atoms.below
    if below:
        omitted["low_relevance"] = below
    items, total = _folded(view, turns, _keep(atoms, reasons == 0), k)
    return Ranking(
        items=items,
        omitted=omitted,
        sample=_sample(view, atoms, reasons),
        empty_reason=None if total else _empty_reason(view, below),
        is_withheld=any(view.is_withheld(value) for cue in cues for t in cue.terms for value in t.hashes),
        total=total,
        degradation=view.corpus.degradation,
        profile=profile.name,
    )


def _empty_reason(view: View, below: int) -> str:
    if not view.stored:
        return "nothing_stored"
    if not view.turns.count and not view.atoms.count:
        return "nothing_visible"
    return "below_threshold" if below else "no_match"


def _score_turns(view: View, cues: Sequence[Cue], mentions: list[Mention], profile: Profile) -> _Scored:
    words = [
        score_words(view, view.turns, cue, profile.bm25f, mention.turn_names(view))
        for cue, mention in zip(cues, mentions, strict=True)
    ]
    matched = [partial(mention.turn_match, view) for mention in mentions]
    scored = _candidates(view.turns, words, mentions, matched, profile)
    rows, row = view.corpus.turns.rows, scored.row
    trust = [getattr(profile.trust, name) for name in TRUSTS] + [0] * (256 - len(TRUSTS))
    scored.components[:, 4] = _recency(rows["event_us"][row], view.wanted.instant_us)
    scored.components[:, 5] = np.array(trust, np.int64)[rows["trust"][row]]
    scored.components[:, 6] = view.stale_turn[row] * MILLION
    return _with_score(scored, profile)


def _score_atoms(view: View, cues: Sequence[Cue], mentions: list[Mention], profile: Profile) -> _Scored:
    words = [
        score_words(view, view.atoms, cue, profile.bm25f, mention.atom_names(view))
        for cue, mention in zip(cues, mentions, strict=True)
    ]
    matched = [partial(mention.atom_match, view) for mention in mentions]
    scored = _candidates(view.atoms, words, mentions, matched, profile)
    rows, row = view.corpus.atoms.rows, scored.row
    scored.components[:, 4] = _recency(rows["event_us"][row], view.wanted.instant_us)
    scored.components[:, 5] = rows["confidence"][row]
    scored.components[:, 6] = ~view.holding[row] * MILLION
    scored.components[:, 7] = (rows["health"][row] == np.uint64(CONTRADICTED)) * MILLION
    return _with_score(scored, profile)


def _recency(event_us: Array, instant_us: int) -> I64:
    days = np.maximum(instant_us - np.where(event_us == UNKNOWN_US, instant_us, event_us), 0) // DAY_US
    share = MILLION * RECENCY_DAYS // (RECENCY_DAYS + days)
    result: I64 = np.where(event_us == UNKNOWN_US, 0, share)
    return result


def _candidates(
    places: Places,
    words: list[WordScores],
    mentions: list[Mention],
    matched: Sequence[Callable[[Array], Mask]],
    profile: Profile,
) -> _Scored:
    """Return the places that pass the floor for some cue, with the components that words decide.

    matched: per cue, which rows are by or about somebody it names.
    """
    passing = [score.place[_passes(score, profile)] for score in words]
    for mention, names in zip(mentions, matched, strict=True):
        if mention.is_name_alone:
            passing.append(np.flatnonzero(names(places.row)))
    place = _union(passing, places.count)
    touched = _union([score.place[score.direct > 0] for score in words], places.count)
    row = places.row[place]
    components = np.zeros((len(place), len(COMPONENTS)), np.int64)
    half = profile.bm25f.half
    components[:, 0] = _best(words, place, "direct")
    components[:, 1] = mapped(_best(words, place, "own"), half)
    components[:, 2] = mapped(_best(words, place, "full"), half) - components[:, 1]
    components[:, 3] = np.logical_or.reduce([names(row) for names in matched]) * MILLION
    return _Scored(
        place=place,
        row=row,
        components=components,
        score=np.zeros(0, np.int64),
        held=_best(words, place, "held"),
        below=int((_position(place, touched) < 0).sum()),
    )


def _union(parts: Sequence[I64], count: int) -> I64:
    """Return the places below `count` that occur in any part, ascending."""
    if len(parts) == 1:
        return parts[0]
    is_in = np.zeros(count, bool)
    for part in parts:
        is_in[part] = True
    return np.flatnonzero(is_in)


def _passes(score: WordScores, profile: Profile) -> Mask:
    is_close = (score.direct > 0) | (score.exchanges >= profile.floor.neighbour_words)
    return is_close & (score.covered >= max(profile.floor.coverage, 1))


def _best(words: list[WordScores], place: I64, name: str) -> I64:
    """Return the greatest value over the cues at each place, 0 where none reaches it."""
    best = np.zeros(len(place), np.int64)
    for score in words:
        at = _position(score.place, place)
        values = getattr(score, name)
        best = np.maximum(best, np.where(at >= 0, values[at], 0)) if len(values) else best
    return best


def score_of(components: I64, profile: Profile) -> I64:
    """Return the score of each row of (n, 8) components: the clamped weighted sum, in millionths."""
    weights = np.array([getattr(profile.weights, name) for name in COMPONENTS], np.int64)
    result: I64 = np.clip((components * weights).sum(axis=1) // MILLION, 0, MILLION)
    return result


def _with_score(scored: _Scored, profile: Profile) -> _Scored:
    return replace(scored, score=score_of(scored.components, profile))


def _keep(scored: _Scored, chosen: Array) -> _Scored:
    return _Scored(
        place=scored.place[chosen],
        row=scored.row[chosen],
        components=scored.components[chosen],
        score=scored.score[chosen],
        held=scored.held[chosen],
        below=scored.below,
    )


def _best_per_row(scored: _Scored) -> _Scored:
    """Return the best passage of each row, rows ascending."""
    order = np.lexsort((scored.place, -scored.score, scored.row))
    row = scored.row[order]
    is_first = np.ones(len(row), bool)
    is_first[1:] = row[1:] != row[:-1]
    return _keep(scored, order[is_first])


def _without_outdated(view: View, turns: _Scored, atoms: _Scored) -> tuple[_Scored, int]:
    """Return the turns without those that match only where a superseded claim stands, and their number.

    A turn is outdated when a claim of it that no longer holds has as much of the question as the turn
    itself, and no claim of it that holds has.
    """
    if view.wanted.include_superseded or not len(turns.row) or not len(atoms.row):
        return turns, 0
    best_held = np.zeros(view.corpus.turns.count, np.int64)
    np.maximum.at(best_held, turns.row, turns.held)
    turn, at_atom = view.corpus.turns_of(atoms.row)
    covers = (atoms.held[at_atom] >= best_held[turn]) & (best_held[turn] > 0)
    holds = view.holding[atoms.row[at_atom]]
    is_outdated = np.zeros(view.corpus.turns.count, bool)
    is_outdated[turn[covers & ~holds]] = True
    is_outdated[turn[covers & holds]] = False
    is_out = is_outdated[turns.row]
    return _keep(turns, ~is_out), len(np.unique(turns.row[is_out]))


def _folded(view: View, turns: _Scored, atoms: _Scored, k: int) -> tuple[pa.Table, int]:
    """Return the best `k` items and how many there were: a claim and the turn it cites are one."""
    turns, atoms = _best_per_row(turns), _best_per_row(atoms)
    shown_by = _shown_by(view, turns, atoms)
    has_turn = shown_by >= 0
    score, components = atoms.score.copy(), atoms.components.copy()
    turn_score = np.where(has_turn, turns.score[shown_by], -1) if len(turns.row) else np.full(len(score), -1)
    is_better = turn_score > score
    score[is_better] = turn_score[is_better]
    components[is_better] = turns.components[shown_by[is_better]]
    alone = np.ones(len(turns.row), bool)
    alone[shown_by[has_turn]] = False
    if view.wanted.types and "turn" not in view.wanted.types:
        alone[:] = False
    source_row = view.corpus.cited_turn[atoms.row]
    source_row[has_turn] = turns.row[shown_by[has_turn]]
    turn_rows, atom_rows = view.corpus.turns.rows, view.corpus.atoms.rows
    is_turn = np.arange(len(score) + int(alone.sum())) >= len(score)
    all_scores = np.concatenate([score, turns.score[alone]])
    ties = np.concatenate([atom_rows["tie"][atoms.row], turn_rows["tie"][turns.row[alone]]])
    best = np.lexsort((is_turn, ties, -all_scores))[:k]
    items = _Items(
        score=all_scores[best],
        components=np.concatenate([components, turns.components[alone]])[best],
        atom_row=np.concatenate([atoms.row, np.full(int(alone.sum()), -1)])[best],
        turn_row=np.concatenate([source_row, turns.row[alone]])[best],
    )
    return _ranked_table(view, items), len(is_turn)


def _shown_by(view: View, turns: _Scored, atoms: _Scored) -> I64:
    """Return per claim the position in `turns` of the best turn it is cited from, each turn once."""
    result = np.full(len(atoms.row), -1, np.int64)
    if not len(turns.row) or not len(atoms.row):
        return result
    turn, claim = view.corpus.turns_of(atoms.row)
    at_turn = _position(turns.row, turn)
    at_turn, claim = at_turn[at_turn >= 0], claim[at_turn >= 0]
    tie = view.corpus.atoms.rows["tie"][atoms.row[claim]]
    order = np.lexsort((tie, -atoms.score[claim], -turns.score[at_turn]))
    taken = set()
    for at, chosen in zip(at_turn[order].tolist(), claim[order].tolist(), strict=True):
        if at not in taken and result[chosen] < 0:
            result[chosen] = at
            taken.add(at)
    return result


def _position(rows: I64, wanted: Array) -> I64:
    """Return the position of each wanted row in ascending `rows`, -1 where it is absent."""
    if not len(rows):
        return np.full(len(wanted), -1, np.int64)
    at = np.minimum(np.searchsorted(rows, wanted), len(rows) - 1)
    return np.where(rows[at] == wanted, at, -1)


@dataclass(frozen=True, kw_only=True)
class _Items:
    """Chosen items, best first; -1 stands for no atom or no turn."""

    score: I64
    components: I64
    atom_row: I64
    turn_row: I64


def _ranked_table(view: View, items: _Items) -> pa.Table:
    is_turn = items.atom_row < 0
    atoms, turns = view.corpus.atoms.rows, view.corpus.turns.rows
    in_sight = (items.turn_row >= 0) & _at(view.shown_turn, items.turn_row)
    turn_ids = np.where(in_sight, _at(turns["id"], items.turn_row), NO_ID).astype("S16")
    atom_ids = np.where(is_turn, NO_ID, _at(atoms["id"], items.atom_row)).astype("S16")
    times = np.where(is_turn, _at(turns["event_us"], items.turn_row), _at(atoms["event_us"], items.atom_row))
    stale = np.where(is_turn, _at(view.stale_turn, items.turn_row), ~_at(view.holding, items.atom_row))
    columns = [
        pa.array(np.arange(1, len(is_turn) + 1, dtype=np.int32)),
        pa.array(np.where(is_turn, "turn", "atom").tolist(), pa.string()),
        id_array(atom_ids),
        id_array(turn_ids),
        pa.array(items.score.astype(np.int32)),
        *(pa.array(items.components[:, i].astype(np.int32)) for i in range(len(COMPONENTS))),
        pa.array(stale.astype(bool)),
        pa.array(times.astype(np.int64), mask=times == UNKNOWN_US).cast(RANKED.field("event_time").type),
    ]
    return pa.Table.from_arrays(columns, schema=RANKED)


def _at(values: Array, rows: I64) -> Array:
    """Return the values at `rows`; anything where there is no row, as in an empty table."""
    if not len(values):
        return np.zeros(len(rows), values.dtype)
    return values[rows]


def _sample(view: View, atoms: _Scored, reasons: Array) -> pa.Table:
    """Return the best omitted claims, SAMPLE per reason, with their reason."""
    chosen: list[int] = []
    for number in np.unique(reasons[reasons > 0]).tolist():
        where = np.flatnonzero(reasons == number)
        order = np.lexsort((view.corpus.atoms.rows["tie"][atoms.row[where]], -atoms.score[where]))
        chosen += where[order[:SAMPLE]].tolist()
    rows = atoms.row[np.array(chosen, np.int64)]
    return pa.Table.from_arrays(
        [
            pa.array(["atom"] * len(chosen), pa.string()),
            id_array(view.corpus.atoms.rows["id"][rows]),
            pa.array([view.reason_names[reasons[at]] for at in chosen], pa.string()),
        ],
        schema=OMITTED,
    )
