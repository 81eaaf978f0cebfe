"""Compact a shard, and drop what a verified snapshot has superseded when that is asked for."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from amos.errors import InputError
from amos.journal.store import Shard

Progress = Callable[[int, int], None]


def compact_shard(
    shard: Shard,
    *,
    now: datetime,
    is_full: bool = False,
    is_dry: bool = False,
    progress: Progress | None = None,
    dropping: tuple[str, bytes] | None = None,
) -> dict[str, Any]:
    """Merge segments until few are left; return what was done, or would be.

    dropping: actor and run id of a caller who also wants superseded row versions gone, below the newest
    snapshot.  Raises UsageError when there is no snapshot, InputError while a hold protects something.
    """
    dropped = None
    if dropping is not None:
        actor, run_id = dropping
        if (held := sum(entry.released_us is None for entry in shard.holds())) > 0:
            if not is_dry:
                said = {"command": "drop history", "reason": "legal_hold"}
                shard.reject(said, actor=actor, run_id=run_id, now=now)
            raise _held(held)
        terms: Any = {"operation": "drop history", "actor": actor, "run_id": run_id, "now": now}
        dropped = shard.drop_history(is_dry=is_dry, **terms).as_record()
    done = shard.compact(now=now, most=1 if is_full else None, is_dry=is_dry, progress=progress)
    return {"dry_run": is_dry, **done.as_record(), "dropped": dropped}


def _held(count: int) -> InputError:
    return InputError(
        f"{count} hold{'s protect' if count > 1 else ' protects'} rows from deletion, earlier versions too",
        code="legal_hold",
        advice="See `amos hold list`; compact without `--drop-history`, or release them first.",
    )
