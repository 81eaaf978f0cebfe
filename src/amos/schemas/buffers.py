"""Hand Arrow columns to kernels as NumPy arrays, and build Arrow columns from such arrays."""

from __future__ import annotations

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
    """One column of `count` rows as plain arrays; the arrays of an Arrow column are read-only.

    kind: `int`, `bytes`, `ints` or `texts`.  valid: (count,) bool, None when every row has a value.
    values: int64 for `int` and `ints`, else the raw uint8 data.
    offsets: (count + 1,) int64 into `values` (`bytes`, `ints`) or into `inner` (`texts`).
    inner: int64 offsets of the items of `texts` into `values`.
    """

    kind: str
    count: int
    valid: Array | None
    values: Array
    offsets: Array | None = None
    inner: Array | None = None


def kind_of(kind: pa.DataType) -> str:
    """Return how a column of this Arrow type is handed over.  Raises TypeError for floats and others."""
    if pa.types.is_integer(kind) or pa.types.is_boolean(kind) or pa.types.is_timestamp(kind):
        return INT
    if _is_bytes(kind):
        return BYTES
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        inner = kind_of(kind.value_type)
        if inner in (INT, BYTES):
            return INT_LIST if inner == INT else BYTES_LIST
    raise TypeError(f"no column of type {kind} is canonical")


def _is_bytes(kind: pa.DataType) -> bool:
    checks = (
        pa.types.is_string,
        pa.types.is_large_string,
        pa.types.is_binary,
        pa.types.is_large_binary,
        pa.types.is_fixed_size_binary,
    )
    return any(check(kind) for check in checks)


def column_arrays(column: pa.Array | pa.ChunkedArray) -> ColumnArrays:
    """Return the arrays of one Arrow column; copies only where widths differ or chunks are many."""
    array = _plain(column)
    kind = kind_of(array.type)
    valid = array.is_valid().to_numpy(zero_copy_only=False) if array.null_count else None
    count = len(array)
    if kind == INT:
        return ColumnArrays(kind, count, valid, _integers(array))
    offsets, values, inner = _ragged(array)
    return ColumnArrays(kind, count, valid, values, offsets, inner)


def _plain(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    array = column
    if isinstance(array, pa.ChunkedArray):
        array = array.chunk(0) if array.num_chunks == 1 else array.combine_chunks()
    if isinstance(array, pa.ChunkedArray):  # combine_chunks keeps an empty one chunked
        array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], array.type)
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if pa.types.is_string_view(array.type):
        array = array.cast(pa.large_string())
    return array


def _integers(array: pa.Array) -> Array:
    start, stop = array.offset, array.offset + len(array)
    data = array.buffers()[1]
    if data is None:
        return np.zeros(len(array), np.int64)
    if pa.types.is_boolean(array.type):
        bits = np.unpackbits(np.frombuffer(data, np.uint8), bitorder="little", count=stop)
        return bits[start:stop].astype(np.int64)
    width = array.type.bit_width // 8
    letter = "u" if pa.types.is_unsigned_integer(array.type) else "i"
    return np.frombuffer(data, f"<{letter}{width}", count=stop)[start:stop].astype(np.int64, copy=False)


def _raw(buffer: pa.Buffer | None) -> Array:
    return np.zeros(0, np.uint8) if buffer is None else np.frombuffer(buffer, np.uint8)


def _offsets(array: pa.Array, buffer: pa.Buffer | None) -> Array:
    start, stop = array.offset, array.offset + len(array) + 1
    if buffer is None or len(array) == 0:
        return np.zeros(len(array) + 1, np.int64)
    is_wide = array.type in (pa.large_string(), pa.large_binary()) or pa.types.is_large_list(array.type)
    dtype = np.int64 if is_wide else np.int32
    return np.frombuffer(buffer, dtype, count=stop)[start:stop].astype(np.int64, copy=False)


def _ragged(array: pa.Array) -> tuple[Array, Array, Array | None]:
    if pa.types.is_fixed_size_binary(array.type):
        width = array.type.byte_width
        first = array.offset
        offsets = np.arange(first, first + len(array) + 1, dtype=np.int64) * width
        return offsets, _raw(array.buffers()[1]), None
    if pa.types.is_list(array.type) or pa.types.is_large_list(array.type):
        offsets = _offsets(array, array.buffers()[1])
        items = array.values
        if kind_of(items.type) == INT:
            return offsets, _integers(items), None
        inner, values, _ = _ragged(items)
        return offsets, values, inner
    buffers = array.buffers()
    return _offsets(array, buffers[1]), _raw(buffers[2]), None


def array_of(kind: pa.DataType, column: ColumnArrays) -> pa.Array:
    """Return the Arrow array of type `kind` over `column`; offsets must start at 0."""
    validity = None if column.valid is None else pa.py_buffer(np.packbits(column.valid, bitorder="little"))
    if column.kind == INT:
        return pa.Array.from_buffers(kind, column.count, [validity, _integer_buffer(kind, column.values)])
    assert column.offsets is not None
    if pa.types.is_list(kind):
        starts = pa.py_buffer(column.offsets.astype(np.int32))
        items = _items(kind.value_type, column)
        return pa.Array.from_buffers(kind, column.count, [validity, starts], children=[items])
    return _bytes_array(kind, column.count, validity, column.values, column.offsets)


def _integer_buffer(kind: pa.DataType, values: Array) -> pa.Buffer:
    if pa.types.is_boolean(kind):
        return pa.py_buffer(np.packbits(values.astype(bool), bitorder="little"))
    return pa.py_buffer(np.ascontiguousarray(values.astype(f"<i{kind.bit_width // 8}", copy=False)))


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
    array = _plain(values)
    if array.null_count:
        array = array.drop_null()
    start = array.offset * 16
    if len(array) == 0:
        return np.zeros((0, 2), ">u8")
    return _raw(array.buffers()[1])[start : start + 16 * len(array)].reshape(-1, 16).view(">u8")
