"""Choose rows of a table, at hardly any cost where they are all of them, none, or neighbours.

Calls that store a few messages spend most of their time on tables of forty columns and a handful of
rows, of which nearly always all or none are wanted.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Array = npt.NDArray[Any]

_EMPTY: dict[int, tuple[pa.Schema, pa.Table]] = {}


def empty(schema: pa.Schema) -> pa.Table:
    """Return a table of `schema` without rows, made once per schema object."""
    known = _EMPTY.get(id(schema))
    if known is None:
        # the schema is held beside its table, so that no other one can get its id
        known = _EMPTY[id(schema)] = schema, schema.empty_table()
    return known[1]


def taken(rows: pa.Table, places: Array) -> pa.Table:
    """Return the rows at ascending `places`, without a copy where they follow one another."""
    count = len(places)
    if count == 0:
        return rows.slice(0, 0)
    if places[-1] - places[0] + 1 == count:
        return rows if count == rows.num_rows else rows.slice(places[0], count)
    return rows.take(pa.array(places))


def kept(rows: pa.Table, holds: npt.NDArray[np.bool_]) -> pa.Table:
    """Return the rows for which `holds`, without a copy where these are all or none."""
    count = np.count_nonzero(holds)
    if count == rows.num_rows:
        return rows
    return rows.filter(pa.array(holds)) if count else rows.slice(0, 0)


def of_sources(rows: pa.Table, sources: Array) -> pa.Table:
    """Return the rows whose `source_row` is one of the ascending `sources`, with its place there instead."""
    found = rows["source_row"].to_numpy()
    places = np.minimum(np.searchsorted(sources, found), max(len(sources) - 1, 0))
    is_among = sources[places] == found if len(sources) else np.zeros(len(found), np.bool_)
    return with_column(rows, "source_row", pa.array(places.astype(np.int32))).filter(pa.array(is_among))


def as_schema(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    """Return `rows`, which have the columns of `schema` in its order, as a table of that schema."""
    if rows.schema.names == schema.names and rows.schema.types == schema.types:
        return pa.Table.from_arrays(rows.columns, schema=schema)
    return rows.cast(schema)


def with_column(rows: pa.Table, name: str, column: pa.Array | pa.ChunkedArray) -> pa.Table:
    """Return `rows` with another column in the place of `name`, its field as it was."""
    place = rows.schema.get_field_index(name)
    return rows.set_column(place, rows.schema.field(place), column)


def distinct_rows(rows: pa.Table) -> tuple[Array, Array]:
    """Return a row of each distinct kind in `rows`, and which kind each row is."""
    first, which = np.zeros(min(1, len(rows)), np.int64), np.zeros(len(rows), np.int64)
    for column in rows.columns:
        if column.null_count == len(column):
            continue
        encoded = pc.dictionary_encode(column.combine_chunks(), null_encoding="encode")
        if len(encoded.dictionary) == 1:
            continue
        pairs = which * len(encoded.dictionary) + encoded.indices.to_numpy()
        _, first, which = np.unique(pairs, return_index=True, return_inverse=True)
    return first, which
