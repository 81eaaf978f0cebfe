"""The way of a row through the engine in the terms of PROV: what was made, by which step, for whom."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import pyarrow as pa

from amos.errors import UsageError
from amos.flow.lineage import event_of
from amos.flow.printed import shown_id, shown_time
from amos.flow.references import find_rows
from amos.flow.sight import Sight
from amos.flow.why import nothing_there
from amos.identity import id_text
from amos.schemas.columns import ID
from amos.schemas.state import PRIMARY_KEYS, VERSION_COLUMNS

MOST_DECISIONS = 20
"""Decisions behind an atom whose way is told; the rest is counted."""

_PARTS = (
    "prefix", "entity", "activity", "agent", "used", "wasGeneratedBy", "wasAssociatedWith", "wasAttributedTo",
    "wasDerivedFrom",
)  # fmt: skip
_ORDER = ("sources", "candidates", "decisions", "atoms")
Row = dict[str, Any]


class Made(NamedTuple):
    """One stored version of a row, and the event that put it there."""

    table: str
    row: Row
    event: Row

    @property
    def name(self) -> str:
        """The row's reference with its version."""
        version = self.row[VERSION_COLUMNS[self.table]]
        return f"{id_text(self.table, self.row[PRIMARY_KEYS[self.table]])}@{version}"


def prov_of(sight: Sight, ref: str) -> Row:
    """Return the steps that led to an atom, candidate, decision or source, oldest first, and a PROV document.

    Every version of every row on the way is one entity; the step that wrote it is an activity with the
    version of its stage, the event, and the principal that ran it.
    """
    table, rows, _ = find_rows(sight, ref)
    if rows.num_rows == 0:
        raise nothing_there(ref)
    if table not in _ORDER:
        raise UsageError(f"{ref!r} is a row of {table}, whose way is not told", path=ref)
    ids, left_out = _ids_behind(sight, table, rows)
    made = sorted(
        (one for name in _ORDER for one in _versions(sight, name, ids[name])),
        key=lambda one: (one.row["graph_version"], _ORDER.index(one.table), one.name),
    )
    return {
        "ref": id_text(table, rows[PRIMARY_KEYS[table]][0].as_py()),
        "steps": [_step(one, made) for one in made],
        "decisions_left_out": left_out,
        "prov": _document(made),
    }


def _ids_behind(sight: Sight, table: str, rows: pa.Table) -> tuple[dict[str, list[bytes]], int]:
    """Return the ids of everything on the way, by table, and how many decisions were left out."""
    found: dict[str, list[bytes]] = {name: [] for name in _ORDER}
    key = PRIMARY_KEYS[table]
    own = rows[key].combine_chunks().cast(ID)
    found[table] = own.to_pylist()
    decisions = _current(sight, "decisions", key if table != "candidates" else "candidate_id", own)
    ids = list(dict.fromkeys(row["decision_id"] for row in decisions))
    left_out = max(len(ids) - MOST_DECISIONS, 0)
    chosen = [row for row in decisions if row["decision_id"] in set(ids[:MOST_DECISIONS])]
    found["decisions"] = ids[:MOST_DECISIONS]
    found["candidates"] = sorted({row["candidate_id"] for row in chosen if row["candidate_id"]})
    found["sources"] = sorted({row["source_id"] for row in chosen} | set(found["sources"]))
    found["atoms"] = sorted({row["atom_id"] for row in chosen if row["atom_id"]} | set(found["atoms"]))
    return found, left_out


def _current(sight: Sight, table: str, column: str, ids: pa.Array) -> list[Row]:
    rows = sight.snapshot.lookup(table, column, ids)
    return list(rows.filter(pa.array(sight.mask(table, rows))).to_pylist())


def _versions(sight: Sight, table: str, ids: list[bytes]) -> Iterator[Made]:
    rows = sight.snapshot.lookup(table, PRIMARY_KEYS[table], pa.array(ids, ID))
    for row in rows.filter(pa.array(sight.mask(table, rows))).to_pylist():
        event = event_of(sight, table, row)
        if event is not None:
            yield Made(table, row, event)


def _step(one: Made, made: list[Made]) -> Row:
    """Return one step: what it was, what it used, what it made, and who ran it."""
    return {
        "activity": _activity(one),
        "used": _used(one, made),
        "generated": one.name,
        "stage": _stage(one),
        "what": _what(one),
        "agent": one.event["actor"],
        "attributed_to": _author(one),
        "event_id": shown_id("event_id", one.event["event_id"]),
        "event_type": one.event["event_type"],
        "graph_version": one.row["graph_version"],
        "at": shown_time(one.event["accepted_at"]),
    }


def _activity(one: Made) -> str:
    if one.event["event_type"] == "review_decided":
        return "review"
    if one.event["event_type"] in ("erasure_requested", "reprocess_applied", "run_reverted"):
        return str(one.event["event_type"])
    return {"sources": "capture", "candidates": "propose", "decisions": "admit", "atoms": "fold"}[one.table]


def _stage(one: Made) -> str:
    """Return name and version of the stage that made a row."""
    if one.table == "sources":
        return f"reader {one.row['format']}"
    return str(
        one.row.get("policy") if one.table == "decisions" else one.row.get("extractor") or "fold of histories"
    )


def _what(one: Made) -> str:
    row = one.row
    if one.table == "sources":
        digest = row["content_digest"].hex()[:16]
        return f"{len(row['content'].encode())} bytes, SHA-256 {digest}…, {row['locator']}"
    if one.table == "candidates":
        return f"bytes {row['spans'][0]}-{row['spans'][1]} read as {row['type']} ({row['pattern']})"
    if one.table == "decisions":
        return f"{row['outcome']}: {', '.join(row['reasons'])}"
    return f"{row['lifecycle_state']}, {row['health_status']}, evidence {row['evidence_count']}"


def _author(one: Made) -> str | None:
    return None if one.table != "sources" else shown_id("author_id", one.row["author_id"])


def _used(one: Made, made: list[Made]) -> list[str]:
    """Return the newest versions, written by then, of what a step read."""
    row, wanted = one.row, []
    if one.table == "candidates":
        wanted = [("sources", row["source_id"])]
    elif one.table == "decisions":
        decided = (
            ("candidates", row["candidate_id"]) if row["candidate_id"] else ("sources", row["source_id"])
        )
        wanted = [decided]
    elif one.table == "atoms":
        wanted = [("decisions", other.row["decision_id"]) for other in made
                  if other.table == "decisions" and other.row["atom_id"] == row["atom_id"]]  # fmt: skip
    names = [
        _newest(made, table, identifier, row["graph_version"]) for table, identifier in dict.fromkeys(wanted)
    ]
    return [name for name in names if name is not None]


def _newest(made: list[Made], table: str, identifier: bytes, version: int) -> str | None:
    key = PRIMARY_KEYS[table]
    found = [one for one in made if one.table == table and one.row[key] == identifier]
    held = [one for one in found if one.row["graph_version"] <= version]
    return held[-1].name if held else None


def _document(made: list[Made]) -> Row:
    """Return the same as a PROV-JSON document."""
    document: Row = {name: {} for name in _PARTS}
    document["prefix"] = {"amos": "urn:amos:"}
    for one in made:
        entity, activity = f"amos:{one.name}", f"amos:{shown_id('event_id', one.event['event_id'])}"
        agent = f"amos:{one.event['actor']}"
        document["entity"][entity] = {"prov:type": f"amos:{one.table[:-1]}"}
        document["activity"][activity] = {
            "prov:type": f"amos:{_activity(one)}",
            "prov:endTime": shown_time(one.event["accepted_at"]),
            "amos:stage": _stage(one),
        }
        document["agent"][agent] = {"prov:type": "prov:Agent"}
        _relate(document, "wasGeneratedBy", {"prov:entity": entity, "prov:activity": activity})
        _relate(document, "wasAssociatedWith", {"prov:activity": activity, "prov:agent": agent})
        author = _author(one)
        if author is not None:
            document["agent"][f"amos:{author}"] = {"prov:type": "prov:Person"}
            _relate(document, "wasAttributedTo", {"prov:entity": entity, "prov:agent": f"amos:{author}"})
        for name in _used(one, made):
            _relate(document, "used", {"prov:activity": activity, "prov:entity": f"amos:{name}"})
            derived = {"prov:generatedEntity": entity, "prov:usedEntity": f"amos:{name}"}
            _relate(document, "wasDerivedFrom", derived)
    return document


def _relate(document: Row, relation: str, ends: Row) -> None:
    known = document[relation]
    if ends not in known.values():
        known[f"_:{relation}{len(known) + 1}"] = ends
