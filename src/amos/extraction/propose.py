"""The `rules` extractor: what the texts of a batch claim, by a grammar, with byte spans."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from amos.clock import to_us
from amos.extraction.drafting import Drafter
from amos.extraction.drafts import Draft, as_row, mark_withdrawn
from amos.extraction.grammar import Grammar
from amos.extraction.matches import Origin
from amos.extraction.normalise import View, text_buffer, view_texts
from amos.extraction.notes import notes_table, read_reasons, unread_reasons
from amos.extraction.read import Matches, read_matches
from amos.extraction.times import Resolved, resolve_times
from amos.extraction.timing import interval_of
from amos.kernels.features import NO_TIME
from amos.kernels.rows import NOTE_CUES, NOTE_SIZE, ROW_MESSAGE
from amos.schemas.claims import CLAIMS
from amos.schemas.vocabulary import MemoryClass, Modality, Trust

EXTRACTOR = "rules@1"

_UNTIMED = Resolved(text="", start_us=None, end_us=None, precision="unresolved", is_recurring=False)


class Proposal(NamedTuple):
    """claims: CLAIMS, ordered by source, start, end, pattern.  notes: SOURCE_NOTES for the rest."""

    claims: pa.Table
    notes: pa.Table


def propose(sources: pa.Table, grammar: Grammar, *, is_compiled: bool) -> Proposal:
    """Return the claims of `sources` (SEGMENTABLE) and, for each source without one, the reason.

    Pure: the same sources and grammar give the same rows, whichever way the kernels run and
    however the sources are cut into batches.
    """
    unread = unread_reasons(sources)
    rows = np.flatnonzero(unread == "")
    texts = _one_array(sources["content"].take(pa.array(rows)))
    view = view_texts(texts)
    matches = read_matches(view.buffer, view.offsets, grammar, is_compiled=is_compiled)
    trust = sources["trust"].to_numpy(zero_copy_only=False)
    drafts, left_out = _drafts(matches, texts, view, rows, trust, grammar)
    claims = _claims_table(drafts, sources)
    return Proposal(claims=claims, notes=_notes(drafts, left_out, unread, rows, matches.notes, trust))


def _one_array(column: pa.ChunkedArray) -> pa.Array:
    return column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)


def _drafts(
    matches: Matches,
    texts: pa.Array,
    view: View,
    rows: NDArray[np.int64],
    trust: NDArray[Any],
    grammar: Grammar,
) -> tuple[list[Draft], set[int]]:
    """Return the drafts in order, and the messages in which a match was left out."""
    buffer, where = text_buffer(texts)
    raw, offsets = buffer.tobytes(), where.tolist()
    places, trusts = rows.tolist(), trust[rows].tolist()
    cues = matches.notes[:, NOTE_CUES].tolist()
    drafter = Drafter(grammar)
    drafts: list[Draft] = []
    left_out: set[int] = set()
    message, origin = -1, None
    for numbers in matches.rows.tolist():
        if numbers[ROW_MESSAGE] != message or origin is None:
            message = numbers[ROW_MESSAGE]
            origin = Origin(
                row=places[message],
                content=raw[offsets[message] : offsets[message + 1]],
                offsets=view.maps.get(message),
                trust=trusts[message],
                cues=cues[message],
            )
        claimed = drafter.draft(numbers, origin)
        if claimed:
            drafts.extend(claimed)
        else:
            left_out.add(message)
    return mark_withdrawn(drafts), left_out


def _claims_table(drafts: list[Draft], sources: pa.Table) -> pa.Table:
    if not drafts:
        return CLAIMS.empty_table()
    resolved = _resolved(drafts, sources)
    timed = [
        interval_of(draft.memory_class, draft.meaning, draft.time_kind, found)
        for draft, found in zip(drafts, resolved, strict=True)
    ]
    rows = [as_row(draft, time) for draft, time in zip(drafts, timed, strict=True)]
    rows.sort(key=lambda row: (row[0], row[13], row[14], row[1]))
    columns = zip(*rows, strict=True)
    return pa.table(
        [_column(values, field.type) for values, field in zip(columns, CLAIMS, strict=True)], schema=CLAIMS
    )


def _column(values: tuple[Any, ...], kind: pa.DataType) -> pa.Array:
    if pa.types.is_timestamp(kind):
        return pa.array(values, pa.int64()).cast(pa.timestamp("us")).cast(kind)
    return pa.array(values, kind)


def _resolved(drafts: list[Draft], sources: pa.Table) -> list[Resolved]:
    """Resolve the time expressions of the drafts against the clocks of their sources."""
    timed = [place for place, draft in enumerate(drafts) if draft.time_kind != NO_TIME and draft.time_text]
    found = [_UNTIMED] * len(drafts)
    if not timed:
        return found
    cited = pa.array([drafts[place].row for place in timed], pa.int64())
    times = [None if at is None else to_us(at) for at in sources["event_time"].take(cited).to_pylist()]
    zones = sources["zone"].take(cited).to_pylist()
    phrases = [drafts[place].time_text or "" for place in timed]
    pasts = [drafts[place].memory_class == MemoryClass.EPISODE for place in timed]
    for place, answer in zip(timed, resolve_times(phrases, times, zones, is_past=pasts), strict=True):
        found[place] = answer
    return found


def _notes(
    drafts: list[Draft], left_out: set[int], unread: NDArray[Any], rows: NDArray[np.int64],
    summary: NDArray[np.int64], trust: NDArray[Any],
) -> pa.Table:  # fmt: skip
    """Return the notes of all sources without a claim, read or not."""
    silent = np.flatnonzero(unread != "")
    claimed = np.zeros(len(unread), bool)
    claimed[[draft.row for draft in drafts]] = True
    quiet = np.flatnonzero(~claimed[rows])
    is_report = np.zeros(len(rows), bool)
    is_report[sorted(left_out)] = True
    picked = summary[quiet] if len(summary) else np.zeros((0, NOTE_SIZE), np.int64)
    is_agent = trust[rows[quiet]] == Trust.AGENT
    reasons, modalities = read_reasons(picked, trust[rows[quiet]], is_report[quiet] & is_agent)
    none = np.full(len(silent), Modality.NONE.value, object)
    return notes_table(
        np.concatenate([silent, rows[quiet]]),
        np.concatenate([unread[silent], reasons]),
        np.concatenate([none, modalities]),
    )
