"""Commits refused because the state is another than their caller took it for, and what to do then."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from operator import itemgetter
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from amos.errors import BusyError, UsageError
from amos.identity import id_text, parse_ref, prefix_range
from amos.journal.requests import CommitRequest
from amos.journal.snapshot import Keys, Snapshot
from amos.schemas.catalog import ConflictEntry, LeaseEntry
from amos.schemas.columns import ID
from amos.schemas.state import PRIMARY_KEYS, VERSION_COLUMNS

LEASE = "lease:"
"""How the target of a conflict begins that was about a lease."""

_TABLE_OF = {column: table for table, column in PRIMARY_KEYS.items()}


class Conflict(NamedTuple):
    """The answer to a refused command.  recommended_action: refresh, merge, review or retry.

    target_ref: what it was about.  expected_version, actual_version: of that target; of the graph where the
    target has no version of its own.  graph_version: the commit that stands in the way.
    """

    target_ref: str
    expected_version: int
    actual_version: int
    graph_version: int
    conflicting_event_id: bytes | None
    recommended_action: str

    def as_record(self) -> dict[str, object]:
        """Return the five fields as a caller reads them."""
        event = self.conflicting_event_id
        return {
            "target_ref": self.target_ref,
            "expected_version": self.expected_version,
            "actual_version": self.actual_version,
            "conflicting_event_id": None if event is None else id_text("events", event),
            "recommended_action": self.recommended_action,
        }


class Refusal(BusyError):  # noqa: N818 - says what happened
    """A command that was refused whole; nothing was written."""

    is_queued = True

    def __init__(self, message: str, conflict: Conflict) -> None:
        super().__init__(message)
        self.conflict = conflict

    def as_record(self) -> dict[str, object]:
        """Return the error with the `conflict` it stands for."""
        return {**super().as_record(), "conflict": self.conflict.as_record()}


class HeadMoved(Refusal):
    """Rows that a decision rested on were committed by somebody else meanwhile; nothing was written."""

    default_code = "expected_version_conflict"
    default_advice = "Decide again on a fresh snapshot."
    is_queued = False  # whoever decided decides again

    def __init__(
        self,
        table: str,
        column: str,
        *,
        expected: int,
        actual: int,
        keys: Keys | None,
        event_id: bytes | None = None,
    ) -> None:
        first = None if keys is None or len(keys) == 0 else keys[0].as_py()
        target = f"{table}.{column}" if first is None else _ref(table, column, first)
        said = f"{table} changed between graph version {expected} and {actual}"
        super().__init__(said, Conflict(target, expected, actual, actual, event_id, "retry"))
        self.table, self.column = table, column
        self.expected, self.actual = expected, actual
        self.keys = keys


class VersionConflict(Refusal):
    """A row has another version than the one that a command was meant for."""

    default_code = "expected_version_conflict"
    default_advice = "Look at the row as it is now with `amos show`, then decide again."
    is_retryable = False


class IdempotencyConflict(Refusal):
    """The same idempotency key was used before for something else."""

    default_code = "idempotency_conflict"
    default_advice = "Use a new key for a new command."
    is_retryable = False

    def __init__(
        self, request: CommitRequest, *, expected: bytes, graph_version: int, event_id: bytes | None
    ) -> None:
        said = f"{request.operation}: this key stands for what graph version {graph_version} did"
        target, version = request.operation, graph_version
        super().__init__(said, Conflict(target, request.base, version, version, event_id, "review"))
        self.expected = expected
        self.actual = b"" if request.idempotency is None else request.idempotency.payload_digest
        self.graph_version = graph_version


class LeaseLost(Refusal):
    """Somebody else has taken over the job under which this was to be committed."""

    default_code = "lease_lost"
    default_advice = "Leave the job to its new holder, or take the lease again and start afresh."
    is_retryable = False

    def __init__(self, lease: LeaseEntry, epoch: int, head: int) -> None:
        said = f"the lease of {lease.job!r} has moved on from epoch {lease.epoch} to {epoch}"
        super().__init__(said, Conflict(f"{LEASE}{lease.job}", lease.epoch, epoch, head, None, "refresh"))


def first_event(snapshot: Snapshot, version: int) -> bytes | None:
    """Return the id of the first event of a commit, None when the snapshot does not hold it."""
    events = snapshot.table("events", ["event_id", "graph_version"], since=version - 1)
    found = events.filter(pc.equal(events["graph_version"], version))
    identifier: bytes | None = found["event_id"][0].as_py() if found.num_rows else None
    return identifier


def require_expected(snapshot: Snapshot, expected: Mapping[tuple[str, bytes], int]) -> None:
    """Raise VersionConflict when a row has another version than expected; 0 expects that there is none.

    expected: version by (table, id).
    """
    for (table, identifier), version in expected.items():
        column, numbered = PRIMARY_KEYS[table], VERSION_COLUMNS.get(table, "graph_version")
        columns = list(dict.fromkeys([numbered, "graph_version", "row_number"]))
        rows = snapshot.lookup(table, column, pa.array([identifier], ID), columns).to_pylist()
        newest: dict[str, Any] = max(rows, key=itemgetter(numbered, "graph_version"), default={})
        actual = newest.get(numbered, 0)
        if actual != version:
            place = newest.get("graph_version", 0)
            origin = snapshot.origin(table, place, newest["row_number"]) if newest else None
            event = None if origin is None else origin.event_id
            ref = id_text(table, identifier)
            raise VersionConflict(
                f"{ref} is of version {actual}, not {version}",
                Conflict(ref, version, actual, place, event, "refresh" if newest else "review"),
            )


@contextmanager
def queueing(request: CommitRequest, keep: Callable[[CommitRequest, Refusal], None]) -> Iterator[None]:
    """Let a refused command be kept, without its content, for whoever looks after the store.

    Enter it before the locks of the shard: keeping is a commit of its own.
    """
    try:
        yield
    except Refusal as refusal:
        if refusal.is_queued:
            keep(request, refusal)
        raise


def target_id(target_ref: str) -> tuple[str, bytes] | None:
    """Return table and id of the row that a conflict was about, None when it was about no row."""
    try:
        table, body = parse_ref(target_ref)
        low, high = prefix_range(body)
    except UsageError:
        return None
    return (table, low) if low == high and table in PRIMARY_KEYS else None


def event_of_conflict(snapshot: Snapshot, entry: ConflictEntry) -> bytes | None:
    """Return the id of the event that stands in the way of a queued command.

    That is the one which brought the row it was about; for a key that was used before the first of that
    commit; None for a lease, and for a row that is gone.
    """
    target = target_id(entry.target_ref)
    if target is None:
        is_lease = entry.target_ref.startswith(LEASE)
        return None if is_lease else first_event(snapshot, entry.conflicting_version)
    table, identifier = target
    places = snapshot.lookup(
        table, PRIMARY_KEYS[table], pa.array([identifier], ID), ["graph_version", "row_number"]
    )
    version = entry.conflicting_version
    numbers = places.filter(pc.equal(places["graph_version"], version))["row_number"].to_pylist()
    origin = snapshot.origin(table, version, max(numbers)) if numbers else None
    return None if origin is None else origin.event_id


def _ref(table: str, column: str, key: bytes) -> str:
    owner = _TABLE_OF.get(column)
    return f"{table}.{column}:{key.hex()}" if owner is None else id_text(owner, key)
