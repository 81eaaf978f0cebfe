"""Some rows of an export in memory, found by their ids as those of a snapshot are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from amos.flow.streaming import Held, newest_rows
from amos.schemas.columns import ID, select_fields
from amos.schemas.state import stored


class HeldRows:
    """Rows by table."""

    def __init__(self, tables: Mapping[str, pa.Table]) -> None:
        self._tables = tables

    def lookup(
        self, name: str, column: str, keys: pa.Array | pa.ChunkedArray, columns: Sequence[str] | None = None
    ) -> pa.Table:
        """Return the rows of a table whose id `column` is among `keys`."""
        rows = self._tables[name]
        wanted = keys.combine_chunks() if isinstance(keys, pa.ChunkedArray) else keys
        found = rows.filter(pc.is_in(rows[column], value_set=wanted.cast(ID)))
        return found if columns is None else found.select(columns)


def chosen_rows(held: Held, table: str, columns: list[str], key: str, ids: pa.Array) -> pa.Table:
    """Return the newest rows of a table whose id `key` is among `ids`."""
    parts = [part.filter(pc.is_in(part[key], value_set=ids)) for part in newest_rows(held, table, columns)]
    return pa.concat_tables(parts) if parts else stored_rows(table, columns)


def all_rows(held: Held, table: str, columns: list[str]) -> pa.Table:
    """Return the newest rows of a table."""
    parts = list(newest_rows(held, table, columns))
    return pa.concat_tables(parts) if parts else stored_rows(table, columns)


def stored_rows(table: str, columns: Sequence[str]) -> pa.Table:
    """Return no rows of a table."""
    return select_fields(stored(table), columns).empty_table()
