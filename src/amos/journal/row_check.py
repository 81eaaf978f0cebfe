"""Check stored rows against the events that put them there."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from amos.journal.chain_check import Promise, Promises, kept
from amos.journal.findings import Problem
from amos.journal.rows import stored_commitments
from amos.kernels.hashing import merkle_root
from amos.schemas.state import TABLES


def check_rows_of(table: str, rows: pa.Table, expected: Promises) -> Iterator[Problem]:
    """Yield what is wrong with the rows of whole commits, and take their promises off `expected`.

    rows: stored rows in commit order; no commit is split between two calls.
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
        if not np.array_equal(numbers[start:stop], np.arange(stop - start)):
            yield Problem("rows_changed", where, "row numbers are not 0, 1, 2 …")
        yield from _check_commit(where, digests[start:stop], expected.pop((table, version), []))


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


def missing_rows(expected: Promises) -> Iterator[Problem]:
    """Yield the commits whose rows were not found at all."""
    for (table, version), held in sorted(expected.items()):
        rows = sum(promise.rows for promise in held)
        if rows:
            yield Problem("rows_missing", f"{table}, commit {version}", f"0 rows, its events say {rows}")
