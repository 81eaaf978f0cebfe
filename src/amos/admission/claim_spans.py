"""Spans of claims as flat columns: where they lie, how they are written, whether they are sound."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from amos.schemas.buffers import ColumnArrays, column_arrays

I64 = NDArray[np.int64]


class Spans(NamedTuple):
    """Spans of a batch of claims.

    offsets: (claims + 1,) into values.  values: half-open byte ranges, start and end in turn,
    each claim's own range first.
    """

    offsets: I64
    values: I64

    def as_lists(self) -> pa.ListArray:
        """Return one list of start and end in turn per claim."""
        return pa.ListArray.from_arrays(self.offsets.astype(np.int32), pa.array(self.values))

    def as_texts(self) -> pa.Array:
        """Return the numbers of each claim joined by commas, as they enter a candidate's identity."""
        numbers = pa.array(self.values).cast(pa.string())
        return pc.binary_join(pa.ListArray.from_arrays(self.offsets.astype(np.int32), numbers), ",")

    def first(self) -> tuple[I64, I64]:
        """Return start and end of each claim's own range."""
        at = self.offsets[:-1]
        return self.values[at], self.values[at + 1]


def spans_of(claims: pa.Table) -> Spans:
    """Return the spans of `claims` (CLAIMS): start and end, then `more_spans`."""
    count = claims.num_rows
    more = column_arrays(claims["more_spans"])
    assert more.offsets is not None
    offsets = more.offsets - more.offsets[0] + 2 * np.arange(count + 1)
    values = np.empty(int(offsets[-1]), np.int64)
    is_own = np.zeros(values.size, np.bool_)
    for place, name in enumerate(("start", "end")):
        at = offsets[:-1] + place
        values[at] = claims[name].to_numpy()
        is_own[at] = True
    values[~is_own] = more.values[more.offsets[0] : more.offsets[-1]]
    return Spans(offsets, values)


def are_sound(spans: Spans, text: ColumnArrays, rows: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Tell per claim whether all its ranges lie inside its text, on character boundaries.

    text: the contents as UTF-8 bytes.  rows: (claims,) row of `text` that each claim was read from.
    """
    assert text.offsets is not None
    claim = np.repeat(np.arange(len(rows)), np.diff(spans.offsets) // 2)
    start, end = spans.values.reshape(-1, 2).T
    origin = text.offsets[rows[claim]]
    length = text.offsets[rows[claim] + 1] - origin
    is_sound = (start >= 0) & (start < end) & (end <= length)
    for position in (start, end):
        is_sound &= ~_is_inside(text.values, origin, position, length)
    sound: NDArray[np.bool_] = np.bincount(claim[~is_sound], minlength=len(rows)) == 0
    return sound


def _is_inside(octets: NDArray[np.uint8], origin: I64, position: I64, length: I64) -> NDArray[np.bool_]:
    """Tell whether each position falls between the bytes of one character."""
    is_readable = (position >= 0) & (position < length)
    found = np.zeros(position.size, np.bool_)
    found[is_readable] = octets[(origin + position)[is_readable]] & 0xC0 == 0x80
    return found
