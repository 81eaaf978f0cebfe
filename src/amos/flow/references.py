"""Find one row by a printed reference, and print it; of rows out of sight it only says that they are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa

from amos.atoms.feedback import Fed
from amos.entities.spoken import shown_kind
from amos.errors import UsageError
from amos.flow.claims import subject_labels
from amos.flow.learned import feedback_in_sight
from amos.flow.look import (
    Row,
    atom_rows,
    candidate_rows,
    conversation_rows,
    decision_rows,
    source_row,
)
from amos.flow.outcome_printed import feedback_rows, outcome_rows
from amos.flow.printed import shown_id, shown_ids, shown_scope, shown_score, shown_time
from amos.flow.sight import Sight, is_withheld
from amos.flow.standing import tombstone_rows
from amos.identity import id_text, parse_ref, prefix_range
from amos.schemas.state import PRIMARY_KEYS, TABLES

_NAMED = 5
"""References that an ambiguous prefix lists."""


def show_ref(sight: Sight, ref: str) -> dict[str, Any]:
    """Return whether `ref` names a row in sight, the row, and what was left out by reason.

    Raises UsageError for a reference of the wrong form, or one that names several rows.
    """
    table, rows, is_hidden = find_rows(sight, ref)
    counts: dict[str, int] = {}
    omissions = {"counts": counts, "sample": [], "withheld": is_hidden}
    if rows.num_rows == 0:
        return {"found": False, "item": None, "omissions": omissions}
    (item,) = _PRINTERS[table](sight, rows)
    item = {**item, **_derived(sight, table, rows.to_pylist()[0])}
    if table == "sources" and is_withheld(rows["flags"][0].as_py()):
        counts["instruction_shaped_content"] = 1
    return {"found": True, "item": {"table": table, **item}, "omissions": omissions}


def _derived(sight: Sight, table: str, row: Row) -> Row:
    """Return what is made of a message or a conversation when somebody looks at it, and never stored."""
    if table == "conversations":
        from amos.flow.occurrences import conversation_windows

        return {"windows": conversation_windows(sight, row["conversation_id"])}
    if table != "sources" or is_withheld(row["flags"]):
        return {}
    from amos.extraction.annotations import annotate  # the grammar is read for those who ask alone
    from amos.extraction.grammar import CURRENT, load_grammar

    found = annotate(row["content"], load_grammar(CURRENT))
    if found is None:
        return {}
    return {
        "languages": {code: shown_score(ppm) for code, ppm in found.languages.items()},
        "sentences": [list(span) for span in found.sentences],
        "doubtful_boundaries": [one._asdict() for one in found.doubts],
    }


def find_rows(sight: Sight, ref: str) -> tuple[str, pa.Table, bool]:
    """Return the table of `ref`, its row in sight (none or one), and whether a match is out of sight."""
    table, body = parse_ref(ref)
    if table not in TABLES:
        raise UsageError(f"{ref!r} is no row of a table", path=ref, advice="Use `amos list` for references.")
    found = sight.snapshot.find(table, *prefix_range(body))
    rows = sight.seen(table, found)
    if rows.num_rows > 1:
        ids = [id_text(table, value) for value in rows[PRIMARY_KEYS[table]].to_pylist()]
        more = " …" if len(ids) > _NAMED else ""
        raise UsageError(
            f"{ref!r} stands for {len(ids)} rows: {', '.join(ids[:_NAMED])}{more}",
            path=ref,
            advice="Give more characters of the reference.",
        )
    return table, rows, found.num_rows > rows.num_rows


def _printed_sources(sight: Sight, rows: pa.Table) -> list[Row]:  # noqa: ARG001 - one shape for all printers
    return [source_row(row) for row in rows.to_pylist()]


def _printed_entities(sight: Sight, rows: pa.Table) -> list[Row]:
    names = subject_labels(sight.snapshot, rows["entity_id"])
    return [
        {
            "entity_id": shown_id("entity_id", row["entity_id"]),
            "kind": shown_kind(row["kind"], row["name"]),
            "name": names[row["entity_id"]].text,
            "is_owner": row["is_owner"],
            "owner_id": shown_id("owner_id", row["owner_id"]),
            "scope": shown_scope(row),
        }
        for row in rows.to_pylist()
    ]


def _printed_edges(sight: Sight, rows: pa.Table) -> list[Row]:
    fed = feedback_in_sight(sight, "edge_id", rows["edge_id"].to_pylist())
    return [
        {
            "edge_id": shown_id("edge_id", row["edge_id"]),
            "from_id": shown_id("from_id", row["from_id"]),
            "relation": row["relation"],
            "to_id": shown_id("to_id", row["to_id"]),
            "derivation": row["derivation"],
            "state": row["lifecycle_state"],
            "confidence": shown_score(row["confidence_ppm"]),
            "learned_factor": shown_score(fed.get(row["edge_id"], Fed()).factor_ppm),
        }
        for row in rows.to_pylist()
    ]


def lineage_rows(sight: Sight, rows: pa.Table) -> list[Row]:  # noqa: ARG001
    """Return lineage rows: which claim gave way to which, and by which decision."""
    return [
        {
            "lineage_id": shown_id("lineage_id", row["lineage_id"]),
            "relation": row["relation"],
            "predecessor_id": shown_id("predecessor_id", row["predecessor_id"]),
            "successor_id": shown_id("successor_id", row["successor_id"]),
            "predecessor_version": row["predecessor_version"],
            "predecessor_digest": row["predecessor_digest"].hex(),
            "decision_id": shown_id("decision_id", row["decision_id"]),
            "retracts": shown_id("retracts", row["retracts"]),
        }
        for row in rows.to_pylist()
    ]


def _printed_disputes(sight: Sight, rows: pa.Table) -> list[Row]:  # noqa: ARG001
    return [
        {
            "dispute_id": shown_id("dispute_id", row["dispute_id"]),
            "slot_id": row["slot_id"].hex(),
            "sides": [side.hex() for side in row["sides"]],
            "since": shown_time(row["since"]),
            "reason": row["reason"],
            "status": row["status"],
        }
        for row in rows.to_pylist()
    ]


def echo_rows(sight: Sight, rows: pa.Table) -> list[Row]:  # noqa: ARG001
    """Return echoes: which reply repeated which claim, and what it may add to its confidence."""
    return [
        {
            "echo_id": shown_id("echo_id", row["echo_id"]),
            "atom_id": shown_id("atom_id", row["atom_id"]),
            "source_id": shown_id("source_id", row["source_id"]),
            "conversation_id": shown_id("conversation_id", row["conversation_id"]),
            "kind": row["kind"],
            "delta": shown_score(row["delta_ppm"]),
            "referenced_at": shown_time(row["referenced_at"]),
            "rule": row["rule"],
        }
        for row in rows.to_pylist()
    ]


def mention_rows(sight: Sight, rows: pa.Table) -> list[Row]:
    """Return mentions: who was considered for the subject of a claim, with which score, and who is meant.

    The last entry of `referents` is nobody of them.
    """
    ids = {one for name in ("subject_id", "referent_id") for one in rows[name].drop_null().to_pylist()}
    ids |= {one for row in rows["referents"].to_pylist() for one in row}
    named = {one: label.text for one, label in subject_labels(sight.snapshot, ids).items()}
    return [_printed_mention(row, named) for row in rows.to_pylist()]


def _printed_mention(row: Row, named: Mapping[bytes, str]) -> Row:
    scored = zip([*row["referents"], None], row["scores_ppm"], strict=True) if row["scores_ppm"] else ()
    return {
        "mention_id": shown_id("mention_id", row["mention_id"]),
        "candidate_id": shown_id("candidate_id", row["candidate_id"]),
        "source_id": shown_id("source_id", row["source_id"]),
        "said": named.get(row["subject_id"]),
        "meant": named.get(row["referent_id"]),
        "subject_id": shown_id("subject_id", row["subject_id"]),
        "referent_id": shown_id("referent_id", row["referent_id"]),
        "referents": [
            {
                "entity_id": shown_id("entity_id", one),
                "name": named.get(one) if one is not None else None,
                "score": shown_score(score),
            }
            for one, score in scored
        ],
        "evidence": shown_ids("source_id", row["evidence"]),
        "rule": row["rule"],
        "reason": row["reason"],
    }


def _printed_events(sight: Sight, rows: pa.Table) -> list[Row]:
    """Return events; what they count is about the whole shard, so a narrowed caller is not told."""
    return [
        {
            "event_id": shown_id("event_id", row["event_id"]),
            "event_type": row["event_type"],
            "actor": row["actor"],
            "payload": None if sight.scope else row["payload"],
            "target_refs": shown_ids("event_id", row["target_refs"]),
            "occurred_at": shown_time(row["occurred_at"]),
            "accepted_at": shown_time(row["accepted_at"]),
            "graph_version": row["version"],
            "previous_event_hash": row["previous_event_hash"].hex(),
            "checksum": row["checksum"].hex(),
        }
        for row in rows.to_pylist()
    ]


_PRINTERS: dict[str, Callable[[Sight, pa.Table], list[Row]]] = {
    "sources": _printed_sources,
    "conversations": conversation_rows,
    "entities": _printed_entities,
    "candidates": candidate_rows,
    "decisions": decision_rows,
    "atoms": atom_rows,
    "edges": _printed_edges,
    "lineage": lineage_rows,
    "disputes": _printed_disputes,
    "echoes": echo_rows,
    "outcomes": outcome_rows,
    "feedback": feedback_rows,
    "mentions": mention_rows,
    "events": _printed_events,
    "tombstones": tombstone_rows,
}
