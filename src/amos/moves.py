"""The library's door for moving memory: back up, restore, export, import.

What a function needs is imported when it is first called.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from amos.clock import utc_now
from amos.errors import UsageError
from amos.flow.principal import principal_of

if TYPE_CHECKING:
    from amos.api import Store
    from amos.copies.store import Progress

__all__ = [
    "back_up",
    "export_lines",
    "export_tables",
    "import_export",
    "left_out",
    "repair",
    "restore",
    "shape_lines",
    "write_told",
]

_SHARD = ("default", "default")


def back_up(
    root: str | Path,
    destination: str | Path,
    *,
    shard: tuple[str, str] = _SHARD,
    with_keys: bool = False,
    link: bool = False,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Bring the newest state of a shard to the folder `destination`, while writers go on.

    shard: tenant and workspace.  A second backup to the same folder copies only what is new.
    link: share bytes on disk with the store.  Returns the receipt.
    """
    from amos.copies.store import find_shard
    from amos.flow.backup import back_up_shard, plan_backup

    folder = find_shard(_owned(Path(root), "back up"), *shard)
    if dry_run:
        return plan_backup(folder, Path(destination))
    return back_up_shard(
        folder,
        Path(destination),
        now=utc_now(),
        with_keys=with_keys,
        is_linked=link,
        progress=progress,
    )


class RestoreTerms(TypedDict, total=False):
    """How a backup is restored; see `restore`."""

    keys: str | Path | None
    live: str | Path | None
    replace: bool
    without_erasures: bool


def restore(
    source: str | Path,
    destination: str | Path,
    *,
    shard: tuple[str, str] = _SHARD,
    dry_run: bool = False,
    progress: Progress | None = None,
    **terms: Unpack[RestoreTerms],
) -> dict[str, Any]:
    """Make a store in the folder `destination` of the backup `source`; return the receipt.

    keys: a key file, when the backup has none.  live: a store of the same key; what it has forgotten since
    the backup is forgotten in the restored store before that opens, as does the store that the key file lies
    in.  replace: a shard that stands there is
    moved aside, and its erasures count too.  without_erasures: a damaged one that does not tell its erasures
    is passed over, and listed as `unread`.
    """
    from amos.flow.restore import Restoring, restore_shard

    target = Path(destination)
    _owned(Path(source), "read")
    if target.exists():
        _owned(target, "write")
    if target.resolve().is_relative_to(Path(source).resolve()):
        raise UsageError(f"{target} lies inside the backup", path=str(target))
    keys, live = terms.get("keys"), terms.get("live")
    asked = Restoring(
        source=Path(source),
        destination=target,
        tenant=shard[0],
        workspace=shard[1],
        keys=None if keys is None else Path(keys),
        live=None if live is None else Path(live),
        replace=terms.get("replace", False),
        without_erasures=terms.get("without_erasures", False),
    )
    return restore_shard(
        asked, actor=principal_of(target).name, now=utc_now(), dry_run=dry_run, progress=progress
    )


def export_tables(
    store: Store,
    folder: str | Path,
    *,
    secret: bytes | None = None,
    format_version: int | None = None,
    leave_out: bool = False,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Write everything in the store's scope as Parquet tables with a manifest; return the receipt.

    secret: wraps the erasure key, without which tombstones cannot go along.  format_version: an older
    format, without what it cannot hold and the sources give again; leave_out: and without what they do not.
    The copy is registered in the store.
    """
    from amos.flow.export_parquet import ParquetTerms, export_parquet
    from amos.flow.noting import exporting
    from amos.flow.receipts import parquet_receipt

    now = utc_now()
    path = Path(folder)
    terms = ParquetTerms(now=now, secret=secret, salt=os.urandom(32), scope=store.scope)
    if format_version is not None:
        terms = replace(terms, format_number=format_version, leave_out=leave_out)
    with exporting(store.shard, path, "export parquet", now, is_folder=True) as export:
        manifest = export_parquet(store.shard, export.draft, terms, progress=progress)
        receipt = parquet_receipt(manifest, export.draft, path)
    return {**receipt, "registered": export.is_noted}


def export_lines(
    store: Store, form: str, path: str | Path, *, tables: Sequence[str] = (), replace: bool = False
) -> dict[str, Any]:
    """Write what is in the store's scope in another shape; return the receipt, which says what that loses.

    form: jsonl, markdown (a new folder), mem0, mcp-memory or openai.  tables: for jsonl, only these.
    replace: a file that stands there is replaced.
    """
    from amos.flow.export_shapes import FOLDERS, write_shape
    from amos.flow.noting import exporting
    from amos.flow.sight import Sight

    now, place = utc_now(), Path(path)
    is_folder = form in FOLDERS
    with (
        exporting(store.shard, place, f"export {form}", now, is_folder=is_folder, replace=replace) as export,
        store.shard.pin() as snapshot,
    ):
        sight = Sight(snapshot=snapshot, now=now, scope=store.scope)
        receipt = write_shape(sight, form, export.draft, tables, store.shard.holds())
    return {**receipt, "place": str(place), "registered": export.is_noted}


def write_told(store: Store, path: str | Path, lines: Iterator[str]) -> dict[str, Any]:
    """Write a report that quotes what is stored to a file, and register the copy; return what was written."""
    from amos.flow.noting import exporting
    from amos.flow.placing import write_lines

    place = Path(path)
    with exporting(store.shard, place, "report", utc_now(), replace=True) as export:
        done = write_lines(lines, export.draft)
    written = {"place": str(place), "bytes": done.byte_count, "sha256": done.sha256}
    return {**written, "registered": export.is_noted}


def repair(
    root: str | Path,
    *,
    shard: tuple[str, str] = _SHARD,
    backup: str | Path | None = None,
    discard_newer: bool = False,
    dry_run: bool = False,
    progress: Callable[[str, int, int], None] | None = None,
) -> dict[str, Any]:
    """Write again what follows from the events of a shard, and what a backup holds unchanged; say the rest.

    No row is dropped: what cannot be told stays reported by `verify`.  discard_newer: segments later than
    the catalog, which is then an older one put in place of theirs, are given up.
    """
    from amos.copies.store import find_shard
    from amos.flow.repair import repair_shard
    from amos.journal.store import Shard

    folder = None if backup is None else find_shard(Path(backup), *shard)
    tenant, workspace = shard
    with Shard.open_as_is(_owned(Path(root), "repair"), tenant=tenant, workspace=workspace) as opened:
        return repair_shard(opened, folder, is_dry=dry_run, discard_newer=discard_newer, progress=progress)


def left_out(store: Store, form: str) -> list[str]:
    """Return what a shape leaves out of what is in the store's scope."""
    from amos.flow.export_shapes import left_out as left
    from amos.flow.sight import Sight

    with store.shard.pin() as snapshot:
        return left(Sight(snapshot=snapshot, now=utc_now(), scope=store.scope), form, store.shard.holds())


def shape_lines(store: Store, form: str) -> Iterator[str]:
    """Yield the lines of a shape that is one file, for printing."""
    from amos.flow.export_shapes import lines_of
    from amos.flow.sight import Sight

    with store.shard.pin() as snapshot:
        yield from lines_of(Sight(snapshot=snapshot, now=utc_now(), scope=store.scope), form)


def import_export(
    root: str | Path,
    path: str | Path,
    *,
    shard: tuple[str, str] = _SHARD,
    secret: bytes | None = None,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Bring one of our own exports into the store `root`, made where it is missing; return the receipt.

    secret: what the export's key was wrapped with.  What is there already is not brought again.
    """
    from amos.flow.importing import Importing, import_lines, import_parcel

    folder = Path(root)
    _owned(folder, "write")
    actor = principal_of(folder).name
    terms = Importing(
        root=folder, tenant=shard[0], workspace=shard[1], actor=actor, now=utc_now, secret=secret
    )
    source = Path(path)
    if source.is_dir():
        return import_parcel(terms, source, dry_run=dry_run, progress=progress)
    if secret is not None:
        raise UsageError(f"{source} is no Parquet export: it carries no key", path=str(source))
    return import_lines(terms, source, dry_run=dry_run)


def _owned(root: Path, operation: str) -> Path:
    principal_of(root).require_owner(root, operation)
    return root
