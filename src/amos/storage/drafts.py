"""Drafts of what is written out of a store: locked while somebody writes them, removed when nobody does.

A draft stands beside its target as `.NAME.PID.draft`, a file or a folder.  Whoever writes it holds a lock on
it that ends with the process, so that what a killed one left can be told from what a living one writes.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from amos.errors import EngineError
from amos.schemas.catalog import CopyEntry
from amos.storage.care import Care
from amos.storage.catalog import Catalog
from amos.storage.failpoints import reach


@contextmanager
def drafting(target: Path, *, is_folder: bool = False) -> Iterator[Path]:
    """Yield an empty draft that takes the name `target` once the block is done.

    What killed processes left of the same target goes first, and the draft itself when the block fails.
    """
    with suppress(OSError):  # where nothing can be looked at, nothing can be written either
        clear_drafts(target)
    draft = target.with_name(f".{target.name}.{os.getpid()}.draft")
    descriptor = _claim(draft, is_folder=is_folder)
    try:
        yield draft
        reach("export.drafted")
        draft.replace(target)
        reach("export.renamed")
    finally:
        if _is_same(draft, descriptor):
            _remove(draft)
        os.close(descriptor)


def clear_drafts(target: Path) -> list[Path]:
    """Remove the drafts of `target` that nobody writes any more; return those that stay.

    One that another user owns, or whose disk knows no locks, stays.  Raises OSError where the folder of the
    target cannot be looked at.
    """
    return [draft for draft in drafts_of(target) if not _clear(draft)]


def drafts_of(target: Path) -> list[Path]:
    """Return the drafts beside `target`.  Raises OSError where its folder cannot be looked at."""
    own = re.compile(rf"\.{re.escape(target.name)}\.[0-9]+\.draft")
    return sorted(path for path in target.parent.iterdir() if own.fullmatch(path.name))


def clear_unfinished(catalog: Catalog, care: Care) -> None:
    """Remove what killed exports of an open shard left, and note how those ended.

    One whose target stands counts as made; one that left nothing is noted no longer.  A disk that cannot be
    looked at, and an export at work, are left alone.
    """
    for copy in [copy for copy in care.copies() if copy.is_unfinished]:
        target = Path(copy.place)
        try:
            if clear_drafts(target):
                continue
        except OSError:
            continue
        with suppress(EngineError), catalog.writing("settle export"):  # else a later writer does it
            settle(care, copy, is_made=os.path.lexists(target))


def settle(care: Care, copy: CopyEntry, *, is_made: bool) -> None:
    """Note that an export is made, or that nothing came of it."""
    if is_made:
        care.put_copy(copy.finished())
    else:
        care.drop_copy(copy.copy_id)


def _claim(draft: Path, *, is_folder: bool) -> int:
    """Make a draft and lock it; return its descriptor.  Another thread of this process is waited for."""
    while True:
        if is_folder:
            draft.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(draft, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        else:
            descriptor = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
        with suppress(OSError):  # a disk without locks: nobody else can lock the draft either, so it stays
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        if _is_same(draft, descriptor):
            return descriptor
        os.close(descriptor)  # somebody took it for a dead one before it was locked


def _clear(draft: Path) -> bool:
    """Remove a draft if it is this user's and nobody holds its lock; return whether it is gone."""
    try:
        descriptor = os.open(draft, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(descriptor).st_uid == os.geteuid() and _is_same(draft, descriptor):
            _remove(draft)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return not os.path.lexists(draft)


def _is_same(draft: Path, descriptor: int) -> bool:
    """Return whether an open draft still stands under its name."""
    try:
        return os.path.samestat(draft.lstat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _remove(draft: Path) -> None:
    try:
        is_folder = stat.S_ISDIR(draft.lstat().st_mode)
    except FileNotFoundError:
        return
    if is_folder:
        shutil.rmtree(draft, ignore_errors=True)
    else:
        draft.unlink(missing_ok=True)
