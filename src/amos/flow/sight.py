"""What a caller may look at: one filter for every command that prints rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from amos.clock import to_us
from amos.errors import UsageError
from amos.flow.versions import latest
from amos.journal.store import Snapshot
from amos.schemas.columns import ID, SCOPE_NAMES
from amos.schemas.state import PRIMARY_KEYS, TABLES
from amos.schemas.vocabulary import UNSEEN

GLOBAL = "global"
"""A scope value that fits every request."""

Mask = NDArray[np.bool_]

_GONE = ("tombstoned", "deleted")
_LINKS = {
    "decisions": (("source_id", "sources"),),
    "edges": (("from_id", "atoms"), ("to_id", "atoms")),
    "lineage": (("predecessor_id", "atoms"), ("successor_id", "atoms")),
    "echoes": (("atom_id", "atoms"), ("source_id", "sources")),
    "outcomes": (("source_id", "sources"),),
    "feedback": (("source_id", "sources"), ("atom_id", "atoms"), ("turn_id", "sources")),
    "mentions": (("source_id", "sources"),),
}
"""Tables without a scope of their own: a row is in sight when the rows it names are; null names nothing."""

_READ_BY_MASK = {
    "disputes": ("slot_id",),
    "conversations": ("conversation_id",),
    "events": ("payload", "version"),
}
"""Further columns that the mask of a table looks at."""

_OF_WHOLE_TALK = ("title", "started_at", *(f"scope_{name}" for name in SCOPE_NAMES))
"""Columns of a conversation that may stem from turns of another scope."""


@dataclass(frozen=True, kw_only=True)
class Sight:
    """One pinned version as one caller sees it now.

    scope: narrows to rows of these values and rows without one; it never widens.  as_of_us: the instant
    at which validity is judged instead of `now`, in microseconds.
    """

    snapshot: Snapshot
    now: datetime
    as_of_us: int | None = None
    scope: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def __post_init__(self) -> None:
        unknown = sorted(set(self.scope) - set(SCOPE_NAMES))
        if unknown:
            raise UsageError(
                f"no scope is called {unknown[0]!r}", advice=f"Scopes are {', '.join(SCOPE_NAMES)}."
            )

    @property
    def now_us(self) -> int:
        """The instant at which validity is judged, in microseconds."""
        return to_us(self.now) if self.as_of_us is None else self.as_of_us

    def current(self, table: str, columns: list[str] | None = None) -> pa.Table:
        """Return the current rows in sight; `columns` limits what is read and returned."""
        wanted = columns or list(TABLES[table].names)
        needed = list(dict.fromkeys([*wanted, *self._filter_columns(table)]))
        return self.seen(table, self.snapshot.current(table, needed)).select(wanted)

    def seen(self, table: str, rows: pa.Table) -> pa.Table:
        """Return the rows in sight; a talk shared with another scope keeps nothing of that scope."""
        rows = rows.filter(pa.array(self.mask(table, rows)))
        if table == "conversations" and self.scope:
            is_own = pa.array(self._in_scope(rows))
            for name in _OF_WHOLE_TALK:
                if name in rows.schema.names:
                    place = rows.schema.get_field_index(name)
                    column = pc.if_else(is_own, rows[name], pa.scalar(None, rows[name].type))
                    rows = rows.set_column(place, name, column)
        return rows

    def mask(self, table: str, rows: pa.Table) -> Mask:
        """Return which rows of `table` are in sight: scope, lifecycle, and that of what they name."""
        seen = self._in_scope(rows)
        if "lifecycle_state" in rows.schema.names:
            seen &= ~_is_in(rows["lifecycle_state"], pa.array(_GONE))
        if table == "conversations" and self.scope:
            spoken = self.current("sources", ["conversation_id"])["conversation_id"].combine_chunks()
            seen |= _is_in(rows["conversation_id"], spoken.unique())
        for column, other in _LINKS.get(table, ()) if self.scope else ():
            seen &= self._named(rows[column], other)
        if table == "disputes" and self.scope:
            seen &= self._sides(rows)
        if table == "events" and self.scope:
            seen &= self._written(rows)
        return seen

    def _filter_columns(self, table: str) -> list[str]:
        names = TABLES[table].names
        scopes = [f"scope_{name}" for name in self.scope if f"scope_{name}" in names]
        own = ["lifecycle_state"] if "lifecycle_state" in names else []
        links = [column for column, _ in _LINKS.get(table, ())] if self.scope else []
        return [*scopes, *own, *links, *(_READ_BY_MASK.get(table, ()) if self.scope else ())]

    def _in_scope(self, rows: pa.Table) -> Mask:
        seen = np.ones(rows.num_rows, bool)
        for name, value in self.scope.items():
            column = f"scope_{name}"
            if column in rows.schema.names:
                free = pc.is_null(rows[column]).to_numpy(zero_copy_only=False)
                seen &= free | _is_in(rows[column], pa.array([value, GLOBAL]))
        return seen

    def _named(self, ids: pa.ChunkedArray, table: str) -> Mask:
        key = {"sources": "source_id", "atoms": "atom_id"}[table]
        columns = [key, *self._filter_columns(table)]
        found = self.snapshot.lookup(table, key, ids.combine_chunks().unique().drop_null())
        rows = latest(found, table).select(columns)
        held = rows.filter(pa.array(self.mask(table, rows)))[key]
        named: Mask = pc.is_null(ids).to_numpy(zero_copy_only=False)
        return named | _is_in(ids, held.combine_chunks())

    def _sides(self, rows: pa.Table) -> Mask:
        """Return which disputes are about a slot that a claim in sight has."""
        atoms = self.current("atoms", ["slot_id"])
        return _is_in(rows["slot_id"], atoms["slot_id"].combine_chunks())

    def _written(self, rows: pa.Table) -> Mask:
        """Return which events wrote a row in sight."""
        wrote = np.array([msgspec.json.decode(payload)["table"] for payload in rows["payload"].to_pylist()])
        seen = np.zeros(rows.num_rows, bool)
        for table in np.unique(wrote).tolist():
            key = PRIMARY_KEYS[table]
            every = self.snapshot.table(table, [key, "graph_version"])
            own = _is_in(every[key], self.current(table, [key])[key].combine_chunks())
            versions = every["graph_version"].filter(pa.array(own)).combine_chunks().unique()
            seen |= (wrote == table) & _is_in(rows["version"], versions)
        return seen


def _is_in(column: pa.ChunkedArray, values: pa.Array) -> Mask:
    found: Mask = pc.is_in(column, value_set=values).to_numpy()
    return found


def is_withheld(flags: int) -> bool:
    """Return whether the text of a source with these flags is never shown."""
    return bool(flags & UNSEEN)


def latest_by_id(
    snapshot: Snapshot, table: str, column: str, ids: list[bytes]
) -> dict[bytes, dict[str, Any]]:
    """Return the current rows whose `column` is one of `ids`, by that column."""
    if not ids:
        return {}
    rows = latest(snapshot.lookup(table, column, pa.array(ids, ID)), table)
    return {row[column]: row for row in rows.to_pylist()}
