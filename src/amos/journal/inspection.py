"""What an open shard says of itself beside its rows: for verification, reports and care."""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa

from amos.clock import from_us, to_us
from amos.journal.events import FIRST_LINK, canonical_json
from amos.journal.rows import stored
from amos.schemas.catalog import (
    CommitEntry,
    ConflictEntry,
    CopyEntry,
    ErasedColumns,
    ErasedRow,
    ErasureEntry,
    GarbageEntry,
    HoldEntry,
    Layout,
    Records,
    RunEntry,
    SegmentEntry,
    SnapshotEntry,
)

_PAGE_ROWS = 10_000


class Inspection:
    """Methods of `Shard` that need its catalog and files alone."""

    folder: Path
    key: bytes

    _catalog: Any
    _care: Any
    _files: Any
    _lock: Any

    def conflicts(self) -> list[ConflictEntry]:
        """Return the refused commands, oldest first."""
        with self._lock:
            return list(self._care.conflicts())

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

    def accepted_at(self, versions: Iterable[int]) -> dict[int, datetime]:
        """Return when each of these graph versions was accepted; unknown ones are absent."""
        with self._lock:
            found = {version: self._catalog.accepted_us(version) for version in versions}
        return {version: from_us(moment) for version, moment in found.items() if moment is not None}

    def last_version_of(self, operation: str) -> int:
        """Return the newest graph version that an operation committed, 0 when none did."""
        with self._lock:
            version: int = self._catalog.last_version_of(operation)
            return version

    def beginnings(self, kind: str) -> tuple[int | None, int | None]:
        """Return when the first commit was accepted, and the last run of a kind began, in microseconds."""
        with self._lock:
            first, last = self._care.beginnings(kind)
        return first, last

    def runs(self) -> list[RunEntry]:
        """Return the receipts of all runs, oldest first."""
        with self._lock:
            return list(self._care.runs())

    def records(self) -> Records:
        """Return everything the catalog says, for verification."""
        with self._lock, self._catalog.reading():
            return Records(self._catalog.commits(), self._catalog.segments(), self._catalog.hot())

    def layout(self) -> Layout:
        """Return where the rows stand now."""
        with self._lock, self._catalog.reading():
            return Layout(self._catalog.state()[0], self._catalog.segments(), self._catalog.hot())

    def link(self, version: int) -> bytes:
        """Return the running link after graph version `version`, 32 zero bytes before the first."""
        with self._lock:
            found: bytes | None = self._catalog.link(version)
            return FIRST_LINK if found is None else found

    def commit_pages(self, *, until: int, size: int = 4_096) -> Iterator[list[CommitEntry]]:
        """Yield the commits up to graph version `until`, oldest first, in lists of `size`."""
        since = -(2**62)
        while True:
            with self._lock:
                page = [
                    entry for entry in self._catalog.commit_page(since, size) if entry.graph_version <= until
                ]
            if not page:
                return
            yield page
            since = page[-1].graph_version

    def check_segment(self, entry: SegmentEntry) -> None:
        """Hash a segment's file.  Raises IntegrityError when it is missing or differs."""
        self._files.scrub(entry)

    def read_segment(
        self, entry: SegmentEntry, *, group: int | None = None, columns: Sequence[str] | None = None
    ) -> pa.Table:
        """Return stored columns, all when None, of a segment or of one of its row groups."""
        with self._lock:
            wanted = stored(entry.table).names if columns is None else columns
            rows: pa.Table = self._files.read(entry, wanted, group=group)
            return rows

    def meta(self, name: str) -> Any:
        """Return one value of the catalog's `meta`, or None."""
        with self._lock:
            return self._catalog.meta(name)

    @property
    def retained_from(self) -> int:
        """The oldest graph version that can still be told, 0 when all can."""
        return int(self.meta("retained_from") or 0)

    def keyed_state(self, digest: str) -> str:
        """Return a state digest under the shard's key: what may stand beside rows that are erased later."""
        return hmac.digest(self.key, f"amos/state/1{digest}".encode(), "sha256").hex()

    @property
    def label(self) -> str:
        """Tenant and workspace as one text."""
        return "/".join(self.labels())

    def labels(self) -> tuple[str, str]:
        """Return tenant and workspace, as the folder is named."""
        tenant, workspace = self.folder.parts[-2:]
        return tenant, workspace

    def promises(self) -> Iterator[list[tuple[bytes, bytes, int]]]:
        """Yield (scope, payload digest, graph version) of the idempotency promises, in pages."""
        after = b""
        while True:
            with self._lock:
                page = self._catalog.promise_page(after, _PAGE_ROWS)
            if not page:
                return
            yield page
            after = page[-1][0]

    def check_catalog(self) -> list[str]:
        """Return what is wrong with the structure of the catalog's file."""
        with self._lock:
            return list(self._catalog.check())

    def erased_rows(self, table: str | None = None) -> list[tuple[ErasedRow, int]]:
        """Return the rows that are gone, in order, each with the version of the commit that took it."""
        with self._lock:
            return list(self._care.erased_rows(table))

    def erased_columns(self, table: str) -> ErasedColumns:
        """Return the rows of a table that are gone, as arrays."""
        with self._lock:
            columns: ErasedColumns = self._care.erased_columns(table)
            return columns

    def erased_tables(self) -> list[str]:
        """Return the names under which rows are noted as gone."""
        with self._lock:
            return list(self._care.erased_tables())

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

    def differing(self) -> list[str]:
        """Return the tables beside the memory whose rows are not those that were written."""
        with self._lock:
            return list(self._care.differing())

    def record_run(
        self,
        run_id: bytes,
        kind: str,
        started: datetime,
        finished: datetime,
        receipt: str | Mapping[str, object],
        *,
        is_synced: bool = True,
    ) -> None:
        """Keep the receipt of a run, as JSON, outside chain and digest.

        is_synced: wait for the disk; without it a power cut can lose the receipt, never what it tells of.
        """
        text = receipt if isinstance(receipt, str) else canonical_json(receipt)
        entry = RunEntry(run_id, kind, to_us(started), to_us(finished), text)
        with self._lock, self._catalog.writing("record run", is_synced=is_synced):
            self._care.put_run(entry)
