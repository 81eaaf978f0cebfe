"""What a commit is asked to do, and what it may rest on."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple, NotRequired, Protocol, TypedDict

from amos.journal.events import EventNotice, canonical_json
from amos.journal.snapshot import Keys
from amos.schemas.catalog import (
    ConflictEntry,
    CopyEntry,
    ErasedRow,
    ErasureEntry,
    HoldEntry,
    Idempotency,
    LeaseEntry,
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

    def retain_from(self, version: int) -> None:
        """Say that states before a graph version can no longer be told."""

    def add_conflict(self, entry: ConflictEntry) -> None:
        """Queue a refused command."""

    def put_copy(self, entry: CopyEntry) -> None:
        """Register a backup or an export."""

    def put_hold(self, entry: HoldEntry) -> None:
        """Write a legal hold, or its release."""


Also = Callable[[CareLog, int], None]
"""Writes to the catalog that belong to a commit: called inside its transaction with its version."""


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
    expected: NotRequired[Mapping[tuple[str, bytes], int] | None]
    lease: NotRequired[LeaseEntry | None]


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
    expected: Mapping[tuple[str, bytes], int] | None = None
    lease: LeaseEntry | None = None

    def scope(self, key: bytes, shard: str) -> bytes | None:
        """Return the keyed digest under which the promise of this request is kept."""
        if self.idempotency is None:
            return None
        parts = [shard, self.actor, self.operation, self.idempotency.targets.hex(), self.idempotency.key]
        return hmac.digest(key, b"amos/idempotency/1" + canonical_json(parts).encode(), "sha256")
