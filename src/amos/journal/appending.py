"""Give a draft its place: version, chained events, hot blobs; and take it into memory afterwards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from amos.clock import to_us
from amos.journal.drafts import Draft
from amos.journal.events import (
    FIRST_LINK,
    Circumstances,
    canonical_json,
    chain_events,
    event_blob,
    promise_digest,
)
from amos.journal.ledger import Ledger, parse_groups
from amos.journal.refusals import HeadMoved
from amos.journal.requests import CommitRequest, Reads
from amos.journal.rows import pack_blob, with_storage_columns
from amos.journal.snapshot import Snapshot, id_array
from amos.kernels.hashing import ID_BYTES
from amos.schemas.buffers import as_keys
from amos.schemas.catalog import CommitEntry, HotEntry, SegmentEntry
from amos.schemas.columns import ID


class Written(NamedTuple):
    """A commit that was inserted: its version, its events, and whether the hot tail was sealed with it."""

    graph_version: int
    events: HotEntry
    has_sealed: bool


def require_unmoved(snapshot: Snapshot, base: int, reads: Reads) -> None:
    """Raise HeadMoved when one of the ids in `reads` got or lost a row after graph version `base`."""
    for (table, column), keys in reads.items():
        new = snapshot.table(table, [column, "graph_version", "row_number"], since=base)
        moved = new.filter(pc.is_in(new[column], value_set=id_array(as_keys(keys))))
        if len(moved):
            version, row = (moved[name][0].as_py() for name in ("graph_version", "row_number"))
            origin = snapshot.origin(table, version, row)
            event = None if origin is None else origin.event_id
            raise HeadMoved(table, column, expected=base, actual=version, keys=moved[column], event_id=event)
    _require_kept(snapshot, base, reads)


def _require_kept(snapshot: Snapshot, base: int, reads: Reads) -> None:
    """Raise HeadMoved when a row under one of the ids was erased after `base`: nothing may rest on it."""
    events = snapshot.table("events", ["event_id", "event_type", "version", "target_refs"], since=base)
    for event in events.filter(pc.equal(events["event_type"], "erased")).to_pylist():
        erased = pa.array(event["target_refs"], ID)
        for (table, column), keys in reads.items():
            ids = id_array(as_keys(keys))
            lost = ids.filter(pc.is_in(ids, value_set=erased))
            if len(lost):
                version, name = event["version"], event["event_id"]
                raise HeadMoved(table, column, expected=base, actual=version, keys=lost, event_id=name)


def numbered(
    draft: Draft,
    request: CommitRequest,
    last: CommitEntry | None,
    *,
    shard: str,
    event_ids: Sequence[bytes],
    scope: bytes | None = None,
) -> tuple[CommitEntry, list[HotEntry]]:
    """Return the commit that follows `last`, and its hot blobs, the events being the last of them.

    shard: tenant and workspace.  event_ids: one random id per event.  scope: keyed digest of the command,
    where it may be repeated.
    """
    version = 1 if last is None else last.graph_version + 1
    occurred = to_us(request.now)
    accepted = occurred if last is None else max(occurred, last.accepted_us)
    shared = Circumstances(
        actor=request.actor,
        authorization=canonical_json(
            {"principal": request.actor, "run": request.run_id.hex(), "shard": shard}
        ),
        expected=canonical_json({"graph_version": request.base, **_promised(request, scope)}),
        idempotency_key=None if request.idempotency is None else request.idempotency.key,
        occurred_us=occurred,
        accepted_us=accepted,
        version=version,
        text_refs=tuple(digest[:ID_BYTES] for digest in sorted(request.texts or {})),
    )
    link = FIRST_LINK if last is None else last.link
    events, link = chain_events(draft.bodies, event_ids, shared, link)
    hot = [
        HotEntry(version, part.table, len(part.rows), pack_blob(part.buffer, part.offsets))
        for part in draft.tables
        if not part.is_large
    ]
    hot.append(HotEntry(version, "events", len(events), event_blob(events)))
    terms = request.operation, request.actor, request.run_id
    entry = CommitEntry(version, *terms, accepted, accepted - occurred, len(events), link)
    return entry, hot


def _promised(request: CommitRequest, scope: bytes | None) -> dict[str, str]:
    if scope is None or request.idempotency is None:
        return {}
    return {"promise": promise_digest(scope, request.idempotency.payload_digest)}


def large_tables(draft: Draft, version: int) -> Iterator[tuple[str, pa.Table]]:
    """Yield the tables of a draft that become segments at once, as they are stored."""
    for part in draft.tables:
        if part.is_large:
            yield part.table, with_storage_columns(part.table, part.rows, part.salts, version)


def adopt(ledger: Ledger, draft: Draft, placed: Sequence[SegmentEntry], events: HotEntry) -> None:
    """Append a commit of this process to its ledger without reading it back."""
    segments = {entry.table: entry for entry in placed}
    for part in draft.tables:
        entry = segments.get(part.table)
        if entry is None:
            ledger.add_rows(part.table, part.rows, part.salts, events.graph_version)
        else:
            ledger.add_segment(entry, parse_groups(entry))
    ledger.add_blobs("events", [events])
    ledger.head = events.graph_version
