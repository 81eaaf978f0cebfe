"""Stored rows in commit order, straight from the files and blobs that a catalog names, in flat memory."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple, Protocol

import numpy as np
import pyarrow as pa

from amos.errors import IntegrityError
from amos.journal.ledger import parse_groups
from amos.journal.rows import stored, unpack_blobs
from amos.schemas.catalog import HotEntry, SegmentEntry

_BLOBS_AT_ONCE = 512
_HOT_BYTES_AT_ONCE = 4 << 20

OnDamage = Callable[[str, str, str], None]
"""Called with the kind of damage, the place and what was found there."""


class GroupSource(Protocol):
    """Reads row groups of segments."""

    def read_segment(
        self, entry: SegmentEntry, *, group: int | None = None, columns: Sequence[str] | None = None
    ) -> pa.Table:
        """Return stored columns, all when None, of one row group."""
        ...


class _Unit(NamedTuple):
    """Rows of whole commits of one table, and where they stand."""

    where: str
    kind: str
    first: int
    last: int
    parts: Callable[[], Iterator[pa.Table]]


class RowStream:
    """The rows of one table in commit order, read as they are asked for.

    What cannot be read is told to `on_damage`, and left out.
    """

    def __init__(
        self,
        source: GroupSource,
        table: str,
        segments: Sequence[SegmentEntry],
        hot: Sequence[HotEntry],
        on_damage: OnDamage,
        *,
        columns: Sequence[str] | None = None,
    ) -> None:
        names = stored(table).names if columns is None else list(columns)
        sealed = [entry for entry in segments if entry.table == table]
        found = [_sealed(source, entry, names) for entry in sealed]
        for between in _apart([entry for entry in hot if entry.table == table], sealed):
            found += _hot_units(table, between, names)
        self._parts = _read(sorted(found, key=lambda unit: (unit.first, unit.last)), on_damage)
        self._waiting = stored(table).empty_table().select(names)
        self.rows_read = 0

    def until(self, version: int) -> Iterator[pa.Table]:
        """Yield the next rows up to graph version `version`."""
        while True:
            if len(self._waiting):
                versions = self._waiting.column("graph_version").to_numpy()
                stop = len(versions) if versions.max() <= version else int(np.argmax(versions > version))
                # moved on before it is yielded: who has enough rows may never ask for more of this iterator
                found, self._waiting = self._waiting.slice(0, stop), self._waiting.slice(stop)
                if stop:
                    self.rows_read += stop
                    yield found
                if len(self._waiting):
                    return
            part = next(self._parts, None)
            if part is None:
                return
            self._waiting = part

    def rest(self) -> Iterator[pa.Table]:
        """Yield all rows that are left."""
        yield from self.until(2**62)


def _read(units: Sequence[_Unit], on_damage: OnDamage) -> Iterator[pa.Table]:
    for unit in units:
        where = f"{unit.where}, commits {unit.first} to {unit.last}"
        try:
            for rows in unit.parts():
                rows.validate(full=True)
                versions = rows.column("graph_version").to_numpy()
                if len(rows) and not unit.first <= versions.min() <= versions.max() <= unit.last:
                    on_damage(unit.kind, where, "it holds rows of other commits")
                yield rows
        except (IntegrityError, pa.ArrowException, ValueError, KeyError, TypeError, OverflowError) as cause:
            on_damage(unit.kind, where, str(cause))


def _sealed(source: GroupSource, entry: SegmentEntry, columns: Sequence[str]) -> _Unit:
    def parts() -> Iterator[pa.Table]:
        for group in range(len(parse_groups(entry))):
            yield source.read_segment(entry, group=group, columns=columns)

    return _Unit(entry.file, "segment_damaged", entry.first_version, entry.last_version, parts)


def _apart(hot: Sequence[HotEntry], sealed: Sequence[SegmentEntry]) -> Iterator[list[HotEntry]]:
    """Yield the hot entries in lists between which sealed rows stand."""
    starts = sorted(entry.first_version for entry in sealed)
    for _, found in groupby(hot, key=lambda entry: bisect(starts, entry.graph_version)):
        yield list(found)


def _hot_units(table: str, entries: Sequence[HotEntry], columns: Sequence[str]) -> Iterator[_Unit]:
    """Yield hot rows, some blobs at a time; where some do not decode, one by one to name them."""
    for run in _runs(entries):
        try:
            rows = unpack_blobs(table, run)
        except IntegrityError:
            yield from (_hot_unit(table, [entry], None, columns) for entry in run)
        else:
            yield _hot_unit(table, run, rows, columns)


def _runs(entries: Sequence[HotEntry]) -> Iterator[list[HotEntry]]:
    run: list[HotEntry] = []
    size = 0
    for entry in entries:
        run.append(entry)
        size += len(entry.body)
        if len(run) == _BLOBS_AT_ONCE or size >= _HOT_BYTES_AT_ONCE:
            yield run
            run, size = [], 0
    if run:
        yield run


def _hot_unit(
    table: str, entries: Sequence[HotEntry], rows: pa.Table | None, columns: Sequence[str]
) -> _Unit:
    def parts() -> Iterator[pa.Table]:
        found = unpack_blobs(table, entries) if rows is None else rows
        yield found.select(columns)

    first, last = entries[0].graph_version, entries[-1].graph_version
    return _Unit(f"hot rows of {table}", "hot_damaged", first, last, parts)
