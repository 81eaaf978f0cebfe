"""Remember which files were verified, by what the file system says about them; best effort."""

from __future__ import annotations

from pathlib import Path

import apsw

from amos.storage.connections import fetch
from amos.storage.places import place, table

Stamp = tuple[int, int, int, int, int]


def stamp_of(path: Path) -> Stamp:
    """Return (device, inode, size, mtime, ctime) of a file, times in nanoseconds."""
    found = path.stat()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _read_stamp(text: str) -> Stamp:
    device, inode, size, mtime, ctime = map(int, text.split())
    return device, inode, size, mtime, ctime


class Stamps:
    """Verified files of one shard, kept in `derived/verified.sqlite` where that can be written."""

    def __init__(self, shard: Path) -> None:
        self._path = place(shard, "derived/verified.sqlite")
        self._known: dict[str, Stamp] | None = None
        self._fresh: dict[str, Stamp] = {}

    def holds(self, file: str, stamp: Stamp) -> bool:
        """Return whether `file` was verified as it is now."""
        if self._known is None:
            self._known = self._load()
        return self._known.get(file) == stamp

    def add(self, file: str, stamp: Stamp) -> None:
        """Note that `file` was verified."""
        if self._known is None:
            self._known = self._load()
        if self._known.get(file) != stamp:
            self._known[file] = self._fresh[file] = stamp

    def _load(self) -> dict[str, Stamp]:
        if not self._path.exists():
            return {}
        try:
            connection = apsw.Connection(str(self._path), flags=apsw.SQLITE_OPEN_READONLY)
            rows = fetch(connection, f"SELECT * FROM {table('stamps')}")  # noqa: S608
            connection.close()
            return {file: _read_stamp(stamp) for file, stamp in rows}
        except (apsw.Error, ValueError, AttributeError):  # damaged: everything is verified again
            return {}

    def save(self) -> None:
        """Write new stamps; a disk that refuses them only means verifying again."""
        if not self._fresh:
            return
        rows = [(file, " ".join(map(str, stamp))) for file, stamp in self._fresh.items()]
        self._fresh = {}
        try:
            connection = apsw.Connection(str(self._path))
            with connection:
                name = table("stamps")
                connection.execute(
                    f"CREATE TABLE IF NOT EXISTS {name} (file TEXT PRIMARY KEY, stamp TEXT) STRICT"
                )
                connection.executemany(f"INSERT OR REPLACE INTO {name} VALUES (?, ?)", rows)  # noqa: S608
            connection.close()
        except apsw.Error:
            return
