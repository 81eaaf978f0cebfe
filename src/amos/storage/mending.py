"""Write what a repair has derived or found in a backup; each step is whole or absent."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import apsw

from amos.schemas.catalog import CommitEntry, HotEntry, SegmentEntry, SnapshotEntry
from amos.storage.care import Care
from amos.storage.catalog import Catalog
from amos.storage.failpoints import reach
from amos.storage.files import disk_errors, draft_folder, sync_folder
from amos.storage.garbage import remove_derived
from amos.storage.leftovers import Named, clean_orphans
from amos.storage.places import place
from amos.storage.tallies import Tallies


def found_in_backup(backup: Path, entry: SegmentEntry) -> Path | None:
    """Return the file of a backup's shard that is this segment, by its SHA-256; None when there is none."""
    folder = place(backup, "segments", entry.table)
    for path in sorted(folder.glob(f"*{entry.sha256.hex()}.parquet")) if folder.is_dir() else []:
        with path.open("rb") as stream:
            if hashlib.file_digest(stream, "sha256").digest() == entry.sha256:
                return path
    return None


def hot_of_backup(backup: Path) -> dict[tuple[str, int], HotEntry]:
    """Return the hot rows that a backup's catalog holds, by table and graph version."""
    catalog = Catalog(backup, read_only=True)
    try:
        return {(entry.table, entry.graph_version): entry for entry in catalog.hot()}
    finally:
        catalog.close()


class Mending:
    """Repairs of one open shard, whose writer lock the caller holds."""

    def __init__(self, shard: Path, catalog: Catalog) -> None:
        self._shard, self._catalog = shard, catalog

    def restore_file(self, entry: SegmentEntry, source: Path) -> None:
        """Put a copy of `source`, which has the segment's digest, in the segment's place, durably."""
        target = place(self._shard, "segments", *Path(entry.file).parts[1:])
        draft = draft_folder(self._shard) / target.name
        with disk_errors(target):
            target.parent.mkdir(exist_ok=True)
            with source.open("rb") as read, draft.open("wb") as written:
                shutil.copyfileobj(read, written, 1 << 20)
                written.flush()
                os.fsync(written.fileno())
            reach("repair.file_copied")
            draft.replace(target)
            sync_folder(target.parent)

    def write(
        self,
        *,
        meta: Mapping[str, Any],
        commits: Iterable[CommitEntry],
        hot: Iterable[HotEntry],
        snapshots: Iterable[SnapshotEntry] = (),
        tallies: Iterable[str] = (),
    ) -> None:
        """Write what was derived, in one transaction; open shards then read their layout anew.

        tallies: tables beside the memory whose rows are taken as they stand.
        """
        with self._catalog.writing("repair"):
            for commit in commits:
                self._catalog.rows("INSERT OR REPLACE INTO commits VALUES (?, ?, ?, ?, ?, ?, ?, ?)", commit)
            for entry in hot:
                self._catalog.rows(
                    "DELETE FROM hot WHERE graph_version = ? AND table_name = ?",
                    (entry.graph_version, entry.table),
                )
                self._catalog.rows("INSERT INTO hot VALUES (?, ?, ?, ?)", entry)
            for name, value in meta.items():
                self._catalog.rows("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, value))
            self._catalog.count_hot()
            Care(self._catalog).put_snapshots(snapshots)
            Tallies(self._catalog).count_anew(tallies)
            reach("repair.before_commit")

    def rebuild_indexes(self) -> bool:
        """Build SQLite's own indexes anew; return whether the catalog is sound afterwards."""
        try:
            with self._catalog.writing("repair"):
                self._catalog.rows("REINDEX")
        except apsw.Error:
            return False
        return not self._catalog.check()

    def drop_derived(self) -> list[str]:
        """Remove derived files and the stamps of verified ones; return their names."""
        gone = remove_derived(self._shard)
        stamps = place(self._shard, "derived/verified.sqlite")
        if stamps.exists():
            stamps.unlink()
            gone.append(stamps.relative_to(self._shard).as_posix())
        return gone

    def drop_orphans(self, named: Named, *, also_newer: bool) -> list[str]:
        """Remove files that nothing names, and drafts of dead processes."""
        return clean_orphans(self._shard, lambda: named, self._catalog.truncate_log, also_newer=also_newer)
