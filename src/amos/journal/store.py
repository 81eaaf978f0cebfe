"""A shard: the one place where rows are committed, and where snapshots of them begin."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Self, Unpack

from amos.clock import to_us
from amos.errors import IntegrityError, UsageError
from amos.identity import random_id
from amos.journal.appending import Written, adopt, large_tables, numbered, require_unmoved
from amos.journal.drafts import Draft, draft_request
from amos.journal.erasing import Doomed, Strike, erasing_command, take_down
from amos.journal.events import EventRows
from amos.journal.exclusive import ExclusiveWriter
from amos.journal.grouping import Ticket, Waiting
from amos.journal.id_index import LOOKUPS
from amos.journal.ledger import Ledger, load_ledger
from amos.journal.mends import Mends
from amos.journal.refusals import (
    HeadMoved,
    IdempotencyConflict,
    Refusal,
    first_event,
    queueing,
    require_expected,
)
from amos.journal.rejecting import Rejecting
from amos.journal.requests import CommitRequest, CommitTerms, Reads
from amos.journal.retention import require_retained
from amos.journal.rows import unpack_blobs
from amos.journal.snapshot import Reading, Snapshot
from amos.journal.upkeep import Upkeep
from amos.schemas.catalog import Idempotency, SegmentEntry
from amos.storage.care import Care
from amos.storage.catalog import Catalog
from amos.storage.commit_log import CommitLog, Replacement
from amos.storage.drafts import clear_unfinished
from amos.storage.failpoints import reach
from amos.storage.filesystems import refuse_network_disk as refuse_unsafe_disk
from amos.storage.folders import find_shard, make_inner_folders, make_shard
from amos.storage.housekeeping import Housekeeping
from amos.storage.id_files import IdFiles
from amos.storage.keys import fingerprint, held_key, read_key
from amos.storage.leases import Leases
from amos.storage.leftovers import Named, clean_orphans
from amos.storage.locks import SharedLock, pin_lock, writer_lock
from amos.storage.places import place
from amos.storage.segments import SegmentReader

__all__ = [
    "KEY_ADVICE",
    "LOOKUPS",
    "CommitTerms",
    "EventRows",
    "ExclusiveWriter",
    "HeadMoved",
    "Idempotency",
    "Shard",
    "Snapshot",
    "refuse_unsafe_disk",
]

KEY_ADVICE = "Restore keys.sqlite from the backup that belongs to this store."


class Shard(Upkeep, Mends, Rejecting):
    """One tenant and workspace of a store: the unit of writing, and of isolation.

    Several processes may open it; one commits at a time.  An instance may be shared by threads.
    """

    def __init__(self, folder: Path, *, read_only: bool) -> None:
        """Open an existing shard folder; `Shard.open` is the door that checks the way to it."""
        self.folder = folder
        self.derived = place(folder, "derived")
        self.key = held_key(folder) if read_only else read_key(folder)
        self._catalog = Catalog(folder, read_only=read_only)
        self._lock = threading.RLock()
        self._drafting, self._waiting = threading.Lock(), Waiting()
        self._files = SegmentReader(folder)
        self._ids = IdFiles(folder, self._catalog, read_only=read_only)
        self._reading = Reading(self._files, self._lock, self._ids)
        self._care = Care(self._catalog)
        self._leases = Leases(self._catalog)
        self._log = CommitLog(folder, self._catalog, self._files, unpack_blobs)
        self._house = Housekeeping(folder, self._catalog, self._log, self._care)
        self._ledger = Ledger()
        if self.key and self._catalog.meta("key_fingerprint") != fingerprint(self.key):
            self.close()
            raise IntegrityError(
                f"keys.sqlite does not belong to {folder}", path=str(folder), advice=KEY_ADVICE
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
        when its key is not the right one, or its catalog older than its segments.
        """
        folder = find_shard(root, tenant, workspace)
        if read_only:
            return cls(folder, read_only=True)
        make_inner_folders(folder)
        shard = cls(folder, read_only=False)
        clean_orphans(folder, shard._named_files, shard._catalog.truncate_log)
        clear_unfinished(shard._catalog, shard._care)
        if shard.erasures("purging"):
            shard.purge(wait_seconds=0)
        return shard

    @classmethod
    def open_as_is(cls, root: Path, *, tenant: str = "default", workspace: str = "default") -> Shard:
        """Open an existing shard for repairs: nothing that a killed writer left is cleared away."""
        return cls(find_shard(root, tenant, workspace), read_only=False)

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
        if version is None:
            return head
        if not 0 <= version <= head:
            message = f"there is no graph version {version}: the newest is {head}"
            raise UsageError(message, advice="`amos list` shows what stands now.")
        require_retained(version, self.retained_from)
        return version

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
        with queueing(request, self._queue):
            with self._drafting:
                draft = draft_request(rows, request)
            if draft is None:
                return self._replay(request) or self.head
            ticket = Ticket(draft, request, reads)
            with self._waiting.line(ticket), self._lock:
                self._waiting.serve(ticket, self._commit_tickets)
            return ticket.result()

    def _replay(self, request: CommitRequest) -> int | None:
        with self._lock:
            return self._replayed(request)

    def _commit_tickets(self, tickets: Sequence[Ticket]) -> None:
        """Commit one ticket as it is, several in one transaction, each with its own answer."""
        with writer_lock(self.folder):
            if len(tickets) == 1:
                (one,) = tickets
                done = self._replayed(one.request)
                one.succeed(self._commit_draft(one.draft, one.request, one.reads) if done is None else done)
                return
            try:
                with self._catalog.writing(tickets[0].request.operation):
                    self._refresh()
                    for ticket in tickets:
                        self._commit_inside(ticket)
            except BaseException:
                self._forget()
                raise

    def _commit_inside(self, ticket: Ticket) -> None:
        """Commit one of several; what is refused is taken back, any other failure ends them all."""
        try:
            with self._catalog.attempt():
                done = self._replayed(ticket.request)
                if done is None:
                    self._require_unmoved(ticket.request.base, ticket.reads)
                    written = self._append(ticket.draft, ticket.request, ())
                    self._adopt(ticket.draft, (), written)
                    done = written.graph_version
                ticket.succeed(done)
        except (Refusal, UsageError) as refusal:
            ticket.fail(refusal)

    def _writing(self) -> SharedLock:
        return writer_lock(self.folder)

    def erase(
        self,
        rows: Sequence[EventRows],
        *,
        doomed: Doomed,
        request: str,
        base: int,
        reads: Reads,
        **terms: Unpack[CommitTerms],
    ) -> int:
        """Commit `rows` and take `doomed` out of every file that the new state names, in one step.

        request: canonical JSON of what was asked, without content, for the ledger of erasures, where it
        stands as purging until `purge` is done.  Old files are garbage then, held by pinned readers alone.
        Returns the graph version.  Raises HeadMoved like `commit`, and when another process re-laid segments.
        """
        taken = take_down(doomed)
        command = erasing_command(CommitRequest(base=base, **terms), taken, request, random_id())
        return self._strike(rows, command, Strike(taken.places, "erasure", reads))

    def _strike(self, rows: Sequence[EventRows], command: CommitRequest, strike: Strike) -> int:
        """Commit `rows` and the events of `command`, and write segments anew without the rows it takes."""
        with queueing(command, self._queue), self._lock, writer_lock(self.folder):
            self._log.seal_all()
            draft = draft_request(rows, command)
            if draft is None:
                return self.head
            struck = self._log.without(strike.places, strike.reason)
            try:
                version = self._commit_draft(draft, command, strike.reads, struck)
            except BaseException:
                self._log.discard(struck.new)
                raise
            self._refresh()
        return version

    def _commit_draft(
        self, draft: Draft, request: CommitRequest, reads: Reads, struck: Replacement | None = None
    ) -> int:
        placed = self._log.place(large_tables(draft, request.base + 1), (request.base + 1,) * 2)
        try:
            with self._catalog.writing(request.operation):
                self._refresh()
                done = self._replayed(request)
                if done is None:
                    self._require_unmoved(request.base, reads)
                    self._require_named(struck, request.base)
                    placed = self._log.move(placed, self._ledger.head + 1)
                    written = self._append(draft, request, placed)
                    if struck is not None:
                        self._log.replace(struck, self._care, to_us(request.now))
                        self._catalog.count_erasure()
        except BaseException:
            self._log.discard(placed)
            raise
        if done is not None:
            self._log.discard(placed)
            return done
        if struck is None:
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

    def _named_files(self) -> Named:
        named = {entry.file for entry in self._catalog.segments()}
        return Named(named | {entry.file for entry in self._care.garbage()}, self._catalog.state()[0])

    def _refresh(self) -> None:
        """Bring the ledger up to the catalog's state."""
        if self._catalog.state() == self._ledger.state:
            return
        with self._catalog.reading():
            head, seals, erasures = self._catalog.state()
            if erasures != self._ledger.erase_count:
                # rows have other positions from now on; snapshots that are open keep the old reading
                self._reading = Reading(self._files, self._lock, self._ids)
            if (seals, erasures) != (self._ledger.seal_count, self._ledger.erase_count):
                self._ledger = Ledger()
                self._ledger.seal_count, self._ledger.erase_count = seals, erasures
            since = self._ledger.head
            load_ledger(self._ledger, self._catalog.segments(since), self._catalog.hot(since), head)

    def _forget(self) -> None:
        """Drop what memory holds of the state, after a transaction was undone."""
        self._ledger = Ledger()
        self._reading.forget_indexes()

    def _replayed(self, request: CommitRequest) -> int | None:
        """Return the version of the first commit under this idempotency key, None when it is new."""
        scope = request.scope(self.key, self.label)
        found = None if scope is None else self._catalog.promised(scope)
        if found is None or request.idempotency is None:
            return None
        if found[0] != request.idempotency.payload_digest:
            self._refresh()
            event = first_event(self._unpinned(), found[1])
            raise IdempotencyConflict(request, expected=found[0], graph_version=found[1], event_id=event)
        return found[1]

    def _require_unmoved(self, base: int, reads: Reads) -> None:
        head = self._ledger.head
        if base > head:
            raise UsageError(f"decided on graph version {base}, but the newest is {head}")
        if base < head:
            require_unmoved(self._unpinned(), base, reads)

    def _require_named(self, struck: Replacement | None, base: int) -> None:
        """Raise HeadMoved when segments that are to be replaced were replaced by somebody else."""
        if struck is not None and not self._log.are_named(struck.old):
            raise HeadMoved("segments", "file", expected=base, actual=self._ledger.head, keys=None)

    def _append(self, draft: Draft, request: CommitRequest, placed: Sequence[SegmentEntry]) -> Written:
        """Insert a draft at the head, inside the write transaction."""
        self._require_lease(request.lease)
        if request.expected:
            require_expected(self._unpinned(), request.expected)
        last = self._catalog.last_commit()
        ids = [random_id() for _ in draft.bodies]
        scope = request.scope(self.key, self.label)
        entry, hot = numbered(draft, request, last, shard=self.label, event_ids=ids, scope=scope)
        self._log.append(entry, placed, hot)
        if scope is not None and request.idempotency is not None:
            self._catalog.insert_promise(scope, request.idempotency.payload_digest, entry.graph_version)
        if request.texts:
            self._catalog.insert_texts(dict(request.texts))
        if request.also is not None:
            request.also(self._care, entry.graph_version)
        reach("commit.rows_inserted")
        return Written(entry.graph_version, hot[-1], self._log.seal_hot_tail())

    def _adopt(self, draft: Draft, placed: Sequence[SegmentEntry], written: Written) -> None:
        """Take a commit of this process into memory without reading it back."""
        if written.has_sealed:
            self._refresh()
        else:
            adopt(self._ledger, draft, placed, written.events)
