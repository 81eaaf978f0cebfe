"""A shard: the one place where rows are committed, and where snapshots of them begin."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import NamedTuple, Self, Unpack

import pyarrow as pa

from amos.clock import to_us
from amos.errors import IntegrityError, UsageError
from amos.identity import random_id
from amos.journal.appending import adopt, large_tables, numbered, require_unmoved
from amos.journal.drafts import Draft, draft_commit
from amos.journal.events import EventRows, canonical_json
from amos.journal.exclusive import ExclusiveWriter
from amos.journal.ledger import Ledger, load_ledger
from amos.journal.requests import CommitRequest, CommitTerms, HeadMoved, IdempotencyConflict, Reads
from amos.journal.rows import stored, unpack_blobs
from amos.journal.snapshot import Reading, Snapshot
from amos.schemas.catalog import (
    ConflictEntry,
    HotEntry,
    Idempotency,
    Records,
    RunEntry,
    SegmentEntry,
)
from amos.storage.catalog import Catalog
from amos.storage.commit_log import CommitLog
from amos.storage.failpoints import reach
from amos.storage.filesystems import refuse_network_disk
from amos.storage.folders import (
    clean_orphans,
    find_orphans,
    find_shard,
    make_inner_folders,
    make_shard,
)
from amos.storage.keys import fingerprint, read_key
from amos.storage.locks import pin_lock, writer_lock
from amos.storage.places import place
from amos.storage.segments import SegmentReader

__all__ = [
    "LOOKUPS",
    "EventRows",
    "ExclusiveWriter",
    "HeadMoved",
    "Idempotency",
    "Shard",
    "Snapshot",
    "refuse_unsafe_disk",
]

LOOKUPS = [
    ("sources", "source_id"),
    ("conversations", "conversation_id"),
    ("entities", "entity_id"),
    ("candidates", "history_id"),
    ("candidates", "source_id"),
    ("decisions", "decision_id"),
    ("decisions", "source_id"),
    ("atoms", "atom_id"),
    ("edges", "from_id"),
    ("lineage", "successor_id"),
    ("disputes", "dispute_id"),
]
"""Id columns that decisions look rows up by; any other 16-byte column works as well."""

_KEY_ADVICE = "Restore keys.sqlite from the backup that belongs to this store."


def refuse_unsafe_disk(root: Path) -> None:
    """Raise InputError when a store at `root` would lie where a crash can lose commits."""
    refuse_network_disk(root)


class Shard:
    """One tenant and workspace of a store: the unit of writing, and of isolation.

    Several processes may open it; one commits at a time.  An instance may be shared by threads.
    """

    def __init__(self, folder: Path, *, read_only: bool) -> None:
        """Open an existing shard folder; `Shard.open` is the door that checks the way to it."""
        self.folder = folder
        self.derived = place(folder, "derived")
        self.key = read_key(folder)
        self._catalog = Catalog(folder, read_only=read_only)
        self._lock = threading.RLock()
        self._files = SegmentReader(folder)
        self._reading = Reading(self._files, self._lock)
        self._log = CommitLog(folder, self._catalog, self._files, unpack_blobs)
        self._ledger = Ledger()
        if self._catalog.meta("key_fingerprint") != fingerprint(self.key):
            self.close()
            raise IntegrityError(
                f"keys.sqlite does not belong to {folder}", path=str(folder), advice=_KEY_ADVICE
            )

    @classmethod
    def create(
        cls, root: Path, *, tenant: str = "default", workspace: str = "default", now: datetime
    ) -> Shard:
        """Make the store and the shard where they are missing, and open the shard for writing."""
        make_shard(root, tenant, workspace, now)
        return cls.open(root, tenant=tenant, workspace=workspace)

    @classmethod
    def open(
        cls, root: Path, *, tenant: str = "default", workspace: str = "default", read_only: bool = False
    ) -> Shard:
        """Open an existing shard; one open for writing first clears what a killed writer left.

        Raises UsageError when there is none, SchemaError when a newer version wrote it, IntegrityError
        when its key is not the right one.
        """
        folder = find_shard(root, tenant, workspace)
        if read_only:
            return cls(folder, read_only=True)
        make_inner_folders(folder)
        shard = cls(folder, read_only=False)
        clean_orphans(folder, shard._named_files)
        return shard

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all files."""
        self._files.close()
        self._catalog.close()

    @property
    def head(self) -> int:
        """The graph version now, 0 when nothing was committed."""
        with self._lock:
            return self._catalog.state()[0]

    def pin(self, version: int | None = None) -> Snapshot:
        """Return a snapshot of the newest state, or of an earlier graph version.

        Raises UsageError for a version that does not exist.
        """
        lock = pin_lock(self.folder)
        try:
            with self._lock:
                self._refresh()
                return Snapshot(self._known(version), self._ledger.copy(), self._reading, lock.release)
        except BaseException:
            lock.release()
            raise

    def _known(self, version: int | None) -> int:
        head = self._ledger.head
        if version is not None and not 0 <= version <= head:
            raise UsageError(f"there is no graph version {version}: the newest is {head}")
        return head if version is None else version

    def commit(
        self, rows: Sequence[EventRows], *, base: int, reads: Reads, **terms: Unpack[CommitTerms]
    ) -> int:
        """Commit rows decided on graph version `base`; return the graph version that holds them.

        rows: one event each, without salts.  reads: ids that the decision rests on, by (table, column).
        terms: operation, actor, run_id, now; idempotency and texts if any.
        Without rows nothing happens.  A repeated idempotency key returns the first version.
        Raises HeadMoved when a read id got new rows after `base`, BusyError after 10 s of waiting.
        """
        request = CommitRequest(base=base, **terms)
        with self._lock, writer_lock(self.folder):
            draft = draft_commit(rows, operation=request.operation, random_bytes=os.urandom)
            try:
                done = self._replayed(request)
                if done is None:
                    return self.head if draft is None else self._commit_draft(draft, request, reads)
            except IdempotencyConflict as conflict:
                self._queue(request, conflict)
                raise
            return done

    def _queue(self, request: CommitRequest, conflict: IdempotencyConflict) -> None:
        """Keep a refused command, without its content, for whoever looks after the store."""
        entry = ConflictEntry(
            0,
            to_us(request.now),
            request.operation,
            conflict.expected.hex(),
            conflict.actual.hex(),
            conflict.graph_version,
            conflict.advice,
        )
        with self._catalog.writing("queue conflict"):
            self._catalog.insert_conflict(entry)

    def conflicts(self) -> list[ConflictEntry]:
        """Return the refused commands, oldest first."""
        with self._lock:
            return self._catalog.conflicts()

    def text(self, digest: bytes) -> tuple[str, str] | None:
        """Return (kind, body) of a policy or contract kept by a commit, or None."""
        with self._lock:
            return self._catalog.text(digest)

    def texts(self) -> list[tuple[bytes, str, str]]:
        """Return (digest, kind, body) of everything kept beside the rows by commits."""
        with self._lock:
            return self._catalog.texts()

    def _commit_draft(self, draft: Draft, request: CommitRequest, reads: Reads) -> int:
        placed = self._log.place(large_tables(draft, request.base + 1), (request.base + 1,) * 2)
        try:
            with self._catalog.writing(request.operation):
                self._refresh()
                done = self._replayed(request)
                if done is None:
                    self._require_unmoved(request.base, reads)
                    placed = self._log.move(placed, self._ledger.head + 1)
                    written = self._append(draft, request, placed)
        except BaseException:
            self._log.discard(placed)
            raise
        if done is not None:
            self._log.discard(placed)
            return done
        self._adopt(draft, placed, written)
        return written.graph_version

    @contextmanager
    def exclusive(self, operation: str = "exclusive") -> Iterator[ExclusiveWriter]:
        """Hold the write transaction first, then read and commit inside it: the last resort."""
        placed: list[SegmentEntry] = []

        def append(draft: Draft, request: CommitRequest) -> int:
            done = self._replayed(request)
            if done is not None:
                return done
            version = self._ledger.head + 1
            segments = self._log.place(large_tables(draft, version), (version, version))
            placed.extend(segments)
            self._adopt(draft, segments, self._append(draft, request, segments))
            return version

        with self._lock, writer_lock(self.folder):
            try:
                with self._catalog.writing(operation):
                    self._refresh()
                    yield ExclusiveWriter(append, self._unpinned)
            except BaseException:
                self._log.discard(placed)
                self._forget()
                raise

    def _unpinned(self) -> Snapshot:
        return Snapshot(self._ledger.head, self._ledger.copy(), self._reading, lambda: None)

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

    def runs(self) -> list[RunEntry]:
        """Return the receipts of all runs, oldest first."""
        with self._lock:
            return self._catalog.runs()

    def records(self) -> Records:
        """Return everything the catalog says, for verification."""
        with self._lock, self._catalog.reading():
            return Records(self._catalog.commits(), self._catalog.segments(), self._catalog.hot())

    def orphans(self) -> list[str]:
        """Return segment files that no commit names, when no writer is at work."""
        with self._lock:
            return find_orphans(self.folder, self._named_files)

    def _named_files(self) -> set[str]:
        return {entry.file for entry in self._catalog.segments()}

    def check_segment(self, entry: SegmentEntry) -> None:
        """Hash a segment's file.  Raises IntegrityError when it is missing or differs."""
        self._files.verify(entry)

    def read_segment(self, entry: SegmentEntry) -> pa.Table:
        """Return all stored rows of a segment."""
        with self._lock:
            return self._files.read(entry, stored(entry.table).names)

    def check_catalog(self) -> list[str]:
        """Return what is wrong with the structure of the catalog's file."""
        with self._lock:
            return self._catalog.check()

    def _refresh(self) -> None:
        """Bring the ledger up to the catalog's state."""
        with self._catalog.reading():
            head, seals = self._catalog.state()
            if (head, seals) == (self._ledger.head, self._ledger.seal_count):
                return
            if seals != self._ledger.seal_count:
                self._ledger = Ledger()
                self._ledger.seal_count = seals
            since = self._ledger.head
            load_ledger(self._ledger, self._catalog.segments(since), self._catalog.hot(since), head)

    def _forget(self) -> None:
        """Drop what memory holds of the state, after a transaction was undone."""
        self._ledger = Ledger()
        self._reading.forget_indexes()

    def _replayed(self, request: CommitRequest) -> int | None:
        """Return the version of the first commit under this idempotency key, None when it is new."""
        scope = request.scope(self.key, self._labels())
        found = None if scope is None else self._catalog.promised(scope)
        if found is None or request.idempotency is None:
            return None
        if found[0] != request.idempotency.payload_digest:
            raise IdempotencyConflict(request, expected=found[0], graph_version=found[1])
        return found[1]

    def _require_unmoved(self, base: int, reads: Reads) -> None:
        head = self._ledger.head
        if base > head:
            raise UsageError(f"decided on graph version {base}, but the newest is {head}")
        if base < head:
            require_unmoved(self._unpinned(), base, reads)

    def _append(self, draft: Draft, request: CommitRequest, placed: Sequence[SegmentEntry]) -> _Written:
        """Insert a draft at the head, inside the write transaction."""
        last = self._catalog.last_commit()
        ids = [random_id() for _ in draft.bodies]
        entry, hot = numbered(draft, request, last, shard=self._labels(), event_ids=ids)
        self._log.append(entry, placed, hot)
        scope = request.scope(self.key, self._labels())
        if scope is not None and request.idempotency is not None:
            self._catalog.insert_promise(scope, request.idempotency.payload_digest, entry.graph_version)
        if request.texts:
            self._catalog.insert_texts(dict(request.texts))
        reach("commit.rows_inserted")
        return _Written(entry.graph_version, hot[-1], self._log.seal_hot_tail())

    def _labels(self) -> str:
        return "/".join(self.folder.parts[-2:])

    def _adopt(self, draft: Draft, placed: Sequence[SegmentEntry], written: _Written) -> None:
        """Take a commit of this process into memory without reading it back."""
        if written.has_sealed:
            self._refresh()
        else:
            adopt(self._ledger, draft, placed, written.events)


class _Written(NamedTuple):
    graph_version: int
    events: HotEntry
    has_sealed: bool
