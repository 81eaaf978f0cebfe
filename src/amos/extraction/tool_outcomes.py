"""Claims about what became of an agent's calls of tools, read from the answers of the tools themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from amos.extraction.notes import unread_reasons
from amos.extraction.tool_results import Told, told_by
from amos.schemas.claims import CLAIMS
from amos.schemas.columns import TEXT, TIME, column
from amos.schemas.vocabulary import AtomType, Cue, MemoryClass, Modality, Role, Trust
from amos.stage import stage

PATTERN = "tool_result."
"""Beginning of the patterns of these claims."""
PROPERTY = "outcome"
ANSWERS = pa.schema(
    [
        column("content", TEXT, "stored text of the source, cuts applied"),
        column("role", TEXT, "role of the source"),
        column("kind", TEXT, "block kind of the source"),
        column("trust", TEXT, "trust of the source"),
        column("author", TEXT, "the tool, where the format names it", nullable=True),
        column("event_time", TIME, "the source's own clock", nullable=True),
        column("reply_to", TEXT, "record that it answers", nullable=True),
        column("flags", pa.int32(), "bits of SourceFlag"),
        column("extra", TEXT, "JSON of everything else in the record", nullable=True),
    ]
)
_KINDS = pa.array(["tool_result", "text"])
_CALLS = ("tool_use_id", "tool_call_id", "call_id")
_AGENT = "assistant"
_NAMELESS = "tool"
_CONFIDENCE = 95
_AUTHORITY = int(Cue.AUTHORITY)
_ENVELOPE = ["author", "event_time", "extra", "reply_to", "trust"]
_ALIKE = {
    "type": str(AtomType.ACTION_OUTCOME),
    "memory_class": str(MemoryClass.EPISODE),
    "subject_kind": "agent",
    "property": PROPERTY,
    "value_kind": "text",
    "arity": "single",
    "polarity": "positive",
    "modality": str(Modality.ASSERTED),
    "confidence": _CONFIDENCE,
    "cues": _AUTHORITY,
}
"""Columns that all of these claims have alike: a tool is the authority for what became of its own calls."""
_ORDER = [("source_row", "ascending"), ("start", "ascending"), ("end", "ascending"), ("pattern", "ascending")]


class Answer(NamedTuple):
    """An answer of a tool: its text, who gave it, what it answers."""

    row: int
    content: bytes
    tool: str
    agent: str
    action: dict[str, str]
    envelope: Mapping[str, Any]
    is_web: bool
    has_time: bool


@stage(reads={"claims": CLAIMS, "sources": ANSWERS}, writes=CLAIMS, version=1)
def add_tool_outcomes(claims: pa.Table, sources: pa.Table) -> pa.Table:
    """Add to `claims` what the answers of tools among `sources` say became of the calls that they answer.

    claims: rows point into sources by `source_row`; by source, start, end and pattern, as is the result.
    An answer that names no call and no record, or that says nothing of its own call, adds nothing.
    """
    found = [
        (answer, told)
        for answer in _answers(sources)
        if (told := told_by(answer.content, answer.envelope, is_web=answer.is_web)) is not None
    ]
    if not found:
        return claims
    more = _claims(found)
    return pa.concat_tables([claims, more]).sort_by(_ORDER).combine_chunks() if claims.num_rows else more


def _answers(sources: pa.Table) -> Iterator[Answer]:
    """Yield the answers of tools that may be read and name what they answer."""
    is_answer = pc.and_(pc.equal(sources["role"], str(Role.TOOL)), pc.is_in(sources["kind"], _KINDS))
    rows = np.flatnonzero(is_answer.to_numpy())
    if not rows.size:
        return
    held = sources.take(pa.array(rows))
    is_read = unread_reasons(held) == 0
    rows, held = rows[is_read], held.filter(pa.array(is_read))
    contents = held["content"].cast(pa.binary()).to_pylist()
    told = zip(rows.tolist(), contents, held.select(_ENVELOPE).to_pylist(), strict=True)
    for row, content, one in told:
        envelope = msgspec.json.decode(one["extra"]) if one["extra"] else {}
        action = _action(envelope, one["reply_to"])
        if action is not None:
            yield Answer(
                row=row,
                content=content,
                tool=str(envelope.get("tool_name") or one["author"] or _NAMELESS),
                agent=str(envelope.get("called_by") or _AGENT),
                action=action,
                envelope=envelope,
                is_web=one["trust"] == Trust.UNTRUSTED_WEB,
                has_time=one["event_time"] is not None,
            )


def _action(envelope: Mapping[str, Any], reply_to: str | None) -> dict[str, str] | None:
    """Return what the answer itself names as the action it answers: a call by its id, else a record."""
    call = next((envelope[name] for name in _CALLS if isinstance(envelope.get(name), str)), None)
    if call:
        return {"call": call}
    return {"record": reply_to} if reply_to else None


def _claims(found: list[tuple[Answer, Told]]) -> pa.Table:
    """Return CLAIMS, one per answer: the occurrence of an action that ended this way."""
    count = len(found)
    answers = [answer for answer, _ in found]
    outcomes = [told for _, told in found]
    none = pa.array(np.zeros(count + 1, np.int32))
    spans = CLAIMS.field("more_spans").type
    columns: dict[str, Any] = {
        **{name: [value] * count for name, value in _ALIKE.items()},
        **{name: [None] * count for name in ("valid_from", "valid_until", "time_text", "veto")},
        "source_row": [answer.row for answer in answers],
        "pattern": [PATTERN + told.sign for told in outcomes],
        "subject": [answer.agent for answer in answers],
        "value": [told.status for told in outcomes],
        "applicability": [canonical(answer.action) for answer in answers],
        "start": [told.start for told in outcomes],
        "end": [told.end for told in outcomes],
        "time_precision": ["minute" if answer.has_time else "relative" for answer in answers],
        "payload": [canonical(_payload(*pair)) for pair in found],
    }
    columns = {name: pa.array(values, CLAIMS.field(name).type) for name, values in columns.items()}
    columns["more_spans"] = pa.ListArray.from_arrays(none, pa.array([], spans.value_type), type=spans)
    return pa.Table.from_arrays([columns[name] for name in CLAIMS.names], schema=CLAIMS)


def _payload(answer: Answer, told: Told) -> dict[str, Any]:
    """Return the typed fields: who acted, with which tool, in which call, how it ended and what says so."""
    (action,) = answer.action.values()
    fields: dict[str, Any] = {
        "action_ref": action,
        "agent": answer.agent,
        "sign": told.sign,
        "status": told.status,
        "tool": answer.tool,
    }
    return fields if told.detail is None else {**fields, "detail": told.detail}


def canonical(fields: Mapping[str, Any]) -> str:
    """Return canonical JSON."""
    return msgspec.json.encode(fields, order="sorted").decode()
