"""Register a state that was rebuilt from its events and found equal: a verified snapshot."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from typing import Any

from amos.clock import as_text, to_us
from amos.errors import IntegrityError
from amos.flow.digest import state_digest
from amos.journal.events import EventNotice, canonical_json
from amos.journal.findings import VerifyReport
from amos.journal.leasing import Job
from amos.journal.requests import CareLog
from amos.journal.store import Shard, Snapshot
from amos.journal.verify import verify_shard
from amos.schemas.catalog import LeaseEntry, SnapshotEntry

OPERATION = "snapshot"
Progress = Callable[[str, int, int], None]


def take_snapshot(
    shard: Shard,
    *,
    actor: str,
    run_id: bytes,
    now: datetime,
    progress: Progress | None = None,
    digest: Callable[[Snapshot], str] = state_digest,
) -> dict[str, Any]:
    """Verify the newest state against its events, merge its files to one per table, register it.

    Returns the snapshot as plain values; the newest one, unchanged, when nothing was committed after it.
    progress: called with a phase, what is done and the total.  Raises IntegrityError when anything differs,
    BusyError while another process takes one.
    """
    with shard.working_on(OPERATION, now=now) as job:
        known = _standing(shard)
        if known is not None:
            return snapshot_record(known, is_new=False)
        report = _verified(shard, job, progress, digest)
        entry = _entry_of(shard, report.graph_version or 0, report.state_digest or "", now)

        def merged(done: int, planned: int) -> None:
            job.keep_on()
            if progress is not None:
                progress("merges", done, planned)

        shard.compact(now=now, most=1, progress=merged)
        _register(shard, entry, actor=actor, run_id=run_id, now=now, lease=job.lease)
    return {**snapshot_record(entry, is_new=True), "state_digest": report.state_digest}


def _verified(
    shard: Shard, job: Job, progress: Progress | None, digest: Callable[[Snapshot], str]
) -> VerifyReport:
    """Return the report of a deep check that found nothing; keep the job meanwhile."""

    def went_on(phase: str, done: int, of: int) -> None:
        job.keep_on()
        if progress is not None:
            progress(phase, done, of)

    report = verify_shard(shard, is_deep=True, digest=digest, progress=went_on)
    if not report.ok:
        first = report.problems[0]
        raise IntegrityError(
            f"the state was not registered: {first.where}: {first.detail}",
            path=str(shard.folder),
            advice="Run `amos verify --deep` for everything that differs.",
        )
    return report


def _standing(shard: Shard) -> SnapshotEntry | None:
    """Return the newest snapshot when nothing but its own registration came after it."""
    entries = shard.snapshots()
    if not entries or shard.head > entries[-1].graph_version + 1:
        return None
    *_, last = (entry for page in shard.commit_pages(until=shard.head) for entry in page)
    return entries[-1] if last.operation == OPERATION else None


def _entry_of(shard: Shard, version: int, digest: str, now: datetime) -> SnapshotEntry:
    events, link = 0, bytes(32)
    for page in shard.commit_pages(until=version):
        events += sum(entry.event_count for entry in page)
        link = page[-1].link
    with shard.pin(version) as snapshot:
        counts = {name: count for name, count in snapshot.counts().items() if count}
    keyed = shard.keyed_state(digest)
    return SnapshotEntry(version, to_us(now), keyed, events, link, canonical_json(counts))


def _register(
    shard: Shard, entry: SnapshotEntry, *, actor: str, run_id: bytes, now: datetime, lease: LeaseEntry
) -> None:
    def write_down(care: CareLog, _version: int) -> None:
        care.put_snapshot(entry)

    said = {
        "graph_version": entry.graph_version,
        "events": entry.event_count,
        "counts": json.loads(entry.content),
        "state": entry.state_digest,
    }
    shard.commit(
        (),
        base=shard.head,
        reads={},
        operation=OPERATION,
        actor=actor,
        run_id=run_id,
        now=now,
        notices=[EventNotice("snapshot_registered", said)],
        also=write_down,
        lease=lease,
    )


def snapshot_record(entry: SnapshotEntry, *, is_new: bool) -> dict[str, Any]:
    """Return a registered snapshot as plain values."""
    return {
        "graph_version": entry.graph_version,
        "is_new": is_new,
        "created_at": as_text(entry.created_us),
        "events": entry.event_count,
        "link": entry.link.hex(),
        "rows": json.loads(entry.content),
    }
