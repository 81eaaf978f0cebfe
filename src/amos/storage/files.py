"""Write files that survive a crash, and say what a failing disk means to the caller."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from amos.errors import BusyError, CapacityError, InputError, IntegrityError
from amos.storage.failpoints import reach
from amos.storage.places import place

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_REFUSED = {errno.EACCES, errno.EPERM, errno.EROFS}
_REPAIR_ADVICE = "Keep the store as it is, and make another of a backup: `amos restore SOURCE DESTINATION`."
_OPEN_ADVICE = "Check the owner and permissions of the store folder."


@contextmanager
def disk_errors(path: Path) -> Iterator[None]:
    """Turn failures of the disk or of SQLite into errors that name what to do next."""
    try:
        yield
    except OSError as cause:
        if cause.errno in _FULL:
            raise CapacityError(f"no space left for {path}", path=str(path)) from cause
        if cause.errno in _REFUSED:
            raise InputError(f"no permission for {path}", path=str(path), advice=_OPEN_ADVICE) from cause
        raise
    except apsw.FullError as cause:
        raise CapacityError(f"no space left for {path}", path=str(path)) from cause
    except apsw.BusyError as cause:
        raise BusyError(f"{path} is locked by another process", path=str(path)) from cause
    except (apsw.ReadOnlyError, apsw.CantOpenError, apsw.PermissionsError) as cause:
        raise InputError(f"{path} cannot be opened: {cause}", path=str(path), advice=_OPEN_ADVICE) from cause
    except (apsw.CorruptError, apsw.NotADBError, apsw.SQLError) as cause:
        # statements are fixed: one that does not fit tells of tables that are not those that were made
        raise IntegrityError(f"{path} is damaged: {cause}", path=str(path), advice=_REPAIR_ADVICE) from cause


def sync_folder(folder: Path) -> None:
    """Make names inside `folder` durable."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def draft_folder(shard: Path) -> Path:
    """Return this process's own draft folder, made if needed."""
    folder = place(shard, "tmp", str(os.getpid()))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def write_synced(path: Path, payload: bytes | memoryview) -> None:
    """Write `payload` to a new file and sync it."""
    with path.open("wb") as stream:
        stream.write(payload)
        stream.flush()
        os.fsync(stream.fileno())


def place_file(path: Path, payload: bytes | memoryview, *, drafts: Path) -> None:
    """Make `path` hold `payload`, durably and all at once; `drafts` is on the same disk."""
    draft = drafts / path.name
    with disk_errors(path):
        write_synced(draft, payload)
        reach("file.drafted")
        draft.replace(path)
        reach("file.renamed")
        # sync the folder too: the rename lives there
        sync_folder(path.parent)


def rename_durably(old: Path, new: Path) -> None:
    """Give a file another name in the same folder, durably."""
    with disk_errors(new):
        old.replace(new)
        sync_folder(new.parent)
