"""Commit inside a transaction that is already held."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from amos.journal.drafts import Draft, draft_commit
from amos.journal.events import EventRows
from amos.journal.requests import CommitRequest
from amos.journal.snapshot import Snapshot
from amos.schemas.catalog import Idempotency


class ExclusiveWriter:
    """Reads and commits inside one write transaction, which nobody else can interrupt."""

    def __init__(self, append: Callable[[Draft, CommitRequest], int], pin: Callable[[], Snapshot]) -> None:
        self._append = append
        self._pin = pin

    @property
    def snapshot(self) -> Snapshot:
        """The state now, with what was committed inside this block so far."""
        return self._pin()

    def commit(
        self,
        rows: Sequence[EventRows],
        *,
        operation: str,
        actor: str,
        run_id: bytes,
        now: datetime,
        idempotency: Idempotency | None = None,
        texts: Mapping[bytes, tuple[str, str]] | None = None,
    ) -> int:
        """Commit rows as `Shard.commit` does; they become visible to others when the block ends."""
        snapshot = self._pin()
        draft = draft_commit(rows, operation=operation, random_bytes=os.urandom)
        request = CommitRequest(operation, actor, run_id, now, snapshot.version, idempotency, texts)
        return snapshot.version if draft is None else self._append(draft, request)
