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

_AT_WORK: set[tuple[str, str, int]] = set()
"""Catalog, job and epoch of the leases under which this process works."""


def _own_name() -> str:
    return f"process {os.getpid()} on {socket.gethostname()}"


def _runs(holder: str) -> bool:
    """Return whether a holder may run: only of a process of this machine it is known that it does not."""
    found = _HOLDER.fullmatch(holder)
    if found is None or found[2] != socket.gethostname():
        return True
    try:
        os.kill(int(found[1]), 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


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
        if held is not None and now_us < held.expires_us and self._is_at_work(held):
            raise BusyError(
                f"{held.holder} has been working on {job!r} for {_seconds(now_us - held.taken_us)} s",
                code="lease_held",
                advice="Wait for it. If it hangs, its lease"
                f" ends in {_seconds(held.expires_us - now_us)} s unless it is renewed.",
            )
        epoch = 1 if held is None else held.epoch + 1
        return self._put(LeaseEntry(job, epoch, _own_name(), now_us, now_us, now_us + lasts_us))

    def _is_at_work(self, held: LeaseEntry) -> bool:
        """Return whether somebody may be working under a lease; this process knows of its own."""
        if held.holder == _own_name():
            return self._key(held) in _AT_WORK
        return _runs(held.holder)

    def begin(self, lease: LeaseEntry) -> None:
        """Note that this process works under a lease from now on."""
        _AT_WORK.add(self._key(lease))

    def end(self, lease: LeaseEntry) -> None:
        """Note that it does no more, whether the catalog can be told or not."""
        _AT_WORK.discard(self._key(lease))

    def _key(self, lease: LeaseEntry) -> tuple[str, str, int]:
        return str(self._catalog.path), lease.job, lease.epoch

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
