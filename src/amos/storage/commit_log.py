"""Append commits to a shard and seal its hot tail; what stands in which file is decided here."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from amos.abreast import do_abreast
from amos.schemas.catalog import CommitEntry, GarbageEntry, HotEntry, SegmentEntry
from amos.schemas.state import PRIMARY_KEYS
from amos.storage.care import Care
from amos.storage.catalog import Catalog
from amos.storage.failpoints import reach
from amos.storage.files import rename_durably
from amos.storage.rewriting import rewrite
from amos.storage.segments import SegmentReader, build_segment, place_segment, segment_name

SEAL_BYTES = 16 << 20
SEAL_BLOBS = 4_096
"""The hot tail is sealed in the commit that takes it beyond one of these."""

Decode = Callable[[str, Sequence[HotEntry]], pa.Table]


class Replacement(NamedTuple):
    """Segments that stand in for others; `reason` says why the old files go."""

    old: list[SegmentEntry]
    new: list[SegmentEntry]
    reason: str


class CommitLog:
    """Writes of one open shard; every method but `place` and `discard` runs inside `catalog.writing`."""

    def __init__(self, shard: Path, catalog: Catalog, files: SegmentReader, decode: Decode) -> None:
        self._shard, self._catalog, self._files, self._decode = shard, catalog, files, decode
        self.seal_bytes, self.seal_blobs = SEAL_BYTES, SEAL_BLOBS

    def place(self, tables: Iterable[tuple[str, pa.Table]], versions: tuple[int, int]) -> list[SegmentEntry]:
        """Write each table's stored rows as a segment that nothing names yet."""
        placed: list[SegmentEntry] = []

        def write(one: tuple[str, pa.Table]) -> SegmentEntry:
            table, rows = one
            built = build_segment(rows, keep=PRIMARY_KEYS[table])
            placed.append(place_segment(self._shard, table, versions, built))
            return placed[-1]

        try:
            return do_abreast(write, list(tables))
        except BaseException:
            self.discard(placed)
            raise

    def discard(self, placed: Iterable[SegmentEntry]) -> None:
        """Remove segments that no commit came to name; after a failed commit the next open does it."""
        for entry in () if self._catalog.is_doubtful else placed:
            self._files.path(entry).unlink(missing_ok=True)

    def move(self, placed: Sequence[SegmentEntry], version: int) -> list[SegmentEntry]:
        """Give segments that were written for another version the name of `version`."""
        return [entry if entry.first_version == version else self._moved(entry, version) for entry in placed]

    def _moved(self, entry: SegmentEntry, version: int) -> SegmentEntry:
        file = segment_name(entry.table, version, version, entry.sha256)
        new = entry._replace(
            first_version=version,
            last_version=version,
            file=file,
            constants=json.dumps({**json.loads(entry.constants), "graph_version": version}, sort_keys=True),
        )
        rename_durably(self._files.path(entry), self._files.path(new))
        return new

    def append(self, entry: CommitEntry, segments: Iterable[SegmentEntry], hot: Iterable[HotEntry]) -> None:
        """Insert a commit, the segments it names and its hot rows."""
        self._catalog.insert_commit(entry)
        for segment in segments:
            self._catalog.insert_segment(segment)
            self._files.trust(segment)
        self._catalog.insert_hot(hot)

    def without(self, places: Mapping[str, npt.NDArray[np.int64]], reason: str) -> Replacement:
        """Write every segment that holds one of the rows at `places` anew without them.

        places: by table, ascending; commit number times 2**32 plus row number.  The hot tail must be sealed.
        reason: `erasure` when the old files may not stay, else what readers may wait for.
        """
        old: list[SegmentEntry] = []
        new: list[SegmentEntry] = []
        try:
            for entry in self._catalog.segments():
                gone = places.get(entry.table)
                if gone is None or not _overlaps(entry, gone) or not self._holds(entry, gone):
                    continue
                old.append(entry)
                made = rewrite(self._shard, self._files, [entry], partial(_outside, places=gone))
                new += [made] if made is not None else []
        except BaseException:
            self.discard(new)
            raise
        return Replacement(old, new, reason)

    def _holds(self, entry: SegmentEntry, places: npt.NDArray[np.int64]) -> bool:
        return bool(_among(self._files.read(entry, ["graph_version", "row_number"]), places).any())

    def merged(self, run: Sequence[SegmentEntry]) -> Replacement:
        """Write neighbouring segments of one table as one."""
        made = rewrite(self._shard, self._files, run)
        return Replacement(list(run), [] if made is None else [made], "compaction")

    def are_named(self, entries: Iterable[SegmentEntry]) -> bool:
        """Return whether the catalog still names all of `entries`."""
        named = {entry.file for entry in self._catalog.segments()}
        return all(entry.file in named for entry in entries)

    def replace(self, replacement: Replacement, care: Care, now_us: int) -> None:
        """Name the new segments in place of the old ones, whose files become garbage."""
        self._catalog.replace_segments(replacement.old, replacement.new)
        for segment in replacement.new:
            self._files.trust(segment)
        kept = {segment.file for segment in replacement.new}
        gone = (segment.file for segment in replacement.old if segment.file not in kept)
        care.add_garbage(GarbageEntry(file, now_us, replacement.reason) for file in gone)
        reach("replace.named")

    def seal_all(self) -> None:
        """Move all hot rows into segments, in a transaction of its own."""
        with self._catalog.writing("seal"):
            self.seal_hot_tail(is_forced=True)

    def seal_hot_tail(self, *, is_forced: bool = False) -> bool:
        """Move all hot rows into segments when they have become too many; say whether it happened."""
        blobs, size = self._catalog.hot_size()
        if blobs == 0 or (not is_forced and blobs <= self.seal_blobs and size <= self.seal_bytes):
            return False
        runs = _runs(self._catalog.hot(), self._catalog.segments())
        for entries in runs:
            table = entries[0].table
            versions = entries[0].graph_version, entries[-1].graph_version
            for segment in self.place([(table, self._decode(table, entries))], versions):
                self._catalog.insert_segment(segment)
                self._files.trust(segment)
        reach("seal.segments_placed")
        self._catalog.remove_hot()
        reach("seal.hot_removed")
        return True


def _overlaps(entry: SegmentEntry, places: npt.NDArray[np.int64]) -> bool:
    first, after = entry.first_version << 32, (entry.last_version + 1) << 32
    return bool(np.searchsorted(places, first) < np.searchsorted(places, after))


def _among(rows: pa.Table, places: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    versions, numbers = (rows.column(name).to_numpy() for name in ("graph_version", "row_number"))
    return np.isin(versions.astype(np.int64) << 32 | numbers.astype(np.int64), places)


def _outside(rows: pa.Table, *, places: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    return ~_among(rows, places)


def _runs(hot: Iterable[HotEntry], segments: Iterable[SegmentEntry]) -> list[list[HotEntry]]:
    """Return hot entries of one table each, cut where a segment of the table lies between them."""
    edges: dict[str, list[int]] = {}
    for segment in segments:
        edges.setdefault(segment.table, []).append(segment.first_version)
    grouped: dict[str, list[HotEntry]] = {}
    for entry in hot:
        grouped.setdefault(entry.table, []).append(entry)
    return [run for table, entries in grouped.items() for run in _cut(entries, sorted(edges.get(table, [])))]


def _cut(entries: Sequence[HotEntry], edges: Sequence[int]) -> list[list[HotEntry]]:
    passed = 0

    def before(entry: HotEntry) -> int:
        nonlocal passed
        while passed < len(edges) and edges[passed] < entry.graph_version:
            passed += 1
        return passed

    return [list(run) for _, run in groupby(entries, key=before)]
