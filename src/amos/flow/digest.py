"""The state digest: one number for what a shard holds, the same on every machine.

It covers the current rows of sources, entities, candidates, decisions, atoms, edges, lineage,
disputes, echoes, outcomes with their feedback, mentions and tombstones in a total order; of edges, lineage,
disputes and mentions what stands, of atoms those with support, of readings the last: what was made void is
history, and history depends on arrival.

Ids are replaced by unkeyed identities; versions, ingest times,
locators, `extra`, deadlines, cut counts, salts and keyed digests are left out.  It is printed,
never stored beside rows that may be erased.

Tables are read a row group at a time and ids are looked up as they come: memory does not grow with the store.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from amos.flow.digest_ids import UnkeyedIds, are_of_last_reading
from amos.flow.digest_order import OrderedDigests
from amos.flow.versions import latest
from amos.identity import CLAIM_SCOPE
from amos.journal.store import Snapshot
from amos.kernels.canonical import encode_rows
from amos.kernels.hashing import sha256_rows
from amos.schemas.buffers import column_arrays
from amos.schemas.columns import ID
from amos.schemas.vocabulary import WITHDRAWN, Reason

Rows = Callable[[Snapshot, Sequence[str]], Iterator[pa.Table]]
Identified = Callable[[UnkeyedIds, pa.Table], pa.Array]
"""Returns the unkeyed identities that stand for an id column of the rows."""


_ROWS_AT_ONCE = 8192


class _Part(NamedTuple):
    """What is covered of one table: columns as they are, columns of ids by what stands for them.

    reads: further columns that these need.
    """

    facts: Sequence[str]
    ids: Mapping[str, Identified]
    rows: Rows
    reads: Sequence[str] = ()


def state_digest(snapshot: Snapshot, *, but: Collection[str] = ()) -> str:
    """Return the hex digest of the current rows of `snapshot`; but: tables left out for a comparison."""
    whole = hashlib.sha256(b"amos/1/state")
    ids = UnkeyedIds(snapshot)
    for name in (table for table in _PARTS if table not in but):
        part = _PARTS[name]
        with OrderedDigests() as digests:
            for rows in part.rows(snapshot, list(dict.fromkeys([*part.facts, *part.ids, *part.reads]))):
                for start in range(0, rows.num_rows, _ROWS_AT_ONCE):
                    digests.add(_row_digests(part, ids, rows.slice(start, _ROWS_AT_ONCE)))
            if name in _LATER and not digests.count:
                continue
            whole.update(name.encode() + b"\x00" + digests.count.to_bytes(8, "little"))
            for ordered in digests.parts():
                whole.update(ordered.tobytes())
    return whole.hexdigest()


def _row_digests(part: _Part, ids: UnkeyedIds, rows: pa.Table) -> Any:
    """Return (n, 32): the digest of each row over its facts and identities."""
    if "delivery_key" in part.facts:
        rows = ids.unkeyed(rows)
    mapped = [rows[name] for name in part.facts] + [stands(ids, rows) for stands in part.ids.values()]
    columns = [column_arrays(column) for column in mapped]
    return sha256_rows(*encode_rows(columns, rows.num_rows))


def _newest(name: str) -> Rows:
    return lambda snapshot, columns: snapshot.newest(name, columns)


def _standing(name: str, column: str, test: Callable[..., Any], value: object) -> Rows:
    def rows(snapshot: Snapshot, columns: Sequence[str]) -> Iterator[pa.Table]:
        for part in snapshot.newest(name, list(dict.fromkeys([*columns, column]))):
            yield part.filter(test(part[column], value))

    return rows


def _standing_candidates(snapshot: Snapshot, columns: Sequence[str]) -> Iterator[pa.Table]:
    """Yield the candidates of the last reading of each source."""
    for part in snapshot.newest("candidates", list(dict.fromkeys([*columns, "gate"]))):
        yield part.filter(pc.fill_null(pc.not_equal(part["gate"], WITHDRAWN), True))


def _standing_decisions(snapshot: Snapshot, columns: Sequence[str]) -> Iterator[pa.Table]:
    """Yield the decisions on what was read last; those on what another extractor replaced are history."""
    for part in snapshot.newest("decisions", list(dict.fromkeys([*columns, "reasons"]))):
        yield part.filter(pa.array(are_of_last_reading(part["reasons"])))


def _named_entities(snapshot: Snapshot, columns: Sequence[str]) -> Iterator[pa.Table]:
    """Yield the authors, the subjects of claims, and whom these belong to; their ids are held meanwhile."""
    named = _distinct(rows["author_id"] for rows in snapshot.groups("sources", ["author_id"]))
    subjects = (rows["subject_id"] for rows in _standing_candidates(snapshot, ["subject_id"]))
    named = _distinct([named, *subjects])
    owners = _distinct(
        rows["owner_id"].filter(pc.is_in(rows["entity_id"], value_set=named))
        for rows in snapshot.newest("entities", ["entity_id", "owner_id"])
    )
    named = _distinct([named, owners])
    for part in snapshot.newest("entities", columns):
        yield part.filter(pc.is_in(part["entity_id"], value_set=named))


def _standing_mentions(snapshot: Snapshot, columns: Sequence[str]) -> Iterator[pa.Table]:
    """Yield who is meant by claims that stand; not what a claim meant once that now means whom it names."""
    needed = ["candidate_id", "name_key", "referents", "reason"]
    for part in snapshot.newest("mentions", list(dict.fromkeys([*columns, *needed]))):
        claims = latest(
            snapshot.lookup(
                "candidates", "candidate_id", part["candidate_id"], ["candidate_id", "version", "gate"]
            ),
            "candidates",
        )
        stands = pc.fill_null(pc.not_equal(claims["gate"], WITHDRAWN), True)
        held = claims.filter(stands)["candidate_id"].combine_chunks()
        is_empty = pc.and_(
            pc.is_null(part["name_key"]), pc.equal(part["reason"], str(Reason.NO_REFERENCE_TO_RESOLVE))
        )
        yield part.filter(pc.and_not(pc.is_in(part["candidate_id"], value_set=held), is_empty))


def _distinct(columns: Iterable[pa.Array | pa.ChunkedArray]) -> pa.Array:
    """Return the distinct ids of some columns, holding no more than these and one column."""
    found = pa.array([], ID)
    for column in columns:
        chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
        found = pc.unique(pa.concat_arrays([found, *chunks]).drop_null())
    return found


def _standing_lineage(snapshot: Snapshot, columns: Sequence[str]) -> Iterator[pa.Table]:
    """Yield the rows that nothing has withdrawn, and none that withdraws."""
    for part in snapshot.groups("lineage", list(dict.fromkeys([*columns, "lineage_id", "retracts"]))):
        withdrawn = snapshot.lookup("lineage", "retracts", part["lineage_id"], ["retracts"])["retracts"]
        is_withdrawn = pc.is_in(part["lineage_id"], value_set=withdrawn.combine_chunks())
        yield part.filter(pc.and_not(pc.is_null(part["retracts"]), is_withdrawn))


_PARTS = {
    "sources": _Part(
        (
            "format", "delivery_key", "block", "content_digest", "kind", "role", "trust", "author",
            "is_owner", "channel", "event_time", "event_text", "zone", "is_zone_assumed", "session", "turn",
            "reply_to", "scope_project", "scope_user", "scope_agent", "scope_session", "scope_task",
            "scope_tool_environment", "may_retain", "purposes", "flags",
        ),
        {
            "author_id": lambda ids, rows: ids.entities(rows["author_id"]),
            "conversation_id": lambda ids, rows: ids.conversations(rows["conversation_id"]),
            "revises": lambda ids, rows: ids.sources(rows["revises"]),
        },
        _newest("sources"),
    ),
    "entities": _Part(
        (),
        {
            "entity_id": lambda ids, rows: ids.entities(rows["entity_id"]),
            "owner_id": lambda ids, rows: ids.entities(rows["owner_id"]),
        },
        _named_entities,
    ),
    "candidates": _Part(
        (
            "source_revision", "spans", "extractor", "pattern", "type", "memory_class", "polarity",
            "modality", "payload", "valid_from", "valid_until", "event_time", "order_time", "turn",
            "extraction_confidence", "cues", "gate", "trust", *CLAIM_SCOPE,
        ),
        {
            "source_id": lambda ids, rows: ids.sources(rows["source_id"]),
            "subject_id": lambda ids, rows: ids.entities(rows["subject_id"]),
            "claim_id": lambda ids, rows: ids.claims_made(rows),
            "conversation_id": lambda ids, rows: ids.conversations(rows["conversation_id"]),
        },
        _standing_candidates,
    ),
    "decisions": _Part(
        ("outcome", "action", "reasons", "modality", "policy", "extractor", "utility", "risk"),
        {
            "decision_id": lambda ids, rows: ids.decisions(rows),
            "source_id": lambda ids, rows: ids.sources(rows["source_id"]),
            "atom_id": lambda ids, rows: ids.claims(rows["atom_id"]),
            "targets": lambda ids, rows: ids.claims(rows["targets"]),
        },
        _standing_decisions,
        ("candidate_id",),
    ),
    "atoms": _Part(
        (
            "type", "memory_class", "payload", "polarity", "lifecycle_state", "health_status", "intervals",
            "observed_at", "source_revision", "spans", "evidence_count", "root_count", "confidence_ppm",
            "salience_ppm", "utility_ppm", "layer", "retention_class", *CLAIM_SCOPE,
        ),
        {
            "atom_id": lambda ids, rows: ids.claims_made(rows),
            "subject_id": lambda ids, rows: ids.entities(rows["subject_id"]),
            "source_id": lambda ids, rows: ids.sources(rows["source_id"]),
        },
        _standing("atoms", "evidence_count", pc.greater, 0),
    ),
    "edges": _Part(
        ("relation", "derivation", "confidence_ppm"),
        {
            "from_id": lambda ids, rows: ids.claims(rows["from_id"]),
            "to_id": lambda ids, rows: ids.claims(rows["to_id"]),
        },
        _standing("edges", "lifecycle_state", pc.equal, "active"),
    ),
    "lineage": _Part(
        ("relation",),
        {
            "predecessor_id": lambda ids, rows: ids.claims(rows["predecessor_id"]),
            "successor_id": lambda ids, rows: ids.claims(rows["successor_id"]),
            "decision_id": lambda ids, rows: ids.decisions_named(rows["decision_id"]),
        },
        _standing_lineage,
    ),
    "disputes": _Part(
        ("since", "reason"),
        {"sides": lambda ids, rows: ids.claims(rows["sides"])},
        _standing("disputes", "status", pc.equal, "open"),
    ),
    "echoes": _Part(
        ("kind", "delta_ppm", "referenced_at"),
        {
            "atom_id": lambda ids, rows: ids.claims(rows["atom_id"]),
            "source_id": lambda ids, rows: ids.sources(rows["source_id"]),
        },
        lambda snapshot, columns: snapshot.groups("echoes", columns),
    ),
    "outcomes": _Part(
        ("processor", "profile", "labels", "use_status", "membership", "recorded_at", "rule"),
        {"source_id": lambda ids, rows: ids.sources(rows["source_id"])},
        lambda snapshot, columns: snapshot.groups("outcomes", columns),
    ),
    "feedback": _Part(
        ("kind", "rank", "score_ppm", "utility_ppm", "salience_ppm", "recorded_at"),
        {
            "source_id": lambda ids, rows: ids.sources(rows["source_id"]),
            "atom_id": lambda ids, rows: ids.claims(rows["atom_id"]),
            "turn_id": lambda ids, rows: ids.sources(rows["turn_id"]),
        },
        lambda snapshot, columns: snapshot.groups("feedback", columns),
    ),
    "mentions": _Part(
        ("spans", "scores_ppm", "rule", "reason", "turn"),
        {
            "source_id": lambda ids, rows: ids.sources(rows["source_id"]),
            "subject_id": lambda ids, rows: ids.entities(rows["subject_id"]),
            "referent_id": lambda ids, rows: ids.entities(rows["referent_id"]),
            "referents": lambda ids, rows: ids.entity_lists(rows["referents"]),
            "evidence": lambda ids, rows: ids.source_lists(rows["evidence"]),
        },
        _standing_mentions,
    ),
    "tombstones": _Part(
        ("kind", "tokens", "recreation", "reason", "status", "expires_at"), {}, _newest("tombstones")
    ),
}  # fmt: skip
"""What the digest covers, in its order; the columns of a table make up the digest of a row in theirs."""

_LATER = frozenset(["echoes", "outcomes", "feedback", "mentions", "tombstones"])
"""Tables that the digest once left out: while they are empty they add nothing, so that old digests hold."""
