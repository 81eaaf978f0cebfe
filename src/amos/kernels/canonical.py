"""Canonical bytes of rows, the form that commitments are computed over, and back.

A row is a version byte (1), then for each column in schema order a presence byte (0 or 1) and,
when present, an int64 little-endian, or a uint32 length and the raw bytes; a list is a uint32
count and its items in the same form without presence bytes.  `docs/formats/store.md` has vectors.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from amos.kernels.compiled import is_worth_compiling

Array = npt.NDArray[Any]

VERSION = 1
PLAIN_UP_TO_ROWS = 12
"""Row count up to which rows are written value by value."""


class Column(Protocol):
    """Arrays of one column: kind `int`, `bytes`, `ints` or `texts`; see `encode_rows`."""

    @property
    def kind(self) -> str: ...  # noqa: D102
    @property
    def rows(self) -> int: ...  # noqa: D102
    @property
    def valid(self) -> Array | None: ...  # noqa: D102
    @property
    def values(self) -> Array: ...  # noqa: D102
    @property
    def offsets(self) -> Array | None: ...  # noqa: D102
    @property
    def inner(self) -> Array | None: ...  # noqa: D102


Value = int | bytes | Sequence[int] | Sequence[bytes] | None


def row_bytes(values: Sequence[Value]) -> bytes:
    """Return the canonical bytes of one row, value by value: the readable definition."""
    return bytes([VERSION]) + more_bytes(values)


def more_bytes(values: Sequence[Value]) -> bytes:
    """Return the bytes of `values` as they follow those of the row's earlier columns."""
    return b"".join([b"\x00" if value is None else b"\x01" + _value_bytes(value) for value in values])


def _value_bytes(value: int | bytes | Sequence[int] | Sequence[bytes]) -> bytes:
    if isinstance(value, bytes):
        return struct.pack("<I", len(value)) + value
    if isinstance(value, int):
        return struct.pack("<q", value)
    return struct.pack("<I", len(value)) + b"".join([_value_bytes(item) for item in value])


def encode_rows(columns: Sequence[Column], count: int, *, lead: Array | None = None) -> tuple[Array, Array]:
    """Return the canonical bytes of `count` rows as one uint8 buffer and (count + 1,) int64 offsets.

    lead: (count, k) uint8 put before the version byte of each row (the salt), or None.
    Arrays of a column: `values` int64 or uint8 data, `offsets` and `inner` as in Arrow, `valid` bool.
    """
    lead = np.zeros((count, 0), np.uint8) if lead is None else lead
    if count <= PLAIN_UP_TO_ROWS:
        return _encode_plain(columns, count, lead)
    return _encode_columns(columns, count, lead)


def _encode_plain(columns: Sequence[Column], count: int, lead: Array) -> tuple[Array, Array]:
    cells = [_plain_values(column) for column in columns]
    rows = [lead[i].tobytes() + row_bytes([cell[i] for cell in cells]) for i in range(count)]
    offsets = np.zeros(count + 1, np.int64)
    np.cumsum([len(row) for row in rows], out=offsets[1:])
    return np.frombuffer(b"".join(rows), np.uint8), offsets


def _plain_values(column: Column) -> list[Value]:
    if column.kind == "int":
        found: list[Value] = list(column.values[: column.rows].tolist())
    else:
        assert column.offsets is not None
        cuts = column.offsets.tolist()
        found = [_plain_value(column, start, stop) for start, stop in pairwise(cuts)]
    if column.valid is None:
        return found
    return [value if held else None for value, held in zip(found, column.valid.tolist(), strict=True)]


def _plain_value(column: Column, start: int, stop: int) -> Value:
    if column.kind == "bytes":
        return column.values[start:stop].tobytes()
    if column.kind == "ints":
        numbers: list[int] = column.values[start:stop].tolist()
        return numbers
    assert column.inner is not None
    cuts = column.inner[start : stop + 1].tolist()
    return [column.values[a:b].tobytes() for a, b in pairwise(cuts)]


def _encode_columns(columns: Sequence[Column], count: int, lead: Array) -> tuple[Array, Array]:
    parts = [_cells(column) for column in columns]
    lengths = np.full(count, lead.shape[1] + 1, np.int64)
    for valid, prefix, starts, stops, _ in parts:
        lengths += 1
        size = stops - starts + (0 if prefix is None else 4)
        lengths += size if valid is None else np.where(valid, size, 0)
    offsets = np.zeros(count + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    out = np.empty(int(offsets[-1]), np.uint8)
    at = offsets[:-1].copy()
    if lead.shape[1]:
        out[at[:, None] + np.arange(lead.shape[1])] = lead
    out[at + lead.shape[1]] = VERSION
    at += lead.shape[1] + 1
    for part in parts:
        _write_cells(out, at, *part)
    return out, offsets


Cells = tuple[Array | None, Array | None, Array, Array, Array]


def _cells(column: Column) -> Cells:
    """Return (valid, uint32 prefix or None, starts, stops, data): every kind as a run of bytes."""
    if column.kind == "int":
        edges = np.arange(column.rows + 1, dtype=np.int64) * 8
        return column.valid, None, edges[:-1], edges[1:], _as_bytes(column.values)
    assert column.offsets is not None
    offsets = column.offsets
    prefix = (offsets[1:] - offsets[:-1]).astype(np.uint32)
    if column.kind == "bytes":
        return column.valid, prefix, offsets[:-1], offsets[1:], column.values
    if column.kind == "ints":
        return column.valid, prefix, offsets[:-1] * 8, offsets[1:] * 8, _as_bytes(column.values)
    octets, edges = _items(column)
    return column.valid, prefix, edges[offsets[:-1]], edges[offsets[1:]], octets


def _as_bytes(numbers: Array) -> Array:
    return np.ascontiguousarray(numbers.astype("<i8", copy=False)).view(np.uint8)


def _items(column: Column) -> tuple[Array, Array]:
    """Return the items of a list column, each as length and bytes, and where each begins."""
    assert column.inner is not None
    inner = column.inner
    sizes = inner[1:] - inner[:-1]
    edges = np.zeros(len(inner), np.int64)
    np.cumsum(sizes + 4, out=edges[1:])
    octets = np.empty(int(edges[-1]), np.uint8)
    octets[edges[:-1, None] + np.arange(4)] = sizes.astype("<u4").view(np.uint8).reshape(-1, 4)
    copy_runs(octets, edges[:-1] + 4, column.values, inner[:-1], sizes)
    return octets, edges


def _write_cells(
    out: Array,
    at: Array,
    valid: Array | None,
    prefix: Array | None,
    starts: Array,
    stops: Array,
    octets: Array,
) -> None:
    if is_worth_compiling(len(at)):
        from amos.kernels.copying import write_column

        is_held = np.ones(len(at), np.bool_) if valid is None else valid
        counts = np.zeros(0, np.uint32) if prefix is None else prefix
        write_column(out, at, is_held, counts, starts, stops, octets)
        return
    out[at] = 1 if valid is None else valid
    at += 1
    sizes = stops - starts
    if valid is not None:
        sizes = np.where(valid, sizes, 0)
    if prefix is not None:
        held = slice(None) if valid is None else np.flatnonzero(valid)
        words = prefix[held].astype("<u4").view(np.uint8).reshape(-1, 4)
        out[at[held][:, None] + np.arange(4)] = words
        at[held] += 4
    copy_runs(out, at, octets, starts, sizes)
    at += sizes


def copy_runs(out: Array, targets: Array, octets: Array, starts: Array, sizes: Array) -> None:
    """Copy `data[starts[i] : starts[i] + sizes[i]]` to `out[targets[i] :]` for every i; no overlaps."""
    if is_worth_compiling(len(starts)):
        from amos.kernels import copying

        copying.copy_runs(out, targets, octets, starts, sizes)
        return
    total = int(sizes.sum())
    if total == 0:
        return
    if total > 64 * len(starts):  # long runs: one slice copy each costs less than an index per byte
        _copy_runs(out, targets, octets, starts, sizes)
        return
    before = np.cumsum(sizes) - sizes
    step = np.arange(total)
    out[np.repeat(targets - before, sizes) + step] = octets[np.repeat(starts - before, sizes) + step]


def _copy_runs(out: Array, targets: Array, octets: Array, starts: Array, sizes: Array) -> None:
    for i in range(starts.shape[0]):
        size = sizes[i]
        if size > 0:
            out[targets[i] : targets[i] + size] = octets[starts[i] : starts[i] + size]
