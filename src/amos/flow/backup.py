"""Back a shard up to a folder, and say what was done."""

from __future__ import annotations

import time
from datetime import datetime
from pathlib import Path
from typing import Any

from amos.clock import as_text, to_us
from amos.copies.store import Progress, back_up, held_backup
from amos.errors import UsageError
from amos.flow.noting import noted
from amos.identity import random_id
from amos.schemas.catalog import CopyEntry


def back_up_shard(
    shard: Path,
    destination: Path,
    *,
    now: datetime,
    with_keys: bool = False,
    is_linked: bool = False,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Bring the newest state of the shard folder to `destination`; return the receipt.

    The copy is registered in the shard before it begins, so that whoever forgets something later is told
    of it; a shard that cannot be written is backed up all the same, and the receipt says so.
    """
    began = time.perf_counter()
    require_apart(shard, destination)
    head = held_backup(shard).graph_version
    entry = CopyEntry(random_id(), "backup", to_us(now), head, str(destination.resolve()))
    is_noted = noted(shard, entry)
    made = back_up(shard, destination, with_keys=with_keys, is_linked=is_linked, progress=progress)
    if is_noted:
        noted(shard, entry._replace(graph_version=made.graph_version), is_only=True)
    return {
        "dry_run": False,
        "place": str(destination),
        "made_at": as_text(to_us(now)),
        "graph_version": made.graph_version or None,
        "link": made.link.hex(),
        "segments": made.copied.segments,
        "segments_written": made.copied.new_segments,
        "segments_removed": made.removed,
        "bytes": held_backup(destination.joinpath(*shard.parts[-2:])).byte_count,
        "bytes_written": made.copied.new_bytes,
        "with_keys": made.has_keys,
        "registered": is_noted,
        "seconds": round(time.perf_counter() - began, 3),
    }


def plan_backup(shard: Path, destination: Path) -> dict[str, Any]:
    """Return what a backup would hold; writes nothing."""
    require_apart(shard, destination)
    held = held_backup(shard)
    return {
        "dry_run": True,
        "place": str(destination),
        "graph_version": held.graph_version or None,
        "segments": held.segments,
        "bytes": held.byte_count,
    }


def require_apart(shard: Path, destination: Path) -> None:
    """Raise UsageError when a copy would stand inside the store that it is of."""
    root = shard.parents[1].resolve()
    if destination.resolve().is_relative_to(root):
        raise UsageError(
            f"{destination} lies inside the store",
            path=str(destination),
            advice="Name a folder outside of it, best on another disk.",
        )
