"""Copy the files of a shard to another folder, each checked against the catalog after writing."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

import apsw

from amos.errors import IntegrityError
from amos.schemas.catalog import SegmentEntry
from amos.storage.connections import open_database
from amos.storage.files import disk_errors, draft_folder, rename_durably, sync_folder
from amos.storage.places import place

Progress = Callable[[int, int], None]
"""Called with the bytes done and the total."""


class Copied(NamedTuple):
    """What copying did: segment files in all and newly written, and their bytes."""

    segments: int
    byte_count: int
    new_segments: int
    new_bytes: int


def copy_database(source: apsw.Connection, target: Path) -> None:
    """Write the state that `source` sees to a new file that needs no log beside it, durably.

    A writer may go on meanwhile: the copy holds one committed state.
    """
    target.unlink(missing_ok=True)
    connection = open_database(target, journal="DELETE")
    try:
        with disk_errors(target):
            with connection.backup("main", source, "main") as copying:
                copying.step(-1)
            connection.pragma("journal_mode", "DELETE")
            found = connection.pragma("quick_check")
    finally:
        connection.close()
    if found != "ok":
        raise IntegrityError(f"the copy of the catalog is damaged: {found}", path=str(target))
    with target.open("rb") as stream:
        os.fsync(stream.fileno())


def copy_segments(
    source: Path,
    target: Path,
    entries: Iterable[SegmentEntry],
    *,
    is_linked: bool = False,
    progress: Progress | None = None,
) -> Copied:
    """Bring the files of `entries` from one shard folder into another; those that are there stay.

    Every file is hashed where it arrives.  is_linked: share the bytes on disk where both folders are on
    one.  Raises IntegrityError when a file is missing or is not what the catalog says.
    """
    wanted = list(entries)
    total = sum(entry.byte_count for entry in wanted)
    done = new = new_bytes = 0
    folders = set()
    for entry in wanted:
        path = _segment_path(target, entry)
        if not (path.exists() and _digest(path) == entry.sha256):
            _copy(_segment_path(source, entry), path, entry, draft_folder(target), is_linked=is_linked)
            folders.add(path.parent)
            new, new_bytes = new + 1, new_bytes + entry.byte_count
        done += entry.byte_count
        if progress is not None:
            progress(done, total)
    for folder in sorted(folders):
        sync_folder(folder)
    return Copied(len(wanted), total, new, new_bytes)


def _segment_path(shard: Path, entry: SegmentEntry) -> Path:
    return place(shard, "segments", *Path(entry.file).parts[1:])


def _copy(source: Path, path: Path, entry: SegmentEntry, drafts: Path, *, is_linked: bool) -> None:
    draft = drafts / path.name
    draft.unlink(missing_ok=True)
    with disk_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            if not (is_linked and _linked(source, draft)):
                shutil.copyfile(source, draft)
        except FileNotFoundError as cause:
            raise IntegrityError(f"{entry.file} is missing", path=entry.file) from cause
        if _digest(draft) != entry.sha256:
            draft.unlink()
            raise IntegrityError(f"{entry.file} is not what the catalog says", path=entry.file)
        with draft.open("rb") as stream:
            os.fsync(stream.fileno())
        draft.replace(path)


def _linked(source: Path, draft: Path) -> bool:
    try:
        os.link(source, draft)
    except FileNotFoundError:
        raise
    except OSError:  # another disk, or one without links
        return False
    return True


def _digest(path: Path) -> bytes:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").digest()


def drop_unnamed(shard: Path, entries: Iterable[SegmentEntry]) -> int:
    """Remove the segment files of a copy that `entries` do not name; return how many went."""
    named = {entry.file for entry in entries}
    gone = 0
    for path in sorted(place(shard, "segments").glob("*/*")):
        if path.relative_to(shard).as_posix() not in named:
            path.unlink()
            gone += 1
    return gone


def copy_keys(source: Path, target: Path) -> None:
    """Write the key file `source` to `target`, readable by its owner alone."""
    draft = target.with_name(f"{target.name}.draft")
    connection = open_database(source, read_only=True)
    try:
        copy_database(connection, draft)
    finally:
        connection.close()
    draft.chmod(0o600)
    rename_durably(draft, target)
