"""What killed processes leave behind: segment files that no commit names, and their drafts."""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from amos.errors import IntegrityError
from amos.storage.building import building_folder, clear_building
from amos.storage.failpoints import reach
from amos.storage.files import disk_errors
from amos.storage.locks import alone_among_writers
from amos.storage.places import place

OLDEST_DRAFT_SECONDS = 86_400.0
"""A draft that nobody has touched for so long belongs to nobody, whoever has its process number now."""


_VERSIONS = re.compile(r"\d+-(\d+)-")


class Named(NamedTuple):
    """What a catalog says of segments: the files that it names, and its newest graph version."""

    files: Collection[str]
    head: int


def find_orphans(shard: Path, named: Callable[[], Named]) -> dict[str, bool]:
    """Return the segment files that no commit names, by path, and whether they are newer than it.

    named: reads the catalog.  Empty while another writer has drafts.
    """
    with alone_among_writers(shard) as is_alone:
        if not is_alone:
            return {}
        told = named()
        files = unnamed(shard, told.files)
        later = _newer(files, told.head)
        return {file: file in later for file in files}


def _newer(files: Collection[str], head: int) -> list[str]:
    """Return the segment files that hold a later graph version than a commit after `head` could make.

    A writer that was killed leaves segments of the version that it was about to commit.  Later ones were
    committed: the catalog that does not know of them is an older one that was put in its place.
    """
    versions = {file: _VERSIONS.match(file.rpartition("/")[2]) for file in files}
    return sorted(file for file, found in versions.items() if found and int(found[1]) > head + 1)


def unnamed(shard: Path, named: Collection[str]) -> list[str]:
    """Return the segment files that are not among `named`."""
    files = (path.relative_to(shard).as_posix() for path in place(shard, "segments").glob("*/*"))
    return sorted(file for file in files if file not in named)


def clean_orphans(
    shard: Path, named: Callable[[], Named], settle: Callable[[], bool], *, also_newer: bool = False
) -> list[str]:
    """Remove drafts of dead processes and segment files that no commit names; return what went.

    named: reads the catalog.  Does nothing while another writer has drafts.  Raises IntegrityError when
    segments are newer than the catalog, and keeps them all, unless `also_newer` gives them up.
    """
    with alone_among_writers(shard) as is_alone:
        # the catalog is read only now: a commit that ended just before has named its files by now
        return clear_leftovers(shard, named(), settle, also_newer=also_newer) if is_alone else []


def clear_leftovers(
    shard: Path,
    named: Named,
    settle: Callable[[], bool],
    *,
    is_alone: bool = False,
    also_newer: bool = False,
) -> list[str]:
    """Remove what killed processes left, while the caller is alone among writers; return what went.

    settle: empties the catalog's log, which may still hold a commit that the disk refused and that names
    such segments; they stay while it cannot.  is_alone: among readers too, so that no draft is in use.
    What a killed restore built beside the store goes as well.
    """
    orphans = unnamed(shard, named.files)
    later = [] if also_newer else _newer(orphans, named.head)
    if later:
        raise IntegrityError(
            f"shard.sqlite ends at graph version {named.head}, but {len(later)} segments are of later ones",
            path=str(shard / later[-1]),
            advice="It is an older one: put the right one back. Or make another store of a backup: "
            "`amos restore SOURCE DESTINATION`. `amos repair --discard-newer` gives the later versions up.",
        )
    if orphans and not settle():
        orphans = []
    for file in orphans:
        reach("clean.before_remove")
        with disk_errors(shard / file):
            (shard / file).unlink(missing_ok=True)
    drafts = [folder for folder in place(shard, "tmp").iterdir() if folder.is_dir()]
    dead = [folder for folder in drafts if is_alone or _is_dead(folder)]
    for folder in dead:
        shutil.rmtree(folder, ignore_errors=True)
    clear_building(shard.parents[1])
    return [*orphans, *(path.relative_to(shard).as_posix() for path in dead)]


def is_clear(shard: Path, named: Collection[str]) -> bool:
    """Return whether no file is left that no commit names, no draft, and nothing built beside the store."""
    drafts = (folder for folder in place(shard, "tmp").iterdir() if folder.is_dir())
    return not unnamed(shard, named) and not any(drafts) and not building_folder(shard.parents[1]).exists()


def _is_dead(folder: Path) -> bool:
    """Return whether a folder of drafts is of no process that runs, or of an earlier one of its number."""
    if not folder.name.isdecimal() or not _runs(int(folder.name)):
        return True
    touched = _last_touched(folder)
    return touched < _started(int(folder.name)) or touched < time.time() - OLDEST_DRAFT_SECONDS


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def _last_touched(folder: Path) -> float:
    """Return when a folder or a file in it was last written, in seconds since 1970."""
    times = [0.0]
    for path in (folder, *folder.rglob("*")):
        with suppress(OSError):  # gone meanwhile
            times.append(path.stat().st_mtime)
    return max(times)


def _started(pid: int) -> float:
    """Return when a process began, in seconds since 1970, never too late; 0 where nobody says."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2]
        boot = next(
            line
            for line in Path("/proc/stat").read_text(encoding="ascii").splitlines()
            if line.startswith("btime ")
        )
        return int(boot.split()[1]) + int(fields.split()[19]) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError, StopIteration):
        return 0.0
