"""What a commit is asked to do, and the ways in which it can be refused."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple, NotRequired, TypedDict

from amos.errors import BusyError
from amos.journal.events import canonical_json
from amos.journal.snapshot import Keys
from amos.schemas.catalog import Idempotency

Reads = Mapping[tuple[str, str], Keys]


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


class CommitRequest(NamedTuple):
    """Everything about a commit except its rows."""

    operation: str
    actor: str
    run_id: bytes
    now: datetime
    base: int
    idempotency: Idempotency | None = None
    texts: Mapping[bytes, tuple[str, str]] | None = None

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
