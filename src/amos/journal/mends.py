"""Repair an open shard: write again what follows from its events, and take from a backup what is the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from amos.errors import IntegrityError
from amos.journal.inspection import Inspection
from amos.schemas.catalog import HotEntry, Layout, SegmentEntry

if TYPE_CHECKING:
    from amos.journal.repairing import Derived, Remedy


class Repair(NamedTuple):
    """What can be repaired.  files: where a backup holds damaged segments, by their names."""

    derived: Derived
    segments: list[SegmentEntry]
    files: dict[str, Path]
    hot: list[HotEntry]
    counters: list[str]
    tallies: list[str]

    def remedies(self) -> list[Remedy]:
        """Return what will be done, one remedy each."""
        from amos.journal.repairing import remedies, tally_remedies

        found = list(remedies(self.derived, self.counters, self.segments, self.hot))
        return [*found, *tally_remedies(self._other_tallies())]

    def _other_tallies(self) -> list[str]:
        registered = ["snapshots"] if self.derived.snapshots else []
        return [name for name in self.tallies if name not in registered]


class Mends(Inspection):
    """Methods of `Shard` that repair it."""

    _house: Any
    _writing: Callable[[], AbstractContextManager[object]]
    _forget: Callable[[], None]

    def plan_repair(self, backup: Path | None) -> Repair:
        """Return what follows from the events and what a backup's shard folder holds; changes nothing."""
        from amos.journal.repairing import (  # checks that only a repair loads
            damaged_hot,
            derive,
            replacements,
        )

        layout = self.layout()
        damaged = [entry for entry in layout.segments if not self._is_sound(entry)]
        files: dict[str, Path] = {} if backup is None else self._house.backup_files(backup, damaged)
        sound = [entry for entry in layout.segments if entry not in damaged]
        derived = derive(self, self, layout, sound)
        wanted = damaged_hot(layout, derived)
        hot = [] if backup is None else replacements(wanted, self._house.backup_hot(backup), derived)
        restored = [entry for entry in damaged if entry.file in files]
        return Repair(derived, restored, files, hot, self._miscounted(layout), self._care.differing())

    def _is_sound(self, entry: SegmentEntry) -> bool:
        try:
            self.check_segment(entry)
        except IntegrityError:
            return False
        return True

    def _miscounted(self, layout: Layout) -> list[str]:
        counted = {"hot_blobs": len(layout.hot), "hot_bytes": sum(len(one.body) for one in layout.hot)}
        return [name for name, count in counted.items() if self.meta(name) != count]

    def apply_repair(self, repair: Repair) -> None:
        """Do what was planned: files first, then the catalog in one transaction."""
        mending = self._house.mending
        with self._lock, self._writing():
            for entry in repair.segments:
                mending.restore_file(entry, repair.files[entry.file])
            if any((*repair.derived[:3], repair.hot, repair.counters, repair.tallies)):
                mending.write(
                    meta=repair.derived.meta,
                    commits=repair.derived.commits,
                    snapshots=repair.derived.snapshots,
                    hot=repair.hot,
                    tallies=repair.tallies,
                )
            self._forget()

    def rebuild_catalog_indexes(self) -> bool:
        """Build SQLite's own indexes anew; return whether the catalog is sound afterwards."""
        with self._lock, self._writing():
            return bool(self._house.mending.rebuild_indexes())

    def drop_derived(self) -> Sequence[str]:
        """Remove indexes and stamps, which are rebuilt from what is left; return their names."""
        with self._lock, self._writing():
            gone: Sequence[str] = self._house.mending.drop_derived()
            return gone

    def drop_orphans(self, *, also_newer: bool = False) -> Sequence[str]:
        """Remove files that nothing names; also_newer: those later than the catalog too."""
        with self._lock:
            gone: Sequence[str] = self._house.mending.drop_orphans(self._named_files(), also_newer=also_newer)
            return gone

    _named_files: Callable[[], Any]
