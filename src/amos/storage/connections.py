"""Open SQLite files with the settings that make a commit durable and a deletion real."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import apsw

from amos.errors import InputError
from amos.storage.files import disk_errors, is_full
from amos.storage.locks import WAIT_SECONDS

Rows = list[tuple[Any, ...]]

_WRITER_SETTINGS = (
    "PRAGMA synchronous=FULL",
    "PRAGMA secure_delete=ON",
    "PRAGMA temp_store=MEMORY",
)


def open_database(path: Path, *, read_only: bool = False, journal: str = "WAL") -> apsw.Connection:
    """Open an existing or new SQLite file; a read-only one must exist.

    journal: WAL lets readers go on while one writes; DELETE leaves no second file behind.
    Raises InputError, BusyError, CapacityError or IntegrityError as the disk demands.
    """
    with disk_errors(path):
        connection = _open_reader(path) if read_only else apsw.Connection(str(path))
        try:
            connection.set_busy_timeout(WAIT_SECONDS * 1000)
            if not read_only:
                connection.pragma("journal_mode", journal)
            for setting in ("PRAGMA temp_store=MEMORY",) if read_only else _WRITER_SETTINGS:
                connection.execute(setting)
        except BaseException:
            connection.close()  # else its locks stay until somebody drops the failure
            raise
    return connection


def _open_reader(path: Path) -> apsw.Connection:
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    connection.set_busy_timeout(WAIT_SECONDS * 1000)
    try:
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
    except (apsw.CantOpenError, apsw.ReadOnlyError):
        connection.close()
        return _open_immutable(path)
    except (apsw.FullError, apsw.IOError):
        connection.close()
        if not is_full(path):
            raise
        return _open_alone(path)
    return connection


def _open_alone(path: Path) -> apsw.Connection:
    """Open a file on a disk that is full: the index of its log stays in memory, and nobody else may write."""
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    connection.set_busy_timeout(WAIT_SECONDS * 1000)
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    for setting in ("PRAGMA locking_mode=EXCLUSIVE", "PRAGMA query_only=ON"):
        connection.execute(setting)
    connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
    return connection


def _open_immutable(path: Path) -> apsw.Connection:
    """Open a file on a disk that takes no lock files: safe only when no log waits beside it."""
    log = path.with_name(path.name + "-wal")
    if log.exists() and log.stat().st_size > 0:
        raise InputError(
            f"{path} has unmerged writes beside it and the disk is read-only",
            path=str(path),
            advice="Open the store once where it can be written, for example with `amos verify`.",
        )
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    return apsw.Connection(f"file:{quote(str(path.resolve()))}?immutable=1", flags=flags)


def fetch(connection: apsw.Connection, sql: str, values: Iterable[Any] = ()) -> Rows:
    """Return all rows of one statement."""
    return connection.execute(sql, tuple(values)).fetchall()
