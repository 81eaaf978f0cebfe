"""Events: what a commit says happened, chained so that nothing can be changed unseen."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from amos.errors import SchemaError
from amos.journal.rows import pack_blob
from amos.kernels.canonical import Value, more_bytes, row_bytes
from amos.kernels.hashing import merkle_root
from amos.schemas.state import EVENTS

SCHEMA_VERSION = "amos.v1"
FIRST_LINK = bytes(32)
CHECKED = EVENTS.names[:-2]
"""Columns that the checksum covers: all but the previous link and the checksum itself."""

EVENT_TYPES = frozenset(
    [
        "evidence_captured",
        "source_revised",
        "candidate_proposed",
        "candidate_decided",
        "review_decided",
        "atom_committed",
        "atom_updated",
        "atom_archived",
        "atom_merged",
        "atom_split",
        "edge_committed",
        "edge_retired",
        "entity_merged",
        "entity_split",
        "dictionary_updated",
        "dispute_opened",
        "dispute_closed",
        "atom_reinforced",
        "retrieval_outcome_recorded",
        "proposal_ratified",
        "proposal_resolved",
        "constitutional_record_replaced",
        "maintenance_applied",
        "run_reverted",
        "reprocess_applied",
        "memories_distilled",
        "segment_compacted",
        "snapshot_registered",
        "erasure_requested",
        "erased",
        "tombstone_expired",
        "lease_taken",
        "capacity_mode_changed",
        "capacity_extension_requested",
        "command_rejected",
        "memory_health_alert",
        "hold_placed",
        "hold_released",
    ]
)
"""The closed list of types, `amos.v1`."""


class EventRows(NamedTuple):
    """Rows that one event puts into one table; `rows` has the table's columns without the salt."""

    event_type: str
    table: str
    rows: pa.Table


class EventNotice(NamedTuple):
    """An event that puts no rows into a table: what it says, and the ids it names.

    commitments: (n, 32) digests that its payload digest covers, for example of the rows that it takes.
    """

    event_type: str
    payload: dict[str, Any]
    target_refs: tuple[bytes, ...] = ()
    commitments: npt.NDArray[np.uint8] | None = None


class EventBody(NamedTuple):
    """What is known of an event before its place in the chain: its payload text and digest."""

    event_type: str
    payload: str
    payload_digest: bytes
    target_refs: tuple[bytes, ...] = ()


class Chained(NamedTuple):
    """An event in its place: its canonical bytes, the running link before it, and its checksum.

    checksum: digest of the bytes of all columns before the link.
    """

    row: bytes
    link: bytes
    checksum: bytes


class Circumstances(NamedTuple):
    """What the events of one commit share; times in microseconds.

    text_refs: first halves of the digests of texts kept with the commit; its first event names them.
    """

    actor: str
    authorization: str
    expected: str
    idempotency_key: str | None
    occurred_us: int
    accepted_us: int
    version: int
    text_refs: tuple[bytes, ...] = ()


def check_type(event_type: str) -> None:
    """Raise SchemaError unless the type is on the closed list."""
    if event_type not in EVENT_TYPES:
        raise SchemaError(f"{event_type!r} is no event type of {SCHEMA_VERSION}")


def canonical_json(value: object) -> str:
    """Return JSON text with sorted keys and no spaces."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def event_body(event_type: str, operation: str, table: str, root: bytes, rows: int) -> EventBody:
    """Return the payload of an event over `rows` commitments with the Merkle root `root`."""
    payload = canonical_json({"operation": operation, "rows": rows, "table": table})
    return EventBody(event_type, payload, payload_digest(payload, root))


def notice_body(notice: EventNotice, operation: str) -> EventBody:
    """Return the body of an event without rows; its payload never has the key `rows`."""
    check_type(notice.event_type)
    payload = canonical_json({**notice.payload, "operation": operation})
    leaves = np.zeros((0, 32), np.uint8) if notice.commitments is None else notice.commitments
    digest = payload_digest(payload, merkle_root(leaves))
    return EventBody(notice.event_type, payload, digest, notice.target_refs)


def payload_digest(payload: str, root: bytes) -> bytes:
    """Return the digest over the payload's bytes and the Merkle root of its rows."""
    return hashlib.sha256(payload.encode() + root).digest()


def promise_digest(scope: bytes, payload_digest: bytes) -> str:
    """Return what an event says of an idempotency promise: hex, keyed through `scope`."""
    return hashlib.sha256(b"amos/promise/1" + scope + payload_digest).hexdigest()


def next_link(link: bytes, event_checksum: bytes) -> bytes:
    """Return the running link after an event."""
    return hashlib.sha256(link + event_checksum).digest()


def chain_events(
    bodies: Sequence[EventBody], ids: Sequence[bytes], shared: Circumstances, link: bytes
) -> tuple[list[Chained], bytes]:
    """Return the events in their places, and the running link after the last."""
    rows: list[Chained] = []
    text_refs = list(shared.text_refs)
    for body, identifier in zip(bodies, ids, strict=True):
        values: list[Value] = [
            identifier,
            body.event_type.encode(),
            SCHEMA_VERSION.encode(),
            shared.actor.encode(),
            list(body.target_refs),
            body.payload.encode(),
            text_refs,
            [],
            None if shared.idempotency_key is None else shared.idempotency_key.encode(),
            body.payload_digest,
            [],
            shared.expected.encode(),
            shared.authorization.encode(),
            shared.occurred_us,
            shared.accepted_us,
            b"accepted",
            b"projected",
            shared.version,
        ]
        checked = row_bytes(values)
        found = hashlib.sha256(checked).digest()
        rows.append(Chained(checked + more_bytes([link, found]), link, found))
        link = next_link(link, found)
        text_refs = []
    return rows, link


def event_blob(rows: Sequence[Chained]) -> bytes:
    """Return the hot blob of the events of one commit."""
    encoded = [event.row for event in rows]
    offsets = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum([len(row) for row in encoded], out=offsets[1:])
    return pack_blob(np.frombuffer(b"".join(encoded), np.uint8), offsets)
