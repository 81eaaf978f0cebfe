"""The history of a value: all that was claimed of one property, and what gave way to what."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from amos.admission.reviewed import DECIDING
from amos.errors import UsageError
from amos.flow.look import Row, atom_rows
from amos.flow.printed import shown_id, shown_time
from amos.flow.references import find_rows
from amos.flow.review_show import refuse_valid_time
from amos.flow.sight import Sight, is_withheld, latest_by_id
from amos.flow.versions import latest
from amos.flow.why import nothing_there
from amos.schemas.columns import ID
from amos.schemas.state import PRIMARY_KEYS


def lineage_of(sight: Sight, ref: str) -> dict[str, Any]:
    """Return the values of a property in the order in which they held, and every change between them.

    ref: an atom, a candidate or a decision.  A change that no longer stands says that it was withdrawn.
    Raises UsageError for a reference that names nothing in sight, or nothing that has a history.
    """
    refuse_valid_time(sight)
    candidates = _history(sight, ref)
    ids = candidates["claim_id"].combine_chunks().unique()
    atoms = latest(sight.snapshot.lookup("atoms", "atom_id", ids), "atoms")
    atoms = atoms.filter(pa.array(sight.mask("atoms", atoms)))
    decided = _first_decisions(sight, atoms["atom_id"])
    printed = atom_rows(sight, atoms)
    starts = [min(row["intervals"][::2], default=0) for row in atoms.to_pylist()]
    values = [
        _value(sight, row, shown, decided.get(row["atom_id"]))
        for _, row, shown in sorted(
            zip(starts, atoms.to_pylist(), printed, strict=True), key=lambda one: (one[0], one[2]["atom_id"])
        )
    ]
    said = {row["atom_id"]: row["statement"] for row in values}
    waiting = _waiting(sight, candidates)
    first = printed[0] if printed else {}
    return {
        "ref": ref,
        "subject": first.get("subject"),
        "property": first.get("property"),
        "values": values,
        "changes": _changes(sight, ids, said),
        "disputes": _disputes(sight, candidates, said),
        "waiting": waiting,
        "graph_version": sight.snapshot.version or None,
    }


def _history(sight: Sight, ref: str) -> pa.Table:
    """Return the current candidates in sight of the history that `ref` belongs to."""
    table, rows, _ = find_rows(sight, ref)
    if rows.num_rows == 0:
        raise nothing_there(ref)
    if table not in ("atoms", "candidates", "decisions"):
        raise UsageError(
            f"{ref!r} is a row of {table}, which has no history of values",
            path=ref,
            advice="Give an atom, a candidate or a decision.",
        )
    key, column = ("claim_id", "atom_id") if table == "atoms" else ("candidate_id", "candidate_id")
    own = rows[column].drop_null().combine_chunks().cast(ID)
    if len(own) == 0:
        raise UsageError(f"{ref!r} was decided on a message, which has no history of values", path=ref)
    held = sight.snapshot.lookup("candidates", key, own, ["history_id"])["history_id"]
    histories = held.combine_chunks().unique()
    found = latest(sight.snapshot.lookup("candidates", "history_id", histories), "candidates")
    return found.filter(pa.array(sight.mask("candidates", found)))


def _first_decisions(sight: Sight, atoms: pa.ChunkedArray) -> dict[bytes, Row]:
    """Return by atom the current decision that committed it first, else the first that linked to it."""
    rows = latest(sight.snapshot.lookup("decisions", "atom_id", atoms.combine_chunks()), "decisions")
    rows = rows.filter(pa.array(sight.mask("decisions", rows)))
    found: dict[bytes, Row] = {}
    for row in sorted(rows.to_pylist(), key=lambda one: (one["outcome"] != "commit", one["graph_version"])):
        found.setdefault(row["atom_id"], row)
    return found


def _value(sight: Sight, row: Row, shown: Row, decision: Row | None) -> Row:
    names = ("atom_id", "statement", "value", "polarity", "state", "health", "intervals", "observed_at",
             "evidence_count", "version")  # fmt: skip
    return {**{name: shown[name] for name in names}, "decided": _decided(sight, decision),
            "evidence": _evidence(sight, row)}  # fmt: skip


def _decided(sight: Sight, decision: Row | None) -> Row | None:
    if decision is None:
        return None
    event = event_of(sight, "decisions", decision)
    return {
        "decision_id": shown_id("decision_id", decision["decision_id"]),
        "outcome": decision["outcome"],
        "action": decision["action"],
        "reasons": decision["reasons"],
        "by_person": bool(decision["reasons"]) and decision["reasons"][0] in DECIDING,
        "actor": event["actor"] if event else None,
        "at": shown_time(event["accepted_at"]) if event else None,
    }


def event_of(sight: Sight, table: str, row: Row) -> Row | None:
    """Return the event that put a stored row there, None when the snapshot does not hold it."""
    origin = sight.snapshot.origin(table, row["graph_version"], row["row_number"])
    if origin is None:
        return None
    key = PRIMARY_KEYS["events"]
    return latest_by_id(sight.snapshot, "events", key, [origin.event_id])[origin.event_id]


def _evidence(sight: Sight, atom: Row) -> Row | None:
    """Return the words on which a value rests first."""
    source = latest_by_id(sight.snapshot, "sources", "source_id", [atom["source_id"]]).get(atom["source_id"])
    if source is None:
        return None
    start, end = atom["spans"][:2]
    words = None if is_withheld(source["flags"]) else source["content"].encode()[start:end].decode()
    return {
        "source_id": shown_id("source_id", source["source_id"]),
        "author": "user" if source["is_owner"] and source["author"] is None else source["author"],
        "event_time": shown_time(source["event_time"]),
        "excerpt": words,
    }


def _changes(sight: Sight, ids: pa.Array, said: dict[str, str]) -> list[Row]:
    """Return every succession between values, oldest commit first, also those withdrawn since."""
    rows = sight.snapshot.lookup("lineage", "successor_id", ids)
    rows = rows.filter(pa.array(sight.mask("lineage", rows))).to_pylist()
    withdrawn = {row["retracts"] for row in rows if row["retracts"] is not None}
    changes = []
    for row in rows:
        if row["retracts"] is not None:
            continue
        event = event_of(sight, "lineage", row)
        predecessor, successor = (
            shown_id("atom_id", row[name]) for name in ("predecessor_id", "successor_id")
        )
        changes.append(
            {
                "relation": row["relation"],
                "predecessor_id": predecessor,
                "predecessor": said.get(str(predecessor)),
                "successor_id": successor,
                "successor": said.get(str(successor)),
                "predecessor_version": row["predecessor_version"],
                "predecessor_digest": row["predecessor_digest"].hex(),
                "decision_id": shown_id("decision_id", row["decision_id"]),
                "at": shown_time(event["accepted_at"]) if event else None,
                "graph_version": row["graph_version"],
                "is_withdrawn": row["lineage_id"] in withdrawn,
            }
        )
    return changes


def _disputes(sight: Sight, candidates: pa.Table, said: dict[str, str]) -> list[Row]:
    slots = candidates["slot_id"].combine_chunks().unique()
    rows = latest(sight.snapshot.lookup("disputes", "slot_id", slots), "disputes")
    rows = rows.filter(pc.equal(rows["status"], "open"))
    shown = []
    for row in rows.filter(pa.array(sight.mask("disputes", rows))).to_pylist():
        sides = [str(shown_id("atom_id", side)) for side in row["sides"]]
        if all(side in said for side in sides):
            told = [{"atom_id": side, "statement": said[side]} for side in sides]
            shown.append({"since": shown_time(row["since"]), "reason": row["reason"], "sides": told})
    return shown


def _waiting(sight: Sight, candidates: pa.Table) -> list[Row]:
    """Return the candidates of the history that wait for a person."""
    ids = candidates["candidate_id"].combine_chunks()
    rows = latest(sight.snapshot.lookup("decisions", "candidate_id", ids), "decisions")
    held = rows.filter(pc.equal(rows["outcome"], "quarantine"))
    return [
        {"candidate_id": shown_id("candidate_id", row["candidate_id"]), "reasons": row["reasons"],
         "deadline": shown_time(row["deadline"])}
        for row in held.to_pylist()
    ]  # fmt: skip
