"""What keeps the files of one open shard few: merge segments, remove replaced and derived files."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from pathlib import Path

from amos.schemas.catalog import HotEntry, SegmentEntry
from amos.storage.care import Care
from amos.storage.catalog import Catalog
from amos.storage.commit_log import CommitLog
from amos.storage.compacting import Done, compact_segments
from amos.storage.garbage import collect, purge, remove_derived
from amos.storage.leftovers import Named, find_orphans
from amos.storage.mending import Mending, found_in_backup, hot_of_backup
from amos.storage.tiers import MOST_LIVE, MOST_WAITING, planned


class Housekeeping:
    """Works on one open shard, whose lock the caller holds."""

    def __init__(self, shard: Path, catalog: Catalog, log: CommitLog, care: Care) -> None:
        self._shard, self._catalog, self._log, self._care = shard, catalog, log, care
        self.mending = Mending(shard, catalog)

    def planned(self, most: int | None) -> list[list[SegmentEntry]]:
        """Return the runs of neighbouring segments to merge, so that each table has at most `most`."""
        return planned(self._catalog.segments(), MOST_LIVE if most is None else most)

    def merge(
        self,
        most: int | None,
        now_us: int,
        progress: Callable[[int, int], None] | None,
        require: Callable[[], None],
    ) -> Done:
        """Merge until each table has at most `most` segments; return what was merged."""
        limit = MOST_LIVE if most is None else most
        return compact_segments(self._catalog, self._log, self._care, limit, now_us, progress, require)

    def is_crowded(self, *, is_running: bool) -> bool:
        """Return whether some table has many segments: very many, while a run goes on."""
        most = MOST_WAITING if is_running else MOST_LIVE
        sql = "SELECT 1 FROM segment_files GROUP BY table_name HAVING count(*) > ? LIMIT 1"
        return bool(self._catalog.rows(sql, (most,)))

    def clear(self, now_us: int) -> list[str]:
        """Remove replaced files that nobody can hold any more; return their names."""
        return collect(self._shard, self._catalog, self._care, now_us)

    def shrink(self) -> None:
        """Give free pages of the catalog back to the disk where they are most of it."""
        self._catalog.shrink()

    def purge(
        self, lock: AbstractContextManager[object], wait_seconds: float
    ) -> tuple[bool, tuple[int, ...]]:
        """Remove what may hold erased rows; see `garbage.purge`."""
        return purge(self._shard, self._catalog, self._care, lock, wait_seconds)

    def backup_files(self, backup: Path, entries: Iterable[SegmentEntry]) -> dict[str, Path]:
        """Return by name the files of a backup's shard that are these segments, by their SHA-256."""
        found = {entry.file: found_in_backup(backup, entry) for entry in entries}
        return {file: path for file, path in found.items() if path is not None}

    def backup_hot(self, backup: Path) -> dict[tuple[str, int], HotEntry]:
        """Return the hot rows that a backup's catalog holds, by table and graph version."""
        return hot_of_backup(backup)

    def drop_derived(self) -> None:
        """Remove every derived file: all are rebuilt from what is left."""
        remove_derived(self._shard)

    def orphans(self, named: Callable[[], Named]) -> dict[str, bool]:
        """Return segment files that no commit names, when no writer is at work; see `find_orphans`."""
        return find_orphans(self._shard, named)
