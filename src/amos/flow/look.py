"""List what is stored, page by page, in one order for every kind of row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from amos.atoms.feedback import Fed
from amos.atoms.statement import statement_of
from amos.errors import UsageError
from amos.extraction.unread import Stated, words_beside
from amos.flow.claims import shown_value, subject_labels
from amos.flow.echoed import Echoed, echoes_in_sight
from amos.flow.learned import feedback_in_sight, shown_learned
from amos.flow.outcome_printed import outcome_rows
from amos.flow.paging import PageRequest, choose_page, event_times
from amos.flow.printed import (
    STATE_COLUMNS,
    shown_id,
    shown_ids,
    shown_intervals,
    shown_scope,
    shown_score,
    shown_time,
    states_of,
)
from amos.flow.sight import Sight, is_withheld, latest_by_id
from amos.flow.standing import require_whole, tombstone_rows
from amos.flow.versions import latest
from amos.schemas.columns import ID
from amos.schemas.cuts import marked
from amos.schemas.labels import Label
from amos.schemas.vocabulary import SourceFlag

STATES = ("active", "superseded", "archived", "quarantined", "all")
TEXT_CHARS = 200
"""Characters of a source that a list shows."""

Row = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What `list` is asked for.  type: atom types, all when empty.  state: one of STATES.

    extractor, policy: `name@version` of what read and decided a claim; None asks for all.
    """

    kind: str = "atoms"
    types: tuple[str, ...] = ()
    state: str = "active"
    extractor: str | None = None
    policy: str | None = None
    page: PageRequest = field(default_factory=PageRequest)


class Listed(NamedTuple):
    """One page of printed rows, and the cursor of the next one."""

    rows: list[Row]
    is_truncated: bool
    cursor: str | None


def list_rows(sight: Sight, wanted: Wanted) -> Listed:
    """Return one page of atoms, sources, conversations, candidates, decisions, tombstones or outcomes.

    Raises UsageError for an unknown kind or state, and for tombstones of a narrowed scope.
    """
    lister = _LISTERS.get(wanted.kind)
    if lister is None:
        raise UsageError(f"no list of {wanted.kind!r}", advice=f"Lists: {', '.join(_LISTERS)}.")
    if wanted.state not in STATES:
        raise UsageError(f"no state is called {wanted.state!r}", advice=f"States: {', '.join(STATES)}.")
    if wanted.kind not in _DECIDED and (wanted.extractor or wanted.policy):
        raise UsageError(
            f"{wanted.kind} are not read by an extractor or decided by a policy",
            advice=f"`--extractor` and `--policy` choose among {', '.join(_DECIDED)}.",
        )
    if wanted.kind == "atoms" and wanted.state == "quarantined":
        lister = _list_waiting
    if sight.as_of_us is not None and lister not in _OF_VALID_TIME:
        raise UsageError(
            "`--as-of` asks what held then, which claims and turns tell",
            advice="Use it with `amos list` or `amos list sources`; `--known-at` gives lists as they were.",
        )
    return lister(sight, wanted)


def _paged(
    sight: Sight,
    kind: str,
    rows: pa.Table,
    wanted: Wanted,
    shown: Callable[[Sight, pa.Table], list[Row]],
    *,
    time: str = "event_time",
) -> Listed:
    """Return the page of `rows` (first column the id) as `shown` prints the whole rows."""
    key = rows.schema.names[0]
    page = choose_page(f"{kind}/{wanted.state}", event_times(rows[time]), rows[key], wanted.page)
    ids = rows[key].take(pa.array(page.rows)).combine_chunks()
    whole = sight.seen(kind, latest(sight.snapshot.lookup(_TABLES[kind], key, ids), _TABLES[kind]))
    ordered = whole.take(pc.index_in(ids, value_set=whole[key].combine_chunks()))
    return Listed(shown(sight, ordered), page.is_truncated, page.cursor)


def _list_atoms(sight: Sight, wanted: Wanted) -> Listed:
    rows = sight.current("atoms", ["atom_id", "observed_at", "type", *STATE_COLUMNS])
    rows = _decided_by(sight, _begun(_of_types(rows, wanted.types), sight.as_of_us), wanted)
    if wanted.state != "all":
        rows = rows.filter(pc.equal(pa.array(states_of(rows, sight.now_us), pa.string()), wanted.state))
    return _paged(sight, "atoms", rows, wanted, atom_rows, time="observed_at")


def _begun(rows: pa.Table, instant_us: int | None) -> pa.Table:
    """Return the atoms that began to hold by an instant; those that began later are no part of then."""
    if instant_us is None:
        return rows
    kept = [any(start <= instant_us for start in spans[::2]) for spans in rows["intervals"].to_pylist()]
    return rows.filter(pa.array(kept, pa.bool_()))


def _decided_by(sight: Sight, rows: pa.Table, wanted: Wanted) -> pa.Table:
    """Return the rows (first column the id) that a current decision of the wanted making names."""
    asked = {"extractor": wanted.extractor, "policy": wanted.policy}
    asked = {name: value for name, value in asked.items() if value is not None}
    if not asked:
        return rows
    key = rows.schema.names[0]
    decisions = sight.current("decisions", [key, *asked])
    for name, value in asked.items():
        decisions = decisions.filter(pc.equal(decisions[name], value))
    return rows.filter(pc.is_in(rows[key], value_set=decisions[key].combine_chunks().drop_null()))


def _of_types(rows: pa.Table, types: tuple[str, ...]) -> pa.Table:
    return rows.filter(pc.is_in(rows["type"], value_set=pa.array(types, pa.string()))) if types else rows


def _list_waiting(sight: Sight, wanted: Wanted) -> Listed:
    """Return candidates that wait for a decision, in place of atoms."""
    decisions = sight.current("decisions", ["candidate_id", "outcome"])
    held = decisions.filter(pc.equal(decisions["outcome"], "quarantine"))["candidate_id"].combine_chunks()
    rows = sight.current("candidates", ["candidate_id", "event_time", "type"])
    rows = rows.filter(pc.is_in(rows["candidate_id"], value_set=held.drop_null()))
    rows = _decided_by(sight, _of_types(rows, wanted.types), wanted)
    return _paged(sight, "candidates", rows, wanted, candidate_rows)


def _list_candidates(sight: Sight, wanted: Wanted) -> Listed:
    rows = sight.current("candidates", ["candidate_id", "event_time", "type"])
    rows = _decided_by(sight, _of_types(rows, wanted.types), wanted)
    return _paged(sight, "candidates", rows, wanted, candidate_rows)


def _list_sources(sight: Sight, wanted: Wanted) -> Listed:
    rows = sight.current("sources", ["source_id", "event_time", "ingest_time"])
    if sight.as_of_us is not None:
        said = pc.coalesce(rows["event_time"], rows["ingest_time"]).cast(pa.int64())
        rows = rows.filter(pc.less_equal(said, sight.as_of_us))
    return _paged(sight, "sources", rows, wanted, source_rows)


def _list_conversations(sight: Sight, wanted: Wanted) -> Listed:
    rows = sight.current("conversations", ["conversation_id", "started_at"])
    return _paged(sight, "conversations", rows, wanted, conversation_rows, time="started_at")


def _list_decisions(sight: Sight, wanted: Wanted) -> Listed:
    """Return decisions in the order of what they decide on."""
    rows = _decided_by(sight, sight.current("decisions", ["decision_id", "source_id"]), wanted)
    sources = sight.snapshot.current("sources", ["source_id", "event_time"])
    place = pc.index_in(rows["source_id"], value_set=sources["source_id"].combine_chunks())
    rows = rows.append_column("event_time", sources["event_time"].take(place))
    return _paged(sight, "decisions", rows, wanted, decision_rows)


def _list_tombstones(sight: Sight, wanted: Wanted) -> Listed:
    """Return what may not return, by when it was forgotten."""
    require_whole(sight)
    rows = sight.current("tombstones", ["tombstone_id", "created_at"])
    return _paged(sight, "tombstones", rows, wanted, tombstone_rows, time="created_at")


def _list_outcomes(sight: Sight, wanted: Wanted) -> Listed:
    """Return outcomes of packets, by when it was so."""
    rows = sight.current("outcomes", ["outcome_id", "recorded_at"])
    return _paged(sight, "outcomes", rows, wanted, outcome_rows, time="recorded_at")


_LISTERS: dict[str, Callable[[Sight, Wanted], Listed]] = {
    "atoms": _list_atoms,
    "sources": _list_sources,
    "conversations": _list_conversations,
    "candidates": _list_candidates,
    "decisions": _list_decisions,
    "tombstones": _list_tombstones,
    "outcomes": _list_outcomes,
}
_DECIDED = ("atoms", "candidates", "decisions")
_OF_VALID_TIME = (_list_atoms, _list_sources)
_TABLES = {name: name for name in _LISTERS}
KINDS = tuple(_LISTERS)


def atom_rows(sight: Sight, rows: pa.Table) -> list[Row]:
    """Return atoms as they are printed: the statement, the typed fields, state and validity."""
    names = labels(sight, rows["subject_id"])
    states = states_of(rows, sight.now_us)
    echoed = echoes_in_sight(sight, rows["atom_id"])
    fed = feedback_in_sight(sight, "atom_id", rows["atom_id"].to_pylist())
    return [
        {
            **_atom(row, names[row["subject_id"]], state, echoed.get(row["atom_id"], Echoed())),
            **shown_learned(fed.get(row["atom_id"], Fed()), row),
        }
        for row, state in zip(rows.to_pylist(), states, strict=True)
    ]


def _atom(row: Row, label: Label, state: str, echoed: Echoed) -> Row:
    fields = msgspec.json.decode(row["payload"])
    return {
        "atom_id": shown_id("atom_id", row["atom_id"]),
        "type": row["type"],
        "statement": statement_of(row["type"], row["payload"], row["polarity"], label),
        "state": state,
        "subject": label.text,
        "property": fields.get("property"),
        "value": shown_value(fields),
        "polarity": row["polarity"],
        "memory_class": row["memory_class"],
        "intervals": shown_intervals(row["intervals"]),
        "observed_at": shown_time(row["observed_at"]),
        "confidence": shown_score(row["confidence_ppm"]),
        **echoed.shown(row["confidence_ppm"]),
        "evidence_count": row["evidence_count"],
        "source_id": shown_id("source_id", row["source_id"]),
        "scope": shown_scope(row),
        "version": row["version"],
        "payload": fields,
    }


def candidate_rows(sight: Sight, rows: pa.Table) -> list[Row]:
    """Return candidates with the outcome of their current decision."""
    names = labels(sight, rows["subject_id"])
    sources = latest_by_id(sight.snapshot, "sources", "source_id", _distinct(rows["source_id"]))
    decisions = latest_by_id(sight.snapshot, "decisions", "candidate_id", _distinct(rows["candidate_id"]))
    return [
        _candidate(
            row, names[row["subject_id"]], decisions.get(row["candidate_id"]), sources[row["source_id"]]
        )
        for row in rows.to_pylist()
    ]


def _candidate(row: Row, label: Label, decision: Row | None, source: Row) -> Row:
    fields = msgspec.json.decode(row["payload"])
    is_bare = is_withheld(source["flags"])
    return {
        "candidate_id": shown_id("candidate_id", row["candidate_id"]),
        "type": row["type"],
        "statement": None if is_bare else statement_of(row["type"], row["payload"], row["polarity"], label),
        "outcome": decision["outcome"] if decision else None,
        "reasons": decision["reasons"] if decision else [],
        "beside": None if is_bare or decision is None else words_beside_claim(row, source, decision),
        "subject": label.text,
        "property": None if is_bare else fields.get("property"),
        "value": None if is_bare else shown_value(fields),
        "polarity": row["polarity"],
        "modality": row["modality"],
        "memory_class": row["memory_class"],
        "confidence": row["extraction_confidence"],
        "spans": row["spans"],
        "extractor": row["extractor"],
        "policy": decision["policy"] if decision else None,
        "event_time": shown_time(row["event_time"]),
        "source_id": shown_id("source_id", row["source_id"]),
        "scope": shown_scope(row),
    }


def words_beside_claim(row: Row, source: Row, decision: Row) -> str | None:
    """Return the words beside a candidate for which it was held, None where it waits for none."""
    fields = msgspec.json.decode(row["payload"])
    start, end = row["spans"][:2]
    claim = Stated(start, end, fields.get("property"), shown_value(fields), row["polarity"])
    return next(
        (said for reason in decision["reasons"] if (said := words_beside(source["content"], claim, reason))),
        None,
    )


def source_rows(sight: Sight, rows: pa.Table) -> list[Row]:  # noqa: ARG001 - one shape for all printers
    """Return sources with the beginning of their text; flagged text is withheld."""
    return [source_row(row, chars=TEXT_CHARS) for row in rows.to_pylist()]


def source_row(row: Row, *, chars: int | None = None) -> Row:
    """Return one source; `chars` limits its text, which is said in `is_text_cut`."""
    text: str | None = None if is_withheld(row["flags"]) else row["content"]
    told = text if text is None or chars is None else marked(text)
    shown = told if told is None else told[:chars]
    return {
        "source_id": shown_id("source_id", row["source_id"]),
        "revision": row["revision"],
        "format": row["format"],
        "kind": row["kind"],
        "role": row["role"],
        "trust": row["trust"],
        "author": "user" if row["is_owner"] and row["author"] is None else row["author"],
        "event_time": shown_time(row["event_time"]),
        "event_text": row["event_text"],
        "zone": row["zone"],
        "conversation_id": shown_id("conversation_id", row["conversation_id"]),
        "turn": row["turn"],
        "text": shown,
        "is_text_cut": shown != told,
        "bytes": len(row["content"].encode()),
        "cut_bytes": row["cut_bytes"],
        "flags": [flag.name.lower() for flag in SourceFlag if row["flags"] & flag and flag.name],
        "locator": row["locator"],
        "scope": shown_scope(row),
    }


def conversation_rows(sight: Sight, rows: pa.Table) -> list[Row]:  # noqa: ARG001
    """Return conversations."""
    return [
        {
            "conversation_id": shown_id("conversation_id", row["conversation_id"]),
            "format": row["format"],
            "title": row["title"],
            "started_at": shown_time(row["started_at"]),
            "has_unknown_time": row["has_unknown_time"],
            "scope": shown_scope(row),
        }
        for row in rows.to_pylist()
    ]


def decision_rows(sight: Sight, rows: pa.Table) -> list[Row]:  # noqa: ARG001
    """Return decisions with their reasons and numbers."""
    return [
        {
            "decision_id": shown_id("decision_id", row["decision_id"]),
            "outcome": row["outcome"],
            "action": row["action"],
            "reasons": row["reasons"],
            "modality": row["modality"],
            "candidate_id": shown_id("candidate_id", row["candidate_id"]),
            "source_id": shown_id("source_id", row["source_id"]),
            "atom_id": shown_id("atom_id", row["atom_id"]),
            "targets": shown_ids("targets", row["targets"]),
            "utility": row["utility"],
            "risk": row["risk"],
            "policy": row["policy"],
            "extractor": row["extractor"],
            "deadline": shown_time(row["deadline"]),
        }
        for row in rows.to_pylist()
    ]


def labels(sight: Sight, ids: pa.ChunkedArray) -> dict[bytes, Label]:
    """Return how the entity of every id is called."""
    return subject_labels(sight.snapshot, _distinct(ids))


def _distinct(ids: pa.ChunkedArray) -> list[bytes]:
    return [value for value in ids.combine_chunks().cast(ID).unique().to_pylist() if value is not None]
