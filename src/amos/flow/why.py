"""Go from a claim back to the bytes it was read from: evidence, decision, lineage, events."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from amos.errors import UsageError
from amos.flow.look import Row, atom_rows, decision_rows, source_row
from amos.flow.occurrences import action_of, occurrence_of
from amos.flow.outcome_printed import feedback_rows
from amos.flow.printed import id_texts, shown_id, shown_time
from amos.flow.references import echo_rows, find_rows, lineage_rows, mention_rows, show_ref
from amos.flow.sight import Sight, is_withheld, latest_by_id
from amos.flow.versions import latest, standing_lineage
from amos.schemas.columns import ID
from amos.schemas.state import PRIMARY_KEYS
from amos.schemas.vocabulary import FeedbackKind

MOST_EVIDENCE = 20
"""Pieces of evidence that one answer prints; the rest is counted."""

_CLAIMED = ("atoms", "candidates")
_EXPLAINED = ("atoms", "candidates", "decisions", "sources")


def why_ref(sight: Sight, ref: str) -> dict[str, Any]:
    """Return evidence, deciding decision, lineage, events and maintenance of a row.

    Raises UsageError for a reference that names nothing in sight, or a kind nothing was decided on.
    """
    table, rows, _ = find_rows(sight, ref)
    if rows.num_rows == 0:
        raise nothing_there(ref)
    if table not in _EXPLAINED:
        raise UsageError(
            f"{ref!r} is a row of {table}, which nothing was decided on",
            path=ref,
            advice="Give an atom, a candidate, a decision or a source; `amos show` prints the others.",
        )
    decisions = _decisions_on(sight, table, rows)
    candidates = _candidates_of(sight, decisions, rows if table == "candidates" else None)
    sources = _sources_of(sight, decisions, candidates, rows if table == "sources" else None)
    evidence = [_piece(*pair) for pair in _support(decisions, candidates, sources)]
    deciding = _deciding(decisions)
    echoes = _echoes(sight, rows) if table == "atoms" else []
    feedback = _feedback(sight, rows) if table == "atoms" else []
    item = show_ref(sight, ref)["item"]
    own = rows.to_pylist()[0]
    answer = {
        "ref": shown_id(PRIMARY_KEYS[table], rows[PRIMARY_KEYS[table]][0].as_py()),
        "item": item,
        "action": action_of(sight, own) if table in _CLAIMED else None,
        "occurrence": occurrence_of(sight, own, item["subject"]) if table == "atoms" else None,
        "evidence": evidence[:MOST_EVIDENCE],
        "evidence_total": len(evidence),
        "decision": decision_rows(sight, deciding)[0] if deciding.num_rows else None,
        "lineage": _lineage(sight, rows) if table == "atoms" else [],
        "echoes": echoes[:MOST_EVIDENCE],
        "echoes_total": len(echoes),
        "mentions": mentions_of(sight, list(candidates))[:MOST_EVIDENCE],
        "feedback": feedback[:MOST_EVIDENCE],
        "feedback_total": len(feedback),
        "events": _events(sight, table, rows, deciding, candidates, sources),
        "maintenance": [],
    }
    if table == "sources":
        answer["atoms"] = _atoms_of(sight, decisions)
        answer["decisions"] = decision_rows(sight, decisions)
    return answer


def mentions_of(sight: Sight, candidates: Iterable[bytes]) -> list[Row]:
    """Return who is meant by the subjects of candidates (ids), where somebody was considered."""
    if sight.snapshot.row_count("mentions") == 0:
        return []
    wanted = pa.array(sorted(candidates), ID)
    found = latest(sight.snapshot.lookup("mentions", "candidate_id", wanted), "mentions")
    found = found.filter(pc.greater(pc.list_value_length(found["scores_ppm"]), 0))
    return mention_rows(sight, sight.seen("mentions", found))


def nothing_there(ref: str) -> UsageError:
    """Return the error for a reference that names nothing the caller may see."""
    return UsageError(
        f"nothing is stored under {ref!r}, or it is outside the given scope",
        code="not_found",
        path=ref,
        advice="Look for it with `amos list` or `amos search`.",
    )


def _decisions_on(sight: Sight, table: str, rows: pa.Table) -> pa.Table:
    """Return the current decisions in sight that concern a row, the oldest first."""
    if table == "decisions":
        return rows
    column = PRIMARY_KEYS[table]
    found = latest(sight.snapshot.lookup("decisions", column, rows[column].combine_chunks()), "decisions")
    found = found.filter(pa.array(sight.mask("decisions", found)))
    return found.sort_by([("graph_version", "ascending"), ("row_number", "ascending")])


def _deciding(decisions: pa.Table) -> pa.Table:
    """Return the one decision that explains a row: the first that committed it, else the first."""
    made = decisions.filter(pc.equal(decisions["outcome"], "commit"))
    chosen = made if made.num_rows else decisions
    return chosen.slice(0, 1)


def _candidates_of(sight: Sight, decisions: pa.Table, given: pa.Table | None) -> dict[bytes, Row]:
    if given is not None:
        return {row["candidate_id"]: row for row in given.to_pylist()}
    ids = [value for value in decisions["candidate_id"].to_pylist() if value is not None]
    return latest_by_id(sight.snapshot, "candidates", "candidate_id", ids)


def _sources_of(
    sight: Sight, decisions: pa.Table, candidates: dict[bytes, Row], given: pa.Table | None
) -> dict[bytes, Row]:
    if given is not None:
        return {row["source_id"]: row for row in given.to_pylist()}
    ids = {*decisions["source_id"].to_pylist(), *(row["source_id"] for row in candidates.values())}
    wanted = pa.array(sorted(ids), ID)
    rows = latest(sight.snapshot.lookup("sources", "source_id", wanted), "sources")
    seen = rows.filter(pa.array(sight.mask("sources", rows)))
    return {row["source_id"]: row for row in seen.to_pylist()}


def _support(
    decisions: pa.Table, candidates: dict[bytes, Row], sources: dict[bytes, Row]
) -> Iterable[tuple[Row, Row | None, Row]]:
    """Yield (decision, candidate, source) of every decision whose source is in sight."""
    for decision in decisions.to_pylist():
        source = sources.get(decision["source_id"])
        if source is not None:
            yield decision, candidates.get(decision["candidate_id"]), source


def _piece(decision: Row, candidate: Row | None, source: Row) -> Row:
    """Return one piece of evidence: the excerpt, where it stands, and its digests."""
    content = source["content"].encode()
    start, end = candidate["spans"][:2] if candidate is not None else (0, len(content))
    is_bare = is_withheld(source["flags"])
    whole = source_row(source)
    return {
        "source_id": whole["source_id"],
        "source_revision": source["revision"],
        "start": start,
        "end": end,
        "excerpt": None if is_bare else content[start:end].decode(),
        "withheld": "instruction_shaped_content" if is_bare else None,
        "source_sha256": source["content_digest"].hex(),
        "excerpt_sha256": hashlib.sha256(content[start:end]).hexdigest(),
        "event_time": whole["event_time"],
        "author": whole["author"],
        "role": source["role"],
        "trust": source["trust"],
        "format": source["format"],
        "record_key": source["delivery_key"],
        "locator": source["locator"],
        "outcome": decision["outcome"],
        "decision_id": shown_id("decision_id", decision["decision_id"]),
        "candidate_id": shown_id("candidate_id", decision["candidate_id"]),
    }


def _lineage(sight: Sight, rows: pa.Table) -> list[Row]:
    """Return the standing lineage rows that name an atom on either side, with both statements."""
    ids = rows["atom_id"].combine_chunks()
    parts = [sight.snapshot.lookup("lineage", side, ids) for side in ("predecessor_id", "successor_id")]
    found = standing_lineage(_with_retractions(sight, pa.concat_tables(parts)))
    found = found.filter(pa.array(sight.mask("lineage", found)))
    printed = lineage_rows(sight, found)
    named = {*found["predecessor_id"].to_pylist(), *found["successor_id"].to_pylist()}
    said = _statements(sight, sorted(named))
    for row in printed:
        row["predecessor"] = said.get(row["predecessor_id"])
        row["successor"] = said.get(row["successor_id"])
    return printed


def _echoes(sight: Sight, rows: pa.Table) -> list[Row]:
    """Return the echoes of an atom in replies in sight, the newest first."""
    if sight.snapshot.row_count("echoes") == 0:
        return []
    found = sight.seen("echoes", sight.snapshot.lookup("echoes", "atom_id", rows["atom_id"].combine_chunks()))
    order = [("referenced_at", "descending"), ("echo_id", "ascending")]
    return echo_rows(sight, found.sort_by(order))


def _feedback(sight: Sight, rows: pa.Table) -> list[Row]:
    """Return what outcomes in sight say of an atom beyond having shown it, the newest first."""
    if sight.snapshot.row_count("feedback") == 0:
        return []
    found = sight.snapshot.lookup("feedback", "atom_id", rows["atom_id"].combine_chunks())
    found = sight.seen("feedback", found.filter(pc.not_equal(found["kind"], str(FeedbackKind.EXPOSURE))))
    return feedback_rows(sight, found.sort_by([("recorded_at", "descending"), ("feedback_id", "ascending")]))


def _with_retractions(sight: Sight, rows: pa.Table) -> pa.Table:
    retractions = sight.snapshot.lookup("lineage", "retracts", rows["lineage_id"].combine_chunks())
    known = pa.concat_tables([rows, retractions])
    return known.take(_first_of_each(known["lineage_id"]))


def _first_of_each(ids: pa.ChunkedArray) -> pa.Array:
    seen: dict[bytes, int] = {}
    for row, identifier in enumerate(ids.to_pylist()):
        seen.setdefault(identifier, row)
    return pa.array(list(seen.values()), pa.int64())


def _statements(sight: Sight, ids: list[bytes]) -> dict[str, str]:
    if not ids:
        return {}
    atoms = latest(sight.snapshot.lookup("atoms", "atom_id", pa.array(ids, ID)), "atoms")
    return {row["atom_id"]: row["statement"] for row in atom_rows(sight, atoms)}


def _atoms_of(sight: Sight, decisions: pa.Table) -> list[Row]:
    """Return the atoms that decisions on a source made or linked, in short."""
    ids = sorted({value for value in decisions["atom_id"].to_pylist() if value is not None})
    if not ids:
        return []
    atoms = latest(sight.snapshot.lookup("atoms", "atom_id", pa.array(ids, ID)), "atoms")
    atoms = atoms.filter(pa.array(sight.mask("atoms", atoms)))
    kept = ("atom_id", "type", "statement", "state")
    return [{name: row[name] for name in kept} for row in atom_rows(sight, atoms)]


def _events(
    sight: Sight,
    table: str,
    rows: pa.Table,
    deciding: pa.Table,
    candidates: dict[bytes, Row],
    sources: dict[bytes, Row],
) -> list[Row]:
    """Return the events that put the row, its decision, its candidate and its source there."""
    places: dict[tuple[str, int, int, bytes], None] = {}
    for name, found in (("decisions", deciding.to_pylist()), (table, _versions(sight, table, rows))):
        for row in found:
            places[_place(name, row)] = None
    for decision in deciding.to_pylist():
        for name, known, key in (
            ("candidates", candidates, "candidate_id"),
            ("sources", sources, "source_id"),
        ):
            if decision[key] in known:
                places[_place(name, known[decision[key]])] = None
    printed = [_event(sight, *place) for place in places]
    return sorted(printed, key=lambda row: (row["graph_version"], row["table"], row["row"]))


def _versions(sight: Sight, table: str, rows: pa.Table) -> list[Row]:
    key = PRIMARY_KEYS[table]
    return list(sight.snapshot.lookup(table, key, rows[key].combine_chunks()).to_pylist())


def _place(table: str, row: Row) -> tuple[str, int, int, bytes]:
    return table, row["graph_version"], row["row_number"], row[PRIMARY_KEYS[table]]


def _event(sight: Sight, table: str, graph_version: int, row_number: int, identifier: bytes) -> Row:
    origin = sight.snapshot.origin(table, graph_version, row_number)
    printed: Row = {
        "table": table,
        "id": shown_id(PRIMARY_KEYS[table], identifier),
        "graph_version": graph_version,
        "event_id": None,
        "event_type": None,
        "row": row_number,
        "accepted_at": None,
    }
    if origin is not None:
        event = latest_by_id(sight.snapshot, "events", "event_id", [origin.event_id])[origin.event_id]
        printed.update(
            event_id=id_texts("events", pa.array([origin.event_id], ID))[0].as_py(),
            event_type=origin.event_type,
            row=origin.row,
            accepted_at=shown_time(event["accepted_at"]),
        )
    return printed
