"""The state digest: one number for what a shard holds, the same on every machine.

It covers the current rows of sources, entities, candidates, decisions, atoms, edges, lineage
and disputes in a total order; of edges, lineage and disputes what stands, of atoms those with
support: what a late source made void is history, and history depends on arrival.

Ids are replaced by unkeyed identities; versions, ingest times,
locators, `extra`, deadlines, cut counts, salts and keyed digests are left out.  It is printed,
never stored beside rows that may be erased.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from amos.admission.values import fold_property
from amos.flow.digest_reviews import unkeyed_reviews
from amos.flow.versions import standing_lineage
from amos.identity import (
    CLAIM_SCOPE,
    Scope,
    author_identity,
    candidate_identity,
    claim_identity,
    conversation_identity,
    slot_identity,
    source_identity,
    statement_slot_identity,
    subject_identity,
)
from amos.kernels.canonical import encode_rows
from amos.kernels.hashing import sha256_rows
from amos.schemas.buffers import column_arrays
from amos.schemas.columns import DIGEST, ID
from amos.schemas.vocabulary import WITHDRAWN, Reason

Identities = dict[bytes, bytes]

_SOURCE_FACTS = [
    "format", "delivery_key", "block", "content_digest", "kind", "role", "trust", "author", "is_owner",
    "channel", "event_time", "event_text", "zone", "is_zone_assumed", "session", "turn", "reply_to",
    "scope_project", "scope_user", "scope_agent", "scope_session", "scope_task", "scope_tool_environment",
    "may_retain", "purposes", "flags",
]  # fmt: skip
_CANDIDATE_FACTS = [
    "source_revision", "spans", "extractor", "pattern", "type", "memory_class", "polarity", "modality",
    "payload", "valid_from", "valid_until", "event_time", "order_time", "turn", "extraction_confidence",
    "cues", "gate", "trust", *CLAIM_SCOPE,
]  # fmt: skip
_DECISION_FACTS = ["outcome", "action", "reasons", "modality", "policy", "extractor", "utility", "risk"]
_ATOM_FACTS = [
    "type", "memory_class", "payload", "polarity", "lifecycle_state", "health_status", "intervals",
    "observed_at", "source_revision", "spans", "evidence_count", "root_count", "confidence_ppm",
    "salience_ppm", "utility_ppm", "layer", "retention_class", *CLAIM_SCOPE,
]  # fmt: skip


class CurrentTables(Protocol):
    """Current rows by table; a pinned snapshot fits."""

    def current(self, name: str, columns: list[str] | None = None) -> pa.Table:
        """Return the latest version per id."""
        ...

    def table(self, name: str, columns: list[str] | None = None) -> pa.Table:
        """Return all row versions."""
        ...


def state_digest(state: CurrentTables) -> str:
    """Return the hex digest of the current rows of `state`."""
    every, listed = state.current("candidates"), state.current("entities")
    named = entity_identities(listed)
    sources, talks = unkeyed_reviews(
        state.current("sources"),
        state.current("conversations"),
        every,
        lambda rows, known: candidate_identities(rows, known, named)[1],
    )
    conversations = _conversations(talks)
    candidates = _where(every, "gate", _differs, WITHDRAWN)
    entities_table = _named_entities(listed, sources, candidates)
    source_ids = _sources(sources)
    entities = entity_identities(entities_table)
    claims, candidate_ids = candidate_identities(candidates, source_ids, entities)
    decisions = _of_readings(state.current("decisions"))
    decision_ids = _decisions(decisions, source_ids, candidate_ids)
    parts = {
        "sources": _mapped(
            sources, _SOURCE_FACTS,
            {"author_id": entities, "conversation_id": conversations, "revises": source_ids},
        ),
        "entities": _mapped(entities_table, [], {"entity_id": entities, "owner_id": entities}),
        "candidates": _mapped(
            candidates, _CANDIDATE_FACTS,
            {"source_id": source_ids, "subject_id": entities, "claim_id": claims,
             "conversation_id": conversations},
        ),
        "decisions": _mapped(
            decisions, _DECISION_FACTS,
            {"decision_id": decision_ids, "source_id": source_ids, "atom_id": claims, "targets": claims},
        ),
        "atoms": _mapped(
            _where(state.current("atoms"), "evidence_count", pc.greater, 0), _ATOM_FACTS,
            {"atom_id": claims, "subject_id": entities, "source_id": source_ids},
        ),
        "edges": _mapped(
            _where(state.current("edges"), "lifecycle_state", pc.equal, "active"),
            ["relation", "derivation", "confidence_ppm"],
            {"from_id": claims, "to_id": claims},
        ),
        "lineage": _mapped(
            standing_lineage(state.table("lineage")), ["relation"],
            {"predecessor_id": claims, "successor_id": claims, "decision_id": decision_ids},
        ),
        "disputes": _mapped(
            _where(state.current("disputes"), "status", pc.equal, "open"), ["since", "reason"],
            {"sides": claims},
        ),
    }  # fmt: skip
    return _digest(parts)


def _differs(column: pa.ChunkedArray, value: str) -> pa.ChunkedArray:
    return pc.fill_null(pc.not_equal(column, value), True)


def _of_readings(decisions: pa.Table) -> pa.Table:
    """Return the decisions on what was read last; those on what another extractor replaced are history."""
    first = pc.list_element(decisions["reasons"], 0)
    return decisions.filter(pc.not_equal(first, str(Reason.SUPERSEDED_BY_EXTRACTOR)))


def _named_entities(entities: pa.Table, sources: pa.Table, candidates: pa.Table) -> pa.Table:
    """Return the authors, the subjects of claims, and whom these belong to."""
    named = pc.unique(
        pa.concat_arrays([*candidates["subject_id"].chunks, *sources["author_id"].chunks, pa.array([], ID)])
    )
    held = entities.filter(pc.is_in(entities["entity_id"], value_set=named))
    owners = held["owner_id"].combine_chunks().drop_null().unique()
    return entities.filter(pc.is_in(entities["entity_id"], value_set=pa.concat_arrays([named, owners])))


def _where(table: pa.Table, column: str, test: Callable[..., Any], value: object) -> pa.Table:
    return table.filter(test(table[column], value))


def _digest(parts: Mapping[str, pa.Table]) -> str:
    whole = hashlib.sha256(b"amos/1/state")
    for name, table in parts.items():
        whole.update(name.encode() + b"\x00" + table.num_rows.to_bytes(8, "little"))
        if table.num_rows:
            columns = [column_arrays(table[column]) for column in table.column_names]
            rows = sha256_rows(*encode_rows(columns, table.num_rows))
            order = np.lexsort(rows.T[::-1])
            whole.update(rows[order].tobytes())
    return whole.hexdigest()


def _mapped(table: pa.Table, facts: list[str], ids: Mapping[str, Identities]) -> pa.Table:
    """Return the columns `facts`, and each id column of `ids` as identities."""
    columns = {name: table[name] for name in facts}
    for name, known in ids.items():
        cells = table[name].to_pylist()
        if pa.types.is_list(table.schema.field(name).type):
            lists = [[known[item] for item in cell] for cell in cells]
            ordered = [sorted(found) for found in lists]
            columns[name] = pa.array(ordered, pa.list_(pa.binary()))
        else:
            columns[name] = pa.array([known.get(cell) for cell in cells], DIGEST)
    return pa.table(columns)


def _sources(sources: pa.Table) -> Identities:
    names = ("source_id", "format", "delivery_key", "block")
    rows = zip(*(sources[name].to_pylist() for name in names), strict=True)
    return {identifier: source_identity(form, key, block) for identifier, form, key, block in rows}


def _conversations(conversations: pa.Table) -> Identities:
    names = ("conversation_id", "format", "conversation_key")
    rows = zip(*(conversations[name].to_pylist() for name in names), strict=True)
    return {identifier: conversation_identity(form, key) for identifier, form, key in rows}


def entity_identities(entities: pa.Table) -> Identities:
    """Return identities of authors first, then of what belongs to them."""
    names = ("entity_id", "kind", "name", "owner_id", "is_owner")
    scopes = _scopes(entities)
    rows = list(zip(*(entities[name].to_pylist() for name in names), scopes, strict=True))
    known: Identities = {}
    for identifier, kind, name, _, is_owner, scope in rows:
        if kind == "author":
            known[identifier] = author_identity(scope, name, is_owner)
    for identifier, kind, name, owner, _, scope in rows:
        if kind != "author":
            known[identifier] = subject_identity(scope, kind, name, known.get(owner))
    return known


def candidate_identities(
    candidates: pa.Table, sources: Identities, entities: Identities
) -> tuple[Identities, Identities]:
    """Return identities of claims by claim id, and of candidates."""
    names = (
        "candidate_id",
        "claim_id",
        "source_id",
        "subject_id",
        "payload",
        "polarity",
        "extractor",
        "spans",
    )
    claims: Identities = {}
    found: Identities = {}
    columns: Iterable[Any] = zip(
        *(candidates[name].to_pylist() for name in names), _scopes(candidates), strict=True
    )
    for candidate, claim, source, subject, payload, polarity, extractor, spans, scope in columns:
        if claim not in claims:
            claims[claim] = _claim(entities[subject], payload, polarity, scope)
        found[candidate] = candidate_identity(sources[source], spans, extractor, claims[claim])
    return claims, found


def _claim(subject: bytes, payload: str, polarity: str, scope: Scope) -> bytes:
    fields = msgspec.json.decode(payload)
    kind, canonical = fields["normal"]
    conditions = fields.get("applicability")
    applicability = msgspec.json.encode(conditions, order="sorted").decode() if conditions else None
    if "property" in fields:
        slot = slot_identity(subject, fold_property(fields["property"]), scope, applicability)
    else:
        slot = statement_slot_identity(subject, canonical, scope, applicability)
    return claim_identity(slot, polarity, kind, canonical)


def _decisions(decisions: pa.Table, sources: Identities, candidates: Identities) -> Identities:
    """Return identities of decisions: of what was decided; refusals of a delivery are counted."""
    names = ("decision_id", "candidate_id", "source_id", "reasons")
    found: Identities = {}
    for decision, candidate, source, reasons in zip(
        *(decisions[name].to_pylist() for name in names), strict=True
    ):
        decided = candidates[candidate] if candidate is not None else sources[source]
        found[decision] = (
            hashlib.sha256(reasons[0].encode() + decided).digest() if _refusal(reasons) else decided
        )
    return found


def _refusal(reasons: list[str]) -> bool:
    return bool(reasons) and reasons[0] == "delivery_conflict"


def _scopes(table: pa.Table) -> list[Scope]:
    return list(zip(*(table[name].to_pylist() for name in CLAIM_SCOPE), strict=True))
