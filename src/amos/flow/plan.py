"""Decide one batch on one pinned version: what a commit appends, and what the decision rests on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from amos.admission.candidates import UNSALTED_CANDIDATES
from amos.admission.comparison import UNSALTED
from amos.admission.settle import Settlement, settle
from amos.admission.tombstones import Graves
from amos.flow.conflicts import conflict_decisions
from amos.flow.current import SnapshotRows
from amos.flow.deliveries import Deliveries, name_edits, sort_deliveries, without_forgotten
from amos.flow.held import held_decisions
from amos.flow.ordering import inherit_order_times
from amos.flow.prepare import Prepared, Rules, Screened, prepare
from amos.flow.referents import Referents
from amos.flow.referents_again import Again, Rechecking, nothing_again
from amos.flow.referents_told import Told
from amos.flow.rekeying import rekeyed_raw
from amos.flow.returning import cite_returned, expiry_event
from amos.flow.tombstoned import read_graves, refused_sources
from amos.flow.versions import latest
from amos.journal.store import EventRows, Snapshot
from amos.schemas.choosing import as_schema, empty, kept
from amos.schemas.findings import FINDINGS


@dataclass(frozen=True, kw_only=True)
class Arrived:
    """The blocks of a batch, with what can be told of them before a store is asked.

    raw: RAW rows.  source_ids, delivered: (n,) ids and delivery digests, aligned with raw.
    screened: what the screen finds in raw, None where it was not asked yet.
    """

    raw: pa.Table
    source_ids: pa.Array
    delivered: pa.Array
    screened: Screened | None


@dataclass(frozen=True, kw_only=True)
class Plan:
    """One batch decided on one pinned version, ready to be appended."""

    deliveries: Deliveries
    rows: list[EventRows]
    reads: dict[tuple[str, str], pa.Array | pa.ChunkedArray]
    decisions: pa.Table
    findings: pa.Table
    new_blocks: int
    cut_bytes: int
    new_atoms: int
    now: datetime
    graves: Graves
    expired: int = 0


def plan_batch(
    snapshot: Snapshot,
    arrived: Arrived,
    *,
    rules: Rules,
    key: bytes,
    now: datetime,
    graves: Graves | None = None,
) -> Plan:
    """Decide the blocks that `arrived` against what `snapshot` holds.

    graves: the tombstones of `snapshot`, read here when not given.
    A batch that writes anything also notes which of them ran out.
    """
    graves = read_graves(snapshot, key, now, graves)
    plan = _planned(snapshot, arrived, rules=rules, key=key, now=now, graves=graves)
    if not plan.rows or not graves.due.num_rows:
        return plan
    ended = {("tombstones", "tombstone_id"): graves.due["tombstone_id"].combine_chunks()}
    rows = [*expiry_event(graves.due), *plan.rows]
    return replace(plan, rows=rows, reads={**plan.reads, **ended}, expired=graves.due.num_rows)


def _planned(
    snapshot: Snapshot, arrived: Arrived, *, rules: Rules, key: bytes, now: datetime, graves: Graves
) -> Plan:
    source_ids, delivered = arrived.source_ids, arrived.delivered
    edits = name_edits(snapshot, arrived.raw, source_ids, delivered, key)
    raw = edits.raw
    read_ids = (
        pa.concat_arrays([source_ids, edits.source_ids]) if edits.source_ids is not source_ids else source_ids
    )
    source_ids = edits.source_ids
    deliveries = sort_deliveries(snapshot, raw, source_ids, delivered)
    deliveries = without_forgotten(deliveries, refused_sources(graves, source_ids, raw["event_us"]))
    known = SnapshotRows(snapshot)
    refusals = known.absent("decisions", conflict_decisions(deliveries.conflicts, rules=rules, key=key))
    if deliveries.fresh.size == 0:
        return _unchanged(deliveries, refusals, read_ids, now, graves)
    keyed = raw if graves.is_empty else rekeyed_raw(snapshot, raw, key)
    screened = arrived.screened if keyed is arrived.raw else None
    columns = (keyed.combine_chunks(), source_ids, delivered, edits.revises)
    if deliveries.fresh.size < raw.num_rows:
        columns = tuple(column.take(deliveries.fresh) for column in columns)
        screened = None if screened is None else screened.of(deliveries.fresh)
    prepared = prepare(
        columns[0], columns[1:], rules=rules, key=key, now=now, graves=graves, screened=screened,
        told=Told(snapshot=snapshot, key=key),
    )  # fmt: skip
    prepared = cite_returned(prepared, columns[0], graves.over)
    told = known.conversations(prepared.conversations)
    candidates, moved = inherit_order_times(snapshot, prepared, told)
    again, moved = _resolved_again(snapshot, prepared, moved, list(told), rules=rules, key=key, graves=graves)
    candidates = _joined(candidates, again.fresh)
    replaced = _joined(_eligible(moved), again.replaced)
    stored = stored_histories(snapshot, candidates, replaced)
    here = SnapshotRows(snapshot, fresh=prepared.sources)
    settled = settle(candidates, stored, here, replaced=replaced, key=key, policy=rules.policy, now=now)
    held = held_decisions(snapshot, again.replaced, key=key, policy=rules.policy, now=now)
    decisions = pa.concat_tables([settled.decisions, held, prepared.source_decisions, refusals])
    appended = replace(
        prepared,
        conversations=known.changed_conversations(prepared.conversations, told),
        entities=known.absent("entities", _joined(prepared.entities, again.entities)),
        candidates=_joined(candidates, moved, again.replaced),
        mentions=_joined(prepared.mentions, again.mentions),
    )
    parts = _event_parts(appended, decisions, settled)
    return Plan(
        deliveries=deliveries,
        rows=[EventRows(event, table, rows) for event, table, rows in parts if rows.num_rows],
        reads=_reads(read_ids, candidates, replaced, appended, prepared),
        decisions=decisions,
        findings=prepared.findings,
        new_blocks=prepared.sources.num_rows,
        cut_bytes=pc.sum(prepared.sources["cut_bytes"]).as_py() or 0,
        new_atoms=settled.new_atoms,
        now=now,
        graves=graves,
    )


def _event_parts(
    appended: Prepared, decisions: pa.Table, settled: Settlement
) -> list[tuple[str, str, pa.Table]]:
    """Return event type, table and rows of everything the commit appends, in the journal's order."""
    return [
        ("evidence_captured", "sources", appended.sources),
        ("evidence_captured", "conversations", appended.conversations),
        ("dictionary_updated", "entities", appended.entities),
        ("candidate_proposed", "candidates", appended.candidates),
        ("dictionary_updated", "mentions", appended.mentions),
        ("candidate_decided", "decisions", decisions),
        *settled_parts(settled),
    ]


def settled_parts(settled: Settlement) -> list[tuple[str, str, pa.Table]]:
    """Return event type, table and rows of what follows from decisions, in the journal's order."""
    first, later = _split(settled.atoms, "version", 1)
    opened, closed = _split(settled.disputes, "status", "open")
    alive, retired = _split(settled.edges, "lifecycle_state", "active")
    return [
        ("atom_committed", "atoms", first),
        ("atom_updated", "atoms", later),
        ("edge_committed", "edges", alive),
        ("edge_retired", "edges", retired),
        ("candidate_decided", "lineage", settled.lineage),
        ("dispute_opened", "disputes", opened),
        ("dispute_closed", "disputes", closed),
    ]


def _joined(*tables: pa.Table) -> pa.Table:
    """Return the rows of all tables; the first one itself where the others have none."""
    filled = [table for table in tables[1:] if table.num_rows]
    return pa.concat_tables([tables[0], *filled]) if filled else tables[0]


def _resolved_again(
    snapshot: Snapshot,
    prepared: Prepared,
    moved: pa.Table,
    talks: list[bytes],
    *,
    rules: Rules,
    key: bytes,
    graves: Graves,
) -> tuple[Again, pa.Table]:
    """Return what the batch changes in stored claims about people, and `moved` without those among them.

    talks: conversations of the batch that the store holds.
    """
    if not (prepared.introduced or talks):
        return nothing_again(), moved
    told = Told(snapshot=snapshot, key=key)
    rechecking = Rechecking(
        snapshot=snapshot,
        referents=Referents(key=key, policy=rules.policy, told=told),
        graves=graves,
        moved={row["candidate_id"]: row for row in moved.to_pylist()},
    )
    again = rechecking.after(prepared.introduced, prepared.sources, talks)
    if moved.num_rows and again.replaced.num_rows:
        taken = pc.is_in(moved["candidate_id"], value_set=again.replaced["candidate_id"].combine_chunks())
        moved = moved.filter(pc.invert(taken))
    return again, moved


def stored_histories(snapshot: Snapshot, candidates: pa.Table, replaced: pa.Table) -> pa.Table:
    """Return the current stored candidates of all histories of eligible `candidates` and `replaced`."""
    eligible = _eligible(candidates)
    if eligible.num_rows + replaced.num_rows == 0 or snapshot.version == 0:
        return empty(UNSALTED_CANDIDATES)
    return rows_of_histories(snapshot, _joined(eligible, replaced)["history_id"])


def rows_of_histories(snapshot: Snapshot, histories: pa.Array | pa.ChunkedArray) -> pa.Table:
    """Return the current candidates of histories (ids, each once or more often), without salts."""
    found = snapshot.lookup("candidates", "history_id", histories, UNSALTED_CANDIDATES.names)
    return as_schema(latest(found, "candidates"), UNSALTED_CANDIDATES)


def _eligible(candidates: pa.Table) -> pa.Table:
    """Return the candidates that no gate stops."""
    return kept(candidates, candidates["gate"].is_null().to_numpy())


def _unchanged(
    deliveries: Deliveries, refusals: pa.Table, source_ids: pa.Array, now: datetime, graves: Graves
) -> Plan:
    rows = [EventRows("candidate_decided", "decisions", refusals)] if refusals.num_rows else []
    return Plan(
        deliveries=deliveries,
        rows=rows,
        reads={("sources", "source_id"): source_ids},
        decisions=refusals.cast(UNSALTED["decisions"]),
        findings=empty(FINDINGS),
        new_blocks=0,
        cut_bytes=0,
        new_atoms=0,
        now=now,
        graves=graves,
    )


def _reads(
    source_ids: pa.Array, candidates: pa.Table, replaced: pa.Table, appended: Prepared, prepared: Prepared
) -> dict[tuple[str, str], pa.Array | pa.ChunkedArray]:
    """Return the keys that the plan rests on: a commit that wrote one of them makes it stale."""
    touched = _joined(candidates, replaced)
    reads = {
        ("sources", "source_id"): source_ids,
        ("candidates", "history_id"): touched["history_id"],
        ("entities", "entity_id"): prepared.entities["entity_id"],
        ("conversations", "conversation_id"): prepared.conversations["conversation_id"],
    }
    if appended.mentions.num_rows:
        for column in ("name_key", "role_key"):
            reads["mentions", column] = appended.mentions[column].drop_null()
    return reads


def _split(rows: pa.Table, column: str, value: Any) -> tuple[pa.Table, pa.Table]:
    """Return the rows whose `column` is `value`, and the others."""
    if rows.num_rows == 0:
        return rows, rows
    holds = pc.equal(rows[column], value).to_numpy()
    return kept(rows, holds), kept(rows, ~holds)
