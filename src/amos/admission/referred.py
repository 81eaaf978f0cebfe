"""Candidates whose subject turned out to be somebody else than their words alone say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
import pyarrow as pa

from amos.admission.candidate_ids import Named, Octets, candidate_ids
from amos.admission.candidates import UNSALTED_CANDIDATES
from amos.admission.gates import Facts, gate_without_pronoun
from amos.admission.meanings import canonical_json
from amos.admission.policy import Policy
from amos.admission.values import fold_property
from amos.schemas.choosing import with_column
from amos.schemas.vocabulary import Cue, MemoryClass, Outcome, Reason

AMBIGUOUS_GATE = f"{Outcome.QUARANTINE}:{Reason.AMBIGUOUS_REFERENT}"
"""Gate of a claim of which it is open whom it is about."""

_PRONOUN = int(Cue.PRONOUN)
_PASSING = (MemoryClass.TEMPORARY_STATE, MemoryClass.EPISODE)
Row = dict[str, Any]


class Subject(NamedTuple):
    """Whom a claim is about: unkeyed identity and entity id."""

    identity: bytes
    entity_id: bytes


def about(rows: Sequence[Row], subjects: Sequence[Subject], sources: Octets, *, key: bytes) -> pa.Table:
    """Return candidate `rows` (no salt) as claims about `subjects`, as their first version.

    rows: at least one.  sources: the (n, 32) unkeyed identities of their sources.
    """
    fields = [msgspec.json.decode(row["payload"]) for row in rows]
    held = [one.get("property") for one in fields]
    named = Named(
        subject=[one.identity for one in subjects],
        holder_property=[None if one is None else fold_property(one) for one in held],
        kind=[one["normal"][0] for one in fields],
        canonical=[one["normal"][1] for one in fields],
        applicability=[
            canonical_json(one["applicability"]) if one.get("applicability") else None for one in fields
        ],
    )
    told = [
        {**row, "version": 1, "subject_id": subject.entity_id}
        for row, subject in zip(rows, subjects, strict=True)
    ]
    made = pa.Table.from_pylist(told, schema=UNSALTED_CANDIDATES)
    arity = pa.array([str(one.get("arity", "single")) for one in fields])
    by_extractor: dict[str, list[int]] = {}
    for place, row in enumerate(rows):
        by_extractor.setdefault(row["extractor"], []).append(place)
    parts = []
    for extractor, places in by_extractor.items():
        chosen = pa.array(places)
        part = made.take(chosen)
        ids = candidate_ids(
            _named_at(named, places),
            part.select(["polarity"]).append_column("arity", arity.take(chosen)),
            part,
            sources=sources[places],
            span_texts=pa.array([",".join(map(str, rows[place]["spans"])) for place in places]),
            extractor=extractor,
            key=key,
        )
        for name, column in ids.items():
            part = with_column(part, name, column)
        parts.append(part)
    order = [place for places in by_extractor.values() for place in places]
    back = sorted(range(len(order)), key=order.__getitem__)
    return pa.concat_tables(parts).take(pa.array(back)).combine_chunks()


def _named_at(named: Named, places: Sequence[int]) -> Named:
    """Return what the ids of some of the claims rest on."""
    return Named(
        subject=[named.subject[place] for place in places],
        holder_property=[named.holder_property[place] for place in places],
        kind=[named.kind[place] for place in places],
        canonical=[named.canonical[place] for place in places],
        applicability=[named.applicability[place] for place in places],
    )


def gate_when_known(row: Mapping[str, Any], policy: Policy) -> str | None:
    """Return the gate of a claim that only waited for whom it is about, now that this is known."""
    fields = msgspec.json.decode(row["payload"])
    precision = (fields.get("time") or {}).get("precision")
    is_episode = row["memory_class"] == MemoryClass.EPISODE
    has_bound = row["memory_class"] in _PASSING and (
        precision not in (None, "unresolved")
        if is_episode
        else row["valid_until"] is not None or row["event_time"] is None
    )
    facts = Facts(
        confidence=row["extraction_confidence"],
        cues=row["cues"] & ~_PRONOUN,
        has_bound=has_bound,
        is_authorised=True,
        is_ordered_in_time=True,
        is_span_sound=True,
        is_too_long=False,
        memory_class=row["memory_class"],
        modality=row["modality"],
        subject_kind="person",
        trust=row["trust"],
        type=row["type"],
        veto=None,
    )
    found = gate_without_pronoun(facts, policy)
    return None if found is None else f"{found[0]}:{found[1]}"
