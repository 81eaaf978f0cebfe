"""Differences as plain rows: statements, references, and the words with the claim marked in them."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from amos.atoms.statement import statement_of
from amos.clock import as_text, to_us
from amos.flow.claims import labels_of
from amos.flow.sight import is_withheld, latest_by_id
from amos.flow.versions import latest
from amos.identity import id_text
from amos.journal.store import Snapshot
from amos.reprocess.diff import Diff, Difference
from amos.reprocess.runs import Compared
from amos.reprocess.shadow import BATCH
from amos.schemas.columns import ID
from amos.schemas.labels import Label

CONTEXT = 120
"""Bytes of the source told on each side of a claim."""

Row = dict[str, Any]


def difference_rows(snapshot: Snapshot, compared: Compared) -> list[Row]:
    """Return one printed row per difference, in the order of event time, then of place in the source."""
    diff = compared.diff
    entities = {row["entity_id"]: row for row in compared.entities.to_pylist()} | _entities(snapshot, diff)
    labels = labels_of(snapshot, entities.values())
    rows: list[Row] = []
    for place in range(0, len(diff.differences), BATCH):
        part = diff.differences[place : place + BATCH]
        texts = _texts(snapshot, part)
        rows += [_row(one, texts[one.source_id], labels) for one in part]
    rows.sort(key=lambda row: (row["event_time"] or "", row["source"], row["span"]))
    return rows


def _entities(snapshot: Snapshot, diff: Diff) -> dict[bytes, Row]:
    ids = {
        row["subject_id"] for one in diff.differences for row in (one.before, one.after) if row is not None
    }
    return latest_by_id(snapshot, "entities", "entity_id", sorted(ids))


def _texts(snapshot: Snapshot, part: list[Difference]) -> dict[bytes, Row]:
    ids = pa.array(sorted({one.source_id for one in part}), ID)
    names = ["source_id", "revision", "content", "event_time", "flags", "author", "role"]
    held = latest(snapshot.lookup("sources", "source_id", ids, names), "sources")
    return {row["source_id"]: row for row in held.to_pylist()}


def _row(one: Difference, source: Row, labels: dict[bytes, Label]) -> Row:
    shown = one.after if one.after is not None else one.before
    assert shown is not None
    start, end = shown["spans"][:2]
    is_told = one.kind != "refused_by_tombstone"
    claims = [_claim(row, labels) if is_told else None for row in (one.before, one.after)]
    return {
        "kind": one.kind,
        "fields": list(one.fields),
        "source": id_text("sources", one.source_id),
        "event_time": None if source["event_time"] is None else as_text(to_us(source["event_time"])),
        "author": source["author"] or source["role"],
        "span": [start, end],
        "words": _words(source, start, end) if is_told else None,
        "before": claims[0],
        "after": claims[1],
    }


def _words(source: Row, start: int, end: int) -> Row | None:
    """Return the words of the claim and those around it; none of a text that is withheld."""
    if is_withheld(source["flags"]):
        return None
    content = source["content"].encode()
    before, claim, after = content[max(0, start - CONTEXT) : start], content[start:end], content[end:]
    return {
        "before": before.decode(errors="ignore"),
        "claim": claim.decode(errors="replace"),
        "after": after[:CONTEXT].decode(errors="ignore"),
    }


def _claim(row: Row | None, labels: dict[bytes, Label]) -> Row | None:
    if row is None:
        return None
    return {
        "candidate": id_text("candidates", row["candidate_id"]),
        "atom": id_text("atoms", row["claim_id"]),
        "statement": statement_of(row["type"], row["payload"], row["polarity"], labels[row["subject_id"]]),
        "type": row["type"],
        "modality": row["modality"],
        "memory_class": row["memory_class"],
        "span": row["spans"][:2],
        "valid_from": _instant(row["valid_from"]),
        "valid_until": _instant(row["valid_until"]),
        "confidence": row["extraction_confidence"],
        "extractor": row["extractor"],
        "pattern": row["pattern"],
        "outcome": row["outcome"],
        "reason": row["reason"],
    }


def _instant(value: Any) -> str | None:
    return None if value is None else as_text(to_us(value))
