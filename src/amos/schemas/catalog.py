"""Rows of a shard's catalog: what has been committed and where its rows stand."""

from __future__ import annotations

import hashlib
from typing import NamedTuple


class CommitEntry(NamedTuple):
    """One commit.  `link` is the running link after its last event."""

    graph_version: int
    operation: str
    actor: str
    run_id: bytes
    accepted_us: int
    skew_us: int
    event_count: int
    link: bytes


class SegmentEntry(NamedTuple):
    """One sealed Parquet file; `file` is relative to the shard, `constants` JSON of omitted columns.

    `groups` JSON lists the row count of each row group.
    """

    segment_id: int
    table: str
    first_version: int
    last_version: int
    row_count: int
    byte_count: int
    sha256: bytes
    file: str
    constants: str
    groups: str


class HotEntry(NamedTuple):
    """The rows of one table in one commit, as canonical bytes."""

    graph_version: int
    table: str
    row_count: int
    body: bytes


class ConflictEntry(NamedTuple):
    """A refused command: what it expected, what stands, and what its caller can do."""

    conflict_id: int
    recorded_us: int
    target_ref: str
    expected: str
    actual: str
    conflicting_version: int
    recommended_action: str


class RunEntry(NamedTuple):
    """Receipt of one run: outside digest and chain."""

    run_id: bytes
    kind: str
    started_us: int
    finished_us: int
    receipt: str


class Idempotency(NamedTuple):
    """A caller's promise that repeating `key` for the same targets means the same act.

    payload_digest: 32 bytes over what the caller asked for; another digest under the same key is refused.
    """

    key: str
    payload_digest: bytes
    targets: bytes = b""


class Records(NamedTuple):
    """Everything a catalog says of commits and rows, at one moment."""

    commits: list[CommitEntry]
    segments: list[SegmentEntry]
    hot: list[HotEntry]


def text_digest(body: str) -> bytes:
    """Return the digest under which a catalog keeps a policy or contract: SHA-256 of its UTF-8 bytes."""
    return hashlib.sha256(body.encode()).digest()
