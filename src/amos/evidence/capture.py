"""Turn raw blocks into source envelopes: identity, digests, author, conversation."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from amos.identity import CLAIM_SCOPE, UNNAMED, author_identity, keyed_id
from amos.kernels.hashing import Part, hmac_rows, identities, keyed_ids, sha256_rows
from amos.schemas.buffers import column_arrays
from amos.schemas.choosing import distinct_rows
from amos.schemas.columns import TIME
from amos.schemas.raw import RAW
from amos.schemas.state import SOURCES
from amos.stage import stage

CAPTURED = pa.schema([field for field in SOURCES if field.name != "salt"])
"""Sources before storage adds their salt."""

DELIVERY_PREFIX = b"amos/1/delivery\x00"


def digest_deliveries(raw: pa.Table, key: bytes) -> pa.Array:
    """Return (n,) keyed 32-byte digests of the delivered texts of RAW rows, before any cut."""
    text = column_arrays(raw["text"])
    assert text.offsets is not None
    return _binary(hmac_rows(key, text.values, text.offsets, prefix=DELIVERY_PREFIX), 32)


def identify_sources(raw: pa.Table, key: bytes) -> pa.Array:
    """Return (n,) 16-byte source ids of RAW rows: format, record key and block under the key."""
    parts = ("source", raw["format"], raw["record_key"], raw["block"])
    return _binary(keyed_ids(key, "sources", _identities(parts, raw.num_rows)), 16)


@stage(reads=RAW, writes=CAPTURED, version=1)
def capture_sources(
    raw: pa.Table,
    source_ids: pa.Array,
    delivered: pa.Array,
    cut_bytes: pa.Array,
    revises: pa.Array,
    *,
    key: bytes,
    now: datetime,
) -> pa.Table:
    """Return the source envelope of every raw row, in the same order.

    raw: RAW after cuts.  source_ids, delivered, cut_bytes: (n,) as made by `identify_sources`,
    `digest_deliveries` and the screen.  revises: (n,) the source that an edit revises, or null.
    key: the shard's erasure key.
    """
    text = column_arrays(raw["text"])
    assert text.offsets is not None
    count = raw.num_rows
    columns: dict[str, Any] = {
        "source_id": source_ids,
        "revision": pa.array(np.ones(count, np.int32)),
        "delivery_key": raw["record_key"],
        "delivery_digest": delivered,
        "content_digest": _binary(sha256_rows(text.values, text.offsets), 32),
        "content": raw["text"],
        "author_id": identify_authors(raw, key),
        "event_time": raw["event_us"].cast(TIME),
        "ingest_time": pa.repeat(pa.scalar(now, TIME), count),
        "conversation_id": _identify_conversations(raw, key),
        "cut_bytes": cut_bytes,
        "revises": revises,
    }
    arrays = [columns[field.name] if field.name in columns else raw[field.name] for field in CAPTURED]
    return pa.Table.from_arrays(arrays, schema=CAPTURED)


def identify_authors(raw: pa.Table, key: bytes) -> pa.Array:
    """Return (n,) 16-byte entity ids of the authors of RAW rows; one owner per scope."""
    told = raw.select([*CLAIM_SCOPE, "author", "is_owner"])
    first, which = distinct_rows(told)
    ids = []
    for *scope, author, is_owner in zip(*(column.to_pylist() for column in told.take(first)), strict=True):
        identity = author_identity(tuple(scope), author or UNNAMED, is_owner)
        ids.append(keyed_id(key, "entities", identity))
    return pa.array(ids, pa.binary(16)).take(pa.array(which))


def _identify_conversations(raw: pa.Table, key: bytes) -> pa.Array:
    """Return (n,) 16-byte ids of the conversations of RAW rows, each made once."""
    told = raw.select(["format", "conversation_key"])
    first, which = distinct_rows(told)
    named = told.take(first)
    identified = _identities(("conversation", *named.columns), named.num_rows)
    return _binary(keyed_ids(key, "conversations", identified), 16).take(pa.array(which))


def _identities(parts: Sequence[str | pa.ChunkedArray], count: int) -> NDArray[np.uint8]:
    columns: list[Part] = [part if isinstance(part, str) else column_arrays(part) for part in parts]
    return identities(columns, count)


def _binary(rows: NDArray[np.uint8], width: int) -> pa.Array:
    return pa.Array.from_buffers(pa.binary(width), len(rows), [None, pa.py_buffer(rows.tobytes())])
