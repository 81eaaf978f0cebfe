"""From raw blocks to sources, candidates and decisions on sources: everything before history."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from amos.admission.candidates import Builder, Built
from amos.admission.cells import instants
from amos.admission.comparison import UNSALTED
from amos.admission.decision_rows import decision_ids, nothing_in, singletons
from amos.admission.policy import Policy
from amos.admission.tombstones import Graves
from amos.entities.resolve import Introduced, Owner
from amos.evidence.capture import capture_sources
from amos.extraction.bounds import bound_temporary, mark_former
from amos.extraction.forget_requests import note_requests, requests_of, withhold_requested
from amos.extraction.frames import frame_claims
from amos.extraction.notes import one_array, without_idle
from amos.extraction.registry import Extractor
from amos.extraction.screen import apply_cuts, screen
from amos.extraction.tool_outcomes import ANSWERS, add_tool_outcomes
from amos.extraction.unread import mark_unread
from amos.flow.arities import with_arities
from amos.flow.referents import Referents
from amos.flow.referents_told import NothingTold, Told
from amos.flow.retaining import withhold_unretained
from amos.flow.tombstoned import (
    claim_findings,
    echo_findings,
    hold_candidates,
    joined_findings,
    source_findings,
)
from amos.identity import CLAIM_SCOPE, UNNAMED, plain_name
from amos.schemas.buffers import plain
from amos.schemas.choosing import as_schema, empty, of_sources, taken
from amos.schemas.claims import SEGMENTABLE
from amos.schemas.columns import SCOPE_NAMES, TIME
from amos.schemas.state import CONVERSATIONS, ENTITIES
from amos.schemas.vocabulary import UNSEEN, Action, Modality, Outcome, Reason, SourceFlag

UNSALTED_CONVERSATIONS = pa.schema([field for field in CONVERSATIONS if field.name != "salt"])
UNSALTED_ENTITIES = pa.schema([field for field in ENTITIES if field.name != "salt"])

_OF_CONVERSATION = [
    "format",
    "conversation_key",
    "conversation_title",
    *(f"scope_{name}" for name in SCOPE_NAMES),
]
_OF_AUTHOR = ["author_id", "author", "is_owner", *CLAIM_SCOPE]
_NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True, kw_only=True)
class Rules:
    """What a run decides by: extractor, policy, and whether its kernels are compiled.

    texts: by digest the kind and body of what the store keeps once, the policy among them.
    earlier: findings (FINDINGS) that were made before the RAW rows given to it came here, if any.
    """

    extractor: Extractor
    policy: Policy
    is_compiled: bool
    texts: Mapping[bytes, tuple[str, str]] = field(default_factory=dict)
    earlier: Callable[[pa.Table], pa.Table] | None = None


class Heard(NamedTuple):
    """What texts say: claims (CLAIMS), and notes (SOURCE_NOTES) for those without one."""

    claims: pa.Table
    notes: pa.Table


class Screened(NamedTuple):
    """What the screen finds in texts; heard: what they say when nothing else is cut, if they were read."""

    findings: pa.Table
    heard: Heard | None = None

    def of(self, rows: NDArray[np.int64]) -> Screened:
        """Return the same of some of the texts, by their ascending `rows`: each is looked at by itself."""
        heard = None if self.heard is None else Heard(*(of_sources(part, rows) for part in self.heard))
        return Screened(of_sources(self.findings, rows), heard)


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """Rows of one batch of new sources, without salts; histories are not yet read."""

    sources: pa.Table
    conversations: pa.Table
    entities: pa.Table
    candidates: pa.Table
    mentions: pa.Table
    source_decisions: pa.Table
    findings: pa.Table
    introduced: Sequence[tuple[Owner, Introduced]] = ()


def prepare(
    raw: pa.Table,
    envelope: tuple[pa.Array, pa.Array, pa.Array],
    *,
    rules: Rules,
    key: bytes,
    now: datetime,
    graves: Graves | None = None,
    screened: Screened | None = None,
    told: Told | NothingTold | None = None,
) -> Prepared:
    """Screen, cut, capture and read the claims of new `raw` rows (RAW), and resolve whom they are about.

    envelope: (n,) ids and digests of the deliveries, and the sources they revise (null for most),
    aligned with raw.  graves: the tombstones that stand; what they forbid is
    cut before anything is made of it.  screened: what the screen finds in raw, where it was asked before.
    told: what is known of people from elsewhere.
    """
    told = NothingTold() if told is None else told
    raw = withhold_unretained(raw)
    findings, heard = Screened(screen(raw)) if screened is None else screened
    if rules.earlier is not None:
        findings, heard = joined_findings(findings, rules.earlier(raw)), None
    if graves is None or graves.is_empty:
        return _prepare_found(raw, findings, envelope, heard, rules=rules, key=key, now=now, told=told)
    findings = joined_findings(
        findings, source_findings(raw, envelope[0], graves), echo_findings(raw, graves)
    )
    while True:
        prepared = _prepare_found(raw, findings, envelope, None, rules=rules, key=key, now=now, told=told)
        more = joined_findings(findings, claim_findings(raw, prepared.sources, prepared.candidates, graves))
        if more.num_rows == findings.num_rows:
            return prepared
        findings = more  # without the forbidden claims other words may be read as claims


def _prepare_found(
    raw: pa.Table,
    findings: pa.Table,
    envelope: tuple[pa.Array, pa.Array, pa.Array],
    heard: Heard | None,
    *,
    rules: Rules,
    key: bytes,
    now: datetime,
    told: Told | NothingTold,
) -> Prepared:
    """Cut what was found, capture the sources and read their claims, unless they were heard before."""
    source_ids, delivered, revises = envelope
    raw, cut_bytes = apply_cuts(raw, findings)
    sources = capture_sources(raw, source_ids, delivered, cut_bytes, revises, key=key, now=now)
    claims, notes = read_claims(sources, rules) if heard is None else heard
    builder = Builder(key=key, policy=rules.policy, extractor=rules.extractor.name)
    built = builder.build(claims, sources, raw["conversation_key"])
    referred = Referents(key=key, policy=rules.policy, told=told).resolve(built, sources)
    built = Built(referred.candidates, referred.entities)
    return Prepared(
        sources=sources,
        conversations=conversation_rows(raw, sources),
        entities=_entities(sources, built),
        candidates=hold_candidates(built.candidates, sources),
        mentions=referred.mentions,
        introduced=referred.introduced,
        source_decisions=source_decisions(sources, built, notes, findings, rules=rules, key=key, now=now),
        findings=findings,
    )


def hear(raw: pa.Table, findings: pa.Table, rules: Rules) -> Heard:
    """Return what `raw` rows (RAW, without texts that may not be kept) say once `findings` are cut."""
    cut, _ = apply_cuts(raw, findings)
    stored = cut.append_column("content", cut["text"]).append_column("event_time", cut["event_us"].cast(TIME))
    return read_claims(stored, rules)


def read_claims(sources: pa.Table, rules: Rules) -> Heard:
    """Return the claims of stored texts, and the notes for those without one.

    A source that asks to have something forgotten is noted, too; what it says of that claims nothing.
    """
    segmentable = as_schema(sources.select(SEGMENTABLE.names), SEGMENTABLE)
    proposal = rules.extractor.propose(segmentable, is_compiled=rules.is_compiled)
    claims = mark_former(frame_claims(proposal.claims, segmentable), segmentable)
    claims, notes = without_idle(claims, proposal.notes)
    claims = mark_unread(claims, segmentable)
    claims = with_arities(bound_temporary(claims, segmentable))
    claims = add_tool_outcomes(claims, as_schema(sources.select(ANSWERS.names), ANSWERS))
    requests = requests_of(segmentable)
    if not requests:
        return Heard(claims, notes)
    return Heard(withhold_requested(claims, requests), note_requests(notes, requests))


def conversation_rows(raw: pa.Table, sources: pa.Table) -> pa.Table:
    """Return one row per conversation of the batch: first title, earliest time, unknown times."""
    codes, first = first_rows(sources["conversation_id"])
    head = taken(raw.select(_OF_CONVERSATION), first)
    count = len(first)
    times, is_known = instants(sources["event_time"])
    earliest = np.full(count, _NEVER)
    np.minimum.at(earliest, codes[is_known], times[is_known])
    is_unknown = np.zeros(count, bool)
    is_unknown[codes[~is_known]] = True
    columns = {
        "conversation_id": taken(sources.select(["conversation_id"]), first)["conversation_id"],
        "version": pa.array(np.ones(count, np.int32)),
        "title": head["conversation_title"],
        "started_at": pa.array(earliest, mask=earliest == _NEVER).cast(TIME),
        "has_unknown_time": pa.array(is_unknown),
    }
    arrays = [
        columns[field.name] if field.name in columns else head[field.name] for field in UNSALTED_CONVERSATIONS
    ]
    return pa.Table.from_arrays(arrays, schema=UNSALTED_CONVERSATIONS)


def first_rows(column: pa.ChunkedArray) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return for each row the code of its value, counted in order of appearance, and their first rows."""
    codes = plain(column).dictionary_encode().indices.to_numpy()
    _, first = np.unique(codes, return_index=True)
    return codes, first


def _entities(sources: pa.Table, built: Built) -> pa.Table:
    """Return the entities of the batch's authors and of the subjects that its claims name."""
    _, first = first_rows(sources["author_id"])
    head = taken(sources.select(_OF_AUTHOR), first)
    rows = len(first)
    columns: dict[str, Any] = {
        "entity_id": head["author_id"],
        "version": pa.array(np.ones(rows, np.int32)),
        "kind": pa.repeat("author", rows),
        "name": pa.array([plain_name(name or "") or UNNAMED for name in head["author"].to_pylist()]),
        "owner_id": pa.nulls(rows, UNSALTED_ENTITIES.field("owner_id").type),
        "is_owner": head["is_owner"],
        "scope_session": pa.nulls(rows, pa.string()),
        **{field: head[field] for field in CLAIM_SCOPE},
    }
    authors = pa.table([columns[field.name] for field in UNSALTED_ENTITIES], schema=UNSALTED_ENTITIES)
    if not built.entities.num_rows:
        return authors
    is_author = pc.is_in(built.entities["entity_id"], value_set=head["author_id"].combine_chunks())
    return pa.concat_tables([authors, built.entities.filter(pc.invert(is_author))]).combine_chunks()


def source_decisions(
    sources: pa.Table,
    built: Built,
    notes: pa.Table,
    findings: pa.Table,
    *,
    rules: Rules,
    key: bytes,
    now: datetime,
) -> pa.Table:
    """Return the decision on every source that was cut, refused or flagged, asks, or gave no candidate."""
    flags = sources["flags"].to_numpy()
    retained = sources["may_retain"].to_numpy(zero_copy_only=False)
    has_candidate = pc.is_in(sources["source_id"], value_set=built.candidates["source_id"].combine_chunks())
    needs = (
        ~has_candidate.to_numpy(zero_copy_only=False) | ~retained | ((flags & (SourceFlag.CUT | UNSEEN)) != 0)
    )
    needs[_asking(notes)] = True
    rows = np.flatnonzero(needs)
    schema = UNSALTED["decisions"]
    if rows.size == 0:
        return empty(schema)
    verdict, reasons, modality = _verdicts(notes, findings, rows, retained)
    taken = sources["source_id"].take(rows)
    deadline = now + timedelta(days=rules.policy.quarantine.days)
    count = len(rows)
    ids = decision_ids(taken, key)
    until = schema.field("deadline").type
    columns: dict[str, Any] = {
        "decision_id": ids,
        "version": pa.array(np.ones(count, np.int32)),
        "candidate_id": pa.nulls(count, schema.field("candidate_id").type),
        "source_id": taken,
        "outcome": _OUTCOMES.take(verdict),
        "action": _ACTIONS.take(verdict),
        "reasons": reasons,
        "modality": modality,
        "policy": pa.repeat(rules.policy.label, count),
        "extractor": pa.repeat(rules.extractor.name, count),
        "utility": pa.array(np.zeros(count, np.int32)),
        "risk": pa.array(np.zeros(count, np.int32)),
        "atom_id": pa.nulls(count, schema.field("atom_id").type),
        "targets": nothing_in(count, schema.field("targets").type),
        "deadline": pc.if_else(pc.equal(verdict, _QUARANTINE), pa.scalar(deadline, until), None),
    }
    return pa.table([columns[field.name] for field in schema], schema=schema)


_OUTCOMES = pa.array([Outcome.IGNORE, Outcome.REJECT, Outcome.QUARANTINE], pa.string())
_ACTIONS = pa.array([Action.NOOP, Action.REJECT, Action.ADD], pa.string())
_IGNORE, _REJECT, _QUARANTINE = range(3)


def _verdicts(
    notes: pa.Table, findings: pa.Table, rows: NDArray[np.int64], retained: NDArray[np.bool_]
) -> tuple[pa.Array, pa.Array, pa.Array]:
    """Return per source of `rows` the place of its outcome in _OUTCOMES, its reasons and its modality."""
    cuts, flags = _reasons_found(findings)
    reasons, modality = _noted(notes, rows)
    verdict = np.full(len(rows), _IGNORE, np.int8)
    asking = set(_asking(notes).tolist())
    places = np.flatnonzero(_is_special(rows, retained, cuts, flags, asking))
    if places.size:
        modes = modality.take(pa.array(places)).to_pylist()
        special = [
            _special(retained[row], cuts.get(row), flags.get(row), mode, is_asking=row in asking)
            for row, mode in zip(rows[places].tolist(), modes, strict=True)
        ]
        verdict[places], told, shown = zip(*special, strict=True)
        reasons, modality = _replaced(reasons, places, told), _replaced(modality, places, shown)
    return pa.array(verdict), reasons, modality


def _noted(notes: pa.Table, rows: NDArray[np.int64]) -> tuple[pa.Array, pa.Array]:
    """Return per row the reasons and the modality that the extractor's notes give."""
    places = pc.index_in(pa.array(rows, pa.int32()), value_set=notes["source_row"].combine_chunks())
    reason = pc.fill_null(notes["reason"].take(places), str(Reason.NO_EXTRACTABLE_CLAIM))
    mode = pc.fill_null(notes["modality"].take(places), str(Modality.NONE))
    return singletons(one_array(reason)), one_array(mode)


def _asking(notes: pa.Table) -> NDArray[np.int64]:
    """Return the source rows that ask to have something forgotten."""
    if notes.num_rows == 0:
        return np.zeros(0, np.int64)
    asks = pc.equal(notes["reason"], str(Reason.FORGET_REQUESTED)).to_numpy(zero_copy_only=False)
    return notes["source_row"].to_numpy()[asks.astype(np.bool_)].astype(np.int64)


def _special(
    is_retained: bool, cut: list[str] | None, flagged: list[str] | None, mode: str, *, is_asking: bool
) -> tuple[int, list[str], str]:
    """Return outcome, reasons and modality of a source that was refused, cut or flagged, or that asks.

    A request to forget waits even where a secret beside it was cut: it is what its author wants done.
    """
    if not is_retained:
        return _REJECT, [str(Reason.UNAUTHORIZED_SCOPE)], mode
    if is_asking:
        return _QUARANTINE, [str(Reason.FORGET_REQUESTED), *(cut or [])], mode
    if cut is not None:
        return _REJECT, cut, str(Modality.ASSERTED)
    return _QUARANTINE, flagged or [], mode


def _replaced(column: pa.Array, places: NDArray[np.int64], values: Sequence[Any]) -> pa.Array:
    """Return `column` with `values` at `places`."""
    chosen = np.arange(len(column))
    chosen[places] = len(column) + np.arange(len(places))
    return pa.concat_arrays([column, pa.array(values, column.type)]).take(pa.array(chosen))


def _is_special(
    rows: NDArray[np.int64], retained: NDArray[np.bool_], *reasons: Collection[int]
) -> NDArray[np.bool_]:
    special = ~retained[rows]
    for found in reasons:
        special |= np.isin(rows, np.fromiter(found, np.int64, len(found)))
    return special


def _reasons_found(findings: pa.Table) -> tuple[dict[int, list[str]], dict[int, list[str]]]:
    """Return per source row the distinct reasons of cuts, and of flags, in order of place."""
    cuts: dict[int, list[str]] = {}
    flags: dict[int, list[str]] = {}
    rows, actions, reasons = (findings[name].to_pylist() for name in ("source_row", "action", "reason"))
    for row, action, reason in zip(rows, actions, reasons, strict=True):
        found = (cuts if action == "cut" else flags).setdefault(row, [])
        if reason not in found:
            found.append(reason)
    return cuts, flags
