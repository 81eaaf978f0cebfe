"""What a commit is asked to do, and the ways in which it can be refused."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple, NotRequired, Protocol, TypedDict

from amos.clock import to_us
from amos.errors import BusyError
from amos.journal.events import EventNotice, canonical_json
from amos.journal.snapshot import Keys
from amos.schemas.catalog import (
    ConflictEntry,
    CopyEntry,
    ErasedRow,
    ErasureEntry,
    HoldEntry,
    Idempotency,
    SnapshotEntry,
)

Reads = Mapping[tuple[str, str], Keys]


class CareLog(Protocol):
    """What a commit may write to the catalog beside its rows; see `storage.care`."""

    def add_erased(self, rows: Iterable[ErasedRow], erased_by: int) -> None:
        """Keep the commitments of rows that the commit `erased_by` takes."""

    def put_erasure(self, entry: ErasureEntry) -> None:
        """Write an entry of the ledger of erasures, or its next state."""

    def put_snapshot(self, entry: SnapshotEntry) -> None:
        """Register a verified state."""

    def put_copy(self, entry: CopyEntry) -> None:
        """Register a backup or an export."""

    def put_hold(self, entry: HoldEntry) -> None:
        """Write a legal hold, or its release."""


Also = Callable[[CareLog, int], None]
"""Writes to the catalog that belong to a commit: called inside its transaction with its version."""


class HeadMoved(BusyError):  # noqa: N818 - says what happened
    """Rows that a decision rested on were committed by somebody else meanwhile; nothing was written."""

    default_code = "expected_version_conflict"
    default_advice = "Decide again on a fresh snapshot."

    def __init__(self, table: str, column: str, *, expected: int, actual: int, keys: Keys | None) -> None:
        super().__init__(f"{table} changed between graph version {expected} and {actual}")
        self.table, self.column = table, column
        self.expected, self.actual = expected, actual
        self.keys = keys


class CommitTerms(TypedDict):
    """What every commit says of itself; the caller's side of `CommitRequest`."""

    operation: str
    actor: str
    run_id: bytes
    now: datetime
    idempotency: NotRequired[Idempotency | None]
    texts: NotRequired[Mapping[bytes, tuple[str, str]] | None]
    notices: NotRequired[Sequence[EventNotice]]
    also: NotRequired[Also | None]


class CommitRequest(NamedTuple):
    """Everything about a commit except its rows."""

    operation: str
    actor: str
    run_id: bytes
    now: datetime
    base: int
    idempotency: Idempotency | None = None
    texts: Mapping[bytes, tuple[str, str]] | None = None
    notices: Sequence[EventNotice] = ()
    also: Also | None = None

    def scope(self, key: bytes, shard: str) -> bytes | None:
        """Return the keyed digest under which the promise of this request is kept."""
        if self.idempotency is None:
            return None
        parts = [shard, self.actor, self.operation, self.idempotency.targets.hex(), self.idempotency.key]
        return hmac.digest(key, b"amos/idempotency/1" + canonical_json(parts).encode(), "sha256")


class IdempotencyConflict(BusyError):  # noqa: N818 - says what happened
    """The same idempotency key was used before for something else."""

    default_code = "idempotency_conflict"
    default_advice = "Use a new key for a new command."
    is_retryable = False

    def __init__(self, request: CommitRequest, *, expected: bytes, graph_version: int) -> None:
        super().__init__(f"{request.operation}: this key stands for what graph version {graph_version} did")
        self.expected = expected
        self.actual = b"" if request.idempotency is None else request.idempotency.payload_digest
        self.graph_version = graph_version


def conflict_entry(request: CommitRequest, conflict: IdempotencyConflict) -> ConflictEntry:
    """Return what the queue of refused commands keeps of one, without its content."""
    return ConflictEntry(
        0,
        to_us(request.now),
        request.operation,
        conflict.expected.hex(),
        conflict.actual.hex(),
        conflict.graph_version,
        conflict.advice,
    )
