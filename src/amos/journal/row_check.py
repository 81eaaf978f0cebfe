"""Check stored rows against the events that put them there, part by part in flat memory."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from amos.journal.chain_check import page_edges
from amos.journal.findings import Problem
from amos.journal.promises import Promised, Taking
from amos.journal.rows import stored_commitments
from amos.kernels.hashing import merkle_root
from amos.kernels.merkle import merkle_roots
from amos.schemas.catalog import ErasedColumns
from amos.schemas.state import TABLES

Array = npt.NDArray[Any]

PART_ROWS = 65_536
"""Rows whose commitments are held at once, or those of one commit if they are more."""


class _Found(NamedTuple):
    """Commitments of rows, by place: commit number times 2**32 plus row number."""

    places: Array
    digests: Array


def check_rows_of(
    table: str,
    promised: Promised,
    rows_until: Callable[[int], Iterator[pa.Table]],
    erased: ErasedColumns,
    until: int,
) -> Iterator[Problem]:
    """Yield what is wrong with the rows of a table up to commit `until`.

    promised: what the events of these commits say.  rows_until: the next stored rows up to a commit.
    erased: the rows of the table that are gone, by place; each is stood for by its commitment.
    """
    for start, stop in _part_edges(promised):
        last = int(promised.versions[stop - 1])
        yield from _check_part(table, promised.part(start, stop), rows_until(last), erased)
    left = sum(len(rows) for rows in rows_until(until))
    if left:
        yield Problem("rows_changed", table, f"{left} rows up to commit {until} are promised by no event")


def _part_edges(promised: Promised) -> Iterator[tuple[int, int]]:
    """Yield (start, stop) of events whose rows make a part; a commit is never split."""
    if not len(promised.versions):
        return
    first = np.flatnonzero(np.diff(promised.versions, prepend=-1))
    edges = np.append(first, len(promised.versions))
    for start, stop in page_edges(np.add.reduceat(promised.rows, first).tolist(), PART_ROWS):
        yield int(edges[start]), int(edges[stop])


def _check_part(
    table: str, promised: Promised, parts: Iterator[pa.Table], erased: ErasedColumns
) -> Iterator[Problem]:
    nulls: list[Problem] = []
    present = _present(table, parts, nulls)
    yield from nulls
    found = _with_erased(present, erased, promised)
    if len(present.places) and not (np.diff(present.places) > 0).all():
        yield Problem("rows_changed", table, "rows stand twice, or not in the order of commits")
    versions = found.places >> 32
    logged, first = np.unique(promised.versions, return_index=True)
    said = np.add.reduceat(promised.rows, first)
    starts = np.searchsorted(versions, logged, "left")
    counts = np.searchsorted(versions, logged, "right") - starts
    for place in np.flatnonzero(counts != said).tolist():
        where = f"{table}, commit {logged[place]}"
        yield Problem("rows_missing", where, f"{counts[place]} rows, its events say {said[place]}")
    strays = np.setdiff1d(versions, logged)
    for version in strays.tolist():
        yield Problem("rows_changed", f"{table}, commit {version}", "no event promises rows there")
    yield from _check_numbers(table, found, starts, counts)
    is_whole = np.repeat(counts == said, np.diff([*first.tolist(), len(promised.versions)]))
    yield from _check_roots(table, promised, found, np.flatnonzero(is_whole), starts, logged)


def _present(table: str, parts: Iterator[pa.Table], nulls: list[Problem]) -> _Found:
    places, digests = [np.zeros(0, np.int64)], [np.zeros((0, 32), np.uint8)]
    for rows in parts:
        nulls += _check_nulls(table, rows)
        versions, numbers = (rows.column(name).to_numpy() for name in ("graph_version", "row_number"))
        places.append(versions.astype(np.int64) << 32 | numbers)
        digests.append(_commitments(table, rows, nulls))
    return _Found(np.concatenate(places), np.concatenate(digests))


def _commitments(table: str, rows: pa.Table, nulls: list[Problem]) -> Array:
    """Return (n, 32) commitments; zeros, which no event promises, where a row lacks what it must have."""
    if nulls:
        return np.zeros((len(rows), 32), np.uint8)
    return stored_commitments(table, rows)


def _check_nulls(table: str, rows: pa.Table) -> Iterator[Problem]:
    for field in TABLES[table]:
        if not field.nullable and rows.column(field.name).null_count:
            yield Problem("rows_changed", table, f"{field.name} is null in some row")


def _with_erased(present: _Found, erased: ErasedColumns, promised: Promised) -> _Found:
    """Return the rows with those that are gone put in their places."""
    low, high = int(promised.versions[0]) << 32, (int(promised.versions[-1]) + 1) << 32
    gone = slice(*np.searchsorted(erased.places, [low, high]).tolist())
    if gone.start == gone.stop:
        return present
    places = np.concatenate([present.places, erased.places[gone]])
    order = np.argsort(places, kind="stable")
    return _Found(places[order], np.concatenate([present.digests, erased.digests[gone]])[order])


def _check_numbers(table: str, found: _Found, starts: Array, counts: Array) -> Iterator[Problem]:
    """Yield commits whose rows are not numbered from 0 without gaps."""
    owners = np.repeat(np.arange(len(starts)), counts)
    index = np.repeat(starts - (np.cumsum(counts) - counts), counts) + np.arange(len(owners))
    wrong = (found.places[index] & 0xFFFFFFFF) != index - starts[owners]
    for place in np.unique(owners[wrong]).tolist():
        version = int(found.places[starts[place]] >> 32)
        yield Problem("rows_changed", f"{table}, commit {version}", "row numbers are not 0, 1, 2 …")


def _check_roots(
    table: str, promised: Promised, found: _Found, chosen: Array, starts: Array, logged: Array
) -> Iterator[Problem]:
    """Yield events whose rows are not those that they promise; chosen: of commits with all their rows."""
    if not len(chosen):
        return
    sizes = promised.rows[chosen]
    commits = np.searchsorted(logged, promised.versions[chosen])
    before = np.cumsum(sizes) - sizes
    is_first = np.append(True, commits[1:] != commits[:-1])
    inside = before - np.maximum.accumulate(np.where(is_first, before, 0))
    first = starts[commits] + inside
    index = np.repeat(first - before, sizes) + np.arange(int(sizes.sum()))
    roots = merkle_roots(found.digests[index], sizes)
    for number in np.flatnonzero(~promised.are_kept(chosen, roots)).tolist():
        start, rows = int(inside[number]), int(sizes[number])
        where = f"{table}, commit {promised.versions[chosen[number]]}"
        event = promised.events[chosen[number]]
        detail = f"rows {start} to {start + rows - 1} differ from event {event}"
        yield Problem("rows_changed", where, detail)


def check_taken(table: str, erased: ErasedColumns, taking: Sequence[Taking]) -> Iterator[Problem]:
    """Yield rows said to be gone that no event took, and events whose rows are not those that are gone.

    taking: events about this table.  Each covers the commitments of its rows in the order of places.
    """
    by_commit: dict[int, list[Taking]] = {}
    for event in taking:
        by_commit.setdefault(event.version, []).append(event)
    for version in np.unique(erased.erased_by).tolist():
        rows = np.flatnonzero(erased.erased_by == version)
        if (erased.places[rows] >> 32 > version).any():
            yield Problem(
                "erased_rows_changed", f"{table}, commit {version}", "rows are gone before they came"
            )
        if version not in by_commit:
            where = f"{table}, commit {version}"
            yield Problem("erased_rows_changed", where, f"{len(rows)} rows are gone and no event says so")
    for version, events in sorted(by_commit.items()):
        digests = erased.digests[erased.erased_by == version]
        yield from _check_taking(table, events, digests)


def _check_taking(table: str, events: Sequence[Taking], digests: Array) -> Iterator[Problem]:
    start = 0
    for number, event in enumerate(events):
        is_last = number == len(events) - 1
        count = len(digests) - start if event.gone is None and is_last else event.gone or 0
        root = merkle_root(digests[start : start + count])
        where = f"{table}, commit {event.version}"
        if hashlib.sha256(event.payload.encode() + root).digest() != event.digest:
            detail = f"the rows that are gone are not those of event {event.event}"
            yield Problem("erased_rows_changed", where, detail)
        start += count
    if start < len(digests):
        detail = f"{len(digests) - start} more rows are gone than its events say"
        yield Problem("erased_rows_changed", f"{table}, commit {events[0].version}", detail)
