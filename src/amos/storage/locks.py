"""File locks beside SQLite's own: pins of readers, presence of writers, and who is writing."""

from __future__ import annotations

import fcntl
import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from amos.clock import to_us, utc_now
from amos.errors import BusyError
from amos.storage.places import place

WAIT_SECONDS = 10


def _open_lock(path: Path) -> int | None:
    """Open a lock file, making it if need be; None where the disk takes no files."""
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError:
        pass
    try:
        return os.open(path, os.O_RDONLY)  # a shared lock needs no write permission
    except OSError:
        return None


class SharedLock:
    """A shared lock on a file, held until `release`; many processes may hold it at once."""

    def __init__(self, path: Path) -> None:
        self._descriptor = _open_lock(path)
        if self._descriptor is not None:
            fcntl.flock(self._descriptor, fcntl.LOCK_SH)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def release(self) -> None:
        """Give the lock up; further calls do nothing."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def pin_lock(shard: Path) -> SharedLock:
    """Return the lock that keeps garbage collection from removing what a reader may open."""
    return SharedLock(place(shard, "tmp/pins.lock"))


def writer_lock(shard: Path) -> SharedLock:
    """Return the lock that marks drafts and unnamed segments as belonging to a live writer."""
    return SharedLock(place(shard, "tmp/writers.lock"))


@contextmanager
def maker_lock(shard: Path) -> Iterator[None]:
    """Hold the lock under which the files of a shard are made; waits for another maker."""
    descriptor = os.open(place(shard, "tmp/maker.lock"), os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def alone_among_writers(shard: Path) -> Iterator[bool]:
    """Yield whether no other writer holds drafts, and keep it so inside the block."""
    with _alone(place(shard, "tmp/writers.lock")) as is_alone:
        yield is_alone


@contextmanager
def alone_among_readers(shard: Path) -> Iterator[bool]:
    """Yield whether no reader holds a pin, and keep it so inside the block."""
    with _alone(place(shard, "tmp/pins.lock")) as is_alone:
        yield is_alone


@contextmanager
def _alone(path: Path) -> Iterator[bool]:
    descriptor = _open_lock(path)
    if descriptor is None:
        yield False
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        yield False
    else:
        yield True
    finally:
        os.close(descriptor)


class HolderNote:
    """Names the process inside the write transaction, so that a waiting one can say who it is.

    The note counts only while its file is locked: what a killed process left is not believed.
    """

    def __init__(self, shard: Path) -> None:
        self._path = place(shard, "tmp/writer.json")
        self._descriptor: int | None = None

    def write(self, operation: str) -> None:
        """Say that this process holds the transaction for `operation`."""
        if self._descriptor is None:
            self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o644)
        fcntl.flock(self._descriptor, fcntl.LOCK_EX)
        note = {
            "pid": os.getpid(),
            "host": socket.gethostname(),
            "operation": operation,
            "since_us": to_us(utc_now()),
        }
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, json.dumps(note).encode(), 0)

    def clear(self) -> None:
        """Say that this process is done."""
        if self._descriptor is not None:
            try:
                os.ftruncate(self._descriptor, 0)
            finally:
                fcntl.flock(self._descriptor, fcntl.LOCK_UN)

    def close(self) -> None:
        """Close the note's file."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def busy_error(shard: Path) -> BusyError:
    """Return the error for a write that waited in vain, naming the holder where it left a note."""
    note = _read_note(place(shard, "tmp/writer.json"))
    if note is None:
        said = f"another process has been writing to {shard} for at least {WAIT_SECONDS} s"
    else:
        said = f"process {note[0]} on {note[1]} has been writing to {shard} ({note[2]}) for {note[3]} s"
    return BusyError(said, path=str(shard))


def _read_note(path: Path) -> tuple[object, object, object, int] | None:
    """Return (pid, host, operation, age in seconds) of who holds the transaction, None when nobody says."""
    try:
        with path.open("rb") as stream:
            if _can_lock(stream.fileno()):  # nobody holds it: left by a process that is gone
                return None
            note = json.loads(stream.read())
        age_us = to_us(utc_now()) - int(note["since_us"])
        return note["pid"], note["host"], note["operation"], max(age_us, 0) // 1_000_000
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _can_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
