"""Say what a failure of the disk, of memory or of SQLite means, wherever in a command it came from."""

from __future__ import annotations

import errno

from amos.errors import BusyError, CapacityError, EngineError, InputError, IntegrityError

FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_REFUSED = {errno.EACCES, errno.EPERM, errno.EROFS}
_BROKEN = {errno.EIO, errno.ENXIO, errno.ENODEV, errno.ESTALE, errno.EREMOTEIO, errno.ETIMEDOUT}
_UNFIT = {errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.ELOOP, errno.ENAMETOOLONG}
_TOO_MANY = {errno.EMFILE, errno.ENFILE}
_BROKEN_ADVICE = (
    "Look for messages of the disk in the system's log; when it works again, `amos verify` says whether the"
    " store is whole. What was acknowledged before is in it."
)
_SQLITE = {
    "BusyError": BusyError,
    "LockedError": BusyError,
    "ProtocolError": BusyError,
    "FullError": CapacityError,
    "NoMemError": CapacityError,
    "ReadOnlyError": InputError,
    "CantOpenError": InputError,
}
"""What a name of a failure of SQLite means; every other one tells of a file that is not as it was written."""


def system_failure(failure: Exception) -> EngineError | None:
    """Return the error to report for a failure of the system; None for any other failure."""
    if isinstance(failure, OSError):
        return _disk_failure(failure)
    if isinstance(failure, MemoryError):
        return CapacityError("there is not enough memory", advice="Close other programs, or give it less.")
    if type(failure).__module__ == "apsw":  # not imported here: `--help` needs no SQLite
        return _sqlite_failure(failure)
    return None


def _disk_failure(failure: OSError) -> EngineError | None:
    path = str(failure.filename) if failure.filename is not None else None
    where = path or "what is written"
    said = f"{where}: {failure.strerror or failure}"
    if failure.errno in FULL:
        return CapacityError(f"no space left for {where}", path=path)
    if failure.errno in _REFUSED:
        advice = "Check the owner and permissions of the path."
        return InputError(f"no permission for {where}", path=path, advice=advice)
    if failure.errno in _BROKEN:
        return IntegrityError(
            f"the disk failed at {said}", code="disk_failed", path=path, advice=_BROKEN_ADVICE
        )
    if failure.errno in _TOO_MANY:
        return CapacityError("too many files are open", advice="Raise the limit: `ulimit -n 4096`.")
    if failure.errno in _UNFIT:
        return InputError(said, path=path, advice="It may have been moved meanwhile: check the path.")
    return None


def _sqlite_failure(failure: Exception) -> EngineError:
    name = type(failure).__name__
    if name == "IOError":
        said = f"the disk failed under a database of the store: {failure or 'input/output error'}"
        return IntegrityError(said, code="disk_failed", advice=_BROKEN_ADVICE)
    return _SQLITE.get(name, IntegrityError)(f"a database of the store: {failure or name}")
