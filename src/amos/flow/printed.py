"""Rows as they leave the store: ids as text, instants as RFC 3339, scores as 0 to 1."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

import numpy as np
import pyarrow as pa

from amos.clock import as_text, to_us
from amos.identity import ID_BYTES, PREFIXES, id_text
from amos.schemas.buffers import as_keys
from amos.schemas.catalog import HoldEntry
from amos.schemas.state import ENDED_UNKNOWN, OPEN_FROM, OPEN_UNTIL
from amos.schemas.vocabulary import MemoryClass

ID_TABLES = {
    "source_id": "sources",
    "revises": "sources",
    "conversation_id": "conversations",
    "author_id": "entities",
    "subject_id": "entities",
    "entity_id": "entities",
    "owner_id": "entities",
    "candidate_id": "candidates",
    "decision_id": "decisions",
    "atom_id": "atoms",
    "claim_id": "atoms",
    "from_id": "atoms",
    "to_id": "atoms",
    "predecessor_id": "atoms",
    "successor_id": "atoms",
    "edge_id": "edges",
    "lineage_id": "lineage",
    "retracts": "lineage",
    "dispute_id": "disputes",
    "echo_id": "echoes",
    "outcome_id": "outcomes",
    "feedback_id": "feedback",
    "turn_id": "sources",
    "packet_id": "packets",
    "mention_id": "mentions",
    "referent_id": "entities",
    "referents": "entities",
    "evidence": "sources",
    "event_id": "events",
    "tombstone_id": "tombstones",
    "targets": "atoms",
}
"""Which table an id column points into; ids of other columns are printed as hex."""

STATE_COLUMNS = ("lifecycle_state", "intervals", "memory_class")
"""Columns of an atom that tell its state."""

_ALPHABET = np.frombuffer(b"abcdefghijklmnopqrstuvwxyz234567", np.uint8)
_BITS = 128
_CHARS = 26
_MILLION = 1_000_000


def id_texts(table: str, ids: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Return (n,) printed ids of a column of 16-byte ids; nulls stay null."""
    if isinstance(ids, pa.ChunkedArray):
        ids = ids.combine_chunks()
    count = len(ids)
    held = ids.is_valid().to_numpy(zero_copy_only=False)
    raw = np.zeros((count, ID_BYTES), np.uint8)
    raw[held] = np.ascontiguousarray(as_keys(ids)).view(np.uint8).reshape(-1, ID_BYTES)
    bits = np.zeros((count, _CHARS * 5), np.uint8)
    bits[:, :_BITS] = np.unpackbits(raw, axis=1)
    codes = bits.reshape(count, _CHARS, 5) @ np.array([16, 8, 4, 2, 1], np.uint8)
    prefix = np.frombuffer(f"{PREFIXES[table]}_".encode(), np.uint8)
    text = np.empty((count, len(prefix) + _CHARS), np.uint8)
    text[:, : len(prefix)] = prefix
    text[:, len(prefix) :] = _ALPHABET[codes]
    offsets = np.arange(count + 1, dtype=np.int32) * text.shape[1]
    printed = pa.StringArray.from_buffers(count, pa.py_buffer(offsets), pa.py_buffer(text.tobytes()))
    return printed if held.all() else pa.array(np.where(held, printed.to_pylist(), None), pa.string())


def shown_id(column: str, value: bytes | None) -> str | None:
    """Return one printed id, by the name of its column."""
    if value is None:
        return None
    table = ID_TABLES.get(column)
    return value.hex() if table is None else id_text(table, value)


def shown_ids(column: str, values: Iterable[bytes]) -> list[str]:
    """Return printed ids, by the name of their column."""
    return [text for text in (shown_id(column, value) for value in values) if text is not None]


def shown_time(value: datetime | None) -> str | None:
    """Return an instant as text, None when it is unknown."""
    return None if value is None else as_text(to_us(value))


def shown_score(ppm: int) -> float:
    """Return parts per million as 0 to 1."""
    return round(ppm / _MILLION, 6)


def state_of(lifecycle: str, intervals: list[int], now_us: int, *, is_event: bool = False) -> str:
    """Return active or superseded by what holds at `now_us`, else the lifecycle state.

    is_event: it happened, and what happened stays true when it is over.
    """
    if lifecycle != "active":
        return lifecycle
    pairs = zip(intervals[::2], intervals[1::2], strict=True)
    holds = any(start <= now_us and (is_event or now_us < end) for start, end in pairs)
    return "active" if holds else "superseded"


def states_of(atoms: pa.Table, now_us: int) -> list[str]:
    """Return the state of every row, from `lifecycle_state`, `intervals` and `memory_class`."""
    cells = zip(*(atoms[name].to_pylist() for name in STATE_COLUMNS), strict=True)
    return [
        state_of(lifecycle, spans, now_us, is_event=kind == MemoryClass.EPISODE)
        for lifecycle, spans, kind in cells
    ]


def shown_intervals(intervals: list[int]) -> list[dict[str, str | None]]:
    """Return validity as a list of from and until; an open or unknown edge is null."""
    pairs = zip(intervals[::2], intervals[1::2], strict=True)
    return [{"from": _edge(start), "until": _edge(end)} for start, end in pairs]


def _edge(us: int) -> str | None:
    return None if us in {OPEN_FROM, OPEN_UNTIL, ENDED_UNKNOWN} else as_text(us)


def shown_scope(row: Mapping[str, Any]) -> dict[str, str]:
    """Return the scope that a row names."""
    names = [name for name in row if name.startswith("scope_")]
    return {name.removeprefix("scope_"): row[name] for name in names if row[name] is not None}


def shown_hold(entry: HoldEntry) -> dict[str, Any]:
    """Return a hold as it is printed."""
    return {
        "hold_id": id_text("holds", entry.hold_id),
        "kind": entry.kind,
        "ref": entry.ref,
        "reason": entry.reason,
        "placed_at": as_text(entry.placed_us),
        "released_at": as_text(entry.released_us),
    }
