"""Tell what was forgotten before from what never was: a request that is repeated is done."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
import pyarrow.compute as pc

from amos.errors import UsageError
from amos.flow.forget_report import Residue, residual
from amos.flow.forget_selection import ForgetRequest
from amos.flow.forget_still import NOTHING_SAID, shown_still
from amos.flow.noting import known_copies
from amos.identity import parse_ref, prefix_range
from amos.journal.store import Shard, Snapshot
from amos.schemas.state import PRIMARY_KEYS


def without_gone(snapshot: Snapshot, request: ForgetRequest) -> tuple[ForgetRequest, dict[str, int]]:
    """Return a request without what was forgotten before, and by reference the version that took such things.

    Other selectors narrow a message or a conversation, so they go with one that is gone.
    """
    named = [*request.refs, *filter(None, (request.source, request.conversation))]
    gone = {ref: version for ref in named if (version := _taken_at(snapshot, ref)) is not None}
    left = replace(request, refs=tuple(ref for ref in request.refs if ref not in gone))
    if request.source in gone or request.conversation in gone:
        left = replace(left, source=None, conversation=None, scope={}, since=None, until=None, run=None)
    return left, gone


def _taken_at(snapshot: Snapshot, ref: str) -> int | None:
    """Return the version that took what was called so; None where something is, or nothing ever was."""
    try:
        table, body = parse_ref(ref)
    except UsageError:
        return None
    if table not in PRIMARY_KEYS:
        return None
    low, high = prefix_range(body)
    if snapshot.find(table, low, high).num_rows:
        return None
    events = snapshot.table("events", ["event_type", "payload", "target_refs", "version"])
    erased = events.filter(pc.equal(events["event_type"], "erased"))
    columns = (erased[name].to_pylist() for name in ("payload", "target_refs", "version"))
    versions = [
        version
        for payload, ids, version in zip(*columns, strict=True)
        if msgspec.json.decode(payload)["table"] == table and any(low <= one <= high for one in ids)
    ]
    return max(versions, default=None)


def gone_report(
    shard: Shard, request: ForgetRequest, gone: dict[str, int], *, dry_run: bool
) -> dict[str, Any]:
    """Return the report of a request that names nothing but what was forgotten before."""
    is_pending = bool(shard.erasures("purging"))
    copies = [copy for copy in known_copies(shard) if copy.graph_version < max(gone.values())]
    return {
        "removed": {}, "revised": 0, "recreation": request.recreation, "reason": request.reason,
        "dry_run": dry_run, "status": "pending" if is_pending else "already_forgotten",
        "tombstones": 0, "expired": 0, "segments_rewritten": 0,
        "residual": residual(copies, Residue(request=request, tombstones=0)),
        "waiting_for": [], "held_by": [], "graph_version": None, "mentions": [], "mentions_total": 0,
        "already": list(gone), **shown_still(NOTHING_SAID),
    }  # fmt: skip
