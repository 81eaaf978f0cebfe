"""Choose the best items of a ranking: by score, then by identity."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
I64 = Array
U64 = Array

CLAIM_ROW, TURN_ROW, ITEM_SCORE = range(3)
"""Columns of `items`: row of the claim or -1, row of the turn that is or shows the item or -1, score."""


def is_before(one: int, other: int, items: I64, claim_ties: U64, turn_ties: U64) -> bool:
    """Return whether an item comes before another one.

    By score, by identity of the claim or else of the turn, by identity of what a claim cites, claims before
    turns, and by row.
    """
    if items[one, ITEM_SCORE] != items[other, ITEM_SCORE]:
        return items[one, ITEM_SCORE] > items[other, ITEM_SCORE]
    claim, other_claim = items[one, CLAIM_ROW], items[other, CLAIM_ROW]
    turn, other_turn = items[one, TURN_ROW], items[other, TURN_ROW]
    tie = claim_ties[claim] if claim >= 0 else turn_ties[turn]
    other_tie = claim_ties[other_claim] if other_claim >= 0 else turn_ties[other_turn]
    if tie != other_tie:
        return tie < other_tie
    if turn >= 0:
        tie = turn_ties[turn]
    if other_turn >= 0:
        other_tie = turn_ties[other_turn]
    if tie != other_tie:
        return tie < other_tie
    if claim >= 0 and other_claim >= 0:
        return claim < other_claim
    if claim >= 0 or other_claim >= 0:
        return claim >= 0
    return turn < other_turn


def _sift(heap: I64, size: int, items: I64, claim_ties: U64, turn_ties: U64) -> None:
    """Move the first entry of a heap, whose worst item stands first, to where it belongs."""
    at = 0
    while True:
        worst = at
        for child in (2 * at + 1, 2 * at + 2):
            if child < size and is_before(heap[worst], heap[child], items, claim_ties, turn_ties):
                worst = child
        if worst == at:
            return
        heap[at], heap[worst] = heap[worst], heap[at]
        at = worst


def best_items(items: I64, k: int, claim_ties: U64, turn_ties: U64) -> I64:
    """Return the numbers of the best `k` items, best first.

    items: (n, 3).  claim_ties, turn_ties: identity of each row.
    """
    size = min(k, items.shape[0])
    heap = np.empty(size, np.int64)
    if size == 0:
        return heap
    for number in range(size):
        at = number
        heap[at] = number
        while at and is_before(heap[(at - 1) // 2], heap[at], items, claim_ties, turn_ties):
            heap[at], heap[(at - 1) // 2] = heap[(at - 1) // 2], heap[at]
            at = (at - 1) // 2
    for number in range(size, items.shape[0]):
        if is_before(number, heap[0], items, claim_ties, turn_ties):
            heap[0] = number
            _sift(heap, size, items, claim_ties, turn_ties)
    for end in range(size - 1, 0, -1):
        heap[0], heap[end] = heap[end], heap[0]
        _sift(heap, end, items, claim_ties, turn_ties)
    return heap
