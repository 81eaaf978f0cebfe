"""What was forgotten for a time only: note when the time is over, and cite it where something comes back.

The note is one more version of the tombstone, in the first commit that writes anything after its time; the
rules themselves follow the clock, so that nothing waits for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from amos.admission.tombstone_expiry import due_rows, over_rows
from amos.admission.tombstones import UNSALTED_TOMBSTONES, Graves, Rule
from amos.flow.prepare import Prepared
from amos.flow.tombstoned import find_echoes
from amos.journal.store import EventRows, Snapshot
from amos.schemas.vocabulary import Cue, Outcome, Reason

EVENT = "tombstone_expired"
Spans = Sequence[tuple[int, int]]


class Ended(NamedTuple):
    """Tombstones whose time is over: how many, and the next version of those that do not say so yet."""

    total: int
    due: pa.Table


def ended_tombstones(snapshot: Snapshot, now: datetime, *, but: pa.Table) -> Ended:
    """Return the tombstones whose time is over; but: tombstones that are about to stand anew."""
    if not snapshot.row_count("tombstones"):
        return Ended(0, UNSALTED_TOMBSTONES.empty_table())
    over = over_rows(snapshot.current("tombstones"), now)
    renewed = pc.is_in(over["tombstone_id"], value_set=but["tombstone_id"].combine_chunks())
    over = over.filter(pc.invert(renewed))
    return Ended(over.num_rows, due_rows(over))


def expiry_event(due: pa.Table) -> list[EventRows]:
    """Return the event that notes the end of tombstones, none when none ended."""
    return [EventRows(EVENT, "tombstones", due)] if due.num_rows else []


def cite_returned(prepared: Prepared, raw: pa.Table, over: Graves | None) -> Prepared:
    """Return the batch with the end of a ban cited by the decisions on what it had kept out.

    raw: RAW rows aligned with the sources.  over: the tombstones whose time is over, as if they stood.
    """
    if over is None:
        return prepared
    told = _Told(prepared.sources["source_id"], raw["event_us"], raw)
    candidates, decisions = _cited(prepared.candidates, prepared.source_decisions, told, over)
    return replace(prepared, candidates=candidates, source_decisions=decisions)


def cite_reread(
    candidates: pa.Table, decisions: pa.Table, sources: pa.Table, over: Graves | None
) -> tuple[pa.Table, pa.Table]:
    """Return candidates and decisions on sources likewise, for stored `sources` that are read again."""
    if over is None:
        return candidates, decisions
    told = _Told(sources["source_id"], sources["event_time"].cast(pa.int64()), sources)
    return _cited(candidates, decisions, told, over)


class _Told(NamedTuple):
    """Sources: their ids, their event times in microseconds, and rows with their texts, aligned."""

    ids: pa.ChunkedArray
    times: pa.ChunkedArray
    rows: pa.Table


def _cited(candidates: pa.Table, decisions: pa.Table, told: _Told, over: Graves) -> tuple[pa.Table, pa.Table]:
    ids, times = told.ids.to_pylist(), told.times.to_pylist()
    deliveries = zip(map(over.source, ids), times, strict=True)
    is_back = np.array([_barred(rule, at, is_delivery=True) for rule, at in deliveries], np.bool_)
    passages: dict[int, list[tuple[int, int]]] = {}
    for echo in find_echoes(told.rows, over):
        if echo.field == "content" and _barred(echo.rule, times[echo.row]):
            passages.setdefault(echo.row, []).append((echo.start, echo.end))
    place = {source: row for row, source in enumerate(ids)}
    cites = []
    columns = (candidates[name].to_pylist() for name in ("source_id", "claim_id", "spans"))
    for source, claim, spans in zip(*columns, strict=True):
        row = place[source]
        pairs = list(zip(spans[::2], spans[1::2], strict=True))
        is_known = is_back[row] or _barred(over.claim(claim), times[row])
        cites.append(is_known or _overlap(passages.get(row, ()), pairs))
    is_back[list(passages)] = True
    returned = told.ids.filter(pa.array(is_back)).combine_chunks()
    return _with_cue(candidates, np.array(cites, np.bool_)), _with_reason(decisions, returned)


def _barred(rule: Rule | None, at: int | None, *, is_delivery: bool = False) -> bool:
    """Return whether a rule would have kept out evidence of a time; see `Rule.verdict`, `refused_sources`."""
    if rule is None:
        return False
    return rule.verdict(rule.created_us if at is None and is_delivery else at) is not None


def _overlap(one: Spans, other: Spans) -> bool:
    return any(start < end and begin < stop for start, stop in one for begin, end in other)


def _with_cue(candidates: pa.Table, cites: NDArray[np.bool_]) -> pa.Table:
    if not cites.any():
        return candidates
    cues = np.where(cites, candidates["cues"].to_numpy() | int(Cue.RETURNED), candidates["cues"].to_numpy())
    place = candidates.schema.get_field_index("cues")
    return candidates.set_column(place, candidates.schema.field("cues"), pa.array(cues.astype(np.int32)))


def _with_reason(decisions: pa.Table, returned: pa.Array) -> pa.Table:
    """Return decisions on sources, the end of the ban cited by those that keep a source without a claim."""
    is_kept = pc.and_(
        pc.is_in(decisions["source_id"], value_set=returned), pc.equal(decisions["outcome"], Outcome.IGNORE)
    )
    if not pc.any(is_kept).as_py():
        return decisions
    cells = zip(decisions["reasons"].to_pylist(), is_kept.to_pylist(), strict=True)
    reasons = [[*found, str(Reason.TOMBSTONE_EXPIRED)] if kept else found for found, kept in cells]
    place = decisions.schema.get_field_index("reasons")
    field = decisions.schema.field("reasons")
    return decisions.set_column(place, field, pa.array(reasons, field.type))
