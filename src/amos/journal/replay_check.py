"""Fold the rows of all commits anew and compare the outcome with the state that readers are given."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from amos.journal.findings import Problem, VerifyReport
from amos.journal.promises import Taking
from amos.journal.snapshot import Snapshot
from amos.journal.streams import GroupSource, RowStream
from amos.schemas.buffers import as_keys
from amos.schemas.catalog import ErasedColumns, Layout, SnapshotEntry
from amos.schemas.state import PRIMARY_KEYS, TABLES, VERSION_COLUMNS

Array = npt.NDArray[Any]

ROWS_AT_ONCE = 500_000
"""Rows of one table folded at once; larger tables are folded part by part, by their ids."""


class ReplaySource(GroupSource, Protocol):
    """What a replay reads of a shard."""

    def pin(self, version: int | None = None) -> Snapshot: ...  # noqa: D102
    def snapshots(self) -> list[SnapshotEntry]: ...  # noqa: D102
    def erased_columns(self, table: str) -> ErasedColumns: ...  # noqa: D102
    def keyed_state(self, digest: str) -> str: ...  # noqa: D102
    @property
    def retained_from(self) -> int: ...  # noqa: D102

    key: bytes


def folded_places(parts: Iterator[pa.Table], table: str, number: int, of: int, until: int) -> Array:
    """Return the ascending places of the rows that are current after graph version `until`.

    parts: stored rows in commit order, the id first.  Only ids whose first half leaves `number` when
    divided by `of`.  Of each id the highest version counts, of equal ones the later row; rows without
    versions all count.
    """
    version = VERSION_COLUMNS.get(table)
    halves, columns = [np.zeros((0, 2), np.uint64)], [np.zeros((0, 2), np.int64)]
    for rows in parts:
        ids, places = _ids_and_places(rows)
        versions = places if version is None else rows.column(version).to_numpy().astype(np.int64)
        held = (ids[:, 0] % np.uint64(of) == number) & (places >> 32 <= until)
        halves.append(ids[held])
        columns.append(np.stack([versions[held], places[held]], axis=1))
    ids, (versions, places) = np.concatenate(halves), np.concatenate(columns).T
    if version is None:
        return np.sort(places)
    order = np.lexsort((places, versions, ids[:, 1], ids[:, 0]))
    ids = ids[order]
    is_last = np.append((ids[1:] != ids[:-1]).any(axis=1), True)[: len(order)]
    return np.sort(places[order[is_last]])


def check_replay(source: ReplaySource, layout: Layout, snapshot: Snapshot, report: VerifyReport) -> None:
    """Compare the fold of all rows with the current rows of `snapshot`, table by table."""
    with report.timed("replay", "rows") as phase:
        for table in TABLES:
            if table != "events":
                count = snapshot.row_count(table)
                report.problems += _differing(source, layout, snapshot, table, report)
                phase.done += count


def _differing(
    source: ReplaySource, layout: Layout, snapshot: Snapshot, table: str, report: VerifyReport
) -> Iterator[Problem]:
    columns = [PRIMARY_KEYS[table], "graph_version", "row_number", *_version_of(table)]
    of = 1 + snapshot.row_count(table) // ROWS_AT_ONCE
    for number in range(of):
        stream = RowStream(source, table, layout.segments, layout.hot, report.add, columns=columns)
        expected = folded_places(stream.rest(), table, number, of, snapshot.version)
        found = _given(snapshot, table, columns[:3], number, of)
        if not np.array_equal(expected, found):
            count = len(np.setxor1d(expected, found))
            detail = f"{count} current rows are not those that follow from the commits"
            yield Problem("replay_differs", table, detail)


def _given(snapshot: Snapshot, table: str, columns: Sequence[str], number: int, of: int) -> Array:
    """Return the ascending places of the current rows that readers are given, of the same share of ids."""
    found = [np.zeros(0, np.int64)]
    for rows in snapshot.newest(table, columns):
        ids, places = _ids_and_places(rows)
        found.append(places[ids[:, 0] % np.uint64(of) == number])
    return np.sort(np.concatenate(found))


def _ids_and_places(rows: pa.Table) -> tuple[Array, Array]:
    """Return the ids of stored rows as key halves, and their places; the id is the first column."""
    commits, numbers = (rows.column(name).to_numpy() for name in ("graph_version", "row_number"))
    return as_keys(rows.column(0)).astype(np.uint64), commits.astype(np.int64) << 32 | numbers


def _version_of(table: str) -> Sequence[str]:
    return [VERSION_COLUMNS[table]] if table in VERSION_COLUMNS else []


def check_states(
    source: ReplaySource, taking: Sequence[Taking], digest: Callable[[Any], str]
) -> Iterator[Problem]:
    """Yield registered snapshots whose state has another digest now.

    A state from which rows were erased later, or whose history was dropped, cannot be told any more and is
    left out; so are all without the shard's key, under which the digests are kept.
    """
    if not source.key:
        return
    erasing = {event.version for event in taking if event.event_type == "erased"}
    for entry in source.snapshots():
        if entry.graph_version >= source.retained_from and _is_whole(source, entry.graph_version, erasing):
            with source.pin(entry.graph_version) as snapshot:
                found = source.keyed_state(digest(snapshot))
            if found != entry.state_digest:
                where = f"snapshot {entry.graph_version}"
                yield Problem("snapshot_changed", where, f"the state then has the digest {found}")


def _is_whole(source: ReplaySource, version: int, erasing: set[int]) -> bool:
    later = np.array(sorted(one for one in erasing if one > version), np.int64)
    if not len(later):
        return True
    for table in TABLES:
        erased = source.erased_columns(table)
        if (np.isin(erased.erased_by, later) & (erased.places >> 32 <= version)).any():
            return False
    return True
