"""Rows that a commit takes out of a shard: their commitments stay, and events name them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from amos.clock import to_us
from amos.journal.events import EventNotice
from amos.journal.requests import CareLog, CommitRequest, Reads
from amos.journal.rows import stored_commitments
from amos.schemas.catalog import ErasedRow, ErasureEntry
from amos.schemas.state import PRIMARY_KEYS

_AT_ONCE = 16_384
"""Rows whose canonical bytes stand in memory at the same time."""

Doomed = Mapping[str, pa.Table]
"""By table the stored rows (all columns, those of storage too) that go."""


class Purged(NamedTuple):
    """How far a purge came: done, or the processes whose pins it waits for."""

    is_done: bool
    waiting_for: tuple[int, ...]


class Strike(NamedTuple):
    """Places of rows to take out of the segments, why, and the ids that the decision rests on."""

    places: dict[str, npt.NDArray[np.int64]]
    reason: str
    reads: Reads


class Taken(NamedTuple):
    """What an erasure writes down of the rows it takes."""

    entries: list[ErasedRow]
    notices: list[EventNotice]
    places: dict[str, npt.NDArray[np.int64]]


def row_places(rows: pa.Table) -> npt.NDArray[np.int64]:
    """Return (n,) numbers that name each stored row of a table: its commit and its row number."""
    versions: npt.NDArray[Any] = rows.column("graph_version").to_numpy()
    numbers: npt.NDArray[Any] = rows.column("row_number").to_numpy()
    return versions.astype(np.int64) << 32 | numbers.astype(np.int64)


def take_down(doomed: Doomed) -> Taken:
    """Return the commitments that stay, one event per table, and where the rows stand.

    A row that is named twice counts once.
    """
    entries: list[ErasedRow] = []
    notices = []
    places = {}
    for table, rows in doomed.items():
        found, first = np.unique(row_places(rows), return_index=True)
        if not len(found):
            continue
        chosen = rows.take(pa.array(first))
        parts = [chosen.slice(start, _AT_ONCE) for start in range(0, len(chosen), _AT_ONCE)]
        digests = np.concatenate([stored_commitments(table, part) for part in parts])
        entries += [
            ErasedRow(table, place >> 32, place & 0xFFFFFFFF, digest.tobytes())
            for place, digest in zip(found.tolist(), digests, strict=True)
        ]
        ids = tuple(chosen.column(PRIMARY_KEYS[table]).to_pylist())
        notices.append(EventNotice("erased", {"table": table, "erased": len(found)}, ids, digests))
        places[table] = found
    return Taken(entries, notices, places)


def erasing_command(asked: CommitRequest, taken: Taken, request: str, erasure_id: bytes) -> CommitRequest:
    """Return the commit that takes rows: with its events, and with the ledger's entry still purging."""
    entry = ErasureEntry(erasure_id, 0, to_us(asked.now), None, "purging", request, "{}")

    def write_down(care: CareLog, version: int) -> None:
        care.add_erased(taken.entries, version)
        care.put_erasure(entry._replace(graph_version=version))
        if asked.also is not None:
            asked.also(care, version)

    return asked._replace(notices=(*asked.notices, *taken.notices), also=write_down)
