"""Commit inside a transaction that is already held."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Unpack

from amos.journal.drafts import Draft, draft_request
from amos.journal.events import EventRows
from amos.journal.requests import CommitRequest, CommitTerms
from amos.journal.snapshot import Snapshot


class ExclusiveWriter:
    """Reads and commits inside one write transaction, which nobody else can interrupt."""

    def __init__(self, append: Callable[[Draft, CommitRequest], int], pin: Callable[[], Snapshot]) -> None:
        self._append = append
        self._pin = pin

    @property
    def snapshot(self) -> Snapshot:
        """The state now, with what was committed inside this block so far."""
        return self._pin()

    def commit(self, rows: Sequence[EventRows], **terms: Unpack[CommitTerms]) -> int:
        """Commit rows as `Shard.commit` does; they become visible to others when the block ends."""
        snapshot = self._pin()
        request = CommitRequest(base=snapshot.version, **terms)
        draft = draft_request(rows, request)
        return snapshot.version if draft is None else self._append(draft, request)
