"""Walk through current rows one row group at a time, so that memory stays flat however much is stored."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np
import pyarrow as pa

from amos.flow.sight import Sight
from amos.journal.snapshot import Snapshot, latest_rows
from amos.schemas.state import PRIMARY_KEYS, VERSION_COLUMNS


class Held(Protocol):
    """Something that holds tables: a pinned snapshot, or an export."""

    def groups(self, name: str, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """Yield all row versions of a table part by part, in commit order."""


def newest_rows(held: Held, table: str, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
    """Yield the newest version of every row, in commit order of that version.

    Of an export ids and version numbers stay in memory, 20 bytes a row.
    """
    if isinstance(held, Snapshot):
        yield from held.newest(table, columns)
        return
    if table not in VERSION_COLUMNS:
        yield from held.groups(table, columns)
        return
    keys = list(held.groups(table, [PRIMARY_KEYS[table], VERSION_COLUMNS[table]]))
    if not keys:
        return
    whole = pa.concat_tables(keys)
    newest = latest_rows(*whole.columns)
    is_newest = np.ones(whole.num_rows, np.bool_)
    if newest is not None:
        is_newest[:] = False
        is_newest[newest] = True
    start = 0
    for rows in held.groups(table, columns):
        stop = start + rows.num_rows
        kept = is_newest[start:stop]
        yield rows if kept.all() else rows.filter(pa.array(kept))
        start = stop


def rows_in_sight(sight: Sight, table: str, columns: Sequence[str]) -> Iterator[pa.Table]:
    """Yield the current rows that the caller may see, part by part."""
    if table == "events" and sight.scope:  # which events are in sight depends on all other tables
        yield sight.current(table, list(columns))
        return
    for rows in newest_rows(sight.snapshot, table):
        seen = sight.seen(table, rows).select(list(columns))
        if seen.num_rows:
            yield seen
