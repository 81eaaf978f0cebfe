"""Let a store know of the copies of what it holds, so that whoever forgets something is told of them."""

from __future__ import annotations

import errno
import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from amos.clock import to_us
from amos.copies.store import drafting, drafts_of, note_copy, withdraw_copy
from amos.errors import BusyError, CapacityError, InputError, UsageError
from amos.identity import random_id
from amos.journal.store import Shard
from amos.schemas.catalog import CopyEntry

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_LOG = logging.getLogger(__name__)


@dataclass(kw_only=True)
class Export:
    """An export that is being written.  draft: where to; is_noted: whether the store knows of it."""

    draft: Path
    is_noted: bool = False


@contextmanager
def exporting(
    shard: Shard, target: Path, kind: str, now: datetime, *, is_folder: bool = False, replace: bool = False
) -> Iterator[Export]:
    """Yield an empty draft that becomes the file or folder `target` once the block is done.

    The store knows of it before a word is written, and again when it stands at its place: what a killed
    process leaves is found by the next writer.  Raises UsageError when something stands at the place, unless
    it is a file and `replace` says so.
    """
    require_free(target, is_folder=is_folder, replace=replace)
    entry = copy_entry(shard, target, kind, now)
    export: Export | None = None
    try:
        with drafting(target, is_folder=is_folder) as draft:
            export = Export(draft=draft, is_noted=noted(shard.folder, entry.begun()))
            yield export
    except BaseException as cause:
        if export is not None and export.is_noted:
            _tried(lambda: withdraw_copy(shard.folder, entry))
        if isinstance(cause, OSError) and cause.errno in _FULL:
            raise CapacityError(f"no space left for {target}", path=str(target)) from cause
        raise
    export.is_noted = export.is_noted and noted(shard.folder, entry, is_only=True)


def require_free(target: Path, *, is_folder: bool = False, replace: bool = False) -> None:
    """Raise UsageError where something stands that an export would have to take the place of."""
    if not os.path.lexists(target):
        return
    if target.is_dir():
        said, advice = f"{target} exists already", "Name what does not exist yet, or remove the folder first."
    elif target.exists() and not target.is_file():
        said, advice = f"{target} is no file", "Name a file; without --output it is printed."
    elif is_folder:
        said, advice = f"{target} exists already", "Name a folder that does not exist yet."
    elif not replace:
        said, advice = f"{target} exists already", "Name another file, or give --replace."
    else:
        return
    raise UsageError(said, path=str(target), advice=advice)


def copy_entry(shard: Shard, target: Path, kind: str, now: datetime) -> CopyEntry:
    """Return how a copy of a kind at `target` is registered: the name is kept, also that of a link."""
    place = target.parent.resolve() / target.name
    return CopyEntry(random_id(), kind, to_us(now), shard.head, str(place))


def known_copies(shard: Shard) -> list[CopyEntry]:
    """Return the copies that were made, as the store knows them; of those that were begun, what is on disk.

    One that is being written stands with the name of its draft, one of which nothing is left does not stand.
    """
    found = []
    for copy in shard.copies():
        found += _seen(copy) if copy.is_unfinished else [copy]
    return found


def _seen(copy: CopyEntry) -> list[CopyEntry]:
    target = Path(copy.place)
    try:
        drafts = drafts_of(target)
    except OSError:
        return [copy]
    found = [copy._replace(place=f"{copy.place} ({draft.name})") for draft in drafts]
    return [*found, copy.finished()] if os.path.lexists(target) else found


def noted(shard: Path, entry: CopyEntry, *, is_only: bool = False) -> bool:
    """Register a copy; return False for a shard that cannot be written.

    is_only: earlier copies at the same place are gone by now.
    """
    return _tried(lambda: note_copy(shard, entry, is_only=is_only))


def _tried(note: Callable[[], None]) -> bool:
    try:
        note()
    except (InputError, BusyError, CapacityError) as cause:
        _LOG.warning("the store could not note where the copy is: %s", cause.message)
        return False
    return True
