"""Run the kernels over a batch of texts: bytes in, rows of integers out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from amos.extraction.grammar import Grammar
from amos.kernels.book import NEEDED, PATTERN_MASKS, STEPS_TAKEN, T
from amos.kernels.compiled import compiled
from amos.kernels.reading import read_messages
from amos.kernels.rows import NOTE_SIZE, ROW_SIZE

_ROOM = 4096
"""Rows of output per kernel call; a longer message gets more, a batch of fewer bytes no more than those."""


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
        return Matches(rows=_no_rows(), notes=np.zeros((0, NOTE_SIZE), np.int64), steps=0)
    longest = int(np.diff(offsets).max())
    make = _zeros if is_compiled else _zero_list
    texts: Any = _read_only(buffer) if is_compiled else buffer.tobytes()
    where: Any = np.ascontiguousarray(offsets, np.int64) if is_compiled else offsets.tolist()
    book: Any = grammar.book if is_compiled else grammar.plain_book
    reader = compiled(read_messages) if is_compiled else read_messages
    messages = len(offsets) - 1
    tok = make(T * (longest + 2))
    frame = make(NEEDED + int(grammar.book[PATTERN_MASKS]))
    tokens = int(offsets[-1] - offsets[0]) + messages
    room = max(min(_ROOM, tokens), longest + 1)
    out, notes = make(room * ROW_SIZE), make(messages * NOTE_SIZE)
    blocks: list[NDArray[np.int64]] = []
    done = 0
    while done < messages:
        count, done = reader(texts, where, done, book, tok, frame, out, notes)
        blocks.append(np.array(out[: count * ROW_SIZE], np.int64).reshape(count, ROW_SIZE))
    summary = np.array(notes, np.int64).reshape(messages, NOTE_SIZE)
    return Matches(rows=np.concatenate(blocks), notes=summary, steps=int(frame[STEPS_TAKEN]))


def _no_rows() -> NDArray[np.int64]:
    return np.zeros((0, ROW_SIZE), np.int64)


def _read_only(buffer: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return the bytes as one kind of array: the compiler would make a second version for another."""
    view = buffer.view()
    view.flags.writeable = False
    return view


def _zeros(size: int) -> Any:
    return np.zeros(size, np.int64)


def _zero_list(size: int) -> Any:
    return [0] * size
