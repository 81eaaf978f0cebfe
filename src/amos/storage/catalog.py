"""The commit log and catalog of one shard, in SQLite: the single point where commits become real."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import apsw

from amos.errors import IntegrityError, SchemaError, UsageError
from amos.schemas.catalog import CommitEntry, HotEntry, SegmentEntry, text_digest
from amos.storage.connections import fetch, open_database
from amos.storage.copying import copy_database
from amos.storage.failpoints import reach
from amos.storage.files import RESTORE_ADVICE, disk_errors, draft_folder, rename_durably
from amos.storage.locks import HolderNote, busy_error
from amos.storage.places import place, table
from amos.storage.upgrades import FORMAT, raise_format, raise_step_by_step, show_newer_tables

APPLICATION_ID = 0x416D6F73
"""`Amos` in the header of shard.sqlite."""

_WORTH_SHRINKING = 64
"""Free pages, of 4 KiB, below which the catalog's file is left as it is."""
_COUNTERS = ("seal_count", "hot_blobs", "hot_bytes")


def _write_catalog(path: Path, entries: Mapping[str, object]) -> None:
    """Write a catalog of no commits to a new file, which stands alone once its connection is closed."""
    connection = open_database(path)
    try:
        with disk_errors(path), connection:
            _fill(connection, entries)
    finally:
        connection.close()


def _fill(connection: apsw.Connection, entries: Mapping[str, object]) -> None:
    raise_format(connection, 0)
    connection.executemany(f"INSERT INTO {table('meta')} VALUES (?, ?)", entries.items())  # noqa: S608
    connection.pragma("application_id", APPLICATION_ID)


class Catalog:
    """One connection to `shard.sqlite`.  Not for use by two threads at once."""

    def __init__(self, shard: Path, *, read_only: bool = False) -> None:
        self.path = place(shard, "shard.sqlite")
        self._shard = shard
        self._is_read_only = read_only
        self.is_doubtful = False
        self._connection = open_database(self.path, read_only=read_only)
        self._note = HolderNote(shard)
        try:
            self._check_format()
        except BaseException:
            self._connection.close()
            raise

    @staticmethod
    def make(shard: Path, *, fingerprint: bytes, labels: Mapping[str, object]) -> None:
        """Put a whole catalog in its place at once; an existing one is left as it is.

        Of several makers one at a time may be here: `locks.maker_lock`.
        """
        path = place(shard, "shard.sqlite")
        if path.exists():
            return
        draft = draft_folder(shard) / path.name
        for left in draft.parent.glob(f"{path.name}*"):
            left.unlink()  # of a killed process that had the same number
        _write_catalog(draft, {"key_fingerprint": fingerprint, **dict.fromkeys(_COUNTERS, 0), **labels})
        reach("create.catalog_drafted")
        rename_durably(draft, path)
        with suppress(OSError):  # another draft of this process is in it
            draft.parent.rmdir()

    def _check_format(self) -> None:
        with disk_errors(self.path):
            found = self._connection.pragma("user_version")
        if found == 0:
            raise IntegrityError(f"{self.path} holds no catalog", path=str(self.path), advice=RESTORE_ADVICE)
        if found > FORMAT:
            raise SchemaError(
                f"{self.path} is of format {found}, this version reads up to {FORMAT}",
                code="newer_store",
                path=str(self.path),
            )
        if found < FORMAT:
            self._read_or_raise(found)

    def _read_or_raise(self, found: int) -> None:
        """Make an older catalog readable as it is, or of this version's format when it may be written."""
        with disk_errors(self.path):
            if self._is_read_only:
                show_newer_tables(self._connection, found)
            else:
                raise_step_by_step(self._connection, lambda: self._connection.pragma("user_version"))

    def close(self) -> None:
        """Close the connection."""
        self._note.close()
        with suppress(apsw.Error):  # what was committed stands in the log, and the next opener merges it
            self._connection.close()

    def rows(self, sql: str, values: Iterable[Any] = ()) -> list[tuple[Any, ...]]:
        """Return all rows of one reading statement."""
        with disk_errors(self.path):
            return fetch(self._connection, sql, values)

    def write_all(self, sql: str, values: Iterable[Sequence[Any]]) -> None:
        """Run one writing statement for each of many rows of values."""
        with disk_errors(self.path):
            self._connection.executemany(sql, values)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Let all reads inside the block see one state."""
        if self._connection.in_transaction:
            yield
            return
        with disk_errors(self.path):
            self._connection.execute("BEGIN")
        try:
            yield
        except BaseException:
            with suppress(apsw.Error):  # the first failure is the one that counts
                self._connection.execute("ROLLBACK")
            raise
        with disk_errors(self.path):
            self._connection.execute("COMMIT")

    @contextmanager
    def writing(self, operation: str, *, is_synced: bool = True) -> Iterator[None]:
        """Hold the write transaction; commit at the end, roll back on any exception.

        is_synced: wait until the disk has it; else the next transaction that waits brings it along, and a
        power cut before that takes it back, whole.  Raises BusyError naming the holder after 10 s.
        """
        if not is_synced:
            self._connection.execute("PRAGMA synchronous=NORMAL")
        try:
            with self._transaction(operation):
                yield
        finally:
            if not is_synced:
                self._connection.execute("PRAGMA synchronous=FULL")

    @contextmanager
    def _transaction(self, operation: str) -> Iterator[None]:
        self._begin(operation)
        try:
            reach("commit.begun")
            yield
            reach("commit.before_sqlite_commit")
            self._commit()
            reach("commit.after_sqlite_commit")
        except BaseException:
            if self._connection.in_transaction:
                with suppress(apsw.Error):  # the first failure is the one that counts
                    self._connection.execute("ROLLBACK")
            raise
        finally:
            with suppress(OSError):  # a note that stays is not believed: its lock is gone
                self._note.clear()

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """Take back what the block wrote when it fails, and leave the rest of the transaction as it is."""
        self.rows("SAVEPOINT attempt")
        try:
            yield
        except BaseException:
            if self._connection.in_transaction:  # a full disk ends all of it
                self.rows("ROLLBACK TO attempt")
                self.rows("RELEASE attempt")
            raise
        self.rows("RELEASE attempt")

    def _commit(self) -> None:
        """Make the transaction durable.

        When the disk refuses, `is_doubtful` stays set: the log may hold the transaction whole, and a power
        cut would bring it back, so files that it names must not go.
        """
        self.is_doubtful, was_doubtful = True, self.is_doubtful
        with disk_errors(self.path):
            self._connection.execute("COMMIT")
        self.is_doubtful = was_doubtful

    def _begin(self, operation: str) -> None:
        if self._is_read_only:
            raise UsageError(f"{self._shard} was opened for reading", path=str(self._shard))
        try:
            self._connection.execute("BEGIN IMMEDIATE")
        except apsw.BusyError as cause:
            raise busy_error(self._shard) from cause
        except apsw.Error:
            with disk_errors(self.path):
                raise
        try:
            with disk_errors(self.path):
                self._note.write(operation)
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise

    def truncate_log(self) -> bool:
        """Move the write-ahead log into the file and empty it; False while a reader is in the way."""
        with disk_errors(self.path):
            try:
                self._connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
            except apsw.BusyError:
                return False
        return True

    def copy_to(self, path: Path) -> None:
        """Write the committed state to the new file `path`, whatever a writer does meanwhile."""
        copy_database(self._connection, path)

    def shrink(self) -> bool:
        """Give free pages back to the disk where they are most of the file; False where nothing was done.

        Readers go on meanwhile; a writer that is at work makes this wait for another time.
        """
        with disk_errors(self.path):
            pages, free = (int(self._connection.pragma(name)) for name in ("page_count", "freelist_count"))
            if free < _WORTH_SHRINKING or 2 * free < pages:
                return False
            try:
                self._connection.execute("VACUUM")
            except apsw.BusyError:
                return False
        return self.truncate_log()

    def check(self) -> list[str]:
        """Return what SQLite finds wrong with the file's structure."""
        try:
            found = [row[0] for row in fetch(self._connection, "PRAGMA integrity_check(20)")]
        except apsw.Error as cause:
            return [str(cause)]
        return [text for text in found if text != "ok"]

    def meta(self, name: str) -> Any:
        """Return one value of `meta`, or None."""
        found = self.rows(f"SELECT value FROM {table('meta')} WHERE name = ?", (name,))  # noqa: S608
        return found[0][0] if found else None

    def state(self) -> tuple[int, int, int]:
        """Return (graph version, layouts, erasures so far): what tells a reader that it is out of date."""
        sql = (
            "SELECT coalesce((SELECT max(graph_version) FROM commits), 0),"
            " (SELECT value FROM meta WHERE name = 'seal_count'),"
            " coalesce((SELECT value FROM meta WHERE name = 'erase_count'), 0)"
        )
        version, layouts, erasures = self.rows(sql)[0]
        return version, layouts, erasures

    def commits(self, since: int = 0) -> list[CommitEntry]:
        """Return the commits after graph version `since`, oldest first."""
        sql = "SELECT * FROM commits WHERE graph_version > ? ORDER BY graph_version"
        return [CommitEntry(*row) for row in self.rows(sql, (since,))]

    def link(self, version: int) -> bytes | None:
        """Return the running link after graph version `version`, None when there is no such commit."""
        found = self.rows("SELECT link FROM commits WHERE graph_version = ?", (version,))
        return found[0][0] if found else None

    def commit_page(self, since: int, limit: int) -> list[CommitEntry]:
        """Return the next `limit` commits after graph version `since`, oldest first."""
        sql = "SELECT * FROM commits WHERE graph_version > ? ORDER BY graph_version LIMIT ?"
        return [CommitEntry(*row) for row in self.rows(sql, (since, limit))]

    def last_commit(self) -> CommitEntry | None:
        """Return the newest commit, or None when nothing was committed."""
        found = self.rows("SELECT * FROM commits ORDER BY graph_version DESC LIMIT 1")
        return CommitEntry(*found[0]) if found else None

    def version_at(self, instant_us: int) -> int:
        """Return the newest graph version accepted at or before an instant; acceptance never goes back."""
        sql = "SELECT coalesce(max(graph_version), 0) FROM commits WHERE accepted_us <= ?"
        version: int = self.rows(sql, (instant_us,))[0][0]
        return version

    def accepted_us(self, version: int) -> int | None:
        """Return when a graph version was accepted, None where there is none such."""
        found = self.rows("SELECT accepted_us FROM commits WHERE graph_version = ?", (version,))
        return found[0][0] if found else None

    def last_version_of(self, operation: str) -> int:
        """Return the newest graph version that an operation committed, 0 when none did."""
        sql = "SELECT coalesce(max(graph_version), 0) FROM commits WHERE operation = ?"
        version: int = self.rows(sql, (operation,))[0][0]
        return version

    def segments(self, since: int = 0) -> list[SegmentEntry]:
        """Return segments whose last version is after `since`, by table and version."""
        sql = "SELECT * FROM segment_files WHERE last_version > ? ORDER BY table_name, first_version"
        return [SegmentEntry(*row) for row in self.rows(sql, (since,))]

    def hot(self, since: int = 0) -> list[HotEntry]:
        """Return hot rows committed after `since`, by version and then in order of insertion."""
        sql = "SELECT * FROM hot WHERE graph_version > ? ORDER BY graph_version, rowid"
        return [HotEntry(*row) for row in self.rows(sql, (since,))]

    def hot_size(self) -> tuple[int, int]:
        """Return (number of hot blobs, their bytes), from counters kept by the catalog."""
        count, size = self.rows(
            "SELECT (SELECT value FROM meta WHERE name = 'hot_blobs'),"
            " (SELECT value FROM meta WHERE name = 'hot_bytes')"
        )[0]
        return count, size

    def insert_commit(self, entry: CommitEntry) -> None:
        """Add one row to the commit log."""
        self.rows("INSERT INTO commits VALUES (?, ?, ?, ?, ?, ?, ?, ?)", entry)

    def insert_segment(self, entry: SegmentEntry) -> None:
        """Name a sealed file, which makes its rows visible; `segment_id` is given by the catalog."""
        self.rows("INSERT INTO segment_files VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?)", entry[1:])

    def insert_hot(self, entries: Iterable[HotEntry]) -> None:
        """Add hot rows, and count them."""
        rows = list(entries)
        self.write_all("INSERT INTO hot VALUES (?, ?, ?, ?)", rows)
        self._add_to_meta("hot_blobs", len(rows))
        self._add_to_meta("hot_bytes", sum(len(entry.body) for entry in rows))

    def _add_to_meta(self, name: str, amount: int) -> None:
        self.rows("UPDATE meta SET value = value + ? WHERE name = ?", (amount, name))

    def replace_segments(self, old: Iterable[SegmentEntry], new: Iterable[SegmentEntry]) -> None:
        """Name `new` files in place of `old` ones; every open shard then reads its layout anew."""
        for entry in old:
            self.rows("DELETE FROM segment_files WHERE file = ?", (entry.file,))
        for entry in new:
            self.insert_segment(entry)
        self._add_to_meta("seal_count", 1)

    def count_hot(self) -> None:
        """Count the hot rows anew, and say that the layout may be another one."""
        for name, sql in (("hot_blobs", "count(*)"), ("hot_bytes", "coalesce(sum(length(body)), 0)")):
            self.rows(
                f"INSERT OR REPLACE INTO meta VALUES (?, (SELECT {sql} FROM hot))",  # noqa: S608 - two constants
                (name,),
            )
        self._add_to_meta("seal_count", 1)

    def count_erasure(self) -> None:
        """Say that rows are gone, so that positions of rows have moved."""
        self._add_to_meta("erase_count", 1)

    def remove_hot(self) -> None:
        """Delete every hot row, whose content must stand in segments by now."""
        self.rows("DELETE FROM hot")
        self.rows("UPDATE meta SET value = 0 WHERE name IN ('hot_blobs', 'hot_bytes')")
        self._add_to_meta("seal_count", 1)

    def promised(self, scope: bytes) -> tuple[bytes, int] | None:
        """Return (payload digest, graph version) recorded for an idempotency scope, or None."""
        found = self.rows("SELECT payload_digest, graph_version FROM idempotency WHERE scope = ?", (scope,))
        return found[0] if found else None

    def promise_page(self, after: bytes, limit: int) -> list[tuple[bytes, bytes, int]]:
        """Return the next `limit` promises by scope: scope, payload digest, graph version."""
        sql = (
            "SELECT scope, payload_digest, graph_version FROM idempotency"
            " WHERE scope > ? ORDER BY scope LIMIT ?"
        )
        return self.rows(sql, (after, limit))

    def insert_promise(self, scope: bytes, payload_digest: bytes, version: int) -> None:
        """Remember what an idempotency key stood for."""
        self.rows("INSERT INTO idempotency VALUES (?, ?, ?)", (scope, payload_digest, version))

    def text(self, digest: bytes) -> tuple[str, str] | None:
        """Return (kind, body) of a kept text, or None."""
        found = self.rows("SELECT kind, body FROM texts WHERE digest = ?", (digest,))
        return found[0] if found else None

    def texts(self) -> list[tuple[bytes, str, str]]:
        """Return (digest, kind, body) of every kept text, in the order of their digests."""
        return self.rows("SELECT digest, kind, body FROM texts ORDER BY digest")

    def insert_texts(self, texts: dict[bytes, tuple[str, str]]) -> None:
        """Keep policy and contract texts by digest; a known digest is left alone.

        Raises UsageError where a digest is not that of its body.
        """
        rows = [(digest, kind, body) for digest, (kind, body) in texts.items()]
        for digest, kind, body in rows:
            if digest != text_digest(body):
                raise UsageError(f"a {kind} was given under a digest that is not its own")
        self.write_all("INSERT OR IGNORE INTO texts VALUES (?, ?, ?)", rows)
