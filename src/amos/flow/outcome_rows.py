"""The rows that outcomes append: the record of each, the outcome, and what it was to items and edges."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from amos.atoms.feedback import RULE, WEAKENING, WORTH
from amos.clock import from_us
from amos.errors import EngineError, InputError
from amos.evidence.capture import digest_deliveries, identify_sources
from amos.flow.current import SnapshotRows
from amos.flow.outcome_members import Item, Members
from amos.flow.outcome_names import FORMAT, record_key, said_digest
from amos.flow.outcome_told import Told
from amos.flow.prepare import Prepared, Rules, prepare
from amos.flow.sight import Sight
from amos.flow.tombstoned import read_graves
from amos.flow.versions import latest
from amos.identity import id_text, keyed_id
from amos.journal.rows import committed
from amos.journal.store import EventRows, Snapshot
from amos.schemas.columns import ID, SCOPE_NAMES
from amos.schemas.raw import RAW
from amos.schemas.state import TABLES
from amos.schemas.vocabulary import FeedbackKind, Role, Trust

EVENT = "retrieval_outcome_recorded"
_PURPOSES = ["personalization"]
_SCOPES = [f"scope_{name}" for name in SCOPE_NAMES]
_OF_ITEM = {
    "atoms": ["atom_id", "version", "lifecycle_state", "health_status", "utility_ppm", "salience_ppm"],
    "sources": ["source_id", "revision"],
}
"""What is read of the items of packets, beside their scopes."""
Row = dict[str, Any]


class Fact(NamedTuple):
    """What an outcome was to one item; row: the stored claim or source."""

    item: Item
    kind: FeedbackKind
    row: Row

    @property
    def is_fed(self) -> bool:
        """Whether it was more than exposed."""
        return self.kind is not FeedbackKind.EXPOSURE


@dataclass(frozen=True, kw_only=True)
class Act:
    """One outcome to be recorded.  said: keyed digest of what is told.  facts: the items in sight.

    actor, scope: who says so, and where.
    """

    outcome_id: bytes
    told: Told
    members: Members
    facts: list[Fact]
    said: bytes
    at_us: int
    actor: str
    scope: Mapping[str, str | None]

    def feedback_row(self, fact: Fact) -> Row:
        """Return the feedback on an item, without what names the outcome."""
        worth = WORTH[fact.kind]
        column = "atom_id" if fact.item.table == "atoms" else "turn_id"
        return {
            "packet_id": self.members.packet_id,
            "atom_id": None,
            "turn_id": None,
            "edge_id": None,
            column: fact.item.identifier,
            "kind": str(fact.kind),
            "rank": fact.item.rank,
            "score_ppm": fact.item.score_ppm,
            "utility_ppm": worth.utility_ppm if column == "atom_id" else 0,
            "salience_ppm": worth.salience_ppm if column == "atom_id" else 0,
            "recorded_at": from_us(self.at_us),
        }

    def edge_row(self, edge: bytes, kind: str) -> Row:
        """Return the feedback on an edge, without what names the outcome."""
        return {
            "packet_id": self.members.packet_id, "atom_id": None, "turn_id": None, "edge_id": edge,
            "kind": kind, "rank": 0, "score_ppm": 0, "utility_ppm": 0, "salience_ppm": 0,
            "recorded_at": from_us(self.at_us),
        }  # fmt: skip


def made_act(
    key: bytes,
    members: Members,
    told: Told,
    facts: list[Fact],
    *,
    at_us: int,
    actor: str,
    scope: Mapping[str, str | None],
) -> Act:
    """Return an outcome with its id: the same packet, labels, use, items and words make the same one."""
    words = {
        "labels": told.labels,
        "use_status": told.use_status,
        "items": sorted([fact.item.rank, str(fact.kind)] for fact in facts if fact.is_fed),
        "missing": sorted(told.missing_capabilities),
        "note": told.note,
    }
    said = said_digest(key, words)
    return Act(
        outcome_id=keyed_id(key, "outcomes", members.packet_id + said), told=told, members=members,
        facts=facts, said=said, at_us=at_us, actor=actor, scope=scope,
    )  # fmt: skip


@dataclass(kw_only=True)
class OutcomeRows:
    """What a commit appends and rests on; by outcome the edges that learn, and why it was refused."""

    groups: list[EventRows] = field(default_factory=list)
    reads: dict[tuple[str, str], pa.Array] = field(default_factory=dict)
    edges: dict[bytes, list[bytes]] = field(default_factory=dict)
    refused: dict[bytes, EngineError] = field(default_factory=dict)


def stored_items(sight: Sight, members: Sequence[Members]) -> dict[bytes, Row]:
    """Return the items of packets that are stored and in sight, by id: the rows of claims and sources."""
    found: dict[bytes, Row] = {}
    for table, key in (("atoms", "atom_id"), ("sources", "source_id")):
        ids = {item.identifier for one in members for item in one.items if item.table == table}
        held = [name for name in _SCOPES if name in TABLES[table].names]
        rows = latest(
            sight.snapshot.lookup(table, key, pa.array(sorted(ids), ID), [*_OF_ITEM[table], *held]), table
        )
        found |= {row[key]: row for row in sight.seen(table, rows).to_pylist()}
    return found


def fresh_acts(snapshot: Snapshot, acts: Sequence[Act]) -> dict[bytes, Act]:
    """Return the acts that are not recorded, each once, by outcome."""
    ids = pa.array(list(dict.fromkeys(act.outcome_id for act in acts)), ID)
    held: set[bytes] = set()
    if snapshot.row_count("outcomes"):
        held.update(snapshot.lookup("outcomes", "outcome_id", ids, ["outcome_id"])["outcome_id"].to_pylist())
    fresh: dict[bytes, Act] = {}
    for act in acts:
        if act.outcome_id not in held:
            fresh.setdefault(act.outcome_id, act)
    return fresh


def outcome_rows(
    snapshot: Snapshot,
    acts: Sequence[Act],
    *,
    rules: Rules,
    key: bytes,
    now: datetime,
) -> OutcomeRows:
    """Return the rows of `acts`, none of which is recorded; those whose words may not be kept are refused."""
    found = OutcomeRows()
    acts, records = _records(snapshot, acts, found, rules=rules, key=key, now=now)
    if not acts:
        return found
    assert records is not None
    sources = records.sources["source_id"].to_pylist()
    edges = _edges_between(snapshot, acts)
    outcomes, feedback = [], []
    for act, source in zip(acts, sources, strict=True):
        outcomes.append(_outcome(act, source))
        learned = _edges_of(act, edges)
        found.edges[act.outcome_id] = sorted(learned)
        rows = [act.feedback_row(fact) for fact in act.facts]
        rows += [act.edge_row(edge, kind) for edge, kind in sorted(learned.items())]
        feedback += [_named(row, act.outcome_id, source, key) for row in rows]
    found.groups = _groups(snapshot, records, outcomes, feedback)
    items = sorted({fact.item.identifier for act in acts for fact in act.facts if fact.item.table == "atoms"})
    found.reads = {
        ("outcomes", "outcome_id"): pa.array([act.outcome_id for act in acts], ID),
        ("atoms", "atom_id"): pa.array(items, ID),
        ("sources", "source_id"): records.sources["source_id"].combine_chunks(),
        ("entities", "entity_id"): records.entities["entity_id"].combine_chunks(),
        ("conversations", "conversation_id"): records.conversations["conversation_id"].combine_chunks(),
    }
    return found


def _records(
    snapshot: Snapshot,
    acts: Sequence[Act],
    found: OutcomeRows,
    *,
    rules: Rules,
    key: bytes,
    now: datetime,
) -> tuple[Sequence[Act], Prepared | None]:
    """Return the acts whose records may be kept, and these; the others are refused in `found`."""
    graves = read_graves(snapshot, key, now)
    while acts:
        raw = pa.Table.from_pylist([_raw(act) for act in acts], schema=RAW)
        envelope = (identify_sources(raw, key), digest_deliveries(raw, key), pa.nulls(raw.num_rows, ID))
        records = prepare(raw, envelope, rules=rules, key=key, now=now, graves=graves)
        reasons = {row["source_row"]: str(row["reason"]) for row in records.findings.to_pylist()}
        if not reasons:
            return acts, records
        for place, reason in reasons.items():
            found.refused[acts[place].outcome_id] = InputError(
                f"what you wrote may not be stored: {reason}",
                code=reason,
                advice="Leave that part out of the note or the missing capability.",
            )
        acts = [act for place, act in enumerate(acts) if place not in reasons]
    return acts, None


def _raw(act: Act) -> Row:
    told = act.told
    extra = {"missing_capabilities": list(told.missing_capabilities)} if told.missing_capabilities else None
    return {
        "format": FORMAT,
        "record_key": record_key(act.members.packet_id, act.said),
        "block": 0,
        "text": told.note,
        "kind": "record",
        "role": str(Role.RECORD),
        "trust": str(Trust.TRUSTED_USER),
        "author": act.actor,
        "is_owner": False,
        "event_us": act.at_us,
        "is_zone_assumed": False,
        "conversation_key": id_text("packets", act.members.packet_id),
        "turn": 0,
        "may_retain": True,
        "purposes": _PURPOSES,
        "flags": 0,
        "locator": FORMAT,
        "extra": None if extra is None else json.dumps(extra, ensure_ascii=False),
        **{f"scope_{name}": act.scope.get(name) for name in SCOPE_NAMES},
    }


def _outcome(act: Act, source: bytes) -> Row:
    members, told = act.members, act.told
    return {
        "outcome_id": act.outcome_id,
        "source_id": source,
        "packet_id": members.packet_id,
        "packet_version": members.version,
        "processor": members.processor,
        "profile": members.profile,
        "labels": list(told.labels),
        "use_status": told.use_status,
        "membership": members.membership,
        "recorded_at": from_us(act.at_us),
        "rule": RULE,
    }


def _named(row: Row, outcome: bytes, source: bytes, key: bytes) -> Row:
    item = row["atom_id"] or row["turn_id"] or row["edge_id"]
    feedback_id = keyed_id(key, "feedback", outcome + item)
    return {**row, "feedback_id": feedback_id, "outcome_id": outcome, "source_id": source}


def _edges_between(snapshot: Snapshot, acts: Sequence[Act]) -> dict[bytes, list[tuple[bytes, bytes]]]:
    """Return by claim that is fed back the active edges at it: their ids, and the other ends."""
    fed = {fact.item.identifier for act in acts for fact in act.facts if fact.is_fed}
    if not fed or snapshot.row_count("edges") == 0:
        return {}
    wanted = pa.array(sorted(fed), ID)
    columns = ["edge_id", "version", "from_id", "to_id", "lifecycle_state"]
    found: dict[bytes, list[tuple[bytes, bytes]]] = {}
    for own, other in (("from_id", "to_id"), ("to_id", "from_id")):
        rows = latest(snapshot.lookup("edges", own, wanted, columns), "edges")
        rows = rows.filter(pc.equal(rows["lifecycle_state"], "active"))
        for edge, one, end in zip(*(rows[name].to_pylist() for name in ("edge_id", own, other)), strict=True):
            found.setdefault(one, []).append((edge, end))
    return found


def _edges_of(act: Act, edges: Mapping[bytes, Iterable[tuple[bytes, bytes]]]) -> dict[bytes, str]:
    """Return the edges between what was fed back and another item: where both were, a correction counts."""
    held = {fact.item.identifier for fact in act.facts}
    learned: dict[bytes, str] = {}
    for fact in act.facts:
        if fact.kind not in (FeedbackKind.USED, *WEAKENING):
            continue
        for edge, other in edges.get(fact.item.identifier, ()):
            if other in held and learned.get(edge) not in WEAKENING:
                learned[edge] = str(fact.kind)
    return learned


def _groups(
    snapshot: Snapshot, records: Prepared, outcomes: list[Row], feedback: list[Row]
) -> list[EventRows]:
    known = SnapshotRows(snapshot)
    talks = known.changed_conversations(records.conversations, known.conversations(records.conversations))
    parts = [
        ("evidence_captured", "sources", records.sources),
        ("evidence_captured", "conversations", talks),
        ("dictionary_updated", "entities", known.absent("entities", records.entities)),
        ("candidate_decided", "decisions", records.source_decisions),
        (EVENT, "outcomes", pa.Table.from_pylist(outcomes, schema=committed("outcomes"))),
        (EVENT, "feedback", pa.Table.from_pylist(feedback, schema=committed("feedback"))),
    ]
    return [EventRows(event, table, rows) for event, table, rows in parts if rows.num_rows]
