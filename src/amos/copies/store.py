"""Back a shard up, and put a backup in its place: files and catalogs, whose rows are not decoded here."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from amos.errors import BusyError, InputError, IntegrityError, UsageError
from amos.schemas.catalog import CopyEntry
from amos.storage.building import building
from amos.storage.care import Care
from amos.storage.catalog import Catalog
from amos.storage.copying import (
    Copied,
    Progress,
    copy_keys,
    copy_segments,
    drop_unnamed,
)
from amos.storage.drafts import drafting, drafts_of, settle
from amos.storage.failpoints import reach
from amos.storage.files import disk_errors, draft_folder, place_file, rename_durably, sync_folder
from amos.storage.folders import (
    find_shard,
    holds_shard,
    make_inner_folders,
    shard_folder,
    write_root_files,
)
from amos.storage.keys import fingerprint, read_key
from amos.storage.locks import alone_among_readers, alone_among_writers, maker_lock, pin_lock, writer_lock
from amos.storage.places import place
from amos.storage.planting import Record, catalog_records, plant_shard
from amos.storage.upgrades import FORMAT

__all__ = [
    "FORMAT",
    "Backup",
    "Held",
    "Progress",
    "Record",
    "back_up",
    "build_shard",
    "building",
    "catalog_records",
    "drafting",
    "drafts_of",
    "find_shard",
    "held_backup",
    "holds_shard",
    "note_copies",
    "note_copy",
    "plant_shard",
    "put_in_place",
    "scratch_copy",
    "withdraw_copy",
]

_KIND = "amos-backup"


class Backup(NamedTuple):
    """A backup that was made: the state it holds, what was copied, what was removed from it."""

    graph_version: int
    link: bytes
    copied: Copied
    removed: int
    has_keys: bool


class Held(NamedTuple):
    """What a catalog on disk says of itself, without its rows."""

    graph_version: int
    link: bytes
    fingerprint: bytes
    byte_count: int
    segments: int


def back_up(
    shard: Path,
    destination: Path,
    *,
    with_keys: bool = False,
    is_linked: bool = False,
    progress: Progress | None = None,
) -> Backup:
    """Bring the newest state of `shard` to the folder `destination`, which is laid out like a store.

    A writer may be at work: the backup holds one committed state.  Files that an earlier backup brought
    stay; what the new state does not name is removed.  with_keys: the erasure key goes along.
    is_linked: share bytes on disk where possible.  Killed anywhere, the earlier backup can be restored.
    Raises UsageError when something else stands there, IntegrityError when a file of the shard is damaged.
    """
    copy = destination.joinpath(*shard.parts[-2:])
    _require_room(destination, copy)
    make_inner_folders(copy)
    with disk_errors(copy), pin_lock(shard), maker_lock(copy):
        for left in place(copy, "tmp").glob("[0-9]*"):
            shutil.rmtree(left)  # of a backup that was killed: nobody else works here
        draft = draft_folder(copy)
        _write_manifest(destination, copy, None)  # else a first one that is killed could not be run again
        _copy_catalog(shard, draft)
        reach("backup.catalog_copied")
        named = Catalog(draft, read_only=True)
        try:
            held = _held(named)
            _require_ancestor(copy, named, held)
            segments = named.segments()
        finally:
            named.close()
        copied = copy_segments(shard, copy, segments, is_linked=is_linked, progress=progress)
        reach("backup.segments_copied")
        if with_keys:
            copy_keys(place(shard, "keys.sqlite"), place(copy, "keys.sqlite"))
        rename_durably(place(draft, "shard.sqlite"), place(copy, "shard.sqlite"))
        reach("backup.named")
        write_root_files(destination)
        _write_manifest(destination, copy, held)
        removed = drop_unnamed(copy, segments)
        shutil.rmtree(draft, ignore_errors=True)
    return Backup(
        held.graph_version, held.link, copied, removed, has_keys=place(copy, "keys.sqlite").exists()
    )


def _require_room(destination: Path, copy: Path) -> None:
    """Raise UsageError unless the folder is empty, missing, or an earlier backup."""
    if place(destination, "backup.json").exists():
        return
    if place(copy, "shard.sqlite").exists() or (destination.exists() and any(destination.iterdir())):
        raise UsageError(
            f"{destination} is neither empty nor a backup",
            path=str(destination),
            advice="Name an empty or missing folder, or that of an earlier backup.",
        )


def _copy_catalog(shard: Path, folder: Path) -> None:
    catalog = Catalog(shard, read_only=True)
    try:
        catalog.copy_to(place(folder, "shard.sqlite"))
    finally:
        catalog.close()


def _held(catalog: Catalog) -> Held:
    last = catalog.last_commit()
    segments = catalog.segments()
    return Held(
        last.graph_version if last else 0,
        last.link if last else b"",
        catalog.meta("key_fingerprint"),
        sum(entry.byte_count for entry in segments) + catalog.path.stat().st_size,
        len(segments),
    )


def _require_ancestor(copy: Path, named: Catalog, held: Held) -> None:
    """Raise UsageError when an earlier backup is no earlier state of the same shard."""
    if not place(copy, "shard.sqlite").exists():
        return
    earlier = held_backup(copy)
    own = earlier.fingerprint == held.fingerprint
    if own and earlier.graph_version:
        own = named.link(earlier.graph_version) == earlier.link
    if not own:
        raise UsageError(
            f"{copy} holds another history than the store",
            path=str(copy),
            advice="Back up to another folder; restore from this one if it is the better history.",
        )
    if place(copy, "shard.sqlite-wal").exists():  # somebody opened the backup: no log may stay behind
        opened = Catalog(copy)
        opened.truncate_log()
        opened.close()


def _write_manifest(destination: Path, copy: Path, held: Held | None) -> None:
    """Say that the folder is a backup, and what it holds of a shard once that is there."""
    path = place(destination, "backup.json")
    shards = json.loads(path.read_bytes())["shards"] if path.exists() else {}
    if held is not None:
        shards["/".join(copy.parts[-2:])] = {"graph_version": held.graph_version, "link": held.link.hex()}
    elif path.exists():
        return
    text = json.dumps({"kind": _KIND, "shards": shards}, indent=2, sort_keys=True) + "\n"
    place_file(path, text.encode(), drafts=draft_folder(copy))


def held_backup(folder: Path) -> Held:
    """Return what the catalog of a shard folder says.  Raises UsageError when there is none."""
    if not place(folder, "shard.sqlite").exists():
        raise UsageError(
            f"there is no backup of a shard at {folder}",
            path=str(folder),
            advice="Name the folder that `amos backup` wrote, and the same --tenant and --workspace.",
        )
    catalog = Catalog(folder, read_only=True)
    try:
        return _held(catalog)
    finally:
        catalog.close()


def build_shard(
    backup: Path, root: Path, *, keys: Path | None = None, progress: Progress | None = None
) -> Path:
    """Make the shard that the folder `backup` holds under the store folder `root`; return its folder.

    keys: a key file, when the backup has none.  Raises IntegrityError when a file is damaged or the key
    does not belong to it, InputError when there is no key.
    """
    shard = shard_folder(root, *backup.parts[-2:])
    make_inner_folders(shard)
    with disk_errors(shard):
        key_file = place(backup, "keys.sqlite") if keys is None else keys
        if not key_file.exists():
            raise InputError(
                f"{key_file} is missing: a store cannot be opened without its key",
                path=str(key_file),
                advice="Give the key file with --keys, or back up with --with-keys.",
            )
        copy_keys(key_file, place(shard, "keys.sqlite"))
        _copy_catalog(backup, shard)
        catalog = Catalog(shard, read_only=True)
        try:
            held, segments = _held(catalog), catalog.segments()
        finally:
            catalog.close()
        if fingerprint(read_key(shard)) != held.fingerprint:
            raise IntegrityError(
                f"{key_file} is the key of another store",
                path=str(key_file),
                advice="Give the key file that belongs to the backup with --keys.",
            )
        copy_segments(backup, shard, segments, progress=progress)
    return shard


def put_in_place(built: Path, shard: Path, aside: Path | None, *, replaced: int | None = None) -> None:
    """Move a built shard folder to its place, durably; what stands there goes to `aside` first.

    replaced: the graph version of what stands there, as it was when its erasures were read.  Raises
    UsageError when something stands there and `aside` is None, BusyError while it is in use or was written
    to since.
    """
    root = shard.parents[1]
    reach("restore.built")
    with disk_errors(root):
        shard.parent.mkdir(parents=True, exist_ok=True)
        if holds_shard(shard):
            if aside is None:
                raise UsageError(
                    f"{shard} holds a store already",
                    path=str(shard),
                    advice="Name another folder, or give --replace: what stands there is moved aside.",
                )
            with _unused(shard):
                if replaced is not None and held_backup(shard).graph_version != replaced:
                    raise BusyError(f"{shard} was written to meanwhile", path=str(shard))
                rename_durably(shard, aside)
            reach("restore.moved_aside")
        elif shard.exists():
            shutil.rmtree(shard)  # folders of a making that was killed: no catalog, so nothing in it
        built.rename(shard)
        write_root_files(root)
        for folder in (shard.parent, root, root.parent):
            sync_folder(folder)


@contextmanager
def scratch_copy(shard: Path) -> Iterator[Path]:
    """Yield a store folder with the newest state of `shard`, to try something on; it is gone afterwards.

    It stands among the drafts of this process and shares the bytes of segments on disk, so that an erasure
    waits for it, and removes what a killed process left of it.  Where the disk takes no files it is a whole
    copy in the system's folder for temporary files.
    """
    try:
        drafts = draft_folder(shard)
    except OSError:
        with tempfile.TemporaryDirectory(prefix="amos-dry-run-") as folder:
            yield _scratch(shard, Path(folder))
        return
    with writer_lock(shard), tempfile.TemporaryDirectory(prefix="dry-run-", dir=drafts) as folder:
        yield _scratch(shard, Path(folder))


def _scratch(shard: Path, folder: Path) -> Path:
    back_up(shard, folder, with_keys=True, is_linked=True)
    return folder


@contextmanager
def _unused(shard: Path) -> Iterator[None]:
    with alone_among_writers(shard) as no_writer, alone_among_readers(shard) as no_reader:
        if not (no_writer and no_reader):
            raise BusyError(f"{shard} is in use", path=str(shard))
        yield


def note_copy(shard: Path, entry: CopyEntry, *, is_only: bool = False) -> None:
    """Register a copy in the catalog of `shard`.

    is_only: earlier copies at the same place are gone by now, and are forgotten.
    """
    note_copies(shard, [entry], is_only=is_only)


def note_copies(shard: Path, entries: Iterable[CopyEntry], *, is_only: bool = False) -> None:
    """Register several copies; see `note_copy`."""
    catalog = Catalog(shard)
    try:
        with catalog.writing("register copy"):
            care = Care(catalog)
            for entry in entries:
                care.put_copy(entry)
                if is_only:
                    care.drop_copies(entry.place, but=entry.copy_id)
    finally:
        catalog.close()


def withdraw_copy(shard: Path, entry: CopyEntry) -> None:
    """Note that nothing came of a copy that was registered before it was made."""
    catalog = Catalog(shard)
    try:
        with catalog.writing("withdraw copy"):
            settle(Care(catalog), entry, is_made=False)
    finally:
        catalog.close()
