"""Verify a shard: that its files, chain and rows are what was committed, and agree with each other.

The fast check hashes every file, follows the chain event by event and recomputes the rows that the catalog
holds itself; where sealed rows are few it recomputes those and their references too.  The deep check does
so always, and replays the state.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

from amos.errors import EngineError, IntegrityError
from amos.journal.beside_check import check_bookkeeping, check_holds, check_snapshots, check_tallies
from amos.journal.catalog_check import (
    CatalogSource,
    check_erasures,
    check_meta,
    check_promises,
    check_retention,
    check_segment_entries,
    check_texts,
)
from amos.journal.checkpoint import Checkpoint, check_since
from amos.journal.consequences import set_apart
from amos.journal.findings import Unchecked, VerifyReport
from amos.journal.history_check import HistoryCheck, HistorySource, Walked
from amos.journal.reference_walk import check_references
from amos.journal.replay_check import check_replay, check_states
from amos.journal.snapshot import Snapshot
from amos.schemas.catalog import Layout, SegmentEntry

Progress = Callable[[str, int, int], None]
"""Called with a phase, what is done and the total."""
Digest = Callable[[Any], str]
"""Computes the state digest of a snapshot."""

WHOLE_UP_TO_ROWS = 200_000
"""Sealed rows up to which the fast check recomputes them as well: it costs about a second."""
_HASHERS = 4
_AGREEMENT = Unchecked(
    "the problems", "whether rows agree with one another: references, evidence spans, replay, state digest", 0
)


class Verifiable(HistorySource, CatalogSource, Protocol):
    """What verification needs of a shard."""

    key: bytes

    @property
    def retained_from(self) -> int:
        """The oldest graph version that can be told."""

    def keyed_state(self, digest: str) -> str:
        """Return a state digest under the shard's key."""

    def pin(self, version: int | None = None) -> Snapshot:
        """Return a snapshot."""

    def layout(self) -> Layout:
        """Return where the rows stand."""

    def orphans(self) -> dict[str, bool]:
        """Return files no commit names, and which of them are newer than the catalog."""

    def check_segment(self, entry: SegmentEntry) -> None:
        """Hash a file."""

    def check_catalog(self) -> list[str]:
        """Check the catalog's own structure."""


def verify_shard(
    shard: Verifiable,
    *,
    is_deep: bool = False,
    since: Checkpoint | None = None,
    progress: Progress | None = None,
    digest: Digest | None = None,
) -> VerifyReport:
    """Check everything that can be checked without re-running extraction; changes nothing.

    since: a checkpoint taken earlier, whose history must be the beginning of this one.  digest: computes
    the state digest for the report.  Damage becomes rows of the report, never an exception.
    """
    began = time.perf_counter()
    report = VerifyReport(mode="deep" if is_deep else "fast", graph_version=None)
    try:
        _Verification(shard, report, progress or (lambda *_: None), digest).run(since)
    except EngineError as cause:
        report.add("unreadable", cause.path or "shard", cause.message)
    except Exception as cause:  # noqa: BLE001 - damage can surface as any failure, and a report must come out
        report.add("unreadable", "shard", f"{type(cause).__name__}: {cause}")
    report.seconds = time.perf_counter() - began
    return report


_ORPHAN = "segment_orphan", "no commit names it; the next write removes it"
_NEWER = "catalog_older", "it is of a graph version after the last: shard.sqlite is an older one"


class _Verification:
    """One run of all checks, the later ones only where the earlier ones found the rows to be sound."""

    def __init__(
        self, shard: Verifiable, report: VerifyReport, progress: Progress, digest: Digest | None
    ) -> None:
        self.shard, self.report, self.progress, self.digest = shard, report, progress, digest
        self.is_deep = report.mode == "deep"

    def run(self, since: Checkpoint | None) -> None:
        for detail in self.shard.check_catalog():
            self.report.add("catalog_damaged", "shard.sqlite", detail)
        # pinned all the while: no file that the layout names may go
        with self.shard.pin():
            layout = self.shard.layout()
            self.report.graph_version = layout.head or None
            walked = self._check_history(layout, since)
            self._check_catalog(layout, walked)
            if since is not None:
                self.report.problems += check_since(since, walked, layout.head)
            set_apart(self.report, layout.segments)
            if not self.report.ok:
                self.report.unchecked.append(_AGREEMENT)
            elif self._is_whole(layout):
                # rows are known to be what was committed: now whether they agree
                with self.shard.pin(layout.head) as snapshot:
                    self._check_agreement(layout, snapshot, walked)

    def _is_whole(self, layout: Layout) -> bool:
        sealed = sum(entry.row_count for entry in layout.segments if entry.table != "events")
        return self.is_deep or sealed <= WHOLE_UP_TO_ROWS

    def _check_history(self, layout: Layout, since: Checkpoint | None) -> Walked:
        for file, is_newer in self.shard.orphans().items():
            kind, detail = _NEWER if is_newer else _ORPHAN
            self.report.add(kind, file, detail)
        self.report.problems += check_segment_entries(layout.segments)
        sound = list(self._sound_segments(layout.segments))
        watched = {entry.graph_version for entry in self.shard.snapshots()} | {layout.head}
        if since is not None:
            watched.add(since.graph_version)
        check = HistoryCheck(
            self.shard, layout, sound, self.report, self.progress, is_whole=self._is_whole(layout)
        )
        return check.walk(watched)

    def _sound_segments(self, segments: list[SegmentEntry]) -> Iterator[SegmentEntry]:
        """Yield the segments whose whole file hashes to what the catalog says."""
        total = sum(entry.byte_count for entry in segments)
        with self.report.timed("files", "bytes") as phase, ThreadPoolExecutor(_hashers()) as pool:
            for entry, problem in zip(segments, pool.map(self._file_problem, segments), strict=True):
                self.report.checked["segments"] += 1
                self.report.checked["bytes"] += entry.byte_count
                phase.done += entry.byte_count
                if problem is None:
                    yield entry
                else:
                    self.report.add(problem[0], entry.file, problem[1])
                self.progress("files", self.report.checked["bytes"], total)

    def _file_problem(self, entry: SegmentEntry) -> tuple[str, str] | None:
        try:
            self.shard.check_segment(entry)
        except IntegrityError as cause:
            kind = "segment_missing" if "is missing" in cause.message else "segment_damaged"
            return kind, cause.message.removeprefix(entry.file).lstrip(": ")
        return None

    def _check_catalog(self, layout: Layout, walked: Walked) -> None:
        problems = self.report.problems
        with self.report.timed("catalog", "rows"):
            problems += check_meta(self.shard, layout)
            problems += check_texts(self.shard, walked.kept)
            problems += check_promises(self.shard, walked.kept)
            problems += check_snapshots(self.shard.snapshots(), walked.marks, walked.kept.told)
            problems += check_holds(self.shard.holds(), walked.kept.told, self.shard.key)
            problems += check_retention(self.shard.retained_from, walked.taking)
            problems += check_erasures(self.shard.erasures(), walked.taking, layout.head)
            problems += check_bookkeeping(self.shard, layout)
            problems += check_tallies(self.shard, tuple(problems))

    def _check_agreement(self, layout: Layout, snapshot: Snapshot, walked: Walked) -> None:
        check_references(snapshot, self.report, self.progress, is_deep=self.is_deep)
        if self.is_deep:
            check_replay(self.shard, layout, snapshot, self.report)
            if self.digest is not None:
                self.report.problems += check_states(self.shard, walked.taking, self.digest)
        if self.digest is not None and self.report.ok:
            with self.report.timed("digest", "rows") as phase:
                self.report.state_digest = self.digest(snapshot)
                phase.done += sum(snapshot.counts().values())


def _hashers() -> int:
    return max(1, min(_HASHERS, os.cpu_count() or 1))
