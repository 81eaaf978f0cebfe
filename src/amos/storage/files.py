"""Write files that survive a crash, and say what a failing disk means to the caller."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import apsw

from amos.errors import BusyError, CapacityError, EngineError, InputError, IntegrityError
from amos.storage.failpoints import reach
from amos.storage.places import place

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_REFUSED = {errno.EACCES, errno.EPERM, errno.EROFS}
RESTORE_ADVICE = "Keep the store as it is, and make another of a backup: `amos restore SOURCE DESTINATION`."
_OPEN_ADVICE = "Check the owner and permissions of the store folder."
_READ_ONLY_ADVICE = "The disk is mounted read-only: what is stored can be read, backed up and exported."
_BROKEN = {errno.EIO, errno.ENXIO, errno.ENODEV, errno.ESTALE, errno.EREMOTEIO, errno.ETIMEDOUT}
_BROKEN_ADVICE = (
    "Look for messages of the disk in the system's log; when it works again, `amos verify` says whether the"
    " store is whole. What was acknowledged before is in it."
)


@contextmanager
def disk_errors(path: Path) -> Iterator[None]:
    """Turn failures of the disk or of SQLite into errors that name what to do next."""
    try:
        yield
    except OSError as cause:
        known = _of_system(cause, path)
        if known is None:
            raise
        raise known from cause
    except apsw.Error as cause:
        known = _of_sqlite(cause, path)
        if known is None:
            raise
        raise known from cause
    except UnicodeDecodeError as cause:  # SQLite gives texts out as they stand in the file
        said = f"{path} is damaged: a text in it is no UTF-8"
        raise IntegrityError(said, path=str(path), advice=RESTORE_ADVICE) from cause


def _of_system(cause: OSError, path: Path) -> EngineError | None:
    if cause.errno in _FULL:
        return CapacityError(f"no space left for {path}", path=str(path))
    if cause.errno in _REFUSED:
        return InputError(f"no permission for {path}", path=str(path), advice=_open_advice(path))
    if cause.errno in _BROKEN:
        return _broken(path, cause.strerror)
    return None


def _of_sqlite(cause: apsw.Error, path: Path) -> EngineError | None:
    if isinstance(cause, apsw.FullError) or (isinstance(cause, apsw.IOError) and is_full(path)):
        return CapacityError(f"no space left for {path}", path=str(path))
    if isinstance(cause, apsw.IOError):
        return _broken(path, str(cause) or None)
    if isinstance(cause, (apsw.BusyError, apsw.LockedError, apsw.ProtocolError)):
        return BusyError(f"{path} is locked by another process", path=str(path))
    if isinstance(cause, (apsw.ReadOnlyError, apsw.CantOpenError, apsw.PermissionsError)):
        return InputError(f"{path} cannot be opened: {cause}", path=str(path), advice=_open_advice(path))
    if isinstance(cause, (apsw.CorruptError, apsw.NotADBError, apsw.SQLError)):
        # statements are fixed: one that does not fit tells of tables that are not those that were made
        return IntegrityError(f"{path} is damaged: {cause}", path=str(path), advice=RESTORE_ADVICE)
    return None


def _open_advice(path: Path) -> str:
    with suppress(OSError):
        if os.statvfs(path.parent).f_flag & os.ST_RDONLY:
            return _READ_ONLY_ADVICE
    return _OPEN_ADVICE


def _broken(path: Path, said: str | None) -> IntegrityError:
    message = f"the disk failed at {path}: {said or 'input/output error'}"
    return IntegrityError(message, code="disk_failed", path=str(path), advice=_BROKEN_ADVICE)


def is_full(path: Path) -> bool:
    """Return whether the disk has no block left: SQLite calls it an I/O error where its index cannot grow."""
    try:
        return os.statvfs(path.parent).f_bavail == 0
    except OSError:
        return False


def sync_folder(folder: Path) -> None:
    """Make names inside `folder` durable."""
    with disk_errors(folder):
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
