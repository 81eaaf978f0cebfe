"""Read canonical rows back into columns; every step is checked, since bytes may be damaged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from amos.kernels.canonical import VERSION, copy_runs

Array = npt.NDArray[Any]


class Shape(NamedTuple):
    """How one column is read: its kind, and the width of fixed-width bytes (0 when free)."""

    kind: str
    width: int = 0


class Decoded(NamedTuple):
    """Arrays of one decoded column, as `encode_rows` takes them."""

    kind: str
    rows: int
    valid: Array | None
    values: Array
    offsets: Array | None = None
    inner: Array | None = None


def decode_rows(octets: Array, offsets: Array, shapes: Sequence[Shape]) -> list[Decoded]:
    """Return the columns of the rows at `offsets` in `data`.

    octets: uint8.  offsets: (n, 2) int64, first byte (the version byte) and byte after each row.
    Raises ValueError when a row is of another version, ends early or has bytes left over.
    """
    at, ends = offsets[:, 0].copy(), offsets[:, 1]
    if np.any(at >= ends) or (len(ends) and (at.min() < 0 or ends.max() > len(octets))):
        raise ValueError("a row lies outside its block")
    if np.any(octets[at] != VERSION):
        raise ValueError("a row has an unknown canonical version")
    at += 1
    columns = [_decode_column(octets, at, ends, shape) for shape in shapes]
    if np.any(at != ends):
        raise ValueError("a row has bytes left over")
    return columns


def _decode_column(octets: Array, at: Array, ends: Array, shape: Shape) -> Decoded:
    presence = _take(octets, at, ends, 1)[:, 0]
    at += 1
    if np.any(presence > 1):
        raise ValueError("a presence byte is neither 0 nor 1")
    held = np.flatnonzero(presence)
    valid = None if len(held) == len(at) else presence.astype(bool)
    if shape.kind == "int":
        return _decode_ints(octets, at, ends, held, valid)
    counts = np.zeros(len(at), np.int64)
    counts[held] = _take(octets, at[held], ends[held], 4).view("<u4")[:, 0]
    at[held] += 4
    if shape.kind == "texts":
        return _decode_lists(octets, at, ends, counts, valid, shape.width)
    scale = 8 if shape.kind == "ints" else 1
    values, edges = _decode_runs(octets, at, ends, counts * scale)
    if shape.kind == "ints":
        return Decoded("ints", len(at), valid, values.view("<i8"), edges // 8)
    return _fixed(Decoded("bytes", len(at), valid, values, edges), held, shape.width)


def _take(octets: Array, at: Array, ends: Array, size: int) -> Array:
    """Return (n, size) bytes at `at`, after checking that they lie inside each row."""
    if np.any(at + size > ends):
        raise ValueError("a row ends inside a value")
    return np.ascontiguousarray(octets[at[:, None] + np.arange(size)])


def _decode_ints(octets: Array, at: Array, ends: Array, held: Array, valid: Array | None) -> Decoded:
    values = np.zeros(len(at), np.int64)
    values[held] = _take(octets, at[held], ends[held], 8).view("<i8")[:, 0]
    at[held] += 8
    return Decoded("int", len(at), valid, values)


def _decode_runs(octets: Array, at: Array, ends: Array, sizes: Array) -> tuple[Array, Array]:
    if np.any(at + sizes > ends):
        raise ValueError("a row ends inside a value")
    edges = np.zeros(len(at) + 1, np.int64)
    np.cumsum(sizes, out=edges[1:])
    values = np.empty(int(edges[-1]), np.uint8)
    copy_runs(values, edges[:-1], octets, at, sizes)
    at += sizes
    return values, edges


def _fixed(column: Decoded, held: Array, width: int) -> Decoded:
    """Give absent rows of a fixed-width column their zero bytes."""
    if not width:
        return column
    assert column.offsets is not None
    sizes = np.diff(column.offsets)
    if np.any(sizes[held] != width):
        raise ValueError(f"a fixed-width value is not {width} bytes long")
    if column.valid is None:
        return column
    values = np.zeros((column.rows, width), np.uint8)
    values[held] = column.values.reshape(-1, width)
    edges = np.arange(column.rows + 1, dtype=np.int64) * width
    return column._replace(values=values.reshape(-1), offsets=edges)


def _decode_lists(
    octets: Array, at: Array, ends: Array, counts: Array, valid: Array | None, width: int
) -> Decoded:
    """Read lists of byte strings: the k-th item of every row at once, k upwards."""
    offsets = np.zeros(len(at) + 1, np.int64)
    np.cumsum(counts, out=offsets[1:])
    if np.any(counts * 4 > ends - at):  # each item has at least its length: bounds the memory asked for
        raise ValueError("a list is longer than its row")
    starts = np.zeros(int(offsets[-1]), np.int64)
    sizes = np.zeros(int(offsets[-1]), np.int64)
    active = np.flatnonzero(counts)
    item = 0
    while len(active):
        size = _take(octets, at[active], ends[active], 4).view("<u4")[:, 0].astype(np.int64)
        slot = offsets[active] + item
        starts[slot], sizes[slot] = at[active] + 4, size
        at[active] += 4 + size
        item += 1
        active = active[counts[active] > item]
    if np.any(at > ends) or (width and np.any(sizes != width)):
        raise ValueError("a list item is longer than its row, or not of its fixed width")
    inner = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=inner[1:])
    values = np.empty(int(inner[-1]), np.uint8)
    copy_runs(values, inner[:-1], octets, starts, sizes)
    return Decoded("texts", len(counts), valid, values, offsets, inner)
