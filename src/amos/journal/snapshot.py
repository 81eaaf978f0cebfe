"""Read a shard at one graph version; writes nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from amos.errors import IntegrityError, UsageError
from amos.journal.id_index import (
    STORED_AT_REST,
    STORED_WHILE_RUNNING,
    IdBases,
    IdIndex,
    is_worth_storing,
)
from amos.journal.ledger import ColumnCache, Ledger, SegmentSource, within
from amos.journal.rows import stored, stored_part
from amos.schemas.buffers import as_keys, column_arrays
from amos.schemas.choosing import empty, kept
from amos.schemas.state import PRIMARY_KEYS, TABLES, VERSION_COLUMNS

Array = npt.NDArray[Any]
Keys: TypeAlias = pa.Array | pa.ChunkedArray | Array


_FOUND_BY = {"candidates": "source_id", "edges": "from_id"}
"""Id columns whose index is kept, for tables that have none of their own ids; all versions agree in them."""


class Origin(NamedTuple):
    """Which event put a row there: the event's id and type, and the row's place inside it."""

    event_id: bytes
    event_type: str
    row: int


class Reading:
    """What all snapshots of one open shard share: files, the column cache and the id indexes."""

    def __init__(self, source: SegmentSource, lock: Any, bases: IdBases | None = None) -> None:
        self.source = source
        self._bases = bases
        self.cache = ColumnCache()
        self.lock = lock
        self._indexes: dict[tuple[str, str], IdIndex] = {}

    def forget_indexes(self) -> None:
        """Drop the id indexes; they are rebuilt when next used."""
        self._indexes = {}

    def index(self, ledger: Ledger, table: str, column: str) -> IdIndex:
        """Return the id index of a column, extended to all rows of `ledger`."""
        found = self._indexes.get((table, column))
        if found is None:
            base = None if self._bases is None else self._bases.open(table, column, ledger.erase_count)
            found = self._indexes[table, column] = IdIndex(base)
        total = ledger.row_count(table)
        if found.row_count < total:
            keys, positions = [], []
            for piece in ledger.pieces(table):
                if piece.start + piece.count > found.row_count:
                    start = max(found.row_count - piece.start, 0)
                    for values in piece.column_from(self.source, column, start):
                        ids, where = _indexed(values)
                        keys.append(ids)
                        positions.append(where + piece.start + start)
                        start += len(values)
            found.extend(np.concatenate(keys), np.concatenate(positions), total)
            self._store_index(ledger, table, column, STORED_WHILE_RUNNING)
        return self._indexes[table, column]

    def positions(self, ledger: Ledger, table: str, column: str, search: Callable[[IdIndex], Array]) -> Array:
        """Return what `search` finds in the index of a column; a damaged file is done without."""
        try:
            return search(self.index(ledger, table, column))
        except IntegrityError:
            self._indexes[table, column] = IdIndex()
            return search(self.index(ledger, table, column))

    def store_indexes(self, ledger: Ledger) -> None:
        """Write the indexes that were used to files where much of them is in memory."""
        for (table, column), found in list(self._indexes.items()):
            unseen = ledger.row_count(table) - found.row_count
            if found.tail_keys + unseen > STORED_AT_REST:  # else it is extended when it is next used
                self.index(ledger, table, column)
                self._store_index(ledger, table, column, STORED_AT_REST)

    def _store_index(self, ledger: Ledger, table: str, column: str, at_least: int) -> None:
        found = self._indexes[table, column]
        if self._bases is None or not self._bases.is_writable or not is_worth_storing(found, at_least):
            return
        if found.row_count != ledger.row_count(table):  # it has seen a later state than this ledger
            return
        covered = found.row_count, ledger.head, ledger.erase_count
        made = self._bases.save(table, column, covered, found.base, found.tail())
        if made is not None:
            self._indexes[table, column] = IdIndex(made)

    def take(self, ledger: Ledger, table: str, positions: Array, columns: Sequence[str]) -> pa.Table:
        """Return the rows at ascending `positions`."""
        if len(positions) == 0:
            return empty(stored_part(table, columns))
        pieces, starts = ledger.piece_starts(table)
        owners = np.searchsorted(starts, positions, "right") - 1
        parts = []
        edges = np.flatnonzero(np.diff(owners, prepend=-1, append=len(pieces)))
        for first, after in pairwise(edges.tolist()):
            piece = pieces[owners[first]]
            local = positions[first:after] - piece.start
            parts.append(piece.take(self.source, self.cache, local, columns))
        return pa.concat_tables(parts)


def _indexed(values: Keys) -> tuple[Array, Array]:
    """Return the first key halves and row numbers of the ids that are not null."""
    held = column_arrays(values).valid
    where = np.arange(len(values)) if held is None else np.flatnonzero(held)
    return as_keys(values)[:, 0].astype(np.uint64), where


class Snapshot:
    """All rows up to one graph version, shared by any number of readers.

    Use it as a context manager: while it is open, no file it may read is removed.
    """

    def __init__(self, version: int, ledger: Ledger, reading: Reading, release: Callable[[], None]) -> None:
        self.version = version
        self._ledger = ledger
        self._reading = reading
        self._release = release

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give up the pin."""
        self._release()

    def tables(
        self, name: str, columns: Sequence[str] | None = None, *, since: int = 0
    ) -> Iterator[pa.Table]:
        """Yield the rows of `table` row group by row group, so that memory stays bounded."""
        return self._read(name, self._columns(name, columns), since, is_whole=False)

    def _read(self, name: str, chosen: list[str], since: int, *, is_whole: bool) -> Iterator[pa.Table]:
        """Yield rows by pieces, or by the parts of each piece."""
        for piece in self._ledger.pieces(name, since=since, until=self.version):
            is_inside = piece.first > since and piece.last <= self.version
            read = chosen if is_inside or "graph_version" in chosen else [*chosen, "graph_version"]
            for part in [None] if is_whole else range(piece.part_count):
                with self._reading.lock:
                    rows = piece.read(self._reading.source, read, part)
                yield rows if is_inside else within(rows, since, self.version).select(chosen)

    def groups(self, name: str, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """Yield the rows of `table` one row group at a time: memory stays flat however it is laid out."""
        chosen = self._columns(name, columns)
        for piece in self._ledger.pieces(name, until=self.version):
            is_whole = piece.last <= self.version
            read = chosen if is_whole or "graph_version" in chosen else [*chosen, "graph_version"]
            parts = piece.parts(self._reading.source, read)
            while True:
                with self._reading.lock:
                    rows = next(parts, None)
                if rows is None:
                    break
                yield rows if is_whole else within(rows, 0, self.version).select(chosen)
                del rows
                pa.default_memory_pool().release_unused()  # else it keeps what past row groups took

    def table(self, name: str, columns: Sequence[str] | None = None, *, since: int = 0) -> pa.Table:
        """Return all row versions with since < graph_version <= version, in commit order.

        columns: of `stored(name)`, all when None.  Raises UsageError for unknown names.
        """
        chosen = self._columns(name, columns)
        parts = list(self._read(name, chosen, since, is_whole=True))
        return pa.concat_tables(parts) if parts else empty(stored_part(name, chosen))

    def row_count(self, name: str) -> int:
        """Return how many row versions `table` holds, without reading one."""
        return sum(piece.count for piece in self._ledger.pieces(name, until=self.version))

    def current(self, name: str, columns: Sequence[str] | None = None) -> pa.Table:
        """Return the latest version of every row, in commit order of that version."""
        chosen = self._columns(name, columns)
        if name not in VERSION_COLUMNS:
            return self.table(name, chosen)
        keys = [PRIMARY_KEYS[name], VERSION_COLUMNS[name]]
        rows = self.table(name, list(dict.fromkeys([*chosen, *keys])))
        latest = latest_rows(rows.column(keys[0]), rows.column(keys[1]))
        rows = rows.select(chosen)
        return rows if latest is None else rows.take(pa.array(latest))

    def newest(self, name: str, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """Yield the rows of `current` one row group at a time, in flat memory."""
        chosen = self._columns(name, columns)
        if name not in VERSION_COLUMNS:
            yield from self.groups(name, chosen)
            return
        key, version = PRIMARY_KEYS[name], VERSION_COLUMNS[name]
        by = _FOUND_BY.get(name, key)
        places = ["graph_version", "row_number"]
        for rows in self.groups(name, list(dict.fromkeys([*chosen, by, *places]))):
            held = self.lookup(name, by, rows.column(by), [key, version, *places])
            latest = latest_rows(held.column(key), held.column(version))
            if latest is None and len(held) == len(rows):
                yield rows.select(chosen)
                continue
            kept = _places(held if latest is None else held.take(pa.array(latest)))
            is_newest = np.isin(_places(rows), kept, assume_unique=True)
            yield rows.filter(pa.array(is_newest)).select(chosen)

    def lookup(self, name: str, column: str, keys: Keys, columns: Sequence[str] | None = None) -> pa.Table:
        """Return all row versions whose id `column` is among `keys`, in commit order."""
        chosen = self._columns(name, columns)
        wanted = as_keys(keys)
        if len(wanted) == 0 or self._ledger.row_count(name) == 0:
            return empty(stored_part(name, chosen))
        with self._reading.lock:
            places = self._reading.positions(
                self._ledger, name, column, lambda index: index.find(wanted[:, 0])
            )
            rows = self._take(name, places, [*chosen, column])
        if len(rows) == 0:
            return rows.select(chosen)
        held = pc.is_in(rows.column(column), value_set=id_array(wanted))
        return kept(rows, held.to_numpy().astype(np.bool_)).select(chosen)

    def find(self, table: str, low: bytes, high: bytes) -> pa.Table:
        """Return the current rows whose id lies in the inclusive range."""
        key = PRIMARY_KEYS[table]
        first, last = int.from_bytes(low[:8], "big"), int.from_bytes(high[:8], "big")
        with self._reading.lock:
            places = self._reading.positions(
                self._ledger, table, key, lambda index: index.between(first, last)
            )
            rows = self._take(table, places, self._columns(table, None))
        ids = rows.column(key).to_pylist()
        rows = rows.filter(pa.array([low <= identifier <= high for identifier in ids], pa.bool_()))
        if table not in VERSION_COLUMNS:
            return rows
        latest = latest_rows(rows.column(key), rows.column(VERSION_COLUMNS[table]))
        return rows if latest is None else rows.take(pa.array(latest))

    def counts(self) -> dict[str, int]:
        """Return the number of row versions of every table."""
        return {name: self._count(name) for name in TABLES}

    def origin(self, table: str, graph_version: int, row_number: int) -> Origin | None:
        """Return the event that put a stored row there, or None when there is no such row.

        Rows of a table are numbered through a commit; its events follow one another.
        """
        columns = ["event_id", "event_type", "payload", "graph_version"]
        with self._reading.lock:
            pieces = self._ledger.pieces("events", since=graph_version - 1, until=graph_version)
            parts = [piece.read(self._reading.source, columns) for piece in pieces]
        for rows in parts:
            for event in within(rows, graph_version - 1, graph_version).to_pylist():
                payload = json.loads(event["payload"])
                if "rows" in payload and payload["table"] == table:
                    if row_number < payload["rows"]:
                        return Origin(event["event_id"], event["event_type"], row_number)
                    row_number -= payload["rows"]
        return None

    def _count(self, name: str) -> int:
        if self.version == self._ledger.head:
            return self._ledger.row_count(name)
        return sum(len(rows) for rows in self.tables(name, ["graph_version"]))

    def _take(self, name: str, positions: Array, columns: Sequence[str]) -> pa.Table:
        kept = positions[positions < self._ledger.row_count(name)]
        if self.version == self._ledger.head:
            return self._reading.take(self._ledger, name, kept, list(dict.fromkeys(columns)))
        read = list(dict.fromkeys([*columns, "graph_version"]))
        return within(self._reading.take(self._ledger, name, kept, read), 0, self.version)

    def _columns(self, name: str, columns: Sequence[str] | None) -> list[str]:
        if name not in TABLES:
            raise UsageError(f"there is no table {name!r}", advice=f"Tables: {', '.join(TABLES)}.")
        chosen = stored(name).names if columns is None else list(columns)
        stored_part(name, chosen)  # knows every column
        return chosen


def _places(rows: pa.Table) -> Array:
    """Return the place of every stored row: commit times 2**32 plus row number."""
    versions, numbers = (rows.column(name).to_numpy() for name in ("graph_version", "row_number"))
    places: Array = versions.astype(np.int64) << 32 | numbers
    return places


def id_array(keys: Array) -> pa.Array:
    """Return (n, 2) key halves as an Arrow column of 16-byte ids."""
    raw = pa.py_buffer(np.ascontiguousarray(keys))
    return pa.FixedSizeBinaryArray.from_buffers(pa.binary(16), len(keys), [None, raw])


def latest_rows(ids: pa.ChunkedArray, versions: pa.ChunkedArray) -> Array | None:
    """Return the ascending row numbers of the highest version per id; None when all ids differ."""
    codes = pc.dictionary_encode(ids.combine_chunks())
    if isinstance(codes, pa.ChunkedArray):
        codes = codes.combine_chunks()
    distinct = len(codes.dictionary)
    if distinct == len(ids):
        return None
    numbers = versions.to_numpy()
    order = np.argsort(numbers, kind="stable")
    last = np.empty(distinct, np.int64)
    # of equal versions the one committed later wins; a repeated target keeps the last assignment
    last[codes.indices.to_numpy()[order]] = order
    last.sort()
    return last
