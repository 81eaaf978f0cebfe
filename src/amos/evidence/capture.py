"""Turn raw blocks into source envelopes: identity, digests, author, conversation."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any

import pyarrow as pa

from amos.identity import (
    CLAIM_SCOPE,
    author_identity,
    conversation_identity,
    keyed_id,
    source_identity,
)
from amos.schemas.columns import ID
from amos.schemas.raw import RAW
from amos.schemas.state import SOURCES
from amos.stage import stage

CAPTURED = pa.schema([field for field in SOURCES if field.name != "salt"])
"""Sources before storage adds their salt."""


def delivery_digest(key: bytes, text: str) -> bytes:
    """Return the keyed digest of a delivered text, which decides replay or conflict."""
    return hmac.digest(key, b"amos/1/delivery\x00" + text.encode(), "sha256")


@stage(reads=RAW, writes=CAPTURED, version=1)
def capture_sources(
    raw: pa.Table, delivered: pa.ChunkedArray, cut_bytes: pa.Array, *, key: bytes, now: datetime
) -> pa.Table:
    """Return the source envelope of every raw row, in the same order.

    raw: RAW after cuts.  delivered: (n,) binary delivery digests taken before any cut.
    cut_bytes: (n,) int64.  key: the shard's erasure key.
    """
    lists = raw.select(["format", "record_key", "block", "conversation_key", "author", "is_owner"])
    formats, keys, blocks, conversations, authors, owners = (c.to_pylist() for c in lists.columns)
    scopes = list(zip(*(raw[name].to_pylist() for name in CLAIM_SCOPE), strict=True))
    texts = raw["text"].to_pylist()
    source_ids = [
        keyed_id(key, "sources", source_identity(form, record, block))
        for form, record, block in zip(formats, keys, blocks, strict=True)
    ]
    content_digests = [hashlib.sha256(text.encode()).digest() for text in texts]
    conversation_ids = _memoised_ids(
        key, "conversations", zip(formats, conversations, strict=True), conversation_identity
    )
    author_ids = _memoised_ids(
        key,
        "entities",
        zip(scopes, (name or "unknown" for name in authors), owners, strict=True),
        author_identity,
    )
    count = raw.num_rows
    columns: dict[str, object] = {
        "source_id": pa.array(source_ids, ID),
        "revision": pa.array([1] * count, pa.int32()),
        "delivery_key": raw["record_key"],
        "delivery_digest": delivered,
        "content_digest": pa.array(content_digests, pa.binary(32)),
        "content": raw["text"],
        "author_id": pa.array(author_ids, ID),
        "event_time": _instants(raw["event_us"]),
        "ingest_time": pa.array([now] * count, SOURCES.field("ingest_time").type),
        "conversation_id": pa.array(conversation_ids, ID),
        "cut_bytes": cut_bytes,
        "revises": pa.nulls(count, ID),
    }
    arrays = [columns.get(field.name, None) for field in CAPTURED]
    return pa.Table.from_arrays(
        [
            array if array is not None else raw[field.name]
            for array, field in zip(arrays, CAPTURED, strict=True)
        ],
        schema=CAPTURED,
    )


def _instants(microseconds: pa.ChunkedArray) -> pa.ChunkedArray:
    return microseconds.cast(pa.timestamp("us")).cast(SOURCES.field("event_time").type)


def _memoised_ids(
    key: bytes, table: str, rows: Iterable[tuple[Any, ...]], identity: Callable[..., bytes]
) -> list[bytes]:
    known: dict[tuple[Any, ...], bytes] = {}
    ids = []
    for row in rows:
        found = known.get(row)
        if found is None:
            found = known[row] = keyed_id(key, table, identity(*row))
        ids.append(found)
    return ids
