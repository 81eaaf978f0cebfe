"""Leases: who works on a job, under an epoch that only grows.

A clock decides when a lease may be taken over, never whether a commit counts: a commit under an older
epoch is refused, however late its process wakes up.
"""

from __future__ import annotations

import os
import re
import socket

from amos.errors import BusyError
from amos.schemas.catalog import LeaseEntry
from amos.storage.catalog import Catalog
from amos.storage.tallies import Tallies

_MILLION = 1_000_000
_FREE = 0
"""End of a lease that was given back: whatever a clock says later, the job is free."""
_HOLDER = re.compile(r"process (\d{1,10}) on (.*)", re.DOTALL)


def _is_gone(holder: str) -> bool:
    """Return whether a holder was a process of this machine that does not run any more."""
    found = _HOLDER.fullmatch(holder)
    if found is None or found[2] != socket.gethostname():
        return False
    try:
        os.kill(int(found[1]), 0)
    except ProcessLookupError:
        return True
    except (PermissionError, OverflowError):
        return False
    return False


class Leases:
    """The leases of one open catalog; `take`, `renew` and `release` run inside `catalog.writing`."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._tallies = Tallies(catalog)

    def all(self) -> list[LeaseEntry]:
        """Return the newest lease of every job, released and expired ones too."""
        return [LeaseEntry(*row) for row in self._catalog.rows("SELECT * FROM leases ORDER BY job")]

    def epoch(self, job: str) -> int:
        """Return the epoch of a job, 0 when nobody has ever held it."""
        found = self._catalog.rows("SELECT epoch FROM leases WHERE job = ?", (job,))
        return found[0][0] if found else 0

    def take(self, job: str, *, now_us: int, lasts_us: int) -> LeaseEntry:
        """Take a job that is free, whose lease has run out, or whose holder is dead, for this process.

        Raises BusyError naming the holder.
        """
        rows = self._catalog.rows("SELECT * FROM leases WHERE job = ?", (job,))
        held = LeaseEntry(*rows[0]) if rows else None
        if held is not None and now_us < held.expires_us and not _is_gone(held.holder):
            raise BusyError(
                f"{held.holder} has been working on {job!r} for {_seconds(now_us - held.taken_us)} s",
                code="lease_held",
                advice="Wait for it. If it hangs, its lease"
                f" ends in {_seconds(held.expires_us - now_us)} s unless it is renewed.",
            )
        epoch = 1 if held is None else held.epoch + 1
        holder = f"process {os.getpid()} on {socket.gethostname()}"
        return self._put(LeaseEntry(job, epoch, holder, now_us, now_us, now_us + lasts_us))

    def renew(self, lease: LeaseEntry, *, now_us: int, lasts_us: int) -> LeaseEntry | None:
        """Return the lease with a later end, None when somebody else holds the job by now."""
        if self.epoch(lease.job) != lease.epoch:
            return None
        return self._put(lease._replace(heartbeat_us=now_us, expires_us=now_us + lasts_us))

    def release(self, lease: LeaseEntry, *, now_us: int) -> None:
        """Free the job; its epoch stays.  Nothing happens when somebody else holds it by now."""
        if self.epoch(lease.job) == lease.epoch:
            self._put(lease._replace(heartbeat_us=now_us, expires_us=_FREE))

    def _put(self, lease: LeaseEntry) -> LeaseEntry:
        self._tallies.put("leases", [lease])
        return lease


def _seconds(us: int) -> int:
    return max(us, 0) // _MILLION
