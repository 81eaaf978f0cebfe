"""Run the kernels over a batch of texts: bytes in, rows of integers out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from amos.extraction.grammar import Grammar
from amos.kernels import match
from amos.kernels.compiled import compiled
from amos.kernels.tokens import STATE_SIZE

_ROOM = 4096
"""Rows of output per kernel call, at least; a longer message gets more."""


@dataclass(frozen=True, kw_only=True)
class Matches:
    """rows: (claims, ROW_SIZE) in order of message and place.  notes: (messages, NOTE_SIZE).

    steps: bytes and pattern steps looked at, the measure of linearity.
    """

    rows: NDArray[np.int64]
    notes: NDArray[np.int64]
    steps: int


def read_matches(
    buffer: NDArray[np.uint8], offsets: NDArray[np.int64], grammar: Grammar, *, is_compiled: bool
) -> Matches:
    """Tokenise, segment and match the texts buffer[offsets[i]:offsets[i + 1]].

    `is_compiled` chooses the compiled kernels; the plain ones give the same rows and need no
    compiler.
    """
    if len(offsets) < 2:
        return Matches(rows=_no_rows(), notes=np.zeros((0, match.NOTE_SIZE), np.int64), steps=0)
    longest = int(np.diff(offsets).max())
    make = _arrays if is_compiled else _lists
    texts: Any = buffer if is_compiled else buffer.tobytes()
    where: Any = offsets if is_compiled else offsets.tolist()
    lexicon = grammar.lexicon if is_compiled else grammar.plain_lexicon
    rules = grammar.rules if is_compiled else grammar.plain_rules
    reader = compiled(match.read_messages) if is_compiled else match.read_messages
    scratch = _scratch(make, longest, masks=len(grammar.rules[4]))
    capacity = max(_ROOM, longest + 1)
    out = make(capacity * match.ROW_SIZE, 1)[0]
    messages = len(offsets) - 1
    notes, work = make(messages * match.NOTE_SIZE, 1)[0], make(1, 1)[0]
    blocks: list[NDArray[np.int64]] = []
    done = 0
    while done < messages:
        count, done = reader(texts, where, done, lexicon, rules, *scratch, out, notes, work)
        block = np.array(out[: count * match.ROW_SIZE], np.int64)
        blocks.append(block.reshape(count, match.ROW_SIZE))
    summary = np.array(notes, np.int64).reshape(messages, match.NOTE_SIZE)
    return Matches(rows=np.concatenate(blocks), notes=summary, steps=int(work[0]))


def _no_rows() -> NDArray[np.int64]:
    return np.zeros((0, match.ROW_SIZE), np.int64)


def _arrays(size: int, count: int) -> tuple[Any, ...]:
    return tuple(np.zeros(size, np.int64) for _ in range(count))


def _lists(size: int, count: int) -> tuple[Any, ...]:
    return tuple([0] * size for _ in range(count))


def _scratch(make: Any, longest: int, *, masks: int) -> tuple[Any, ...]:
    """Return (tokens, marks, clauses, tag ranges, small arrays) with room for the longest text."""
    room = longest + 2
    small = (
        make(match.CAPTURES, 1)[0],
        make(match.CAPTURES, 1)[0],
        make(4 * match.STACK_DEPTH, 1)[0],
        make(masks, 1)[0],
        make(STATE_SIZE, 1)[0],
    )
    return make(room, 4), make(room, 9), make(room, 2), make(longest // 7 + 34, 4), small
