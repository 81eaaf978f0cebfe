"""List what may not return: tombstones by terms and time, never by what they bar."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from amos.admission.tombstone_expiry import ACTIVE, EXPIRED
from amos.clock import to_us
from amos.errors import UsageError
from amos.flow.printed import shown_id, shown_time
from amos.flow.sight import Sight


def require_whole(sight: Sight) -> None:
    """Raise UsageError where the scope is narrowed: what was forgotten says no scope any more."""
    if sight.scope:
        raise UsageError(
            "tombstones stand for the whole shard, whatever its scope", advice="Leave the scope flags out."
        )


def standing_bans(rows: pa.Table, now_us: int) -> int:
    """Return how many of some current tombstones bar something; rows: with `status` and `expires_at`."""
    told = rows.select(["status", "expires_at"]).to_pylist()
    return sum(row["status"] == ACTIVE and not _is_over(row, now_us) for row in told)


def tombstone_rows(sight: Sight, rows: pa.Table) -> list[dict[str, Any]]:
    """Return tombstones as they are printed; `state` is active or expired by now.

    is_noted: the journal says that it expired.  Raises UsageError for a narrowed scope.
    """
    require_whole(sight)
    now = to_us(sight.now)
    return [
        {
            "tombstone_id": shown_id("tombstone_id", row["tombstone_id"]),
            "bars": row["kind"],
            "recreation": row["recreation"],
            "reason": row["reason"],
            "state": EXPIRED if _is_over(row, now) else ACTIVE,
            "is_noted": row["status"] == EXPIRED,
            "words": row["tokens"],
            "created_at": shown_time(row["created_at"]),
            "expires_at": shown_time(row["expires_at"]),
            "version": row["version"],
        }
        for row in rows.to_pylist()
    ]


def _is_over(row: dict[str, Any], now_us: int) -> bool:
    until = row["expires_at"]
    return row["status"] == EXPIRED or (until is not None and to_us(until) <= now_us)
