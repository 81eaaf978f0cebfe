"""What an open shard says of itself beside its rows: for verification, reports and care."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import pyarrow as pa

from amos.clock import to_us
from amos.journal.events import canonical_json
from amos.journal.rows import stored
from amos.schemas.catalog import (
    ConflictEntry,
    CopyEntry,
    ErasedRow,
    ErasureEntry,
    GarbageEntry,
    HoldEntry,
    Records,
    RunEntry,
    SegmentEntry,
    SnapshotEntry,
)


class Inspection:
    """Methods of `Shard` that need its catalog and files alone."""

    _catalog: Any
    _care: Any
    _files: Any
    _lock: Any

    def conflicts(self) -> list[ConflictEntry]:
        """Return the refused commands, oldest first."""
        with self._lock:
            return list(self._catalog.conflicts())

    def text(self, digest: bytes) -> tuple[str, str] | None:
        """Return (kind, body) of a policy or contract kept by a commit, or None."""
        with self._lock:
            found: tuple[str, str] | None = self._catalog.text(digest)
            return found

    def texts(self) -> list[tuple[bytes, str, str]]:
        """Return (digest, kind, body) of everything kept beside the rows by commits."""
        with self._lock:
            return list(self._catalog.texts())

    def version_at(self, instant_us: int) -> int:
        """Return the newest graph version that was accepted at or before an instant, 0 when none was."""
        with self._lock:
            version: int = self._catalog.version_at(instant_us)
            return version

    def runs(self) -> list[RunEntry]:
        """Return the receipts of all runs, oldest first."""
        with self._lock:
            return list(self._catalog.runs())

    def records(self) -> Records:
        """Return everything the catalog says, for verification."""
        with self._lock, self._catalog.reading():
            return Records(self._catalog.commits(), self._catalog.segments(), self._catalog.hot())

    def check_segment(self, entry: SegmentEntry) -> None:
        """Hash a segment's file.  Raises IntegrityError when it is missing or differs."""
        self._files.verify(entry)

    def read_segment(self, entry: SegmentEntry) -> pa.Table:
        """Return all stored rows of a segment."""
        with self._lock:
            rows: pa.Table = self._files.read(entry, stored(entry.table).names)
            return rows

    def check_catalog(self) -> list[str]:
        """Return what is wrong with the structure of the catalog's file."""
        with self._lock:
            return list(self._catalog.check())

    def erased_rows(self, table: str | None = None) -> list[tuple[ErasedRow, int]]:
        """Return the rows that are gone, in order, each with the version of the commit that took it."""
        with self._lock:
            return list(self._care.erased_rows(table))

    def erasures(self, status: str | None = None) -> list[ErasureEntry]:
        """Return the ledger of erasures, oldest first."""
        with self._lock:
            return list(self._care.erasures(status))

    def garbage(self) -> list[GarbageEntry]:
        """Return replaced segment files that still stand."""
        with self._lock:
            return list(self._care.garbage())

    def snapshots(self) -> list[SnapshotEntry]:
        """Return the verified states, oldest first."""
        with self._lock:
            return list(self._care.snapshots())

    def copies(self) -> list[CopyEntry]:
        """Return the backups and exports that were made."""
        with self._lock:
            return list(self._care.copies())

    def holds(self) -> list[HoldEntry]:
        """Return the legal holds, released ones too."""
        with self._lock:
            return list(self._care.holds())

    def record_run(
        self,
        run_id: bytes,
        kind: str,
        started: datetime,
        finished: datetime,
        receipt: str | Mapping[str, object],
    ) -> None:
        """Keep the receipt of a run, as JSON, outside chain and digest."""
        text = receipt if isinstance(receipt, str) else canonical_json(receipt)
        entry = RunEntry(run_id, kind, to_us(started), to_us(finished), text)
        with self._lock, self._catalog.writing("record run"):
            self._catalog.insert_run(entry)
