"""Turn Arrow rows into canonical bytes and hot blobs, and blobs back into Arrow rows."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from amos.errors import IntegrityError, SchemaError, UsageError
from amos.kernels.canonical import VERSION, encode_rows
from amos.kernels.canonical_reader import Shape, decode_rows
from amos.kernels.hashing import sha256_rows
from amos.schemas.buffers import (
    ColumnArrays,
    Layout,
    array_of,
    column_arrays,
    kind_of,
    layout_of,
    plain,
    whole_columns,
)
from amos.schemas.catalog import HotEntry
from amos.schemas.cells import cells_of
from amos.schemas.columns import select_fields
from amos.schemas.state import TABLES
from amos.schemas.state import stored as stored_columns

Array = npt.NDArray[Any]

BLOB_VERSION = 1
SALT_BYTES = 16
VALUE_BY_VALUE_ROWS = 200
"""Row count up to which rows are encoded value by value."""
_HEADER_BYTES = 5


@functools.cache
def committed(table: str) -> pa.Schema:
    """Return the columns that a caller hands over and that commitments cover: all but the salt."""
    return pa.schema([field for field in TABLES[table] if field.name != "salt"])


stored = functools.cache(stored_columns)
"""Columns as they stand on disk, made once per table."""


@functools.cache
def _stored_part(table: str, names: tuple[str, ...]) -> pa.Schema:
    known = stored(table)
    unknown = [name for name in names if known.get_field_index(name) < 0]
    if unknown:
        raise UsageError(
            f"{table} has no column {unknown[0]!r}", advice=f"Columns: {', '.join(known.names)}."
        )
    return select_fields(known, names)


def stored_part(table: str, names: Sequence[str]) -> pa.Schema:
    """Return the named columns of `stored(table)`, in that order.  Raises UsageError for unknown names."""
    return _stored_part(table, tuple(names))


@functools.cache
def _shapes(table: str) -> tuple[Shape, ...]:
    return tuple(_shape(field.type) for field in committed(table))


def _shape(kind: pa.DataType) -> Shape:
    inner = kind.value_type if pa.types.is_list(kind) else kind
    width = inner.byte_width if pa.types.is_fixed_size_binary(inner) else 0
    return Shape(kind_of(kind), width)


@functools.cache
def salt_width(table: str) -> int:
    """Return the bytes of salt before each row: 16, or 0 for tables without a salt (events)."""
    return SALT_BYTES if "salt" in TABLES[table].names else 0


def check_rows(table: str, rows: pa.Table) -> pa.Table:
    """Return `rows` as the table's own columns.  Raises SchemaError when they do not fit."""
    if table not in TABLES or table == "events":
        raise SchemaError(f"no rows can be committed to {table!r}")
    wanted = committed(table)
    if rows.schema.equals(wanted):
        return rows
    if rows.schema.names != wanted.names or rows.schema.types != wanted.types:
        found = {field.name: field.type for field in rows.schema}
        missing = [f"{field.name} {field.type}" for field in wanted if found.get(field.name) != field.type]
        extra = [name for name in found if name not in wanted.names]
        raise SchemaError(
            f"rows of {table}: missing or of another type: {missing}; not known: {extra}; order counts"
        )
    return rows.cast(wanted)


@functools.cache
def _layouts(table: str) -> tuple[tuple[pa.Field, Layout], ...]:
    return tuple((field, layout_of(field.type)) for field in committed(table))


def encode_table(table: str, rows: pa.Table, salts: Array) -> tuple[Array, Array]:
    """Return (buffer, offsets): for each row its salt, then its canonical bytes.

    rows: the columns that are `committed`, in their order.
    Raises SchemaError when a column that must not be null is null in some row.
    """
    if len(rows) <= VALUE_BY_VALUE_ROWS:
        return _encode_values(table, rows, salts)
    columns = []
    for field in committed(table):
        arrays = column_arrays(rows.column(field.name))
        if arrays.valid is not None and not field.nullable:
            raise _null_in(table, field)
        columns.append(arrays)
    return encode_rows(columns, len(rows), lead=salts)


def _encode_values(table: str, rows: pa.Table, salts: Array) -> tuple[Array, Array]:
    """Do the same value by value."""
    width = salts.shape[1]
    octets, head = salts.tobytes(), bytes([VERSION])
    columns = [[octets[at * width : (at + 1) * width] + head for at in range(len(rows))]]
    for (field, layout), column in zip(_layouts(table), whole_columns(rows), strict=True):
        if column.null_count and not field.nullable:
            raise _null_in(table, field)
        if column.type.equals(field.type):
            columns.append(cells_of(column, layout))
        else:
            found = plain(column)
            columns.append(cells_of(found, layout_of(found.type)))
    encoded = [b"".join(row) for row in zip(*columns, strict=True)]
    offsets = np.zeros(len(rows) + 1, np.int64)
    np.cumsum([len(row) for row in encoded], out=offsets[1:])
    return np.frombuffer(b"".join(encoded), np.uint8), offsets


def _null_in(table: str, field: pa.Field) -> SchemaError:
    return SchemaError(f"rows of {table}: {field.name} is null in some row")


def commitments(table: str, buffer: Array, offsets: Array) -> Array:
    """Return (n, 32): SHA-256 of the table's domain, the salt and the canonical bytes of each row."""
    return sha256_rows(buffer, offsets, prefix=f"amos/row/1/{table}".encode())


def pack_blob(buffer: Array, offsets: Array) -> bytes:
    """Return a hot blob: version byte, uint32 count, uint32 length of each row, the rows."""
    lengths = np.diff(offsets).astype("<u4")
    head = bytes([BLOB_VERSION]) + len(lengths).to_bytes(4, "little")
    return head + lengths.tobytes() + buffer[offsets[0] : offsets[-1]].tobytes()


def blob_rows(entry: HotEntry) -> Array:
    """Return (n, 2) int64 first byte and byte after each row of a blob, inside the blob."""
    body, where = entry.body, f"hot rows of {entry.table} at version {entry.graph_version}"
    if len(body) < _HEADER_BYTES or body[0] != BLOB_VERSION:
        raise IntegrityError(f"{where}: unknown blob version", path=entry.table)
    count = int.from_bytes(body[1:_HEADER_BYTES], "little")
    start = _HEADER_BYTES + 4 * count
    if count != entry.row_count or start > len(body):
        raise IntegrityError(
            f"{where}: {count} rows where {entry.row_count} were committed", path=entry.table
        )
    lengths = np.frombuffer(body, "<u4", count=count, offset=_HEADER_BYTES).astype(np.int64)
    edges = np.zeros(count + 1, np.int64)
    np.cumsum(lengths, out=edges[1:])
    if start + edges[-1] != len(body):
        raise IntegrityError(f"{where}: the blob is not as long as its rows", path=entry.table)
    return np.stack([edges[:-1] + start, edges[1:] + start], axis=1)


def unpack_blobs(table: str, entries: Sequence[HotEntry]) -> pa.Table:
    """Return the rows of hot blobs of one table, in order, with salt and the columns of storage.

    Raises IntegrityError when a blob does not decode.
    """
    spans, base = [], 0
    for entry in entries:
        spans.append(blob_rows(entry) + base)
        base += len(entry.body)
    octets = np.frombuffer(b"".join(entry.body for entry in entries), np.uint8)
    edges = np.concatenate(spans)
    width = salt_width(table)
    salts = octets[edges[:, :1] + np.arange(width)] if width else np.zeros((len(edges), 0), np.uint8)
    edges[:, 0] += width
    try:
        decoded = decode_rows(octets, edges, _shapes(table))
        arrays = [
            array_of(field.type, ColumnArrays(*column))
            for field, column in zip(committed(table), decoded, strict=True)
        ]
    except (ValueError, IndexError) as cause:
        versions = f"{entries[0].graph_version} to {entries[-1].graph_version}"
        message = f"hot rows of {table}, versions {versions}: {cause}"
        raise IntegrityError(message, path=table) from cause
    if width:
        arrays.append(
            pa.FixedSizeBinaryArray.from_buffers(pa.binary(width), len(salts), [None, pa.py_buffer(salts)])
        )
    counts = [entry.row_count for entry in entries]
    versions_of_rows = np.repeat([entry.graph_version for entry in entries], counts)
    numbers = np.concatenate([np.arange(count, dtype=np.int32) for count in counts])
    arrays += [pa.array(versions_of_rows, pa.int64()), pa.array(numbers, pa.int32())]
    return pa.Table.from_arrays(arrays, schema=stored(table))


def with_storage_columns(table: str, rows: pa.Table, salts: Array, version: int) -> pa.Table:
    """Return committed rows as they are stored: salt, graph version and row number added."""
    count = len(rows)
    arrays = list(rows.columns)
    if salts.shape[1]:
        raw = pa.py_buffer(np.ascontiguousarray(salts))
        arrays.append(pa.FixedSizeBinaryArray.from_buffers(pa.binary(SALT_BYTES), count, [None, raw]))
    arrays.append(pa.array(np.full(count, version, np.int64)))
    arrays.append(pa.array(np.arange(count, dtype=np.int32)))
    return pa.Table.from_arrays(arrays, schema=stored(table))


def stored_commitments(table: str, rows: pa.Table) -> Array:
    """Return (n, 32) commitments recomputed from stored rows and their salts."""
    salts = np.zeros((len(rows), 0), np.uint8)
    if salt_width(table):
        column = column_arrays(rows.column("salt"))
        assert column.offsets is not None
        salts = column.values[column.offsets[0] : column.offsets[-1]].reshape(-1, SALT_BYTES)
    buffer, offsets = encode_table(table, rows.select(committed(table).names), salts)
    return commitments(table, buffer, offsets)
