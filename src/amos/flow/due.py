"""Tell cheaply whether it is time to look for what has expired: at most once a day, in no young store."""

from __future__ import annotations

from datetime import datetime

from amos.clock import to_us
from amos.journal.store import Shard

EXPIRE = "expire"
"""Kind of the receipts of runs that looked for what has expired."""
_DAY_US = 86_400_000_000


def may_have_expired(shard: Shard, now: datetime, *, days: int) -> bool:
    """Return whether something can have passed its deadline of `days`, and nobody looked within a day."""
    first_us, last_us = shard.beginnings(EXPIRE)
    if first_us is None or to_us(now) - first_us < days * _DAY_US:
        return False
    return last_us is None or to_us(now) - last_us >= _DAY_US
