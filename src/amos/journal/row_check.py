"""Check stored rows against the events that put them there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from amos.journal.chain_check import Promise, Promises, kept
from amos.journal.findings import Problem
from amos.journal.rows import stored_commitments
from amos.kernels.hashing import merkle_root
from amos.schemas.catalog import ErasedRow
from amos.schemas.state import TABLES

Erased = Mapping[int, Mapping[int, bytes]]
"""Commitments of the rows of a table that are gone, by graph version and row number."""


def check_rows_of(table: str, rows: pa.Table, expected: Promises, erased: Erased) -> Iterator[Problem]:
    """Yield what is wrong with the rows of whole commits, and take their promises off `expected`.

    rows: stored rows in commit order; no commit is split between two calls.  A row that is gone is stood
    for by its commitment in `erased`.
    """
    yield from _check_nulls(table, rows)
    digests = stored_commitments(table, rows)
    versions = rows.column("graph_version").to_numpy()
    numbers = rows.column("row_number").to_numpy()
    edges = np.flatnonzero(np.diff(versions)) + 1
    starts = [0, *edges.tolist()]
    stops = [*edges.tolist(), len(versions)]
    for start, stop in zip(starts, stops, strict=True):
        version = int(versions[start])
        where = f"{table}, commit {version}"
        present, found = numbers[start:stop], digests[start:stop]
        if version in erased:
            present, found = _filled(present, found, erased[version])
        if not np.array_equal(present, np.arange(len(present))):
            yield Problem("rows_changed", where, "row numbers are not 0, 1, 2 …")
        yield from _check_commit(where, found, expected.pop((table, version), []))


def erased_by_table(rows: Iterable[tuple[ErasedRow, int]]) -> dict[str, dict[int, dict[int, bytes]]]:
    """Return the commitments of erased rows by table, graph version and row number."""
    found: dict[str, dict[int, dict[int, bytes]]] = {}
    for row, _ in rows:
        found.setdefault(row.table, {}).setdefault(row.graph_version, {})[row.row_number] = row.commitment
    return found


def _filled(numbers: np.ndarray, digests: np.ndarray, gone: Mapping[int, bytes]) -> tuple[Any, Any]:
    """Return row numbers and commitments of a commit with those of its erased rows put in place."""
    lost = np.frombuffer(b"".join(gone.values()), np.uint8).reshape(-1, 32)
    all_numbers = np.concatenate([numbers, np.fromiter(gone, np.int64, len(gone))])
    order = np.argsort(all_numbers, kind="stable")
    return all_numbers[order], np.concatenate([digests.reshape(-1, 32), lost])[order]


def _check_nulls(table: str, rows: pa.Table) -> Iterator[Problem]:
    for field in TABLES[table]:
        if not field.nullable and rows.column(field.name).null_count:
            yield Problem("rows_changed", table, f"{field.name} is null in some row")


def _check_commit(where: str, digests: np.ndarray, expected: list[Promise]) -> Iterator[Problem]:
    promised = sum(promise.rows for promise in expected)
    if promised != len(digests):
        yield Problem("rows_missing", where, f"{len(digests)} rows, its events say {promised}")
        return
    start = 0
    for promise in expected:
        root = merkle_root(digests[start : start + promise.rows])
        if not kept(promise, root):
            last = start + promise.rows - 1
            yield Problem("rows_changed", where, f"rows {start} to {last} differ from event {promise.event}")
        start += promise.rows


def missing_rows(expected: Promises, erased: Mapping[str, Erased]) -> Iterator[Problem]:
    """Yield the commits whose rows were not found at all; all of them may be erased."""
    for (table, version), held in sorted(expected.items()):
        rows = sum(promise.rows for promise in held)
        gone = erased.get(table, {}).get(version)
        if rows and gone:
            numbers, digests = _filled(np.zeros(0, np.int64), np.zeros((0, 32), np.uint8), gone)
            where = f"{table}, commit {version}"
            if not np.array_equal(numbers, np.arange(len(numbers))):
                yield Problem("rows_changed", where, "row numbers are not 0, 1, 2 …")
            yield from _check_commit(where, digests, held)
        elif rows:
            yield Problem("rows_missing", f"{table}, commit {version}", f"0 rows, its events say {rows}")
