"""Remove replaced segment files once no reader can hold them."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from contextlib import AbstractContextManager
from pathlib import Path

from amos.clock import to_us, utc_now
from amos.schemas.catalog import GarbageEntry
from amos.storage.building import building_folder
from amos.storage.care import Care
from amos.storage.catalog import Catalog
from amos.storage.failpoints import reach
from amos.storage.files import disk_errors, sync_folder
from amos.storage.leftovers import Named, clear_leftovers, is_clear
from amos.storage.locks import alone_among_readers, alone_among_writers
from amos.storage.places import place

_PAUSE_SECONDS = 0.05
GRACE_US = 600_000_000
"""A replaced file stays ten minutes: a reader may have read its name just before the pin."""


def removable(entries: Iterable[GarbageEntry], now_us: int) -> list[GarbageEntry]:
    """Return what may go: erased content at once, other files after the grace."""
    return [entry for entry in entries if entry.reason == "erasure" or now_us - entry.replaced_us >= GRACE_US]


def collect(shard: Path, catalog: Catalog, care: Care, now_us: int) -> list[str]:
    """Remove replaced files that no reader can hold any more; return their names."""
    if not removable(care.garbage(), now_us):
        return []
    with alone_among_readers(shard) as is_free:
        ready = removable(care.garbage(), now_us) if is_free else []
        gone = remove_files(shard, ready)
        if gone:
            with catalog.writing("collect garbage"):
                care.drop_garbage(gone)
    return gone


def purge(
    shard: Path, catalog: Catalog, care: Care, lock: AbstractContextManager[object], wait_seconds: float
) -> tuple[bool, tuple[int, ...]]:
    """Remove what may hold erased rows, and finish the ledger of erasures.

    lock: of the open shard, held for each attempt.  Returns whether it is done, and else who is in the way:
    a reader that may open replaced files, or a writer whose drafts may hold rows of the state before.
    """
    deadline = time.monotonic() + wait_seconds
    while True:
        with lock, alone_among_readers(shard) as is_free, alone_among_writers(shard) as is_alone:
            if is_free and is_alone and _purge(shard, catalog, care):
                return True, ()
        if time.monotonic() >= deadline:
            return False, tuple(holders(shard))
        time.sleep(_PAUSE_SECONDS)


def _purge(shard: Path, catalog: Catalog, care: Care) -> bool:
    # what a merge replaced before the erasure may hold the same rows: nothing waits for its grace
    gone = remove_files(shard, care.garbage())
    named = {entry.file for entry in catalog.segments()}
    clear_leftovers(shard, Named(named, catalog.state()[0]), catalog.truncate_log, is_alone=True)
    if not is_clear(shard, named):
        return False
    remove_derived(shard)
    reach("purge.files_gone")
    with catalog.writing("purge"):
        care.drop_garbage(gone)
    if not catalog.truncate_log():
        return False
    reach("purge.log_truncated")
    with catalog.writing("purge"):
        for entry in care.erasures("purging"):
            care.put_erasure(entry._replace(status="purged", finished_us=to_us(utc_now())))
    return True


def remove_files(shard: Path, entries: Iterable[GarbageEntry]) -> list[str]:
    """Unlink the files, durably; return their names.  Missing ones count as removed."""
    gone, folders = [], set()
    for entry in entries:
        path = place(shard, "segments", *Path(entry.file).parts[1:])
        with disk_errors(path):
            reach("garbage.before_unlink")
            path.unlink(missing_ok=True)
        folders.add(path.parent)
        gone.append(entry.file)
    for folder in sorted(folders):
        if folder.exists():
            sync_folder(folder)
    return gone


def remove_derived(shard: Path) -> list[str]:
    """Remove every derived file: all are rebuilt from what is left."""
    folder = place(shard, "derived")
    gone = []
    for path in sorted(folder.rglob("*")) if folder.exists() else []:
        if path.is_file() and not path.name.startswith("verified.sqlite"):
            with disk_errors(path):
                path.unlink(missing_ok=True)
            gone.append(path.relative_to(shard).as_posix())
    return gone


def holders(shard: Path) -> list[int]:
    """Return the processes that hold a pin or drafts, or build beside, as far as the system tells."""
    try:
        locks = [place(shard, "tmp/pins.lock"), place(shard, "tmp/writers.lock")]
        inodes = {
            str(path.stat().st_ino) for path in (*locks, building_folder(shard.parents[1])) if path.exists()
        }
        lines = Path("/proc/locks").read_text(encoding="ascii").splitlines()
    except OSError:
        return []
    found = {
        int(parts[4])
        for parts in (line.split() for line in lines)
        if len(parts) > 5 and parts[1] == "FLOCK" and parts[5].rpartition(":")[2] in inodes
    }
    return sorted(found - {os.getpid()}) or sorted(found)
