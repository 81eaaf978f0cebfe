"""Current rows of a pinned version, as the deciding stages ask for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from amos.admission.cells import cells
from amos.flow.prepare import UNSALTED_CONVERSATIONS, first_rows
from amos.flow.versions import latest
from amos.journal.store import Snapshot
from amos.schemas.buffers import plain
from amos.schemas.choosing import empty, kept, taken
from amos.schemas.columns import ID
from amos.schemas.state import PRIMARY_KEYS, VERSION_COLUMNS


class NothingStored:
    """Answers for a store that holds nothing."""

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


class SnapshotRows:
    """Answers from one pinned version."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot

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

    def conversations(self, rows: pa.Table) -> dict[bytes, dict[str, Any]]:
        """Return the stored rows of the conversations in `rows`, by id."""
        ids = rows["conversation_id"].to_pylist()
        known = self.rows("conversations", "conversation_id", ids, UNSALTED_CONVERSATIONS.names)
        return {row["conversation_id"]: row for row in known}


def changed_conversations(rows: pa.Table, held: Mapping[bytes, dict[str, Any]]) -> pa.Table:
    """Return new conversations, and the `held` ones whose title, start or unknown times change."""
    if not held:
        return rows
    changed = []
    for row in rows.to_pylist():
        stored = held.get(row["conversation_id"])
        merged = row if stored is None else _merged(stored, row)
        if merged is not None:
            changed.append({field.name: merged[field.name] for field in UNSALTED_CONVERSATIONS})
    if not changed:
        return empty(UNSALTED_CONVERSATIONS)
    return pa.Table.from_pylist(changed, schema=UNSALTED_CONVERSATIONS)


def _merged(known: dict[str, Any], row: dict[str, Any]) -> dict[str, Any] | None:
    """Return the next version of a conversation, None when nothing changed."""
    starts = [at for at in (known["started_at"], row["started_at"]) if at is not None]
    wanted = {
        "title": known["title"] or row["title"],
        "started_at": min(starts, default=None),
        "has_unknown_time": known["has_unknown_time"] or row["has_unknown_time"],
    }
    if all(known[name] == value for name, value in wanted.items()):
        return None
    return {**known, **wanted, "version": known["version"] + 1}
