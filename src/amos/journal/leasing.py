"""Take, renew and release leases on the jobs of a shard."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

from amos.clock import to_us
from amos.errors import EngineError
from amos.journal.refusals import LeaseLost
from amos.schemas.catalog import LeaseEntry

LASTS_SECONDS = 60.0

_LOG = logging.getLogger(__name__)


class Job:
    """A job that this process holds while it works; `keep_on` belongs into every long loop of it."""

    def __init__(self, leasing: Leasing, lease: LeaseEntry, now: datetime) -> None:
        self.lease = lease
        self._leasing, self._began, self._start = leasing, now, time.monotonic()
        self._renewed = 0.0

    @property
    def now(self) -> datetime:
        """The caller's time of beginning, and what has passed since."""
        return self._began + timedelta(seconds=time.monotonic() - self._start)

    def keep_on(self) -> None:
        """Renew the lease when half of its time is over.  Raises LeaseLost when somebody took it over."""
        passed = time.monotonic() - self._start
        if passed - self._renewed > LASTS_SECONDS / 2:
            self.lease = self._leasing.renew_lease(self.lease, now=self.now)
            self._renewed = passed

    def require(self) -> None:
        """Raise LeaseLost when somebody took the job over; inside the write transaction."""
        self._leasing._require_lease(self.lease)


class Leasing:
    """Methods of `Shard`; a commit names its lease and is refused once the job has another epoch."""

    _catalog: Any
    _leases: Any
    _lock: Any

    def take_lease(self, job: str, *, now: datetime, lasts_seconds: float = LASTS_SECONDS) -> LeaseEntry:
        """Take a job for this process.  Raises BusyError with code `lease_held`, naming the holder."""
        with self._lock, self._catalog.writing("take lease"):
            lease: LeaseEntry = self._leases.take(
                job, now_us=to_us(now), lasts_us=int(lasts_seconds * 1_000_000)
            )
        self._leases.begin(lease)
        return lease

    @contextmanager
    def working_on(self, job: str, *, now: datetime) -> Iterator[Job]:
        """Hold a job inside the block.  Raises BusyError with code `lease_held`, naming who has it."""
        held = Job(self, self.take_lease(job, now=now), now)
        try:
            yield held
        finally:
            try:
                self.release_lease(held.lease, now=held.now)
            except EngineError as cause:  # it runs out by itself, and ends with this process
                _LOG.warning("a lease could not be given back", extra={"cause": cause.message})

    def renew_lease(
        self, lease: LeaseEntry, *, now: datetime, lasts_seconds: float = LASTS_SECONDS
    ) -> LeaseEntry:
        """Keep a job for longer.  Raises LeaseLost when somebody else has taken it over."""
        with self._lock, self._catalog.writing("renew lease"):
            renewed: LeaseEntry | None = self._leases.renew(
                lease, now_us=to_us(now), lasts_us=int(lasts_seconds * 1_000_000)
            )
            if renewed is None:
                raise LeaseLost(lease, self._leases.epoch(lease.job), self._catalog.state()[0])
            return renewed

    def release_lease(self, lease: LeaseEntry, *, now: datetime) -> None:
        """Free a job; a lease that was taken over stays with its new holder."""
        self._leases.end(lease)
        with self._lock, self._catalog.writing("release lease"):
            self._leases.release(lease, now_us=to_us(now))

    def leases(self) -> list[LeaseEntry]:
        """Return the newest lease of every job, by name."""
        with self._lock:
            return list(self._leases.all())

    def _require_lease(self, lease: LeaseEntry | None) -> None:
        """Raise LeaseLost when the job has another epoch than the lease; inside the write transaction."""
        if lease is not None and (epoch := self._leases.epoch(lease.job)) != lease.epoch:
            raise LeaseLost(lease, epoch, self._catalog.state()[0])
