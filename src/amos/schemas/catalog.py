"""Rows of a shard's catalog: what has been committed and where its rows stand."""

from __future__ import annotations

import hashlib
from typing import NamedTuple

import numpy as np
import numpy.typing as npt


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


class ErasedRow(NamedTuple):
    """A row that is gone: where it stood, and its 32-byte commitment, which stays."""

    table: str
    graph_version: int
    row_number: int
    commitment: bytes


class ErasedColumns(NamedTuple):
    """The rows of one table that are gone, by place: commit number times 2**32 plus row number.

    places: (n,) int64, ascending.  digests: (n, 32) uint8.  erased_by: (n,) int64 graph versions.
    """

    places: npt.NDArray[np.int64]
    digests: npt.NDArray[np.uint8]
    erased_by: npt.NDArray[np.int64]


class ErasureEntry(NamedTuple):
    """One erasure in the ledger.  status: purging until no file holds the content, then purged.

    request and report are JSON without content.
    """

    erasure_id: bytes
    graph_version: int
    requested_us: int
    finished_us: int | None
    status: str
    request: str
    report: str


class GarbageEntry(NamedTuple):
    """A replaced segment file that readers of earlier states may still hold."""

    file: str
    replaced_us: int
    reason: str


class SnapshotEntry(NamedTuple):
    """A state that was rebuilt from its events and found equal; `content` JSON counts rows per table."""

    graph_version: int
    created_us: int
    state_digest: str
    event_count: int
    link: bytes
    content: str


class HoldEntry(NamedTuple):
    """A legal hold: what it protects from physical deletion, by kind and reference."""

    hold_id: bytes
    kind: str
    ref: str
    reason: str
    placed_us: int
    released_us: int | None


class LeaseEntry(NamedTuple):
    """Who works on a job; a later epoch takes it over for good."""

    job: str
    epoch: int
    holder: str
    taken_us: int
    heartbeat_us: int
    expires_us: int


UNFINISHED = "unfinished "
"""What the kind of a copy begins with until it stands at its place."""


class CopyEntry(NamedTuple):
    """A backup or an export that was made, or one that was begun."""

    copy_id: bytes
    kind: str
    made_us: int
    graph_version: int
    place: str

    @property
    def is_unfinished(self) -> bool:
        """Whether it may not stand at its place: it is being written, or whoever wrote it was killed."""
        return self.kind.startswith(UNFINISHED)

    def begun(self) -> CopyEntry:
        """Return it as it is noted before it is written."""
        return self._replace(kind=UNFINISHED + self.kind)

    def finished(self) -> CopyEntry:
        """Return it as it is noted once it stands at its place."""
        return self._replace(kind=self.kind.removeprefix(UNFINISHED))


class Idempotency(NamedTuple):
    """A caller's promise that repeating `key` for the same targets means the same act.

    payload_digest: 32 bytes over what the caller asked for; another digest under the same key is refused.
    """

    key: str
    payload_digest: bytes
    targets: bytes = b""


class Layout(NamedTuple):
    """Where the rows of a shard stand at one moment, up to the newest graph version `head`."""

    head: int
    segments: list[SegmentEntry]
    hot: list[HotEntry]


class Records(NamedTuple):
    """Everything a catalog says of commits and rows, at one moment."""

    commits: list[CommitEntry]
    segments: list[SegmentEntry]
    hot: list[HotEntry]


def text_digest(body: str) -> bytes:
    """Return the digest under which a catalog keeps a policy or contract: SHA-256 of its UTF-8 bytes."""
    return hashlib.sha256(body.encode()).digest()
