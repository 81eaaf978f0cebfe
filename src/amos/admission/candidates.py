"""Join claims with their sources: who is meant, which slot, which history, which gate."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from amos.admission.candidate_ids import (
    Named,
    candidate_ids,
    conversation_identities,
    id_array,
    source_identities,
)
from amos.admission.cells import cells, mask
from amos.admission.claim_gates import gates_of, with_authority
from amos.admission.claim_spans import Spans, spans_of
from amos.admission.meanings import bounds_of, meanings_of
from amos.admission.policy import Policy
from amos.identity import CLAIM_SCOPE, UNNAMED, Scope, author_identity, keyed_id, subject_identity
from amos.schemas.buffers import column_arrays
from amos.schemas.choosing import empty
from amos.schemas.state import CANDIDATES, ENTITIES
from amos.schemas.vocabulary import Cue, Trust

UNSALTED_CANDIDATES = pa.schema([field for field in CANDIDATES if field.name != "salt"])
UNSALTED_ENTITIES = pa.schema([field for field in ENTITIES if field.name != "salt"])

_CITED = [
    "source_id", "revision", "format", "delivery_key", "block", "trust", "author", "author_id", "is_owner",
    "event_time", "is_zone_assumed", "conversation_id", "turn", "may_retain", "purposes", "conversation_key",
    *CLAIM_SCOPE,
]  # fmt: skip
_SUBJECT_OF = ("author_id", "author", "is_owner", *CLAIM_SCOPE)
_FROM_CLAIM = {"pattern", "type", "memory_class", "polarity", "modality", "valid_until"}
_ZONE_ASSUMED = int(Cue.ZONE_ASSUMED)
_AGENT = "agent"


class Built(NamedTuple):
    """Candidates of a batch, and the entities they speak of."""

    candidates: pa.Table
    entities: pa.Table


class Builder:
    """Builds the candidates of one batch; remembers the subjects within it."""

    def __init__(self, *, key: bytes, policy: Policy, extractor: str) -> None:
        self._key = key
        self._policy = policy
        self._extractor = extractor
        self._entities: dict[bytes, tuple[Any, ...]] = {}
        self._subject = cache(self._new_subject)

    def build(self, claims: pa.Table, sources: pa.Table, conversation_keys: pa.Array) -> Built:
        """Return the candidates of `claims` over `sources` rows, and the entities named in them.

        claims: CLAIMS.  sources: SOURCES without salt.  conversation_keys: (n,) text per source.
        """
        if claims.num_rows == 0:
            return Built(empty(UNSALTED_CANDIDATES), empty(UNSALTED_ENTITIES))
        named = sources.append_column("conversation_key", conversation_keys)
        cited = named.select(_CITED).take(claims["source_row"].combine_chunks())
        claims = with_authority(claims, cited, self._policy)
        spans = spans_of(claims)
        bounds = bounds_of(claims, cited)
        text = column_arrays(sources["content"])
        gates = gates_of(claims, cited, text, spans, is_bounded=bounds.is_bounded, policy=self._policy)
        subject, subject_id = self._subjects(claims, cited)
        meant = meanings_of(claims, bounds.applicability)
        source = source_identities(cited)
        ids = candidate_ids(
            Named(subject, *meant[:3], bounds.applicability),
            claims,
            cited,
            sources=source,
            span_texts=spans.as_texts(),
            extractor=self._extractor,
            key=self._key,
        )
        columns = {
            **ids,
            "subject_id": pa.array(subject_id, UNSALTED_CANDIDATES.field("subject_id").type),
            "payload": pa.array(meant.payload, pa.string()),
            "gate": pa.array(gates, pa.string()),
            "order_key": id_array(source[:, :16]),
        }
        candidates = _candidates(claims, cited, columns, spans, self._extractor)
        return Built(first_of_each(candidates), self._entity_table())

    def _subjects(self, claims: pa.Table, cited: pa.Table) -> tuple[tuple[bytes, ...], tuple[bytes, ...]]:
        """Return unkeyed identity and entity id of the subject of each claim."""
        told = _are_told(claims, cited)
        columns = [claims["subject_kind"], claims["subject"], told, *(cited[name] for name in _SUBJECT_OF)]
        identity, entity_id = zip(*map(self._subject, *map(cells, columns)), strict=True)
        return identity, entity_id

    def _new_subject(
        self,
        kind: str,
        subject: str,
        is_told: bool,
        author_id: bytes,
        author: str | None,
        is_owner: bool,
        *scope: str | None,
    ) -> tuple[bytes, bytes]:
        if kind == _AGENT:
            return self._named_author(subject, scope)
        said_by = author_identity(scope, author or UNNAMED, is_owner)
        if kind == "author":
            return said_by, author_id
        is_owned = is_told or kind != "other"
        owner, owner_id = (said_by, author_id) if is_owned else (None, None)
        name = " ".join(subject.split())
        identity = subject_identity(scope, kind, name, owner)
        entity_id = keyed_id(self._key, "entities", identity)
        self._entities[entity_id] = (entity_id, 1, kind, name, owner_id, False, *_with_session(scope))
        return identity, entity_id

    def _named_author(self, name: str, scope: Scope) -> tuple[bytes, bytes]:
        """Return identity and id of an agent that a tool answers: the author of its own messages."""
        identity = author_identity(scope, name, False)
        entity_id = keyed_id(self._key, "entities", identity)
        self._entities[entity_id] = (entity_id, 1, "author", name, None, False, *_with_session(scope))
        return identity, entity_id

    def _entity_table(self) -> pa.Table:
        rows = list(self._entities.values())
        if not rows:
            return empty(UNSALTED_ENTITIES)
        columns = zip(*rows, strict=True)
        return pa.table(
            [pa.array(column, field.type) for column, field in zip(columns, UNSALTED_ENTITIES, strict=True)],
            schema=UNSALTED_ENTITIES,
        )


def _candidates(
    claims: pa.Table, cited: pa.Table, columns: dict[str, pa.Array], spans: Spans, extractor: str
) -> pa.Table:
    """Return one row per claim; `columns` hold what was computed for them."""
    count = claims.num_rows
    assumed = np.where(mask(cited["is_zone_assumed"]), _ZONE_ASSUMED, 0)
    made: dict[str, Any] = {
        **columns,
        "version": pa.array(np.ones(count, np.int32)),
        "source_revision": cited["revision"],
        "spans": spans.as_lists(),
        "extractor": pa.repeat(extractor, count),
        "valid_from": _unless_event(claims["valid_from"], cited["event_time"]),
        "order_time": pa.nulls(count, UNSALTED_CANDIDATES.field("order_time").type),
        "conversation_order": id_array(conversation_identities(cited)[:, :16]),
        "extraction_confidence": claims["confidence"],
        "cues": pa.array((claims["cues"].to_numpy() | assumed).astype(np.int32)),
        "scope_session": pa.nulls(count, pa.string()),
    }
    arrays = []
    for field in UNSALTED_CANDIDATES:
        table = claims if field.name in _FROM_CLAIM else cited
        column = made[field.name] if field.name in made else table[field.name]
        arrays.append(column if column.type == field.type else column.cast(field.type))
    return pa.Table.from_arrays(arrays, schema=UNSALTED_CANDIDATES)


def _unless_event(valid_from: pa.ChunkedArray, event_time: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return the starts of validity, null where they repeat the event time."""
    if valid_from.null_count == len(valid_from):
        return valid_from
    repeats = pc.fill_null(pc.equal(valid_from, event_time), False)
    return pc.if_else(repeats, None, valid_from)


def first_of_each(candidates: pa.Table) -> pa.Table:
    """Return the rows of the first occurrence of each candidate id, in order."""
    column = candidates["candidate_id"]
    if len(column.unique()) == len(column):
        return candidates
    first = {identifier: row for row, identifier in reversed(list(enumerate(cells(column))))}
    return candidates.take(sorted(first.values()))


def _are_told(claims: pa.Table, cited: pa.Table) -> pa.Array:
    """Return which claims say how something turned out for a speaker who has a name of their own.

    What one of several speakers found of a thing is not what another found.
    """
    is_named = pc.and_(pc.invert(cited["is_owner"]), pc.is_valid(cited["author"]))
    is_named = pc.and_(is_named, pc.equal(cited["trust"], str(Trust.TRUSTED_USER)))
    is_outcome = pc.fill_null(pc.equal(claims["property"], "outcome"), False)
    return pc.and_(is_named, is_outcome)


def _with_session(scope: Scope) -> tuple[str | None, ...]:
    """Return the six scope columns of a claim: its session is always open."""
    project, user, agent, task, environment = scope
    return project, user, agent, None, task, environment
