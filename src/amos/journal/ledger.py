"""Where the rows of each table stand: pieces in commit order, sealed or hot, and a bounded cache.

A row's *position* is its place among all rows of its table, in commit order.  Sealing moves rows
from hot blobs to a segment without changing a position.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from amos.journal.rows import stored_part, unpack_blobs, with_storage_columns
from amos.schemas.buffers import plain
from amos.schemas.catalog import HotEntry, SegmentEntry
from amos.schemas.choosing import taken
from amos.schemas.state import TABLES

Array = npt.NDArray[Any]

CACHE_BYTES = 32 << 20


class SegmentSource(Protocol):
    """Reads columns of one sealed segment, or of one of its row groups."""

    def read(self, entry: SegmentEntry, columns: Sequence[str], *, group: int | None = None) -> pa.Table:
        """Return the columns in the order asked for."""


class ColumnCache:
    """Decoded columns of row groups, the least recently used leaving first."""

    def __init__(self, limit_bytes: int = CACHE_BYTES) -> None:
        self._limit = limit_bytes
        self._size = 0
        self._held: OrderedDict[tuple[str, int, str], pa.ChunkedArray] = OrderedDict()

    def get(self, key: tuple[str, int, str]) -> pa.ChunkedArray | None:
        """Return a cached column, or None."""
        found = self._held.get(key)
        if found is not None:
            self._held.move_to_end(key)
        return found

    def put(self, key: tuple[str, int, str], column: pa.ChunkedArray) -> None:
        """Keep a column, dropping old ones beyond the byte limit."""
        if key in self._held:
            return
        self._held[key] = column
        self._size += column.nbytes
        while self._size > self._limit and len(self._held) > 1:
            self._size -= self._held.popitem(last=False)[1].nbytes


class Sealed:
    """Rows of one segment, beginning at position `start`."""

    def __init__(self, start: int, entry: SegmentEntry, group_counts: Sequence[int]) -> None:
        self.start, self.count = start, entry.row_count
        self.first, self.last = entry.first_version, entry.last_version
        self.entry = entry
        self.part_count = len(group_counts)
        self._edges = np.concatenate([[0], np.cumsum(group_counts)]).astype(np.int64)

    def read(self, source: SegmentSource, columns: Sequence[str], part: int | None = None) -> pa.Table:
        """Return all rows, or those of one row group, straight from the file."""
        return source.read(self.entry, columns, group=part)

    def column_from(self, source: SegmentSource, name: str, start: int) -> Iterator[pa.ChunkedArray]:
        """Yield the values of one column from row `start` of the segment on, one row group at a time."""
        for group in range(self.part_count):
            first, after = self._edges[group : group + 2].tolist()
            if after > start:
                yield source.read(self.entry, [name], group=group).column(name).slice(max(start - first, 0))

    def parts(self, source: SegmentSource, columns: Sequence[str]) -> Iterator[pa.Table]:
        """Yield all rows, one row group at a time."""
        for group in range(len(self._edges) - 1):
            yield source.read(self.entry, columns, group=group)

    def take(
        self, source: SegmentSource, cache: ColumnCache, local: Array, columns: Sequence[str]
    ) -> pa.Table:
        """Return the rows at ascending `local` positions inside the segment."""
        groups = np.searchsorted(self._edges, local, "right") - 1
        parts = []
        for group in np.unique(groups).tolist():
            rows = self._group(source, cache, group, columns)
            parts.append(taken(rows, local[groups == group] - self._edges[group]))
        return pa.concat_tables(parts)

    def _group(
        self, source: SegmentSource, cache: ColumnCache, group: int, columns: Sequence[str]
    ) -> pa.Table:
        held = {name: cache.get((self.entry.file, group, name)) for name in columns}
        missing = [name for name, column in held.items() if column is None]
        if missing:
            rows = source.read(self.entry, missing, group=group)
            for name in missing:
                held[name] = rows.column(name)
                cache.put((self.entry.file, group, name), rows.column(name))
        schema = stored_part(self.entry.table, columns)
        return pa.Table.from_arrays([held[name] for name in columns], schema=schema)


class Hot:
    """Rows of small commits, beginning at position `start`; decoded when first read."""

    part_count = 1

    def __init__(
        self, table: str, start: int, count: int, versions: tuple[int, int], load: Callable[[], pa.Table]
    ) -> None:
        self.table, self.start, self.count = table, start, count
        self.first, self.last = versions
        self._load = load
        self._rows: pa.Table | None = None

    def column(self, name: str) -> pa.Array:
        """Return one column, of those of storage too."""
        if self._rows is None:
            self._rows = self._load()
            self._load = _loaded  # let go of the blobs
        return plain(self._rows.column(name))

    def column_from(self, _source: SegmentSource, name: str, start: int) -> Iterator[pa.Array]:
        """Yield the values of one column from row `start` of the piece on."""
        yield self.column(name).slice(start)

    def let_go(self, name: str) -> None:
        """Hear that a joined piece holds this column."""

    def read(self, _source: SegmentSource, columns: Sequence[str], _part: int | None = None) -> pa.Table:
        """Return all rows: there is one part."""
        schema = stored_part(self.table, columns)
        return pa.Table.from_arrays([self.column(name) for name in columns], schema=schema)

    def parts(self, source: SegmentSource, columns: Sequence[str]) -> Iterator[pa.Table]:
        """Yield all rows."""
        yield self.read(source, columns)

    def take(
        self, source: SegmentSource, _cache: ColumnCache, local: Array, columns: Sequence[str]
    ) -> pa.Table:
        """Return the rows at ascending `local` positions."""
        return taken(self.read(source, columns), local)


class Joined(Hot):
    """Two hot pieces that follow one another; a column is joined when first read, and held once more."""

    def __init__(self, early: Hot, late: Hot) -> None:
        versions = early.first, late.last
        super().__init__(early.table, early.start, early.count + late.count, versions, _loaded)
        self._halves = early, late
        self._held: dict[str, pa.Array] = {}

    def column(self, name: str) -> pa.Array:
        """Return one column of both."""
        found = self._held.get(name)
        if found is None:
            found = pa.concat_arrays([half.column(name) for half in self._halves])
            self._held[name] = found
            for half in self._halves:
                half.let_go(name)
        return found

    def column_from(self, source: SegmentSource, name: str, start: int) -> Iterator[pa.Array]:
        """Yield the same without joining what only the late half is asked for."""
        early, late = self._halves
        if name in self._held or start < early.count:
            return super().column_from(source, name, start)
        return late.column_from(source, name, start - early.count)

    def let_go(self, name: str) -> None:
        """Drop a column that a larger piece holds; an older snapshot that wants it joins it again."""
        self._held.pop(name, None)


def _loaded() -> pa.Table:
    raise AssertionError("hot rows are decoded once")


Piece = Sealed | Hot


class Ledger:
    """The pieces of every table up to graph version `head`."""

    def __init__(self) -> None:
        self.head = 0
        self.seal_count = 0
        self.erase_count = 0
        self._pieces: dict[str, tuple[Piece, ...]] = dict.fromkeys(TABLES, ())

    @property
    def state(self) -> tuple[int, int, int]:
        """Graph version, layouts and erasures so far, as the catalog tells them."""
        return self.head, self.seal_count, self.erase_count

    def row_count(self, table: str) -> int:
        """Return how many row versions the table has."""
        pieces = self._pieces[table]
        return pieces[-1].start + pieces[-1].count if pieces else 0

    def pieces(self, table: str, *, since: int = 0, until: int | None = None) -> tuple[Piece, ...]:
        """Return the pieces that hold rows with since < graph version <= until, in commit order."""
        limit = self.head if until is None else until
        return tuple(piece for piece in self._pieces[table] if piece.last > since and piece.first <= limit)

    def piece_starts(self, table: str) -> tuple[tuple[Piece, ...], Array]:
        """Return all pieces of a table and their first positions."""
        pieces = self._pieces[table]
        return pieces, np.array([piece.start for piece in pieces], np.int64)

    def add_segment(self, entry: SegmentEntry, group_counts: Sequence[int]) -> None:
        """Append the rows of a sealed segment."""
        self._append(entry.table, Sealed(self.row_count(entry.table), entry, group_counts))

    def add_blobs(self, table: str, entries: Sequence[HotEntry]) -> None:
        """Append hot rows read from the catalog, oldest first."""
        count = sum(entry.row_count for entry in entries)
        versions = entries[0].graph_version, entries[-1].graph_version
        held = list(entries)
        load = lambda: unpack_blobs(table, held)  # noqa: E731
        self._append(table, Hot(table, self.row_count(table), count, versions, load))

    def add_rows(self, table: str, rows: pa.Table, salts: Array, version: int) -> None:
        """Append hot rows that this process has just committed."""
        load = lambda: with_storage_columns(table, rows, salts, version)  # noqa: E731
        self._append(table, Hot(table, self.row_count(table), len(rows), (version, version), load))

    def _append(self, table: str, piece: Piece) -> None:
        pieces = list(self._pieces[table])
        pieces.append(piece)
        # as in a log-structured tree: joining equals keeps the number of hot pieces logarithmic
        while len(pieces) > 1 and isinstance(pieces[-1], Hot) and isinstance(pieces[-2], Hot):
            late, early = pieces[-1], pieces[-2]
            assert isinstance(late, Hot)
            assert isinstance(early, Hot)
            if early.count > 2 * late.count:
                break
            pieces[-2:] = [Joined(early, late)]
        self._pieces[table] = tuple(pieces)

    def copy(self) -> Ledger:
        """Return a ledger that stays as this one is now; pieces are shared, they never change."""
        twin = Ledger()
        twin.head, twin.seal_count, twin.erase_count = self.head, self.seal_count, self.erase_count
        twin._pieces = dict(self._pieces)
        return twin


def load_ledger(ledger: Ledger, segments: Sequence[SegmentEntry], hot: Sequence[HotEntry], head: int) -> None:
    """Append what the catalog holds beyond `ledger.head`, table by table in commit order."""
    found: dict[str, list[SegmentEntry | HotEntry]] = {}
    for segment in segments:
        found.setdefault(segment.table, []).append(segment)
    for blob in hot:
        found.setdefault(blob.table, []).append(blob)
    for table, entries in found.items():
        entries.sort(key=_first_version)
        _load_table(ledger, table, entries)
    ledger.head = head


def _load_table(ledger: Ledger, table: str, entries: Sequence[SegmentEntry | HotEntry]) -> None:
    run: list[HotEntry] = []
    for entry in entries:
        if isinstance(entry, HotEntry):
            run.append(entry)
            continue
        if run:
            ledger.add_blobs(table, run)
            run = []
        ledger.add_segment(entry, parse_groups(entry))
    if run:
        ledger.add_blobs(table, run)


def _first_version(entry: SegmentEntry | HotEntry) -> int:
    return entry.graph_version if isinstance(entry, HotEntry) else entry.first_version


def parse_groups(entry: SegmentEntry) -> list[int]:
    """Return the row count of each row group."""
    return [int(part) for part in entry.groups.strip("[]").split(",") if part.strip()]


def within(rows: pa.Table, since: int, until: int) -> pa.Table:
    """Return the rows with since < graph_version <= until."""
    version = rows.column("graph_version")
    kept = pc.and_(pc.greater(version, since), pc.less_equal(version, until))
    return rows.filter(kept)
