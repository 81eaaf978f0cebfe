"""Claims as other products keep memories: one statement each, with the words that it rests on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import pyarrow as pa

from amos.atoms.statement import statements
from amos.flow.claims import subject_labels
from amos.flow.printed import shown_id, shown_intervals, shown_scope, shown_score, shown_time, states_of
from amos.flow.sight import Sight, is_withheld
from amos.flow.streaming import rows_in_sight
from amos.flow.versions import latest
from amos.schemas.columns import ID
from amos.schemas.cuts import marked
from amos.schemas.state import TABLES

_COLUMNS = [name for name in TABLES["atoms"].names if name != "salt"]


class Memory(NamedTuple):
    """One claim in sight, ready to be printed.  times are RFC 3339 text, excerpt null when withheld."""

    ref: str
    type: str
    subject_id: bytes
    subject: str
    statement: str
    state: str
    validity: list[dict[str, str | None]]
    observed_at: str | None
    confidence: float
    scope: dict[str, str]
    source: str | None
    excerpt: str | None
    author: str | None


def memories(sight: Sight) -> Iterator[Memory]:
    """Yield every claim in sight, in commit order, a few thousand in memory at a time."""
    for rows in rows_in_sight(sight, "atoms", _COLUMNS):
        yield from memories_of(sight, rows)


def memories_of(sight: Sight, rows: pa.Table) -> Iterator[Memory]:
    """Yield the claims of atom rows; rows: all columns but the salt."""
    names = subject_labels(sight.snapshot, rows["subject_id"].unique())
    subjects = [names[one] for one in rows["subject_id"].to_pylist()]
    kinds, payloads, signs = (rows[name].to_pylist() for name in ("type", "payload", "polarity"))
    said = statements(kinds, payloads, signs, subjects)
    sources = _sources(sight, rows)
    states = states_of(rows, sight.now_us)
    for row, subject, statement, state in zip(rows.to_pylist(), subjects, said, states, strict=True):
        source = sources.get(row["source_id"])
        yield Memory(
            ref=str(shown_id("atom_id", row["atom_id"])),
            type=row["type"],
            subject_id=row["subject_id"],
            subject=subject.text,
            statement=statement,
            state=state,
            validity=shown_intervals(row["intervals"]),
            observed_at=shown_time(row["observed_at"]),
            confidence=shown_score(row["confidence_ppm"]),
            scope=shown_scope(row),
            source=shown_id("source_id", row["source_id"]) if source else None,
            excerpt=_excerpt(source, row["spans"]),
            author=None if source is None else _author(source),
        )


def _distinct(ids: pa.ChunkedArray) -> list[bytes]:
    found: list[bytes] = ids.combine_chunks().unique().to_pylist()
    return found


def _sources(sight: Sight, rows: pa.Table) -> dict[bytes, dict[str, Any]]:
    """Return the sources in sight that atoms cite first, by id."""
    ids = pa.array(_distinct(rows["source_id"]), ID)
    held = latest(sight.snapshot.lookup("sources", "source_id", ids), "sources")
    seen = held.filter(pa.array(sight.mask("sources", held)))
    names = ["source_id", "content", "flags", "author", "is_owner", "event_time"]
    return {row["source_id"]: row for row in seen.select(names).to_pylist()}


def _excerpt(source: dict[str, Any] | None, spans: list[int]) -> str | None:
    if source is None or is_withheld(source["flags"]) or len(spans) < 2:
        return None
    return marked(source["content"].encode()[spans[0] : spans[1]].decode(errors="replace"))


def _author(source: dict[str, Any]) -> str | None:
    if is_withheld(source["flags"]):
        return None
    return "user" if source["is_owner"] else source["author"]


def by_subject(sight: Sight) -> Iterator[tuple[bytes, str, list[Memory]]]:
    """Yield subject id, label and claims of every subject in sight, by label; one subject in memory."""
    known: dict[bytes, None] = {}
    for rows in rows_in_sight(sight, "atoms", ["subject_id"]):
        known.update(dict.fromkeys(_distinct(rows["subject_id"])))
    named = subject_labels(sight.snapshot, known)
    labels = sorted((label.text, identifier) for identifier, label in named.items())
    for label, identifier in labels:
        held = latest(sight.snapshot.lookup("atoms", "subject_id", pa.array([identifier], ID)), "atoms")
        seen = sight.seen("atoms", held).select(_COLUMNS)
        found = sorted(memories_of(sight, seen), key=lambda one: (one.observed_at or "", one.ref))
        yield identifier, label, found
