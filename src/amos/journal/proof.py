"""Prove that a row was committed: from the row through its event to the root of the tree over all events."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from amos.errors import IntegrityError
from amos.journal.chain_check import digest_rows
from amos.journal.check_export import DifferenceError, check_proof
from amos.journal.journal_export import column_kinds, plain_rows
from amos.journal.rows import committed, stored, stored_commitments
from amos.journal.snapshot import Snapshot
from amos.journal.tree import consistency_path, inclusion_path, tree_levels
from amos.schemas.catalog import ErasedColumns
from amos.schemas.state import EVENTS

FORMAT = 1
Array = npt.NDArray[Any]


class _Inside(NamedTuple):
    """Where a row stands among the rows of one event."""

    event: dict[str, Any]
    first: int
    rows: int


def event_leaves(snapshot: Snapshot) -> Array:
    """Return (n, 32) checksums of all events, in commit order."""
    parts = [digest_rows(rows.column("checksum")) for rows in snapshot.tables("events", ["checksum"])]
    return np.concatenate([np.zeros((0, 32), np.uint8), *parts])


def prove_row(
    snapshot: Snapshot, table: str, row: pa.Table, erased: ErasedColumns, *, ref: str, shard: str
) -> dict[str, Any]:
    """Return the proof of one stored row (all columns, those of storage too), checked before it is given.

    erased: the rows of the table that are gone.  Raises IntegrityError when the row is not what was
    committed.
    """
    version, number = (row.column(name)[0].as_py() for name in ("graph_version", "row_number"))
    rows = pa.concat_tables(list(snapshot.tables(table, stored(table).names, since=version - 1)))
    rows = rows.filter(pa.array(rows.column("graph_version").to_numpy() == version))
    digests = _whole_commit(table, rows, erased, version)
    inside = _event_of(snapshot, table, version, number)
    levels = tree_levels(digests[inside.first : inside.first + inside.rows])
    leaves = event_leaves(snapshot)
    checksum = np.frombuffer(bytes.fromhex(inside.event["checksum"]), np.uint8)
    (place,) = np.flatnonzero((leaves == checksum).all(axis=1))[:1].tolist() or [-1]
    tops = tree_levels(leaves)
    proof = {
        "amos_proof": FORMAT,
        "shard": shard,
        "ref": ref,
        "table": table,
        "row": {
            "graph_version": version,
            "row_number": number,
            "commitment": digests[number].tobytes().hex(),
            "salt": row.column("salt")[0].as_py().hex(),
            "values": plain_rows(row, committed(table))[0],
        },
        "in_event": _path(levels, number - inside.first),
        "event": inside.event,
        "in_tree": _path(tops, place),
        "root": tops[-1][0].tobytes().hex(),
        "graph_version": snapshot.version,
        "columns": {table: column_kinds(committed(table)), "events": column_kinds(EVENTS)},
    }
    try:
        check_proof(proof)
    except DifferenceError as cause:
        raise IntegrityError(f"{ref} cannot be proven: {cause}", path=ref) from cause
    return proof


def _path(levels: Sequence[Array], place: int) -> dict[str, Any]:
    path = [node.hex() for node in inclusion_path(levels, place)]
    return {"index": place, "size": len(levels[0]), "path": path}


def _whole_commit(table: str, rows: pa.Table, erased: ErasedColumns, version: int) -> Array:
    """Return the commitments of all rows that a commit put into a table, gone ones included."""
    here = erased.places >> 32 == version
    numbers = np.concatenate([rows.column("row_number").to_numpy(), erased.places[here] & 0xFFFFFFFF])
    digests = np.concatenate([stored_commitments(table, rows), erased.digests[here]])
    order = np.argsort(numbers, kind="stable")
    if not np.array_equal(numbers[order], np.arange(len(numbers))):
        raise IntegrityError(f"rows of {table} are missing at commit {version}", path=table)
    return digests[order]


def _event_of(snapshot: Snapshot, table: str, version: int, number: int) -> _Inside:
    parts = list(snapshot.tables("events", [*EVENTS.names, "graph_version"], since=version - 1))
    events = pa.concat_tables(parts)
    events = events.filter(pa.array(events.column("graph_version").to_numpy() == version))
    first = 0
    for event in plain_rows(events, EVENTS):
        payload = json.loads(event["payload"])
        if payload.get("table") == table and "rows" in payload:
            if number < first + payload["rows"]:
                return _Inside(event, first, payload["rows"])
            first += payload["rows"]
    raise IntegrityError(f"no event tells of row {number} of {table} at commit {version}", path=table)


def successor_record(leaves: Array, earlier_size: int, earlier_root: bytes) -> dict[str, Any] | None:
    """Return the proof that a tree over `leaves` goes on from an earlier one; None from an empty one."""
    if earlier_size == 0:
        return None
    path = consistency_path(tree_levels(leaves), earlier_size)
    return {"event_count": earlier_size, "root": earlier_root.hex(), "path": [node.hex() for node in path]}
