"""Superseded row versions below a verified snapshot: which they are, and what stays of them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from amos.errors import UsageError
from amos.journal.erasing import Taken, row_places
from amos.journal.events import EventNotice
from amos.journal.rows import stored_commitments
from amos.journal.snapshot import Snapshot
from amos.schemas.catalog import ErasedRow
from amos.schemas.state import VERSION_COLUMNS

DROPPABLE = tuple(table for table in VERSION_COLUMNS if table != "sources")
"""Tables whose superseded versions may go.  Claims cite the revision of a source that they were read from."""


class Dropped(NamedTuple):
    """Row versions that went, or would go: by table, and the oldest version that can still be told."""

    below: int
    rows: dict[str, int]
    graph_version: int | None

    def as_record(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return {"retained_from": self.below, "rows": self.rows, "graph_version": self.graph_version}


def require_retained(version: int, oldest: int) -> None:
    """Raise UsageError for a version whose history was dropped; version 0 is empty for ever."""
    if 0 < version < oldest:
        raise UsageError(
            f"graph version {version} is beyond retention: the history below {oldest} was dropped",
            code="beyond_retention",
            advice=f"Ask for version {oldest} or a later one.",
        )


def superseded_places(snapshot: Snapshot, table: str) -> npt.NDArray[np.int64]:
    """Return the ascending places of rows up to the snapshot's version that are not current at it."""
    columns = ["graph_version", "row_number"]
    every = [row_places(part) for part in snapshot.tables(table, columns)]
    current = row_places(snapshot.current(table, columns))
    return np.setdiff1d(np.concatenate([*every, current[:0]]), current)


def count_superseded(snapshot: Snapshot) -> dict[str, int]:
    """Return how many superseded rows each table has, without the tables that have none."""
    found = {table: len(superseded_places(snapshot, table)) for table in DROPPABLE}
    return {table: count for table, count in found.items() if count}


def take_superseded(snapshot: Snapshot) -> Taken:
    """Return the commitments of the superseded rows that stay, an event per table, and where the rows stand.

    Rows are read piece by piece; what is held at once is one piece and 32 bytes per row that goes.
    """
    taken = Taken([], [], {})
    for table in DROPPABLE:
        places = superseded_places(snapshot, table)
        if len(places):
            digests = _commitments_at(snapshot, table, places)
            taken.places[table] = places
            taken.entries.extend(
                ErasedRow(table, place >> 32, place & 0xFFFFFFFF, digest.tobytes())
                for place, digest in zip(places.tolist(), digests, strict=True)
            )
            said = {"table": table, "erased": len(places), "below": snapshot.version}
            taken.notices.append(EventNotice("segment_compacted", said, (), digests))
    return taken


def _commitments_at(snapshot: Snapshot, table: str, places: npt.NDArray[np.int64]) -> npt.NDArray[np.uint8]:
    digests = []
    for part in snapshot.tables(table):
        gone = np.isin(row_places(part), places)
        if gone.any():
            digests.append(stored_commitments(table, part.filter(pa.array(gone)).combine_chunks()))
    return np.concatenate(digests)
