"""The folder beside a store in which another one is built until it takes its place."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from amos.errors import BusyError
from amos.storage.files import disk_errors


def building_folder(root: Path) -> Path:
    """Return where a store that is to stand at `root` is built: on the same disk, out of sight."""
    real = root.resolve()
    return real.with_name(f".{real.name}.restoring")


@contextmanager
def building(root: Path) -> Iterator[Path]:
    """Yield an empty folder beside the store folder `root` that is gone afterwards.

    What one that was killed left there goes first.  Raises BusyError while another process builds there.
    """
    folder = building_folder(root)
    if not clear_building(root):
        raise BusyError(f"another process builds a store for {root}", path=str(folder))
    with disk_errors(folder):
        folder.mkdir(parents=True)
        descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(descriptor)


def clear_building(root: Path) -> bool:
    """Remove what a killed process left where it built; return False while a living one is at work there."""
    folder = building_folder(root)
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return not folder.exists()
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        with suppress(OSError):  # the caller hears whether it went
            shutil.rmtree(folder)
    except BlockingIOError:
        return False
    finally:
        os.close(descriptor)
    return not folder.exists()
