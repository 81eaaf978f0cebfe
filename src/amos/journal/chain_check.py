"""Check the chain: commits without gaps, every event's checksum, and the links between them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from amos.journal.events import CHECKED, FIRST_LINK, next_link
from amos.journal.findings import Problem
from amos.journal.promises import Stated
from amos.journal.tree import TreeRoot
from amos.kernels.canonical import encode_rows
from amos.kernels.hashing import sha256_rows
from amos.kernels.merkle import running_links
from amos.schemas.buffers import column_arrays
from amos.schemas.catalog import CommitEntry

Array = npt.NDArray[Any]


class Mark(NamedTuple):
    """How far the history was after some commit: events so far, the running link, the tree's root."""

    events: int
    link: bytes
    root: bytes


def event_checksums(events: pa.Table) -> Array:
    """Return (n, 32): the checksum of every event, recomputed from its columns."""
    columns = [column_arrays(events.column(name)) for name in CHECKED]
    return sha256_rows(*encode_rows(columns, len(events)))


def digest_rows(column: pa.ChunkedArray) -> Array:
    """Return a column of 32-byte digests as (n, 32)."""
    arrays = column_arrays(column)
    assert arrays.offsets is not None
    return arrays.values[arrays.offsets[0] : arrays.offsets[-1]].reshape(-1, 32)


class ChainCheck:
    """Follows commits and events from the first on, page by page.

    watched: graph versions whose marks are to be kept in `marks`.
    """

    def __init__(self, watched: Collection[int] = ()) -> None:
        self.link = FIRST_LINK
        self.tree = TreeRoot()
        self.marks: dict[int, Mark] = {0: Mark(0, FIRST_LINK, self.tree.root())} if 0 in watched else {}
        self._watched = frozenset(watched)
        self._accepted = -(2**62)  # differences to it stay inside int64
        self._next = 1

    @property
    def events(self) -> int:
        """How many events went by."""
        return self.tree.size

    def check(
        self, commits: Sequence[CommitEntry], events: pa.Table, payloads: Stated | None = None
    ) -> Iterator[Problem]:
        """Yield what is wrong with the next commits, oldest first, and all events up to the last of them.

        payloads: those of the events, where already read.
        """
        yield from self._check_versions(commits)
        versions = events.column("graph_version").to_numpy()
        logged = np.array([commit.graph_version for commit in commits], np.int64)
        starts, stops = np.searchsorted(versions, logged, "left"), np.searchsorted(versions, logged, "right")
        said = Stated(events.column("payload")) if payloads is None else payloads
        page = _Page(events, commits, starts, stops, said)
        links = running_links(self.link, page.recomputed)
        if self._is_sound(page, links):
            self._add(page, links)
            return
        yield from self._walk(page)
        for version in sorted(set(versions.tolist()) - set(logged.tolist())):
            yield Problem(
                "event_without_commit", f"version {version}", "events stand where no commit is logged"
            )

    def _is_sound(self, page: _Page, links: Array) -> bool:
        commits = page.commits
        accepted = np.array([self._accepted, *(commit.accepted_us for commit in commits)], np.int64)
        return bool(
            page.owned == len(page.recomputed)
            and np.array_equal(page.stops - page.starts, [commit.event_count for commit in commits])
            and (page.stops > page.starts).all()
            and (np.diff(accepted) >= 0).all()
            and np.array_equal(page.previous, links[:-1])
            and b"".join(commit.link for commit in commits) == links[page.stops].tobytes()
            and np.array_equal(page.recomputed, page.checksums)
            and not page.differing
        )

    def _add(self, page: _Page, links: Array) -> None:
        """Go on past a page in which all is well."""
        base = self.tree.size
        at = 0
        for number, commit in enumerate(page.commits):
            if commit.graph_version in self._watched:
                stop = int(page.stops[number])
                self.tree.add(page.recomputed[at:stop])
                at = stop
                self.marks[commit.graph_version] = Mark(base + stop, commit.link, self.tree.root())
        self.tree.add(page.recomputed[at:])
        self.link = links[-1].tobytes()
        if page.commits:
            self._accepted = page.commits[-1].accepted_us

    def _walk(self, page: _Page) -> Iterator[Problem]:
        """Go through a page event by event, to name what is wrong."""
        for number, commit in enumerate(page.commits):
            where = f"commit {commit.graph_version}"
            start, stop = int(page.starts[number]), int(page.stops[number])
            if stop - start != commit.event_count:
                yield Problem(
                    "event_count", where, f"{stop - start} events, the log says {commit.event_count}"
                )
            if start == stop:
                yield Problem("event_count", where, "a commit without events")
            if commit.accepted_us < self._accepted:
                yield Problem("time_backwards", where, "accepted before the commit below it")
            self._accepted = max(self._accepted, commit.accepted_us)
            for row in range(start, stop):
                yield from self._check_event(page, row, f"event {self.tree.size + 1}, {where}")
            if self.link != commit.link:
                yield Problem("link_broken", where, "the running link differs from the one in the commit log")
                self.link = commit.link
            if commit.graph_version in self._watched:
                self.marks[commit.graph_version] = Mark(self.tree.size, self.link, self.tree.root())

    def _check_event(self, page: _Page, row: int, where: str) -> Iterator[Problem]:
        if not np.array_equal(page.recomputed[row], page.checksums[row]):
            yield Problem("event_changed", where, "its checksum differs from its columns")
        if page.previous[row].tobytes() != self.link:
            yield Problem("link_broken", where, "the link before it differs")
        if row in page.differing:
            yield Problem(
                "event_changed", where, f"{', '.join(page.differing[row])} differ from the commit log"
            )
        self.link = next_link(self.link, page.recomputed[row].tobytes())
        self.tree.add(page.recomputed[row : row + 1])

    def _check_versions(self, commits: Sequence[CommitEntry]) -> Iterator[Problem]:
        for commit in commits:
            if commit.graph_version != self._next:
                yield Problem(
                    "commit_missing", f"commit {self._next}", f"the next one logged is {commit.graph_version}"
                )
            self._next = commit.graph_version + 1


class _Page:
    """Some commits and the events up to the last of them, as arrays.

    differing: by row what an event and its commit both state, and state differently.
    """

    def __init__(
        self,
        events: pa.Table,
        commits: Sequence[CommitEntry],
        starts: Array,
        stops: Array,
        payloads: Stated,
    ) -> None:
        self.commits, self.starts, self.stops = commits, starts, stops
        self.recomputed = event_checksums(events)
        self.checksums = digest_rows(events.column("checksum"))
        self.previous = digest_rows(events.column("previous_event_hash"))
        counts = stops - starts
        owners = np.repeat(np.arange(len(commits)), counts)
        self.owned = len(owners)
        rows = np.repeat(starts - (np.cumsum(counts) - counts), counts) + np.arange(len(owners))
        self.differing: dict[int, list[str]] = {}
        if len(rows):
            for name, is_same in _agreement(events, commits, owners, rows, payloads):
                for row in rows[~is_same].tolist():
                    self.differing.setdefault(row, []).append(name)


def _agreement(
    events: pa.Table, commits: Sequence[CommitEntry], owners: Array, rows: Array, payloads: Stated
) -> Iterator[tuple[str, Array]]:
    """Yield (what, is_same per event) for everything that events and the commit log both state.

    owners, rows: of each event that is looked at, its commit and its row.
    """
    versions, accepted, skews = (
        np.fromiter((getattr(commit, name) for commit in commits), np.int64, len(commits))[owners]
        for name in ("graph_version", "accepted_us", "skew_us")
    )
    told = events.column("accepted_at").cast(pa.int64()).to_numpy()[rows]
    occurred = events.column("occurred_at").cast(pa.int64()).to_numpy()[rows]
    yield "version", events.column("version").to_numpy()[rows] == versions
    yield "time", told == accepted
    yield "skew", told - occurred == skews

    def same(found: Sequence[str | None], codes: Array, logged: Sequence[str]) -> Array:
        number: dict[str | None, int] = {}
        wanted = np.array([number.setdefault(text, len(number)) for text in logged])[owners]
        is_same: Array = np.array([number.get(text, -1) for text in found])[codes] == wanted
        return is_same

    actors = Stated(events.column("actor"))
    yield "actor", same(actors.values, actors.codes[rows], [commit.actor for commit in commits])
    operations = payloads.texts("operation")
    yield "operation", same(operations, payloads.codes[rows], [commit.operation for commit in commits])
    contexts = Stated(events.column("authorization_context"))
    runs, codes = contexts.texts("run"), contexts.codes[rows]
    unstated = np.array([run is None for run in runs])[codes]  # commits of format 1 left it out
    yield "run", same(runs, codes, [commit.run_id.hex() for commit in commits]) | unstated


def page_edges(counts: Sequence[int], limit: int) -> Iterator[tuple[int, int]]:
    """Yield (start, stop) of runs whose counts add up to about `limit`, each with at least one."""
    totals = np.cumsum(np.asarray(counts, np.int64))
    cuts = np.flatnonzero(np.diff(totals // max(limit, 1))) + 1
    yield from pairwise([0, *cuts.tolist(), len(counts)] if len(counts) else [0])
