"""The care of an open shard: merge segments, drop history, remove what nobody reads any more."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any, Unpack

from amos.clock import to_us
from amos.errors import BusyError, UsageError
from amos.journal.compaction import Compaction, merge_of, segments_per_table
from amos.journal.erasing import Purged, Strike, Taken
from amos.journal.events import EventRows
from amos.journal.inspection import Inspection
from amos.journal.leasing import Leasing
from amos.journal.requests import CareLog, CommitRequest, CommitTerms
from amos.journal.retention import Dropped, count_superseded, take_superseded
from amos.journal.snapshot import Snapshot
from amos.schemas.catalog import SegmentEntry

COMPACTING = "compaction"
"""The job of merging segments and dropping history."""

_LOG = logging.getLogger(__name__)


class Upkeep(Inspection, Leasing):
    """Methods of `Shard` that change where rows stand, and never what the newest state says."""

    _house: Any
    _ledger: Any
    _reading: Any
    _writing: Callable[[], AbstractContextManager[object]]
    _refresh: Callable[[], None]
    _named_files: Callable[[], Any]
    _strike: Callable[[Sequence[EventRows], CommitRequest, Strike], int]
    pin: Callable[..., Snapshot]

    def purge(self, *, wait_seconds: float = 10) -> Purged:
        """Remove the files that hold erased rows, derived files and the log; finish the ledger's entries.

        Waits so long for readers that hold a pin; the processes in the way are named when it was too short.
        """
        return Purged(*self._house.purge(self._lock, wait_seconds))

    def compact(
        self,
        *,
        now: datetime,
        most: int | None = None,
        is_dry: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> Compaction:
        """Merge neighbouring segments until each table has at most `most`; the state stays as it is.

        Positions of rows stay too.  Every merge is a step of its own: killed anywhere, the shard has the old
        segments or the new one.  progress: called with merges done and planned.  Raises BusyError while
        another process merges: it does the same work.
        """
        with self._lock:
            before = self._catalog.segments()
            planned = self._house.planned(most)
        if is_dry:
            merges = [merge_of(run, None) for run in planned]
            return Compaction(merges, segments_per_table(before), segments_per_table(before), 0)
        done = self._merged(now, most, progress) if planned else []
        with self._lock, self._writing():
            gone = self._house.clear(to_us(now))
            self._house.shrink()
            after = segments_per_table(self._catalog.segments())
        return Compaction([merge_of(*one) for one in done], segments_per_table(before), after, len(gone))

    def _merged(
        self, now: datetime, most: int | None, progress: Callable[[int, int], None] | None
    ) -> Sequence[tuple[list[SegmentEntry], SegmentEntry | None]]:
        with self.working_on(COMPACTING, now=now) as job, self._lock, self._writing():

            def went_on(done: int, of: int) -> None:
                job.keep_on()
                if progress is not None:
                    progress(done, of)

            merged: Sequence[Any] = self._house.merge(most, to_us(now), went_on, job.require)
            self._refresh()
        return merged

    def tidy(self, *, now: datetime, is_running: bool = False) -> None:
        """Compact when some table has many segments: while a run goes on only when it has very many.

        At its end the indexes of ids that it used are written to files.
        """
        with self._lock:
            is_crowded = self._house.is_crowded(is_running=is_running)
        if is_crowded:
            try:
                self.compact(now=now)
            except BusyError as cause:
                if cause.code != "lease_held":
                    raise
                _LOG.info("another process is merging", extra={"holder": cause.message})
        if not is_running:
            with self._lock:
                self._reading.store_indexes(self._ledger)

    def collect_garbage(self, *, now: datetime) -> list[str]:
        """Remove replaced files that no reader can hold any more; return their names."""
        with self._lock:
            return list(self._house.clear(to_us(now)))

    def orphans(self) -> dict[str, bool]:
        """Return segment files that no commit names, and whether they are newer than it."""
        with self._lock:
            return dict(self._house.orphans(self._named_files))

    def drop_history(self, *, is_dry: bool = False, **terms: Unpack[CommitTerms]) -> Dropped:
        """Take superseded row versions below the newest registered snapshot out of the shard, for good.

        Their commitments stay, and an event per table covers them.  States before the snapshot can no
        longer be told; its own and all later ones can.  Raises UsageError without a snapshot.
        """
        below = max((entry.graph_version for entry in self.snapshots()), default=0)
        if not below:
            raise UsageError("no verified snapshot is registered", advice="Run `amos snapshot` first.")
        with self.pin(below) as snapshot:
            if is_dry:
                return Dropped(below, count_superseded(snapshot), None)
            taken = take_superseded(snapshot)
        rows = {table: len(places) for table, places in taken.places.items()}
        if not rows:
            return Dropped(max(self.retained_from, 0), {}, None)
        command = _dropping(CommitRequest(base=self._catalog.state()[0], **terms), taken, below)
        with self.working_on(COMPACTING, now=command.now) as job:
            fenced = command._replace(lease=job.lease)
            version = self._strike((), fenced, Strike(taken.places, "compaction", {}))
        self._house.drop_derived()
        return Dropped(below, rows, version)


def _dropping(asked: CommitRequest, taken: Taken, below: int) -> CommitRequest:
    """Return the commit that takes superseded rows and says from which version on states can be told."""

    def write_down(care: CareLog, version: int) -> None:
        care.add_erased(taken.entries, version)
        care.retain_from(below)

    return asked._replace(notices=(*asked.notices, *taken.notices), also=write_down)
