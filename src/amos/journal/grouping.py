"""Commits of several threads that wait at once become durable together: one sync for all of them.

Each stays a commit of its own, with its own version, checks and answer; what is refused is taken back
alone, and where the transaction fails, it fails for all that are in it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from amos.errors import BusyError
from amos.journal.drafts import Draft
from amos.journal.requests import CommitRequest, Reads

MOST_TOGETHER = 64
"""Commits in one transaction: it bounds what a power cut can take and how long others wait."""


class Ticket:
    """One commit that waits for its turn, and what came of it."""

    def __init__(self, draft: Draft, request: CommitRequest, reads: Reads) -> None:
        self.draft, self.request, self.reads = draft, request, reads
        self.is_done = False
        self._version: int | None = None
        self._failure: BaseException | None = None

    def succeed(self, version: int) -> None:
        """Note the graph version that holds the commit."""
        self._version = version

    def fail(self, failure: BaseException) -> None:
        """Note why the commit was refused; it outweighs an earlier success that was taken back."""
        self._failure = failure

    def result(self) -> int:
        """Return the graph version, or raise what refused the commit."""
        if self._failure is not None:
            raise self._failure
        assert self._version is not None
        return self._version


class Waiting:
    """Tickets in the order of their arrival; threads add, the one that holds the shard takes."""

    def __init__(self) -> None:
        self._tickets: deque[Ticket] = deque()

    @contextmanager
    def line(self, ticket: Ticket) -> Iterator[None]:
        """Let a ticket wait inside the block; a caller that leaves earlier takes it along."""
        self._tickets.append(ticket)
        try:
            yield
        finally:
            with suppress(ValueError):
                self._tickets.remove(ticket)

    def serve(self, own: Ticket, commit: Callable[[list[Ticket]], None]) -> None:
        """Commit what waits, batch by batch, until `own` is done; the shard is held."""
        while not own.is_done:
            batch = self._next()
            try:
                commit(batch)
            except BaseException as failure:  # noqa: BLE001 - raised again where the answer is taken
                for ticket in batch:
                    ticket.fail(_for_others(failure) if ticket is not own else failure)
            finally:
                for ticket in batch:
                    ticket.is_done = True

    def _next(self) -> list[Ticket]:
        """Take the first ticket, with those behind it as far as all are small."""
        batch = [self._tickets.popleft()]
        while self._tickets and len(batch) < MOST_TOGETHER and _is_small(batch[0], self._tickets[0]):
            batch.append(self._tickets.popleft())
        return batch


def _is_small(*tickets: Ticket) -> bool:
    return not any(part.is_large for ticket in tickets for part in ticket.draft.tables)


def _for_others(failure: BaseException) -> BaseException:
    """Return what other threads are told: an interruption was meant for one thread alone."""
    if isinstance(failure, Exception):
        return failure
    return BusyError("another thread was interrupted while it committed; nothing of this was written")
