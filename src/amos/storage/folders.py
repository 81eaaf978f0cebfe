"""Make, find and tidy the folders of a store."""

from __future__ import annotations

import os
import tomllib
from datetime import datetime
from pathlib import Path

from amos.errors import InputError, IntegrityError, SchemaError, UsageError
from amos.storage.catalog import Catalog
from amos.storage.failpoints import reach
from amos.storage.files import disk_errors, sync_folder, write_synced
from amos.storage.filesystems import refuse_network_disk
from amos.storage.keys import fingerprint, make_key
from amos.storage.locks import maker_lock
from amos.storage.places import place
from amos.storage.tallies import first_tallies
from amos.storage.upgrades import FORMAT

_LONGEST_NAME = 100
_LOST = "Put the file back, or make another store of a backup: `amos restore SOURCE DESTINATION`."
_MISSING = "Make one with `amos init`, or with `amos ingest PATH`, or name another with `--store`."


def shard_folder(root: Path, tenant: str, workspace: str) -> Path:
    """Return the folder of one shard.  Raises UsageError for names that cannot be folders."""
    for kind, name in (("tenant", tenant), ("workspace", workspace)):
        is_plain = name.isprintable() and not set(name) & set('/\\:*?"<>|')
        if not name or name.startswith(".") or not is_plain or len(name.encode()) > _LONGEST_NAME:
            raise UsageError(
                f"{kind} {name!r} cannot be a folder name",
                advice=f"Use 1 to {_LONGEST_NAME} bytes, no slash, no leading dot.",
            )
    return root / tenant / workspace


def make_shard(root: Path, tenant: str, workspace: str, now: datetime, key: bytes | None = None) -> Path:
    """Make what is missing of a store and of one of its shards; return the shard's folder.

    key: the erasure key of a new shard, a random one when None.

    The catalog is what openers look for, so it comes last of the shard's files, and whole.
    """
    shard = shard_folder(root, tenant, workspace)
    _refuse_headless(shard)
    labels = {"tenant": tenant, "workspace": workspace, "created_at": now.isoformat()}
    with disk_errors(root):
        _make_folders(root, shard)
        reach("create.folders_made")
        with maker_lock(shard):
            key = make_key(shard, key)
            reach("create.key_written")
            entries = {**labels, **first_tallies(labels)}
            Catalog.make(shard, fingerprint=fingerprint(key), labels=entries)
            reach("create.catalog_made")
            write_root_files(root)
        for folder in (shard, shard.parent, root):
            sync_folder(folder)
    return shard


def write_root_files(root: Path) -> None:
    """Write the settings of a store and what keeps it out of version control, where they are missing."""
    _write_once(place(root, "amos.toml"), f"# Settings of this Amos store.\nformat = {FORMAT}\n")
    _write_once(place(root, ".gitignore"), "*\n")


def _make_folders(root: Path, shard: Path) -> None:
    if root.exists() and not root.is_dir():
        raise InputError(f"{root} is a file, not a store", path=str(root), advice=_MISSING)
    try:
        root.mkdir(parents=True, exist_ok=True)
    except (FileNotFoundError, NotADirectoryError) as cause:
        raise InputError(
            f"{root} cannot be made: no folder can stand there",
            path=str(root),
            advice="Name another place with `--store`.",
        ) from cause
    refuse_network_disk(root)
    make_inner_folders(shard)


def make_inner_folders(shard: Path) -> None:
    """Make the folders inside a shard that are missing, as after a backup that skipped empty ones."""
    with disk_errors(shard):
        for name in ("segments", "derived", "tmp"):
            place(shard, name).mkdir(parents=True, exist_ok=True)
        pins = place(shard, "tmp/pins.lock")
        if not pins.exists():  # made by who may write, so that a reader need not
            pins.touch()


def _write_once(path: Path, text: str) -> None:
    if path.exists():
        return
    draft = path.with_name(f"{path.name}.{os.getpid()}.draft")
    write_synced(draft, text.encode())
    draft.replace(path)


def find_shard(root: Path, tenant: str, workspace: str) -> Path:
    """Return the folder of an existing shard.

    Raises UsageError when there is none, IntegrityError when its catalog is gone, InputError when it lies
    on a network file system, SchemaError when its settings cannot be read or name a higher format.
    """
    shard = shard_folder(root, tenant, workspace)
    with disk_errors(root):
        _refuse_headless(shard)
        if not place(shard, "shard.sqlite").exists():
            raise _missing(root, tenant, workspace)
        _check_settings(place(root, "amos.toml"))
    refuse_network_disk(root)
    return shard


def _missing(root: Path, tenant: str, workspace: str) -> UsageError:
    """Return the error for a store that is not there, or that has no shard of these labels."""
    if not place(root, "amos.toml").exists():
        return UsageError(f"there is no store at {root}", path=str(root), advice=_MISSING)
    advice = "Check --tenant and --workspace; `amos ingest PATH` makes what is missing."
    said = f"the store {root} holds nothing of tenant {tenant!r} and workspace {workspace!r}"
    return UsageError(said, path=str(root), advice=advice)


def holds_shard(shard: Path) -> bool:
    """Return whether a folder holds a shard, be it one whose catalog is gone."""
    return place(shard, "shard.sqlite").exists() or any(place(shard, "segments").glob("*/*.parquet"))


def _refuse_headless(shard: Path) -> None:
    """Raise IntegrityError where segments stand without a catalog: to another one they would be orphans."""
    path = place(shard, "shard.sqlite")
    if not path.exists() and holds_shard(shard):
        raise IntegrityError(f"{path} is missing, and its segments are there", path=str(path), advice=_LOST)


def _check_settings(path: Path) -> None:
    """Raise SchemaError when a store's settings cannot be read or name another format; none are fine."""
    if not path.exists():  # the catalog states the format too
        return
    said = ""
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8")).get("format")
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as cause:
        found, said = None, f" ({cause})"
    if type(found) is not int or found < 1:
        raise SchemaError(
            f"{path} states no format{said}",
            path=str(path),
            advice=f"Correct the file: it needs the line `format = {FORMAT}`.",
        )
    if found > FORMAT:
        raise SchemaError(
            f"{path} is of format {found}, this version reads up to {FORMAT}",
            code="newer_store",
            path=str(path),
        )
