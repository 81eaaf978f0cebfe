"""Join claims with their sources: who is meant, which slot, which history, which gate."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from amos.admission.gates import Facts, gate_of
from amos.admission.origins import Origin, identity_rows, read_claims, read_origins
from amos.admission.policy import Policy
from amos.admission.values import NormalValue, fold_property, normalise_value
from amos.identity import (
    CLAIM_SCOPE,
    Scope,
    author_identity,
    keyed_id,
    subject_identity,
)
from amos.kernels.hashing import keyed_ids
from amos.schemas.state import CANDIDATES, ENTITIES
from amos.schemas.vocabulary import Cue, MemoryClass

UNSALTED_CANDIDATES = pa.schema([field for field in CANDIDATES if field.name != "salt"])
UNSALTED_ENTITIES = pa.schema([field for field in ENTITIES if field.name != "salt"])

_FROM_CLAIM = {"pattern", "type", "memory_class", "polarity", "modality", "valid_until"}
_ZONE_ASSUMED = int(Cue.ZONE_ASSUMED)
_FORMER = int(Cue.FORMER)


class Built(NamedTuple):
    """Candidates of a batch, and the entities they speak of."""

    candidates: pa.Table
    entities: pa.Table


class Meant(NamedTuple):
    """What one claim means: its subject, its normalised value, its conditions and its gate."""

    subject: bytes
    subject_id: bytes
    holder_property: str | None
    kind: str
    canonical: str
    applicability: str | None
    payload: str
    gate: str | None


class Builder:
    """Builds the candidates of one batch; remembers identities within it."""

    def __init__(self, *, key: bytes, policy: Policy, extractor: str) -> None:
        self._key = key
        self._policy = policy
        self._extractor = extractor
        self._entities: dict[bytes, tuple[Any, ...]] = {}
        self._subjects: dict[tuple[Any, ...], tuple[bytes, bytes]] = {}
        self._gates: dict[tuple[Any, ...], str | None] = {}

    def build(self, claims: pa.Table, sources: pa.Table, conversation_keys: pa.Array) -> Built:
        """Return the candidates of `claims` over `sources` rows, and the entities named in them.

        claims: CLAIMS.  sources: SOURCES without salt.  conversation_keys: (n,) text per source.
        """
        if claims.num_rows == 0:
            return Built(UNSALTED_CANDIDATES.empty_table(), UNSALTED_ENTITIES.empty_table())
        rows = claims["source_row"].to_numpy()
        cited, place = np.unique(rows, return_inverse=True)
        taken = sources.append_column("conversation_key", conversation_keys).take(cited)
        origins = list(read_origins(taken))
        spans = _spans(claims)
        meant = [
            self._meant(claim, origins[position], claim_spans)
            for claim, position, claim_spans in zip(read_claims(claims), place.tolist(), spans, strict=True)
        ]
        columns = dict(zip(Meant._fields, map(list, zip(*meant, strict=True)), strict=True))
        cited_rows = taken.drop_columns(["content"]).take(place)  # a long text may have many claims
        ids = candidate_ids(
            columns,
            claims,
            cited_rows,
            identities_of_sources=[origins[position].identity for position in place.tolist()],
            spans=spans,
            extractor=self._extractor,
            key=self._key,
        )
        candidates = self._table(claims, cited_rows, columns, ids, spans, [origins[one] for one in place])
        return Built(first_of_each(candidates), self._entity_table())

    def _meant(self, claim: Any, origin: Origin, spans: list[int]) -> Meant:
        subject, subject_id = self._subject(claim, origin)
        normal = _normal(claim)
        is_bounded, applicability = self._bound(claim, origin)
        return Meant(
            subject=subject,
            subject_id=subject_id,
            holder_property=None if claim.property is None else fold_property(claim.property),
            kind=normal.kind,
            canonical=normal.canonical,
            applicability=applicability,
            payload=_payload(claim, normal, applicability),
            gate=self._gate(claim, origin, spans, is_bounded=is_bounded),
        )

    def _table(
        self,
        claims: pa.Table,
        cited: pa.Table,
        columns: dict[str, list[Any]],
        ids: dict[str, pa.Array],
        spans: list[list[int]],
        origins: list[Origin],
    ) -> pa.Table:
        count = claims.num_rows
        is_event = pc.fill_null(pc.equal(claims["valid_from"], cited["event_time"]), False)
        assumed = np.where(cited["is_zone_assumed"].to_numpy(zero_copy_only=False), _ZONE_ASSUMED, 0)
        cells: dict[str, Any] = {
            **ids,
            "version": np.ones(count, np.int32),
            "source_revision": cited["revision"],
            "spans": spans,
            "extractor": pa.repeat(self._extractor, count),
            "subject_id": columns["subject_id"],
            "payload": columns["payload"],
            "valid_from": claims["valid_from"].take(
                pa.array(np.arange(count), mask=is_event.to_numpy(zero_copy_only=False))
            ),
            "order_time": pa.nulls(count, UNSALTED_CANDIDATES.field("order_time").type),
            "conversation_order": [origin.conversation[:16] for origin in origins],
            "order_key": [origin.identity[:16] for origin in origins],
            "extraction_confidence": claims["confidence"],
            "cues": (claims["cues"].to_numpy() | assumed).astype(np.int32),
            "gate": columns["gate"],
            "scope_session": pa.nulls(count, pa.string()),
        }
        arrays = []
        for field in UNSALTED_CANDIDATES:
            table = claims if field.name in _FROM_CLAIM else cited
            column = cells[field.name] if field.name in cells else table[field.name]
            is_arrow = isinstance(column, pa.Array | pa.ChunkedArray)
            arrays.append(column if is_arrow else pa.array(column, field.type))
        return pa.table(arrays, schema=UNSALTED_CANDIDATES)

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

    def _gate(self, claim: Any, origin: Origin, spans: list[int], *, is_bounded: bool) -> str | None:
        start = claim.valid_from
        is_over = claim.memory_class == MemoryClass.EPISODE or claim.cues & _FORMER
        if start is None and not is_over:
            start = origin.event_time  # what holds now cannot have ended before it was said
        is_backwards = None not in (start, claim.valid_until) and claim.valid_until <= start
        facts = (
            claim.confidence,
            claim.cues,
            is_bounded,
            origin.is_authorised,
            not is_backwards,
            are_spans_sound(origin.content, spans),
            self._is_too_long(claim, origin, spans),
            claim.memory_class,
            claim.modality,
            claim.subject_kind,
            origin.trust,
            claim.type,
            claim.veto,
        )
        if facts not in self._gates:
            gate = gate_of(Facts(*facts), self._policy)
            self._gates[facts] = None if gate is None else f"{gate[0]}:{gate[1]}"
        return self._gates[facts]

    def _is_too_long(self, claim: Any, origin: Origin, spans: list[int]) -> bool:
        """Tell whether the value, or the whole statement where there is none, is too long to keep."""
        longest = self._policy.value.longest
        if claim.value is not None:
            return len(claim.value) > longest
        if spans[1] - spans[0] <= longest:
            return False
        return len(origin.content[spans[0] : spans[1]].decode(errors="replace")) > longest

    def _entity_table(self) -> pa.Table:
        rows = list(self._entities.values())
        if not rows:
            return UNSALTED_ENTITIES.empty_table()
        columns = zip(*rows, strict=True)
        return pa.table(
            [pa.array(column, field.type) for column, field in zip(columns, UNSALTED_ENTITIES, strict=True)],
            schema=UNSALTED_ENTITIES,
        )


def candidate_ids(
    columns: dict[str, list[Any]],
    claims: pa.Table,
    cited: pa.Table,
    *,
    identities_of_sources: list[bytes],
    spans: list[list[int]],
    extractor: str,
    key: bytes,
) -> dict[str, pa.Array]:
    """Return slot, history, claim and candidate ids per claim, equal to those of `amos.identity`."""
    count = claims.num_rows
    arrays = {name: pa.array(columns[name], pa.binary()) for name in ("subject",)}
    text = {name: pa.array(columns[name], pa.string()) for name in ("holder_property", "kind", "canonical")}
    conditions = pa.array(columns["applicability"], pa.string())
    scope = [cited[name] for name in CLAIM_SCOPE]
    keyed_slot = identity_rows(
        ("slot", arrays["subject"], text["holder_property"], conditions, *scope), count
    )
    stated = identity_rows(("statement", arrays["subject"], text["canonical"], conditions, *scope), count)
    has_property = pc.is_valid(text["holder_property"]).to_numpy(zero_copy_only=False)
    slot = np.where(has_property[:, None], keyed_slot, stated)
    slots = _bytes(slot)
    claim = identity_rows(("claim", slots, claims["polarity"], text["kind"], text["canonical"]), count)
    per_value = identity_rows(("history", slots, text["kind"], text["canonical"]), count)
    is_single = pc.equal(claims["arity"], "single").to_numpy(zero_copy_only=False)
    history = np.where(is_single[:, None], slot, per_value)
    span_text = pa.array([",".join(map(str, one)) for one in spans], pa.string())
    sources = pa.array(identities_of_sources, pa.binary())
    candidate = identity_rows(("candidate", sources, span_text, extractor, _bytes(claim)), count)
    named = {
        "candidate_id": ("candidates", candidate),
        "slot_id": ("slots", slot),
        "history_id": ("histories", history),
        "claim_id": ("atoms", claim),
    }
    return {name: _bytes(keyed_ids(key, table, rows)) for name, (table, rows) in named.items()}


def _bytes(rows: NDArray[np.uint8]) -> pa.Array:
    raw = np.ascontiguousarray(rows)
    return pa.Array.from_buffers(pa.binary(raw.shape[1]), len(raw), [None, pa.py_buffer(raw.tobytes())])


def _spans(claims: pa.Table) -> list[list[int]]:
    columns = (claims[name].to_pylist() for name in ("start", "end", "more_spans"))
    return [[start, end, *more] for start, end, more in zip(*columns, strict=True)]


def _normal(claim: Any) -> NormalValue:
    text = claim.value
    if text is None:
        text = msgspec.json.decode(claim.payload).get("claim", "") if claim.payload else ""
    return _normalised(text, claim.value_kind)


@lru_cache(maxsize=1 << 16)
def _normalised(text: str, kind: str) -> NormalValue:
    return normalise_value(text, kind)


def canonical_json(value: object) -> str:
    """Return JSON with sorted keys and no spaces: the bytes that are stored and hashed."""
    return msgspec.json.encode(value, order="sorted").decode()


def are_spans_sound(content: bytes, spans: list[int]) -> bool:
    """Tell whether every half-open byte range lies inside `content` on character boundaries."""
    if content.isascii() and len(spans) == 2:
        return 0 <= spans[0] < spans[1] <= len(content)
    return all(
        0 <= start < end <= len(content) and not _is_inside(content, start) and not _is_inside(content, end)
        for start, end in _pairs(spans)
    )


def first_of_each(candidates: pa.Table) -> pa.Table:
    """Return the rows of the first occurrence of each candidate id, in order."""
    ids = candidates["candidate_id"].to_pylist()
    if len(set(ids)) == len(ids):
        return candidates
    first = {identifier: row for row, identifier in reversed(list(enumerate(ids)))}
    return candidates.take(sorted(first.values()))


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


def _with_session(scope: Scope) -> tuple[str | None, ...]:
    """Return the six scope columns of a claim: its session is always open."""
    project, user, agent, task, environment = scope
    return project, user, agent, None, task, environment
