"""Take, renew and release leases on the jobs of a shard."""

from __future__ import annotations

import os
import socket
from datetime import datetime
from typing import Any

from amos.clock import to_us
from amos.journal.refusals import LeaseLost
from amos.schemas.catalog import LeaseEntry

LASTS_SECONDS = 60.0


class Leasing:
    """Methods of `Shard`; a commit names its lease and is refused once the job has another epoch."""

    _catalog: Any
    _leases: Any
    _lock: Any

    def take_lease(self, job: str, *, now: datetime, lasts_seconds: float = LASTS_SECONDS) -> LeaseEntry:
        """Take a job for this process.  Raises BusyError with code `lease_held`, naming the holder."""
        holder = f"process {os.getpid()} on {socket.gethostname()}"
        with self._lock, self._catalog.writing("take lease"):
            lease: LeaseEntry = self._leases.take(
                job, holder=holder, now_us=to_us(now), lasts_us=int(lasts_seconds * 1_000_000)
            )
            return lease

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
