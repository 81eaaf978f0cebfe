"""Ask the tombstones before anything is stored: the one door of every path that inserts.

Ingest, import and restore call `read_graves` once per batch and `refused_sources` and `prepare`
with it; a store without tombstones costs one row count.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from amos.admission.tombstone_expiry import due_rows, graves_over, over_rows
from amos.admission.tombstones import FORBID, UNSALTED_TOMBSTONES, Forbidden, Graves, Rule, Terms
from amos.admission.tombstones import tombstone_rows as rows_of_tombstones
from amos.extraction.screen_json import RawPlaces, json_strings
from amos.identity import CLAIM_SCOPE, Scope
from amos.journal.store import Snapshot
from amos.kernels.wordings import wording_of
from amos.schemas.choosing import empty
from amos.schemas.findings import FINDINGS
from amos.schemas.vocabulary import Reason, Role, SourceFlag

_NAMES = (
    "conversation_title", "title", "name", "channel", "author", "session", "reply_to", "locator",
    "event_text", "scope_session",
)  # fmt: skip
"""Further columns that can repeat a passage; those that a table lacks are skipped."""

RULE = "tombstone"
_HELD_GATE = f"quarantine:{Reason.TOMBSTONED}"


class Echo(NamedTuple):
    """A forgotten passage in one field of one row, in bytes of that field."""

    row: int
    field: str
    start: int
    end: int
    rule: Rule


def read_graves(snapshot: Snapshot, key: bytes, now: datetime, known: Graves | None = None) -> Graves:
    """Return the tombstones that stand at `now`.

    known: what an earlier call returned; it is returned again while no tombstone was added and none
    of it has run out.
    """
    count = snapshot.row_count("tombstones")
    if known is not None and known.still_holds(count, now):
        return known
    rows = snapshot.current("tombstones") if count else empty(UNSALTED_TOMBSTONES)
    graves = Graves(rows, key, now, count)
    if count:
        over = over_rows(rows, now)
        graves.over, graves.due = graves_over(over, key, now), due_rows(over)
    return graves


def refused_sources(graves: Graves, source_ids: pa.Array, event_us: pa.ChunkedArray) -> NDArray[np.bool_]:
    """Return which deliveries may not come back; those that a reviewer may let in are not among them.

    A delivery of unknown time is the very one that was forgotten, so it stays out.
    """
    refused = np.zeros(len(source_ids), np.bool_)
    if graves.is_empty:
        return refused
    for row, (source, at) in enumerate(zip(source_ids.to_pylist(), event_us.to_pylist(), strict=True)):
        rule = graves.source(source)
        refused[row] = rule is not None and rule.verdict(rule.created_us if at is None else at) == "cut"
    return refused


def source_findings(raw: pa.Table, source_ids: pa.Array, graves: Graves) -> pa.Table:
    """Return what keeps whole deliveries for a reviewer, as flags without a range."""
    if graves.is_empty:
        return empty(FINDINGS)
    rules = enumerate(map(graves.source, source_ids.to_pylist()))
    return as_findings([Echo(row, "content", 0, 0, rule) for row, rule in rules if rule is not None], raw)


def echo_findings(raw: pa.Table, graves: Graves) -> pa.Table:
    """Return where `raw` repeats forgotten passages: cuts, and flags where a reviewer may decide."""
    if graves.is_empty:
        return empty(FINDINGS)
    return as_findings(list(find_echoes(raw, graves)), raw)


def find_echoes(rows: pa.Table, graves: Graves) -> Iterator[Echo]:
    """Yield the forgotten passages in the texts, names and `extra` strings of `rows`.

    rows: RAW, SOURCES or any table with the scope columns of a claim and some of the text columns.
    """
    names = set(rows.column_names)
    scopes = scopes_of(rows)
    told = told_to_somebody(rows)
    for column, field in (("text", "content"), ("content", "content"), *((one, one) for one in _NAMES)):
        if column in names and rows[column].null_count < rows.num_rows:
            yield from _in_column(rows[column], field, zip(scopes, told, strict=True), graves)
    if "extra" in names:
        yield from _in_extra(rows["extra"], scopes, told, graves)


def told_to_somebody(rows: pa.Table) -> list[bool]:
    """Return of which rows the text is told to its reader: what an agent or a tool says, and no user."""
    if "role" not in rows.column_names:
        return [False] * rows.num_rows
    return [role != Role.USER for role in rows["role"].to_pylist()]


def scopes_of(rows: pa.Table) -> list[Scope]:
    """Return the claim scope of every row."""
    return list(zip(*(rows[name].to_pylist() for name in CLAIM_SCOPE), strict=True))


def _in_column(
    column: pa.ChunkedArray, field: str, told: Iterable[tuple[Scope, bool]], graves: Graves
) -> Iterator[Echo]:
    """Yield the passages of one column; equal texts that are told alike in one scope are looked at once.

    told: the scope of every row, and whether it speaks to somebody.
    """
    places: dict[tuple[str, Scope, bool], list[int]] = {}
    for row, (text, (scope, is_told)) in enumerate(zip(column.to_pylist(), told, strict=True)):
        if text:
            places.setdefault((text, scope, is_told), []).append(row)
    texts, scopes, addressing = zip(*places, strict=True) if places else ((), (), ())
    rows = list(places.values())
    for found in graves.passages(texts, scopes, addressing):
        for row in rows[found.text]:
            yield Echo(row, field, found.start, found.end, found.rule)


def _in_extra(
    column: pa.ChunkedArray, scopes: Sequence[Scope], told: Sequence[bool], graves: Graves
) -> Iterator[Echo]:
    owners, strings, texts = [], [], []
    documents = column.to_pylist()
    for row, document in enumerate(documents):
        for string in json_strings(document or ""):
            if " " in string.text or not string.text.isascii():
                owners.append(row)
                strings.append(string)
                texts.append(string.text)
    addressing = [told[row] for row in owners]
    for found in graves.passages(texts, [scopes[row] for row in owners], addressing):
        row, string = owners[found.text], strings[found.text]
        document = documents[row]
        raw = RawPlaces(document, string)
        chars = [len(string.text.encode()[:edge].decode()) for edge in (found.start, found.end)]
        start, end = (len(document[: raw.raw(edge)].encode()) for edge in chars)
        yield Echo(row, "extra", start, end, found.rule)


def claim_findings(raw: pa.Table, sources: pa.Table, candidates: pa.Table, graves: Graves) -> pa.Table:
    """Return the evidence of forgotten claims in `raw`, and where its words stand again in the same row.

    sources, candidates: what was made of `raw`; sources are aligned with it.
    """
    if graves.is_empty or candidates.num_rows == 0:
        return empty(FINDINGS)
    place = {source: row for row, source in enumerate(sources["source_id"].to_pylist())}
    columns = (candidates[name].to_pylist() for name in ("claim_id", "source_id", "spans", "gate"))
    found: list[Echo] = []
    for claim, source, spans, gate in zip(*columns, strict=True):
        rule = graves.claim(claim) if gate != _HELD_GATE else None
        if rule is not None:
            row = place[source]
            pairs = zip(spans[::2], spans[1::2], strict=True)
            found += [Echo(row, "content", start, end, rule) for start, end in pairs]
    return as_findings([*found, *_repeated(raw, found, graves)], raw)


def _repeated(raw: pa.Table, found: Sequence[Echo], graves: Graves) -> Iterator[Echo]:
    """Yield where other fields of the same rows repeat what was found in their content."""
    rows = sorted({echo.row for echo in found})
    if not rows:
        return
    taken = raw.take(rows)
    texts, scopes = taken["text"].to_pylist(), scopes_of(taken)
    place = {row: number for number, row in enumerate(rows)}
    passages = [
        (words_at(texts[place[echo.row]], echo.start, echo.end), scopes[place[echo.row]]) for echo in found
    ]
    strictest = next((echo.rule for echo in found if echo.rule.recreation == FORBID), found[0].rule)
    for echo in find_echoes(taken, graves.of_passages(passages)):
        yield echo._replace(row=rows[echo.row], rule=strictest)


def words_at(text: str, start: int, end: int) -> tuple[str, ...]:
    """Return the words of a byte range of `text`."""
    return tuple(wording_of(text.encode()[start:end].decode(errors="replace")).words)


def as_findings(found: Sequence[Echo], raw: pa.Table) -> pa.Table:
    """Return FINDINGS of what may not come back given the event time of its row."""
    times = raw["event_us"].to_pylist() if found and "event_us" in raw.column_names else None
    rows = set()
    for echo in found:
        verdict = echo.rule.verdict(times[echo.row] if times else None)
        if verdict is not None:
            action = "cut" if verdict == "cut" else "flag"
            rows.add((echo.row, echo.field, echo.start, echo.end, RULE, action, str(Reason.TOMBSTONED)))
    columns = zip(*sorted(rows), strict=True) if rows else ((),) * len(FINDINGS)
    return pa.table(
        [pa.array(values, field.type) for values, field in zip(columns, FINDINGS, strict=True)],
        schema=FINDINGS,
    )


def joined_findings(*parts: pa.Table) -> pa.Table:
    """Return all findings in their order."""
    filled = [part for part in parts if part.num_rows]
    if len(filled) < 2:
        return filled[0] if filled else parts[0]
    whole = pa.concat_tables(filled).group_by(FINDINGS.names).aggregate([])  # each once
    names = [name for name in FINDINGS.names if name != "action"]
    return whole.select(FINDINGS.names).cast(FINDINGS).sort_by([(name, "ascending") for name in names])


def hold_candidates(candidates: pa.Table, sources: pa.Table) -> pa.Table:
    """Return the candidates, those of withheld sources gated until a reviewer decides."""
    flags = sources["flags"].to_numpy()
    withheld = np.flatnonzero(flags & int(SourceFlag.WITHHELD))
    if not withheld.size or candidates.num_rows == 0:
        return candidates
    ids = sources["source_id"].take(pa.array(withheld)).combine_chunks()
    waits = pc.and_(pc.is_in(candidates["source_id"], value_set=ids), pc.is_null(candidates["gate"]))
    place = candidates.schema.get_field_index("gate")
    gate = pc.if_else(waits, _HELD_GATE, candidates["gate"])
    return candidates.set_column(place, candidates.schema.field("gate"), gate)


def tombstone_rows(snapshot: Snapshot, forbidden: Forbidden, terms: Terms, key: bytes) -> pa.Table:
    """Return the tombstones of one act of forgetting, as new rows or new versions of old ones."""
    rows = rows_of_tombstones(forbidden, terms, {}, key)
    held: Any = snapshot.lookup(
        "tombstones", "tombstone_id", rows["tombstone_id"].combine_chunks(), ["tombstone_id", "version"]
    )
    versions: dict[bytes, int] = {}
    for identifier, version in zip(*(held[name].to_pylist() for name in held.column_names), strict=True):
        versions[identifier] = max(version, versions.get(identifier, 0))
    if not versions:
        return rows
    raised = [versions.get(one, 0) + 1 for one in rows["tombstone_id"].to_pylist()]
    place = rows.schema.get_field_index("version")
    return rows.set_column(place, rows.schema.field("version"), pa.array(raised, pa.int32()))
