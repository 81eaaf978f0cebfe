"""Hand Arrow columns to kernels as NumPy arrays, and build Arrow columns from such arrays."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Array = npt.NDArray[Any]

INT = "int"
BYTES = "bytes"
INT_LIST = "ints"
BYTES_LIST = "texts"


class ColumnArrays(NamedTuple):
    """One column of `rows` rows as plain arrays; the arrays of an Arrow column are read-only.

    kind: `int`, `bytes`, `ints` or `texts`.  valid: (rows,) bool, None when every row has a value.
    values: int64 for `int` and `ints`, else the raw uint8 data.
    offsets: (rows + 1,) int64 into `values` (`bytes`, `ints`) or into `inner` (`texts`).
    inner: int64 offsets of the items of `texts` into `values`.
    """

    kind: str
    rows: int
    valid: Array | None
    values: Array
    offsets: Array | None = None
    inner: Array | None = None


class Layout(NamedTuple):
    """How the buffers of one Arrow type are read; `dtype` is of numbers, or of offsets."""

    kind: str
    dtype: str
    width: int = 0
    item: Layout | None = None


@functools.cache
def layout_of(kind: pa.DataType) -> Layout:
    """Return how a column of this Arrow type is read.  Raises TypeError for floats and others."""
    if pa.types.is_boolean(kind):
        return Layout(INT, "?")
    if pa.types.is_integer(kind) or pa.types.is_timestamp(kind):
        letter = "u" if pa.types.is_unsigned_integer(kind) else "i"
        return Layout(INT, f"<{letter}{kind.bit_width // 8}")
    if pa.types.is_fixed_size_binary(kind):
        return Layout(BYTES, "", kind.byte_width)
    if pa.types.is_string(kind) or pa.types.is_binary(kind):
        return Layout(BYTES, "<i4")
    if pa.types.is_large_string(kind) or pa.types.is_large_binary(kind):
        return Layout(BYTES, "<i8")
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        item = layout_of(kind.value_type)
        if item.item is None:
            found = INT_LIST if item.kind == INT else BYTES_LIST
            return Layout(found, "<i4" if pa.types.is_list(kind) else "<i8", 0, item)
    raise TypeError(f"no column of type {kind} is canonical")


def kind_of(kind: pa.DataType) -> str:
    """Return how a column of this Arrow type is handed over.  Raises TypeError for floats and others."""
    return layout_of(kind).kind


def column_arrays(column: pa.Array | pa.ChunkedArray) -> ColumnArrays:
    """Return the arrays of one Arrow column; copies only where widths differ or chunks are many."""
    array = plain(column)
    layout = layout_of(array.type)
    valid = array.is_valid().to_numpy(zero_copy_only=False) if array.null_count else None
    count = len(array)
    if layout.kind == INT:
        return ColumnArrays(INT, count, valid, _integers(array, layout))
    offsets, values, inner = _ragged(array, layout)
    return ColumnArrays(layout.kind, count, valid, values, offsets, inner)


def plain(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Return the column as one array, without a dictionary and without views."""
    array = column
    if isinstance(array, pa.ChunkedArray):
        array = array.chunk(0) if array.num_chunks == 1 else array.combine_chunks()
        if isinstance(array, pa.ChunkedArray):  # combine_chunks keeps an empty one chunked
            array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], array.type)
    if isinstance(array, pa.DictionaryArray):
        array = array.dictionary_decode()
    if isinstance(array, pa.StringViewArray):
        array = array.cast(pa.large_string())
    return array


def whole_columns(rows: pa.Table) -> list[pa.Array]:
    """Return every column as one array; of a table in one piece that takes half the time of `plain`."""
    parts = rows.to_batches()
    return list(parts[0].columns) if len(parts) == 1 else [plain(column) for column in rows.columns]


def _integers(array: pa.Array, layout: Layout) -> Array:
    start, stop = array.offset, array.offset + len(array)
    octets = array.buffers()[1]
    if octets is None:
        return np.zeros(len(array), np.int64)
    if layout.dtype == "?":
        bits = np.unpackbits(np.frombuffer(octets, np.uint8), bitorder="little", count=stop)
        return bits[start:stop].astype(np.int64)
    return np.frombuffer(octets, layout.dtype, count=stop)[start:stop].astype(np.int64, copy=False)


def _raw(buffer: pa.Buffer | None) -> Array:
    return np.zeros(0, np.uint8) if buffer is None else np.frombuffer(buffer, np.uint8)


def _ragged(array: pa.Array, layout: Layout) -> tuple[Array, Array, Array | None]:
    start, count = array.offset, len(array)
    buffers = array.buffers()
    if layout.width:
        offsets = np.arange(start, start + count + 1, dtype=np.int64) * layout.width
        return offsets, _raw(buffers[1]), None
    if buffers[1] is None or count == 0:
        offsets = np.zeros(count + 1, np.int64)
    else:
        raw = np.frombuffer(buffers[1], layout.dtype, count=start + count + 1)
        offsets = raw[start:].astype(np.int64, copy=False)
    if layout.item is None:
        return offsets, _raw(buffers[2]), None
    items = array.values
    if layout.item.kind == INT:
        return offsets, _integers(items, layout.item), None
    inner, values, _ = _ragged(items, layout.item)
    return offsets, values, inner


def array_of(kind: pa.DataType, column: ColumnArrays) -> pa.Array:
    """Return the Arrow array of type `kind` over `column`; offsets must start at 0.

    Raises ValueError when a number does not fit the type.
    """
    validity = None if column.valid is None else pa.py_buffer(np.packbits(column.valid, bitorder="little"))
    if column.kind == INT:
        return pa.Array.from_buffers(kind, column.rows, [validity, _integer_buffer(kind, column.values)])
    assert column.offsets is not None
    if pa.types.is_list(kind):
        starts = pa.py_buffer(column.offsets.astype(np.int32))
        items = _items(kind.value_type, column)
        return pa.Array.from_buffers(kind, column.rows, [validity, starts], children=[items])
    return _bytes_array(kind, column.rows, validity, column.values, column.offsets)


def _integer_buffer(kind: pa.DataType, values: Array) -> pa.Buffer:
    is_bit = pa.types.is_boolean(kind)
    narrow = values.astype(bool if is_bit else f"<i{kind.bit_width // 8}", copy=False)
    if narrow is not values and np.any(narrow.astype(np.int64) != values):
        raise ValueError(f"a number does not fit {kind}")
    return pa.py_buffer(np.packbits(narrow, bitorder="little") if is_bit else np.ascontiguousarray(narrow))


def _items(kind: pa.DataType, column: ColumnArrays) -> pa.Array:
    if column.inner is None:
        return pa.Array.from_buffers(kind, len(column.values), [None, _integer_buffer(kind, column.values)])
    return _bytes_array(kind, len(column.inner) - 1, None, column.values, column.inner)


def _bytes_array(
    kind: pa.DataType, count: int, validity: pa.Buffer | None, values: Array, offsets: Array
) -> pa.Array:
    raw = pa.py_buffer(np.ascontiguousarray(values))
    if pa.types.is_fixed_size_binary(kind):
        return pa.Array.from_buffers(kind, count, [validity, raw])
    return pa.Array.from_buffers(kind, count, [validity, pa.py_buffer(offsets.astype(np.int32)), raw])


def as_keys(values: pa.Array | pa.ChunkedArray | Array) -> Array:
    """Return 16-byte ids as a contiguous (n, 2) big-endian uint64 array; nulls are dropped.

    values: Arrow binary(16), NumPy `S16`/`V16`, or uint8 of shape (n, 16).
    """
    if isinstance(values, np.ndarray):
        raw = np.ascontiguousarray(values)
        return raw.view(np.uint8).reshape(-1, 16).view(">u8")
    array = plain(values)
    if array.null_count:
        array = array.drop_null()
    start = array.offset * 16
    if len(array) == 0:
        return np.zeros((0, 2), ">u8")
    return _raw(array.buffers()[1])[start : start + 16 * len(array)].reshape(-1, 16).view(">u8")
