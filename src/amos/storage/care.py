"""What the catalog keeps beside the rows: erased rows, ledgers, garbage, copies, holds, receipts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from amos.errors import IntegrityError
from amos.schemas.catalog import (
    ConflictEntry,
    CopyEntry,
    ErasedColumns,
    ErasedRow,
    ErasureEntry,
    GarbageEntry,
    HoldEntry,
    RunEntry,
    SnapshotEntry,
)
from amos.storage.catalog import Catalog
from amos.storage.tallies import Tallies

_PAGE_ROWS = 50_000


class Care:
    """Reads and writes of one open catalog; every write runs inside `catalog.writing`."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._tallies = Tallies(catalog)

    def add_erased(self, rows: Iterable[ErasedRow], erased_by: int) -> None:
        """Keep the commitments of rows that the commit `erased_by` takes."""
        sql = "INSERT OR REPLACE INTO erased_rows VALUES (?, ?, ?, ?, ?)"
        self._catalog.write_all(sql, ((*row, erased_by) for row in rows))

    def erased_rows(self, table: str | None = None) -> list[tuple[ErasedRow, int]]:
        """Return erased rows in order, each with the graph version of the commit that took it."""
        sql = (
            "SELECT table_name, graph_version, row_number, commitment, erased_by FROM erased_rows"
            " WHERE ? IS NULL OR table_name = ? ORDER BY table_name, graph_version, row_number"
        )
        return [(ErasedRow(*row[:4]), row[4]) for row in self._catalog.rows(sql, (table, table))]

    def erased_tables(self) -> list[str]:
        """Return the names under which rows are noted as gone."""
        return [row[0] for row in self._catalog.rows("SELECT DISTINCT table_name FROM erased_rows")]

    def erased_columns(self, table: str) -> ErasedColumns:
        """Return the rows of a table that are gone, as arrays."""
        pages = [_erased_page(table, rows) for rows in self._erased_pages(table)]
        empty = np.zeros(0, np.int64), np.zeros((0, 32), np.uint8), np.zeros(0, np.int64)
        return ErasedColumns(*(np.concatenate(columns) for columns in zip(empty, *pages, strict=True)))

    def _erased_pages(self, table: str) -> Iterator[list[tuple[Any, ...]]]:
        sql = (
            "SELECT graph_version, row_number, commitment, erased_by FROM erased_rows WHERE table_name = ?"
            " AND (graph_version, row_number) > (?, ?) ORDER BY graph_version, row_number LIMIT ?"
        )
        after = (-1, -1)
        while rows := self._catalog.rows(sql, (table, *after, _PAGE_ROWS)):
            yield rows
            after = rows[-1][:2]

    def put_erasure(self, entry: ErasureEntry) -> None:
        """Write an entry of the ledger of erasures, or its next state."""
        self._tallies.put("erasures", [entry])

    def erasures(self, status: str | None = None) -> list[ErasureEntry]:
        """Return the ledger of erasures, oldest first."""
        sql = "SELECT * FROM erasures WHERE ? IS NULL OR status = ? ORDER BY requested_us, erasure_id"
        return [ErasureEntry(*row) for row in self._catalog.rows(sql, (status, status))]

    def add_garbage(self, entries: Iterable[GarbageEntry]) -> None:
        """Note files that no state from now on names."""
        self._tallies.put("garbage", entries)

    def garbage(self) -> list[GarbageEntry]:
        """Return the replaced files that still stand, oldest first."""
        sql = "SELECT * FROM garbage ORDER BY replaced_us, file"
        return [GarbageEntry(*row) for row in self._catalog.rows(sql)]

    def drop_garbage(self, files: Iterable[str]) -> None:
        """Forget files that are gone."""
        for file in files:
            self._tallies.drop("garbage", "file = ?", (file,))

    def put_snapshot(self, entry: SnapshotEntry) -> None:
        """Register a verified state."""
        self.put_snapshots([entry])

    def put_snapshots(self, entries: Iterable[SnapshotEntry]) -> None:
        """Register verified states."""
        self._tallies.put("snapshots", entries)

    def retain_from(self, version: int) -> None:
        """Say that states before a graph version can no longer be told."""
        self._catalog.rows("INSERT OR REPLACE INTO meta VALUES ('retained_from', ?)", (version,))

    def snapshots(self) -> list[SnapshotEntry]:
        """Return the verified states, oldest first."""
        return [
            SnapshotEntry(*row)
            for row in self._catalog.rows("SELECT * FROM snapshots ORDER BY graph_version")
        ]

    def put_copy(self, entry: CopyEntry) -> None:
        """Register a backup or an export."""
        self._tallies.put("copies", [entry])

    def copies(self) -> list[CopyEntry]:
        """Return the backups and exports that were made, oldest first."""
        return [
            CopyEntry(*row) for row in self._catalog.rows("SELECT * FROM copies ORDER BY made_us, copy_id")
        ]

    def drop_copy(self, copy_id: bytes) -> None:
        """Forget a copy of which nothing is left."""
        self._tallies.drop("copies", "copy_id = ?", (copy_id,))

    def drop_copies(self, place: str, *, but: bytes) -> None:
        """Forget the copies that stood at `place` before the one called `but` took their room."""
        self._tallies.drop("copies", "place = ? AND copy_id <> ?", (place, but))

    def put_hold(self, entry: HoldEntry) -> None:
        """Write a legal hold, or its release."""
        self._tallies.put("holds", [entry])

    def holds(self) -> list[HoldEntry]:
        """Return the legal holds, released ones too, oldest first."""
        return [
            HoldEntry(*row) for row in self._catalog.rows("SELECT * FROM holds ORDER BY placed_us, hold_id")
        ]

    def put_run(self, entry: RunEntry) -> None:
        """Keep the receipt of a run; a repeated id replaces the earlier receipt."""
        self._tallies.put("runs", [entry])

    def beginnings(self, kind: str) -> tuple[int | None, int | None]:
        """Return when the first commit was accepted, and the last run of a kind began, in microseconds."""
        sql = (
            "SELECT (SELECT accepted_us FROM commits ORDER BY graph_version LIMIT 1),"
            " (SELECT max(started_us) FROM runs WHERE kind = ?)"
        )
        ((first, last),) = self._catalog.rows(sql, (kind,))
        return first, last

    def runs(self) -> list[RunEntry]:
        """Return all run receipts, oldest first."""
        sql = "SELECT * FROM runs ORDER BY started_us, run_id"
        return [RunEntry(*row) for row in self._catalog.rows(sql)]

    def add_conflict(self, entry: ConflictEntry) -> None:
        """Queue a refused command; `conflict_id` is given by the catalog."""
        ((number,),) = self._catalog.rows("SELECT coalesce(max(conflict_id), 0) + 1 FROM conflicts")
        self._tallies.put("conflicts", [entry._replace(conflict_id=number)])

    def conflicts(self) -> list[ConflictEntry]:
        """Return the queue of refused commands, oldest first."""
        sql = "SELECT * FROM conflicts ORDER BY conflict_id"
        return [ConflictEntry(*row) for row in self._catalog.rows(sql)]

    def differing(self) -> list[str]:
        """Return the tables whose rows are not those that were written; `meta` for the time of creation."""
        return self._tallies.differing()


def _erased_page(table: str, rows: list[tuple[Any, ...]]) -> tuple[Any, ...]:
    if any(len(row[2]) != 32 or not 0 <= row[1] < 1 << 31 for row in rows):
        raise IntegrityError(f"a commitment among the erased rows of {table} is damaged", path="erased_rows")
    versions, numbers = (np.array([row[at] for row in rows], np.int64) for at in (0, 1))
    digests = np.frombuffer(b"".join(row[2] for row in rows), np.uint8).reshape(-1, 32)
    return versions << 32 | numbers, digests, np.array([row[3] for row in rows], np.int64)
