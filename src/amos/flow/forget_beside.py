"""What stands beside claims and goes with them: echoes in replies, and feedback from outcomes."""

from __future__ import annotations

import pyarrow as pa

from amos.flow.forget_settle import Gone
from amos.journal.store import Snapshot
from amos.schemas.columns import ID
from amos.schemas.state import PRIMARY_KEYS

_PLACE = ["graph_version", "row_number"]


def drop_echoes(snapshot: Snapshot, vanished: set[bytes], sources: pa.Array, gone: Gone) -> None:
    """Take away the echoes of claims that go, and those in replies that go."""
    _drop(snapshot, "echoes", {"atom_id": _ids(vanished), "source_id": sources}, gone)


def drop_feedback(snapshot: Snapshot, vanished: set[bytes], sources: pa.Array, gone: Gone) -> None:
    """Take away the feedback on what goes, and outcomes whole whose records go."""
    if snapshot.row_count("outcomes") == 0:
        return
    claims = _ids(vanished)
    ends = [snapshot.lookup("edges", end, claims, ["edge_id"])["edge_id"] for end in ("from_id", "to_id")]
    edges = pa.concat_arrays([end.combine_chunks() for end in ends]).unique()
    _drop(snapshot, "outcomes", {"source_id": sources}, gone)
    items = {"atom_id": claims, "turn_id": sources, "edge_id": edges, "source_id": sources}
    _drop(snapshot, "feedback", items, gone)


def _drop(snapshot: Snapshot, table: str, by_column: dict[str, pa.Array], gone: Gone) -> None:
    columns = [PRIMARY_KEYS[table], *_PLACE]
    for column, ids in by_column.items():
        gone.add_table(table, snapshot.lookup(table, column, ids, columns))


def _ids(ids: set[bytes]) -> pa.Array:
    return pa.array(sorted(ids), ID)
