"""Current rows of a pinned version, as the deciding stages ask for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from amos.admission.cells import cells
from amos.clock import from_us
from amos.evidence.capture import CAPTURED
from amos.flow.prepare import UNSALTED_CONVERSATIONS, first_rows
from amos.flow.versions import latest
from amos.journal.store import Snapshot
from amos.schemas.buffers import plain
from amos.schemas.choosing import kept, taken
from amos.schemas.columns import ID
from amos.schemas.state import PRIMARY_KEYS, VERSION_COLUMNS

_TOLD = ("conversation_id", "title", "started_at", "has_unknown_time")


class Told(NamedTuple):
    """What the messages of a conversation say of it."""

    title: str | None
    started_us: int | None
    has_unknown_time: bool


class NothingStored:
    """Answers for a store that holds nothing; sources: those that are known all the same."""

    def __init__(self, sources: Snapshot | pa.Table | None = None) -> None:
        self._sources = sources

    def origins(self, ids: pa.Array, columns: Sequence[str]) -> pa.Table:
        """Return the rows of the sources with these ids that are known."""
        return origins_in(self._sources, ids, columns)

    def rows(
        self,
        table: str,  # noqa: ARG002
        column: str,  # noqa: ARG002
        keys: list[bytes],  # noqa: ARG002
        columns: Sequence[str] | None = None,  # noqa: ARG002
    ) -> list[dict[str, Any]]:
        """Return no rows."""
        return []

    def versions(self, table: str, column: str, keys: list[bytes]) -> dict[bytes, int]:  # noqa: ARG002
        """Return no versions."""
        return {}


def origins_in(sources: Snapshot | pa.Table | None, ids: pa.Array, columns: Sequence[str]) -> pa.Table:
    """Return the current rows of the sources with these ids; columns: of SOURCES without salts."""
    if sources is None:
        return CAPTURED.empty_table().select(columns)
    if isinstance(sources, pa.Table):
        return sources.select(columns).filter(pc.is_in(sources["source_id"], value_set=ids))
    found = sources.lookup("sources", "source_id", ids, [*columns, "revision"])
    return latest(found, "sources").select(columns)


class SnapshotRows:
    """Answers from one pinned version; fresh: sources that come on top of it."""

    def __init__(self, snapshot: Snapshot, *, fresh: pa.Table | None = None) -> None:
        self._snapshot = snapshot
        self._fresh = fresh

    def origins(self, ids: pa.Array, columns: Sequence[str]) -> pa.Table:
        """Return the current rows, with these columns, of the sources with these ids that are known."""
        here = origins_in(self._fresh, ids, columns)
        if self._snapshot.version == 0 or here.num_rows == len(ids):
            return here
        others = ids.filter(pc.invert(pc.is_in(ids, value_set=plain(here["source_id"]))))
        return pa.concat_tables([here, origins_in(self._snapshot, others, columns).cast(here.schema)])

    def rows(
        self, table: str, column: str, keys: list[bytes], columns: Sequence[str] | None = None
    ) -> list[dict[str, Any]]:
        """Return the current rows of `table` whose `column` is one of `keys`."""
        if not keys:
            return []
        found = self._snapshot.lookup(table, column, pa.array(keys, ID), columns)
        return list(latest(found, table).to_pylist())

    def versions(self, table: str, column: str, keys: list[bytes]) -> dict[bytes, int]:
        """Return the current row version per id in `column` for those of `keys` that the store holds."""
        if not keys:
            return {}
        found = self._snapshot.lookup(table, column, pa.array(keys, ID), [column, VERSION_COLUMNS[table]])
        newest: dict[bytes, int] = {}
        for one, version in zip(*map(cells, found.columns), strict=True):
            if version > newest.get(one, 0):
                newest[one] = version
        return newest

    def absent(self, table: str, rows: pa.Table) -> pa.Table:
        """Return the first row of each id in `rows` that the store does not hold."""
        column = PRIMARY_KEYS[table]
        if rows.num_rows == 0:
            return rows
        rows = taken(rows, first_rows(rows[column])[1])
        ids = plain(rows[column])
        held = self._snapshot.lookup(table, column, ids, [column])
        if held.num_rows == 0:
            return rows
        is_held = pc.is_in(ids, value_set=plain(held[column]))
        return kept(rows, ~is_held.to_numpy(zero_copy_only=False))

    def conversations(self, rows: pa.Table) -> dict[bytes, Told]:
        """Return what is stored of the conversations in `rows`, by id."""
        ids = plain(rows["conversation_id"])
        found = latest(
            self._snapshot.lookup("conversations", "conversation_id", ids, [*_TOLD, "version"]),
            "conversations",
        )
        return _told(found)

    def changed_conversations(self, rows: pa.Table, held: Mapping[bytes, Told]) -> pa.Table:
        """Return new conversations, and the `held` ones whose title, start or unknown times change."""
        if not held:
            return rows
        here = _told(rows)
        new = kept(rows, np.array([one not in held for one in here], np.bool_))
        merged = {one: _merged(held[one], told) for one, told in here.items() if one in held}
        changed = [one for one, told in merged.items() if told != held[one]]
        if not changed:
            return new
        stored = self.rows("conversations", "conversation_id", changed, UNSALTED_CONVERSATIONS.names)
        later = [{**row, **_next(row, merged[row["conversation_id"]])} for row in stored]
        return pa.concat_tables([new, pa.Table.from_pylist(later, schema=UNSALTED_CONVERSATIONS)])


def _told(rows: pa.Table) -> dict[bytes, Told]:
    ids, titles, starts, unknown = (rows[name] for name in _TOLD)
    columns = titles.to_pylist(), starts.cast(pa.int64()).to_pylist(), unknown.to_pylist()
    return dict(zip(cells(ids), map(Told._make, zip(*columns, strict=True)), strict=True))


def _merged(known: Told, here: Told) -> Told:
    starts = [at for at in (known.started_us, here.started_us) if at is not None]
    return Told(
        known.title or here.title,
        min(starts, default=None),
        known.has_unknown_time or here.has_unknown_time,
    )


def _next(row: dict[str, Any], told: Told) -> dict[str, Any]:
    """Return what differs in the next version of a conversation."""
    started = None if told.started_us is None else from_us(told.started_us)
    return {
        "version": row["version"] + 1,
        "title": told.title,
        "started_at": started,
        "has_unknown_time": told.has_unknown_time,
    }
