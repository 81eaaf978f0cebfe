"""Canonical cells of small Arrow tables, value by value straight from the buffers.

Columns with one and the same value in every row are common, and are seen from their bytes at once.
The same bytes as `kernels.canonical` writes column by column, which takes a dozen array calls a
column and so pays from some hundreds of rows on.
"""

from __future__ import annotations

import struct
from itertools import pairwise

import numpy as np
import pyarrow as pa

from amos.schemas.buffers import INT, Layout

_ABSENT, _PRESENT = b"\x00", b"\x01"
_COUNTS = tuple(struct.pack("<I", count) for count in range(4_096))
_MARKED = {mark: tuple(mark + count for count in _COUNTS) for mark in (_PRESENT, b"")}
_NUMBER_BYTES = 8


def cells_of(column: pa.Array, layout: Layout) -> list[bytes]:
    """Return presence byte and canonical bytes of each value of `column`, which is laid out so."""
    count = len(column)
    if column.null_count == count:
        return [_ABSENT] * count
    found = _values(column, layout, _PRESENT)
    if column.null_count:
        held = _bits(column.buffers()[0], column.offset, count)
        found = [cell if is_held else _ABSENT for cell, is_held in zip(found, held, strict=True)]
    return found


def _values(column: pa.Array, layout: Layout, mark: bytes) -> list[bytes]:
    """Return `mark` and the bytes of each value, whatever stands where there is none."""
    if len(column) == 0:
        return []
    if layout.kind == INT:
        return _numbers(column, layout, mark)
    if layout.width:
        return _sized(column, layout.width, mark)
    edges = _edges(column, layout)
    if layout.item is not None:
        items = _values(column.values.slice(edges[0], edges[-1] - edges[0]), layout.item, b"")
        base = edges[0]
        return [mark + _counted(stop - start) + b"".join(items[start - base : stop - base])
                for start, stop in pairwise(edges)]  # fmt: skip
    return _texts(column, edges, mark)


def _texts(column: pa.Array, edges: list[int], mark: bytes) -> list[bytes]:
    base = edges[0]
    octets = _octets(column.buffers()[2], base, edges[-1])
    width, rest = divmod(len(octets), len(column))
    if not rest and octets == octets[:width] * len(column) and _are_even(edges, width):
        return [mark + _counted(width) + octets[:width]] * len(column)
    if len(octets) < len(_COUNTS):  # so is every value
        heads = _MARKED[mark]
        return [heads[stop - start] + octets[start - base : stop - base] for start, stop in pairwise(edges)]
    return [
        mark + _counted(stop - start) + octets[start - base : stop - base] for start, stop in pairwise(edges)
    ]


def _numbers(column: pa.Array, layout: Layout, mark: bytes) -> list[bytes]:
    count = len(column)
    octets = column.buffers()[1]
    if octets is None:
        return [mark + bytes(_NUMBER_BYTES)] * count
    if layout.dtype == "?":
        words = mark + struct.pack("<q", 0), mark + struct.pack("<q", 1)
        return [words[bit] for bit in _bits(octets, column.offset, count)]
    stop = column.offset + count
    wide = np.frombuffer(octets, layout.dtype, count=stop)[column.offset :].astype("<i8").tobytes()
    if wide == wide[:_NUMBER_BYTES] * count:
        return [mark + wide[:_NUMBER_BYTES]] * count
    return [mark + wide[at : at + _NUMBER_BYTES] for at in range(0, len(wide), _NUMBER_BYTES)]


def _sized(column: pa.Array, width: int, mark: bytes) -> list[bytes]:
    head = mark + _counted(width)
    start = column.offset * width
    octets = _octets(column.buffers()[1], start, start + len(column) * width)
    if octets == octets[:width] * len(column):
        return [head + octets[:width]] * len(column)
    return [head + octets[at : at + width] for at in range(0, len(octets), width)]


def _edges(column: pa.Array, layout: Layout) -> list[int]:
    """Return where the bytes or items of each value begin, and where the last ones end."""
    offsets = column.buffers()[1]
    if offsets is None or len(column) == 0:
        return [0] * (len(column) + 1)
    stop = column.offset + len(column) + 1
    edges: list[int] = np.frombuffer(offsets, layout.dtype, count=stop)[column.offset :].tolist()
    return edges


def _are_even(edges: list[int], width: int) -> bool:
    """Tell whether every value has `width` bytes."""
    if width == 0:
        return edges[0] == edges[-1]
    return edges == list(range(edges[0], edges[-1] + 1, width))


def _octets(buffer: pa.Buffer | None, start: int, stop: int) -> bytes:
    return b"" if buffer is None else buffer.slice(start, stop - start).to_pybytes()


def _bits(buffer: pa.Buffer, start: int, count: int) -> list[int]:
    octets = np.frombuffer(buffer, np.uint8)
    bits: list[int] = np.unpackbits(octets, bitorder="little", count=start + count)[start:].tolist()
    return bits


def _counted(count: int) -> bytes:
    return _COUNTS[count] if count < len(_COUNTS) else struct.pack("<I", count)
