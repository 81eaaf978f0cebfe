"""Join claims with their sources: who is meant, which slot, which history, which gate."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa

from amos.admission.gates import Facts, gate_of
from amos.admission.policy import Policy
from amos.admission.values import NormalValue, fold_property, normalise_value
from amos.identity import (
    CLAIM_SCOPE,
    Scope,
    author_identity,
    candidate_identity,
    claim_identity,
    conversation_identity,
    history_identity,
    keyed_id,
    slot_identity,
    source_identity,
    statement_slot_identity,
    subject_identity,
)
from amos.schemas.state import CANDIDATES, ENTITIES
from amos.schemas.vocabulary import Cue, MemoryClass

UNSALTED_CANDIDATES = pa.schema([field for field in CANDIDATES if field.name != "salt"])
UNSALTED_ENTITIES = pa.schema([field for field in ENTITIES if field.name != "salt"])

_SOURCE_COLUMNS = (
    "source_id", "revision", "format", "delivery_key", "block", "content", "trust", "author", "author_id",
    "is_owner", "event_time", "is_zone_assumed", "conversation_id", "turn", "may_retain", "purposes",
    "conversation_key", *CLAIM_SCOPE,
)  # fmt: skip
_ZONE_ASSUMED = int(Cue.ZONE_ASSUMED)


class Origin(NamedTuple):
    """What a claim takes over from its source."""

    source_id: bytes
    revision: int
    format: str
    delivery_key: str
    block: int
    content: bytes
    trust: str
    author: str | None
    author_id: bytes
    is_owner: bool
    event_time: Any
    is_zone_assumed: bool
    conversation_id: bytes
    turn: int
    may_retain: bool
    purposes: list[str]
    conversation_key: str
    scope: Scope
    identity: bytes
    conversation: bytes


class Built(NamedTuple):
    """Candidates of a batch, the entities they speak of, and utility and risk per candidate."""

    candidates: pa.Table
    entities: pa.Table


class Builder:
    """Builds the candidates of one batch; remembers identities within it."""

    def __init__(self, *, key: bytes, policy: Policy, extractor: str) -> None:
        self._key = key
        self._policy = policy
        self._extractor = extractor
        self._entities: dict[bytes, tuple[Any, ...]] = {}
        self._values: dict[tuple[str, str], NormalValue] = {}
        self._subjects: dict[tuple[Any, ...], tuple[bytes, bytes]] = {}
        self._ids: dict[tuple[str, bytes], bytes] = {}

    def build(self, claims: pa.Table, sources: pa.Table, conversation_keys: pa.Array) -> Built:
        """Return the candidates of `claims` over `sources` rows, and the entities named in them.

        claims: CLAIMS.  sources: SOURCES without salt.  conversation_keys: (n,) text per source.
        """
        if claims.num_rows == 0:
            return Built(UNSALTED_CANDIDATES.empty_table(), UNSALTED_ENTITIES.empty_table())
        rows = claims["source_row"].to_numpy()
        cited, place = np.unique(rows, return_inverse=True)
        taken = sources.append_column("conversation_key", conversation_keys).take(cited)
        origins = list(_origins(taken))
        built = [
            self._candidate(claim, origins[position])
            for claim, position in zip(_rows(claims), place.tolist(), strict=True)
        ]
        columns = zip(*built, strict=True)
        candidates = pa.table(
            [
                pa.array(column, field.type)
                for column, field in zip(columns, UNSALTED_CANDIDATES, strict=True)
            ],
            schema=UNSALTED_CANDIDATES,
        )
        return Built(first_of_each(candidates), self._entity_table())

    def _candidate(self, claim: Any, origin: Origin) -> tuple[Any, ...]:
        subject, subject_id = self._subject(claim, origin)
        normal = self._normal(claim)
        bound, applicability = self._bound(claim, origin)
        slot = self._slot(claim, subject, normal, origin.scope, applicability)
        claimed = claim_identity(slot, claim.polarity, normal.kind, normal.canonical)
        history = history_identity(slot, claim.arity, normal.kind, normal.canonical)
        spans = [claim.start, claim.end, *claim.more_spans]
        identity = candidate_identity(origin.identity, spans, self._extractor, claimed)
        cues = claim.cues | (_ZONE_ASSUMED if origin.is_zone_assumed else 0)
        from_time = None if claim.valid_from == origin.event_time else claim.valid_from
        gate = self._gate(claim, origin, spans, is_bounded=bound)
        return (
            keyed_id(self._key, "candidates", identity),
            1,
            origin.source_id,
            origin.revision,
            spans,
            self._extractor,
            claim.pattern,
            claim.type,
            claim.memory_class,
            subject_id,
            self._keyed("slots", slot),
            self._keyed("histories", history),
            self._keyed("atoms", claimed),
            claim.polarity,
            claim.modality,
            _payload(claim, normal, applicability),
            from_time,
            claim.valid_until,
            origin.event_time,
            None,
            origin.conversation_id,
            origin.turn,
            origin.conversation[:16],
            origin.identity[:16],
            claim.confidence,
            cues,
            gate,
            origin.trust,
            *_with_session(origin.scope),
        )

    def _subject(self, claim: Any, origin: Origin) -> tuple[bytes, bytes]:
        memo = (claim.subject_kind, claim.subject, origin.author_id, origin.scope)
        found = self._subjects.get(memo)
        if found is None:
            found = self._subjects[memo] = self._new_subject(claim, origin)
        return found

    def _new_subject(self, claim: Any, origin: Origin) -> tuple[bytes, bytes]:
        author = author_identity(origin.scope, origin.author or "unknown", origin.is_owner)
        if claim.subject_kind == "author":
            return author, origin.author_id
        owner = author if claim.subject_kind != "other" else None
        name = " ".join(claim.subject.split())
        identity = subject_identity(origin.scope, claim.subject_kind, name, owner)
        entity_id = keyed_id(self._key, "entities", identity)
        owner_id = origin.author_id if owner is not None else None
        shown = (entity_id, 1, claim.subject_kind, name, owner_id, False, *_with_session(origin.scope))
        self._entities[entity_id] = shown
        return identity, entity_id

    def _normal(self, claim: Any) -> NormalValue:
        text = claim.value
        if text is None:
            text = msgspec.json.decode(claim.payload).get("claim", "") if claim.payload else ""
        memo = (text, claim.value_kind)
        found = self._values.get(memo)
        if found is None:
            found = self._values[memo] = normalise_value(text, claim.value_kind)
        return found

    def _bound(self, claim: Any, origin: Origin) -> tuple[bool, str | None]:
        """Return whether the claim has a bound, and its applicability; unknown time binds to the talk."""
        if claim.memory_class == MemoryClass.EPISODE:
            return (
                claim.time_precision is not None and claim.time_precision != "unresolved",
                claim.applicability,
            )
        if claim.memory_class != MemoryClass.TEMPORARY_STATE:
            return False, claim.applicability
        if claim.valid_until is not None:
            return True, claim.applicability
        conditions = msgspec.json.decode(claim.applicability) if claim.applicability else {}
        conditions["conversation"] = f"{origin.format}:{origin.conversation_key}"
        return origin.event_time is None, canonical_json(conditions)

    def _slot(
        self, claim: Any, subject: bytes, normal: NormalValue, scope: Scope, applicability: str | None
    ) -> bytes:
        if claim.property is None:
            return statement_slot_identity(subject, normal.canonical, scope, applicability)
        return slot_identity(subject, fold_property(claim.property), scope, applicability)

    def _gate(self, claim: Any, origin: Origin, spans: list[int], *, is_bounded: bool) -> str | None:
        starts_late = (
            claim.valid_from is not None
            and claim.valid_until is not None
            and claim.valid_until <= claim.valid_from
        )
        gate = gate_of(
            Facts(
                confidence=claim.confidence,
                cues=claim.cues,
                has_bound=is_bounded,
                is_authorised=origin.may_retain and "personalization" in origin.purposes,
                is_ordered_in_time=not starts_late,
                is_span_sound=are_spans_sound(origin.content, spans),
                memory_class=claim.memory_class,
                modality=claim.modality,
                subject_kind=claim.subject_kind,
                trust=origin.trust,
                type=claim.type,
                value_length=len(claim.value or ""),
                veto=claim.veto,
            ),
            self._policy,
        )
        return None if gate is None else f"{gate[0]}:{gate[1]}"

    def _keyed(self, table: str, identity: bytes) -> bytes:
        found = self._ids.get((table, identity))
        if found is None:
            found = self._ids[table, identity] = keyed_id(self._key, table, identity)
        return found

    def _entity_table(self) -> pa.Table:
        rows = list(self._entities.values())
        if not rows:
            return UNSALTED_ENTITIES.empty_table()
        columns = zip(*rows, strict=True)
        return pa.table(
            [pa.array(column, field.type) for column, field in zip(columns, UNSALTED_ENTITIES, strict=True)],
            schema=UNSALTED_ENTITIES,
        )


def canonical_json(value: object) -> str:
    """Return JSON with sorted keys and no spaces: the bytes that are stored and hashed."""
    return msgspec.json.encode(value, order="sorted").decode()


def are_spans_sound(content: bytes, spans: list[int]) -> bool:
    """Tell whether every half-open byte range lies inside `content` on character boundaries."""
    return all(
        0 <= start < end <= len(content) and not _is_inside(content, start) and not _is_inside(content, end)
        for start, end in _pairs(spans)
    )


def first_of_each(candidates: pa.Table) -> pa.Table:
    """Return the rows of the first occurrence of each candidate id, in order."""
    ids = candidates["candidate_id"].to_pylist()
    if len(set(ids)) == len(ids):
        return candidates
    seen: set[bytes] = set()
    keep = [row for row, identifier in enumerate(ids) if not (identifier in seen or seen.add(identifier))]
    return candidates.take(keep)


def _pairs(spans: list[int]) -> Iterator[tuple[int, int]]:
    return zip(spans[::2], spans[1::2], strict=True)


def _is_inside(raw: bytes, position: int) -> bool:
    return position < len(raw) and raw[position] & 0xC0 == 0x80


def _payload(claim: Any, normal: NormalValue, applicability: str | None) -> str:
    fields = msgspec.json.decode(claim.payload) if claim.payload else {}
    fields["arity"] = claim.arity
    fields["normal"] = [normal.kind, normal.canonical]
    if claim.property is not None:
        fields["property"] = claim.property
    if claim.value is not None:
        fields["value"] = claim.value
    if applicability:
        fields["applicability"] = msgspec.json.decode(applicability)
    if claim.time_text:
        fields["time"] = {"text": claim.time_text, "precision": claim.time_precision}
    return canonical_json(fields)


def _rows(table: pa.Table) -> Iterable[Any]:
    row = NamedTuple("Claim", [(name, Any) for name in table.schema.names])  # type: ignore[misc]
    return map(row._make, zip(*(column.to_pylist() for column in table.columns), strict=True))


def _origins(taken: pa.Table) -> Iterator[Origin]:
    as_bytes = taken.set_column(
        taken.schema.get_field_index("content"), "content", taken["content"].cast(pa.binary())
    )
    plain = [as_bytes[name].to_pylist() for name in _SOURCE_COLUMNS[: -len(CLAIM_SCOPE)]]
    scopes = list(zip(*(taken[name].to_pylist() for name in CLAIM_SCOPE), strict=True))
    records = as_bytes.select(["format", "delivery_key", "block", "conversation_key"]).to_pylist()
    sources = [source_identity(row["format"], row["delivery_key"], row["block"]) for row in records]
    talks = [conversation_identity(row["format"], row["conversation_key"]) for row in records]
    return map(Origin._make, zip(*plain, scopes, sources, talks, strict=True))


def _with_session(scope: Scope) -> tuple[str | None, ...]:
    """Return the six scope columns of a claim: its session is always open."""
    project, user, agent, task, environment = scope
    return project, user, agent, None, task, environment
