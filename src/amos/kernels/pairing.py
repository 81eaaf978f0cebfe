"""Pair claims with the turns that say them, and leave out turns of which only a superseded claim matches.

`retrieval.folding` does the same with NumPy, for few questions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from amos.kernels.place_scores import MILLION, SCORED, SCORED_HELD, SCORED_PLACE, SCORED_ROW

Array = npt.NDArray[Any]
I64 = Array

MOST_CLAIMS = 1 << 23
"""Claims that a sort key has room for."""

CANDIDATE, BEST_HELD, COVERED_BY, IS_SHARED, PICKED = range(5)
"""Columns of `turn_cells`, one row per turn row.

CANDIDATE, PICKED: number of the turn's best candidate and of the claim it is shown with, from 1.
COVERED_BY: 1 by a claim that holds, OLD_CLAIM by one that does not.  IS_SHARED: some claim of it has another
turn as well.
"""
OLD_CLAIM = 2


def _is_better(one: int, other: int, scored: I64) -> bool:
    """Return whether a candidate stands for its row instead of another: the first place of the best score."""
    if scored[one, SCORED] != scored[other, SCORED]:
        return scored[one, SCORED] > scored[other, SCORED]
    return scored[one, SCORED_PLACE] < scored[other, SCORED_PLACE]


def _note_turns(turns: I64, is_lone: Array, cells: I64) -> None:
    """Note the best candidate of each turn, and the most that any of its places holds."""
    for at in range(turns.shape[0]):
        if is_lone[turns[at, SCORED_PLACE]] != 0:
            continue
        row = turns[at, SCORED_ROW]
        known = cells[row, CANDIDATE] - 1
        if known < 0 or _is_better(at, known, turns):
            cells[row, CANDIDATE] = at + 1
        cells[row, BEST_HELD] = max(cells[row, BEST_HELD], turns[at, SCORED_HELD])


def _cover_turns(claims: I64, claim_starts: I64, claim_turns: I64, holding: Array, cells: I64) -> None:
    """Note the turns that some claim matches as well as they do themselves."""
    for at in range(claims.shape[0]):
        row = claims[at, SCORED_ROW]
        for pair in range(claim_starts[row], claim_starts[row + 1]):
            turn = claim_turns[pair]
            if cells[turn, CANDIDATE] and 0 < cells[turn, BEST_HELD] <= claims[at, SCORED_HELD]:
                cells[turn, COVERED_BY] |= 1 if holding[row] != 0 else OLD_CLAIM


def _is_there(turn: int, cells: I64) -> bool:
    """Return whether a turn is a candidate still."""
    return cells[turn, CANDIDATE] != 0 and cells[turn, COVERED_BY] != OLD_CLAIM


def _share_turns(row: int, claim_starts: I64, claim_turns: I64, cells: I64) -> None:
    """Mark the turns of a claim that has several."""
    left = 0
    for pair in range(claim_starts[row], claim_starts[row + 1]):
        if _is_there(claim_turns[pair], cells):
            left += 1
    if left > 1:
        for pair in range(claim_starts[row], claim_starts[row + 1]):
            cells[claim_turns[pair], IS_SHARED] = 1


def _is_before(one: int, other: int, claims: I64, tie_rank: I64) -> bool:
    """Return whether a claim comes before another one of the same turn."""
    if claims[one, SCORED] != claims[other, SCORED]:
        return claims[one, SCORED] > claims[other, SCORED]
    return tie_rank[claims[one, SCORED_ROW]] < tie_rank[claims[other, SCORED_ROW]]


def _sort_key(turn_score: int, claim_score: int, rank: int) -> int:
    """Return a number that is the less, the better turn and claim are, in that order."""
    return (MILLION - turn_score) << 43 | (MILLION - claim_score) << 23 | rank


def _pick_own(
    claims: I64,
    kept: I64,
    kept_count: int,
    claim_starts: I64,
    claim_turns: I64,
    tie_rank: I64,
    turn_cells: I64,
    shown_with: I64,
) -> int:
    """Show claims of a single turn with it, the best of each turn; return how many pairs need comparing."""
    shared = 0
    for number in range(kept_count):
        at = kept[number]
        row = claims[at, SCORED_ROW]
        for pair in range(claim_starts[row], claim_starts[row + 1]):
            turn = claim_turns[pair]
            if not _is_there(turn, turn_cells):
                continue
            if turn_cells[turn, IS_SHARED]:
                shared += 1
                continue
            picked = turn_cells[turn, PICKED] - 1
            if picked >= 0:
                if not _is_before(at, kept[picked], claims, tie_rank):
                    continue
                shown_with[picked] = -1
            turn_cells[turn, PICKED] = number + 1
            shown_with[number] = turn_cells[turn, CANDIDATE] - 1
    return shared


def _list_shared(
    turns: I64,
    claims: I64,
    kept: I64,
    kept_count: int,
    claim_starts: I64,
    claim_turns: I64,
    tie_rank: I64,
    turn_cells: I64,
    keys: I64,
    pairs: I64,
) -> None:
    """Write the pairs of claims and turns that need comparing, and what they are sorted by."""
    filled = 0
    for number in range(kept_count):
        at = kept[number]
        row = claims[at, SCORED_ROW]
        for pair in range(claim_starts[row], claim_starts[row + 1]):
            turn = claim_turns[pair]
            if _is_there(turn, turn_cells) and turn_cells[turn, IS_SHARED]:
                turn_score = turns[turn_cells[turn, CANDIDATE] - 1, SCORED]
                keys[filled] = _sort_key(turn_score, claims[at, SCORED], tie_rank[row])
                pairs[filled, 0] = number
                pairs[filled, 1] = turn
                filled += 1


def _stand_alone(turns: I64, is_lone: Array, turn_cells: I64, alone: I64) -> tuple[int, int]:
    """List the turns that no claim is shown with; return their number and how many are outdated."""
    alone_count = 0
    outdated = 0
    for at in range(turns.shape[0]):
        row = turns[at, SCORED_ROW]
        if is_lone[turns[at, SCORED_PLACE]] == 0:
            if turn_cells[row, CANDIDATE] != at + 1:
                continue
            if turn_cells[row, COVERED_BY] == OLD_CLAIM:
                outdated += 1
                continue
            if turn_cells[row, PICKED]:
                continue
        alone[alone_count] = at
        alone_count += 1
    return alone_count, outdated


def _clear_turn(row: int, turn_cells: I64) -> None:
    for column in range(PICKED + 1):
        turn_cells[row, column] = 0


def _clear(
    turns: I64,
    claims: I64,
    is_lone: Array,
    claim_starts: I64,
    claim_turns: I64,
    turn_cells: I64,
    claim_cells: I64,
) -> None:
    """Set to zero what was noted of these candidates."""
    for at in range(turns.shape[0]):
        if is_lone[turns[at, SCORED_PLACE]] == 0:
            _clear_turn(turns[at, SCORED_ROW], turn_cells)
    for at in range(claims.shape[0]):
        row = claims[at, SCORED_ROW]
        claim_cells[row] = 0
        for pair in range(claim_starts[row], claim_starts[row + 1]):
            _clear_turn(claim_turns[pair], turn_cells)


def pair_claims(
    turns: I64,
    claims: I64,
    is_lone: Array,
    reasons: Array,
    claim_starts: I64,
    claim_turns: I64,
    holding: Array,
    tie_rank: I64,
    drops_outdated: bool,
    turn_cells: I64,
    claim_cells: I64,
) -> tuple[I64, I64, I64, int]:
    """Return kept claims, the turn each is shown with or -1, turns that stand alone; how many are outdated.

    All are numbers of candidates, in no order.  turns, claims: columns of `scored` in `place_scores`.
    is_lone: per place of a turn, whether it is the only one of its row and no claim cites that.
    reasons: per claim row, 0 where it may be shown.  claim_starts, claim_turns: the turn rows of each claim
    row, by identity.  holding: per claim row.  tie_rank: per claim row its place among all by identity.
    turn_cells, claim_cells: zero before and after, a row each per turn row and claim row.
    """
    _note_turns(turns, is_lone, turn_cells)
    if drops_outdated:
        _cover_turns(claims, claim_starts, claim_turns, holding, turn_cells)
    for at in range(claims.shape[0]):
        row = claims[at, SCORED_ROW]
        known = claim_cells[row] - 1
        if reasons[row] == 0 and (known < 0 or _is_better(at, known, claims)):
            claim_cells[row] = at + 1
    kept = np.empty(claims.shape[0], np.int64)
    kept_count = 0
    for at in range(claims.shape[0]):
        row = claims[at, SCORED_ROW]
        if claim_cells[row] == at + 1:
            kept[kept_count] = at
            kept_count += 1
            _share_turns(row, claim_starts, claim_turns, turn_cells)
    shown_with = np.full(kept_count, -1, np.int64)
    shared = _pick_own(claims, kept, kept_count, claim_starts, claim_turns, tie_rank, turn_cells, shown_with)
    if shared:
        keys, pairs = np.empty(shared, np.int64), np.empty((shared, 2), np.int64)
        _list_shared(
            turns, claims, kept, kept_count, claim_starts, claim_turns, tie_rank, turn_cells, keys, pairs
        )
        order = np.argsort(keys, kind="mergesort")
        for at in range(shared):
            number, turn = pairs[order[at], 0], pairs[order[at], 1]
            if turn_cells[turn, PICKED] == 0 and shown_with[number] < 0:
                turn_cells[turn, PICKED] = number + 1
                shown_with[number] = turn_cells[turn, CANDIDATE] - 1
    alone = np.empty(turns.shape[0], np.int64)
    alone_count, outdated = _stand_alone(turns, is_lone, turn_cells, alone)
    _clear(turns, claims, is_lone, claim_starts, claim_turns, turn_cells, claim_cells)
    return kept[:kept_count], shown_with, alone[:alone_count], outdated
