"""Capture what a reviewer says as sources of their own, and read the claims that they worded.

Every decision is one record: who decided, when, what, and the note.  Wording is a second block of
the same record, which the claim cites.  Both belong to a conversation named after what was reviewed.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from amos.admission.candidate_ids import Named, candidate_ids, source_identities
from amos.admission.candidates import UNSALTED_CANDIDATES, UNSALTED_ENTITIES, Builder
from amos.admission.meanings import canonical_json
from amos.admission.reviewed import REVIEWER, approved
from amos.admission.tombstones import Graves
from amos.admission.values import fold_property, normalise_value
from amos.errors import InputError, UsageError
from amos.evidence.capture import digest_deliveries, identify_sources
from amos.extraction.bounds import bound_temporary, mark_former
from amos.extraction.frames import frame_claims
from amos.extraction.wording import kind_of_value
from amos.flow.arities import arity_of
from amos.flow.claims import labels_of
from amos.flow.digest_ids import entity_identities
from amos.flow.prepare import Prepared, Rules, prepare
from amos.flow.review_names import FORMAT, RECORD, WORDING, conversation_of
from amos.identity import CLAIM_SCOPE, id_text, parse_ref, prefix_range
from amos.journal.store import Snapshot
from amos.schemas.claims import SEGMENTABLE
from amos.schemas.columns import ID, SCOPE_NAMES
from amos.schemas.raw import RAW
from amos.schemas.vocabulary import Role, Trust

LONGEST_NOTE = 4_000
_WORDINGS = ("text", "value", "referent")

_PLACE = (
    "event_time",
    "order_time",
    "conversation_id",
    "turn",
    "conversation_order",
    "order_key",
    "valid_from",
)
"""Columns in which a reworded claim takes the place of the one that was proposed."""
Row = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Words:
    """What a reviewer writes with a decision; at most one of text, value and referent is set.

    text: the claim as its author would say it.  value: another value for the same property.  referent: whom
    it is about: the label of an entity, or its reference.
    """

    note: str = ""
    text: str | None = None
    value: str | None = None
    referent: str | None = None

    @property
    def wording(self) -> str | None:
        """The words that make a new claim, if any."""
        return next((one for one in (self.text, self.value, self.referent) if one is not None), None)

    @property
    def kind(self) -> str | None:
        """Which of the fields the wording is."""
        return next((one for one in _WORDINGS if getattr(self, one) is not None), None)


class Reviewed(NamedTuple):
    """One decision to be recorded.  turn: how many were recorded of it before.

    extra: what the record keeps of the decision, as JSON.  actor, at_us: who decided, and when.
    """

    table: str
    identifier: bytes
    source: Row
    turn: int
    words: Words
    extra: Row
    actor: str
    at_us: int


def records_of(snapshot: Snapshot, things: Sequence[tuple[str, bytes]], key: bytes) -> dict[bytes, list[Row]]:
    """Return by id of a candidate or source what reviewers wrote about it, oldest first."""
    talks = {conversation_of(table, one, key): one for table, one in things}
    rows = snapshot.lookup("sources", "conversation_id", pa.array(list(talks), ID)).to_pylist()
    newest = {row["source_id"]: row for row in sorted(rows, key=lambda row: int(row["revision"]))}
    found: dict[bytes, list[Row]] = {one: [] for _, one in things}
    for row in sorted(newest.values(), key=lambda row: (row["turn"], row["block"])):
        if row["format"] == FORMAT:
            found[talks[row["conversation_id"]]].append(row)
    return found


def check_words(words: Words, verdict: str) -> None:
    """Raise UsageError when the words do not fit the verdict."""
    given = [name for name in _WORDINGS if getattr(words, name) is not None]
    if verdict == "edit" and len(given) != 1:
        raise UsageError("edit needs the wording", advice="Give one of --text, --value and --referent.")
    if verdict != "edit" and given:
        raise UsageError(f"--{given[0]} belongs to edit", advice="Use `amos review decide edit`.")
    if given and not (words.wording or "").strip():
        raise UsageError("the wording is empty", advice="Reject the claim if nothing of it holds.")
    if len(words.note) > LONGEST_NOTE:
        raise UsageError(f"the note has {len(words.note):,} characters; {LONGEST_NOTE:,} are kept")


def raw_records(records: Sequence[Reviewed]) -> pa.Table:
    """Return RAW rows of the records: one block each, and one more for wording."""
    rows = []
    for record in records:
        shared = {
            "format": FORMAT,
            "record_key": f"{id_text(record.table, record.identifier)}@{record.at_us}",
            "role": str(Role.RECORD),
            "trust": str(Trust.TRUSTED_USER),
            "author": record.actor,
            "is_owner": False,
            "event_us": record.at_us,
            "is_zone_assumed": False,
            "conversation_key": id_text(record.table, record.identifier),
            "turn": record.turn,
            "may_retain": record.source["may_retain"],
            "purposes": record.source["purposes"],
            "flags": 0,
            "locator": FORMAT,
            **{f"scope_{name}": record.source[f"scope_{name}"] for name in SCOPE_NAMES},
        }
        extra = json.dumps(record.extra, sort_keys=True, ensure_ascii=False)
        rows.append({**shared, "block": RECORD, "kind": "record", "text": record.words.note, "extra": extra})
        if record.words.wording is not None:
            rows.append({**shared, "block": WORDING, "kind": "text", "text": record.words.wording})
    return pa.Table.from_pylist(rows, schema=RAW)


def capture(raw: pa.Table, graves: Graves, *, rules: Rules, key: bytes, now: datetime) -> Prepared:
    """Return the sources of `raw` records.  Raises InputError when a screen would cut some of it."""
    prepared = prepare(
        raw,
        (identify_sources(raw, key), digest_deliveries(raw, key), pa.nulls(raw.num_rows, ID)),
        rules=rules,
        key=key,
        now=now,
        graves=graves,
    )
    if prepared.findings.num_rows:
        found = prepared.findings.to_pylist()[0]
        raise InputError(
            f"what you wrote may not be stored: {found['reason']}",
            code=str(found["reason"]),
            advice="Leave that part out of the note or the wording.",
        )
    return prepared


def without_wording(decisions: pa.Table, sources: pa.Table) -> pa.Table:
    """Return the decisions on records; wording is decided by the claim that cites it."""
    worded = sources.filter(pc.equal(sources["block"], WORDING))["source_id"].combine_chunks()
    return decisions.filter(pc.invert(pc.is_in(decisions["source_id"], value_set=worded)))


def worded_claim(
    snapshot: Snapshot,
    candidate: Row,
    origin: Row,
    wording: pa.Table,
    words: Words,
    *,
    rules: Rules,
    key: bytes,
) -> tuple[pa.Table, pa.Table]:
    """Return the candidate that a reviewer's wording makes, and the entities that it names.

    candidate, origin: what was proposed, and its source.  wording: the one captured source row.
    Raises UsageError when the wording states no claim, or several.
    """
    if words.value is not None:
        return _revalued(snapshot, candidate, wording, words.value, key=key), UNSALTED_ENTITIES.empty_table()
    if words.referent is not None:
        person = referent_named(snapshot, words.referent, origin)
        made = _reworded(snapshot, candidate, wording, msgspec.json.decode(candidate["payload"]), person, key)
        return made, UNSALTED_ENTITIES.empty_table()
    claims = _read(origin, wording, rules)
    cited = _as_said_by(origin, wording)
    talk = conversation_key_of(snapshot, origin)
    built = Builder(key=key, policy=rules.policy, extractor=REVIEWER).build(claims, cited, pa.array([talk]))
    rows = built.candidates.to_pylist()
    stated = [row for row in rows if row["gate"] is None or row["gate"].startswith("quarantine:")]
    if len(stated) != 1:
        gates = sorted({str(row["gate"]).partition(":")[2] for row in rows if row["gate"]})
        why = (
            f"states {len(stated)} claims"
            if stated
            else f"states no claim ({', '.join(gates) or 'none read'})"
        )
        raise UsageError(
            f"the wording {why}",
            code="unsupported_by_source",
            advice="Write one plain sentence as its author would say it, or give --value alone.",
        )
    place = {name: candidate[name] for name in _PLACE if name != "valid_from"}
    row = {**stated[0], **place, "trust": str(Trust.TRUSTED_USER)}
    return approved(pa.Table.from_pylist([row], schema=built.candidates.schema)), built.entities


def _read(origin: Row, wording: pa.Table, rules: Rules) -> pa.Table:
    """Return the claims of the wording, read as if the author of `origin` had said it then."""
    said = {**origin, "content": wording["content"][0].as_py(), "role": "user", "kind": "text",
            "trust": str(Trust.TRUSTED_USER), "flags": 0}  # fmt: skip
    rows = pa.Table.from_pylist([{name: said[name] for name in SEGMENTABLE.names}], schema=SEGMENTABLE)
    proposal = rules.extractor.propose(rows, is_compiled=False)
    return bound_temporary(mark_former(frame_claims(proposal.claims, rows), rows), rows)


def _as_said_by(origin: Row, wording: pa.Table) -> pa.Table:
    """Return the source of the wording, spoken by the author of `origin` at that time."""
    row = wording.to_pylist()[0]
    same = ("author", "author_id", "is_owner", "event_time", "is_zone_assumed", "turn", *CLAIM_SCOPE)
    return pa.Table.from_pylist([{**row, **{name: origin[name] for name in same}}], schema=wording.schema)


def conversation_key_of(snapshot: Snapshot, origin: Row) -> str:
    """Return the key of a source's conversation in its format."""
    wanted = pa.array([origin["conversation_id"]], ID)
    rows = snapshot.lookup("conversations", "conversation_id", wanted, ["conversation_key"])
    return str(rows["conversation_key"][-1].as_py())


def _revalued(snapshot: Snapshot, candidate: Row, wording: pa.Table, value: str, *, key: bytes) -> pa.Table:
    """Return the candidate with another value, citing the wording."""
    fields = msgspec.json.decode(candidate["payload"])
    if "value" not in fields:
        raise UsageError(
            "the claim has no value of its own",
            code="schema_invalid",
            advice="Give the whole wording with --text.",
        )
    old, new = fields["value"], " ".join(value.split())
    normal = normalise_value(new, kind_of_value(new))
    fields = {name: new if held == old else held for name, held in fields.items() if name != "claim"}
    fields["normal"] = [normal.kind, normal.canonical]
    return _reworded(snapshot, candidate, wording, fields, candidate["subject_id"], key)


def referent_named(snapshot: Snapshot, name: str, origin: Row) -> bytes:
    """Return the id of the entity that the author of `origin` calls so, or of that reference.

    Raises UsageError when there is none, when there are several, or when it belongs to somebody else.
    """
    if name.startswith("ent_"):
        low, high = prefix_range(parse_ref(name)[1])
        rows = snapshot.find("entities", low, high)
    else:
        rows = snapshot.current("entities")
        labels = labels_of(snapshot, rows.to_pylist())
        called = [labels[one].text.lower() == name.lower() for one in rows["entity_id"].to_pylist()]
        rows = rows.filter(pa.array(called, pa.bool_()))
    found = [
        row["entity_id"]
        for row in rows.to_pylist()
        if row["kind"] != "pronoun"
        and row["owner_id"] in (None, origin["author_id"])
        and all(row[scope] == origin[scope] for scope in CLAIM_SCOPE)
    ]
    if len(found) != 1:
        told = "is nobody whom the author of the claim speaks of" if not found else "is the name of several"
        raise UsageError(f"{name!r} {told}", path=name, advice="`amos entities list` prints references.")
    return bytes(found[0])


def _reworded(
    snapshot: Snapshot, candidate: Row, wording: pa.Table, fields: Row, subject: bytes, key: bytes
) -> pa.Table:
    """Return the candidate with another payload or subject (id), citing the wording."""
    conditions, held, normal = fields.get("applicability"), fields.get("property"), fields["normal"]
    fields = {**fields, "arity": arity_of(held, fields.get("arity", "single"))}
    named = Named(
        [_subject_identity(snapshot, subject)],
        [None if held is None else fold_property(held)],
        [normal[0]],
        [normal[1]],
        [canonical_json(conditions) if conditions else None],
    )
    spans = [0, len(wording["content"][0].as_py().encode())]
    row = {name: candidate[name] for name in UNSALTED_CANDIDATES.names}
    row |= {"version": 1, "source_id": wording["source_id"][0].as_py(), "source_revision": 1, "spans": spans,
            "subject_id": subject, "extractor": REVIEWER, "pattern": "reviewer",
            "payload": canonical_json(fields), "gate": None,
            "extraction_confidence": 100, "trust": str(Trust.TRUSTED_USER)}  # fmt: skip
    schema = UNSALTED_CANDIDATES
    made = pa.Table.from_pylist([row], schema=schema)
    claims = made.select(["polarity"]).append_column("arity", pa.array([fields["arity"]]))
    ids = candidate_ids(
        named,
        claims,
        made,
        sources=source_identities(wording),
        span_texts=pa.array([",".join(map(str, spans))]),
        extractor=REVIEWER,
        key=key,
    )
    for name, column in ids.items():
        made = made.set_column(schema.get_field_index(name), schema.field(name), column)
    return approved(made)


def _subject_identity(snapshot: Snapshot, subject: bytes) -> bytes:
    rows = snapshot.lookup("entities", "entity_id", pa.array([subject], ID))
    owners = rows["owner_id"].drop_null().combine_chunks().cast(ID)
    return entity_identities(pa.concat_tables([rows, snapshot.lookup("entities", "entity_id", owners)]))[
        subject
    ]
