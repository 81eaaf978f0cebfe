"""Order times for turns without a time: the previous turn's, else the conversation's."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from amos.admission.candidates import UNSALTED_CANDIDATES
from amos.flow.current import Told
from amos.flow.prepare import Prepared
from amos.flow.versions import latest
from amos.journal.store import Snapshot
from amos.schemas.choosing import as_schema, empty, kept, with_column
from amos.schemas.columns import ID

_TURN_COLUMNS = ["conversation_id", "turn", "event_time"]


def inherit_order_times(
    snapshot: Snapshot, prepared: Prepared, held: Mapping[bytes, Told]
) -> tuple[pa.Table, pa.Table]:
    """Return the new candidates with order times, and stored ones whose order time changes.

    held: stored conversations of the batch, by id.  Only conversations with a turn of unknown time are
    looked at; a late turn with a time moves the stored candidates after it.  Changed rows carry the next
    row version.
    """
    affected = _affected(prepared.conversations, held)
    if len(affected) == 0:
        return prepared.candidates, empty(UNSALTED_CANDIDATES)
    fresh = prepared.sources.select(_TURN_COLUMNS)
    fresh = fresh.filter(pc.is_in(fresh["conversation_id"], value_set=affected))
    stored = snapshot.lookup("sources", "conversation_id", affected, _TURN_COLUMNS)
    known = KnownTimes(pa.concat_tables([stored, fresh]))
    candidates, _ = known.applied(prepared.candidates)
    stored = snapshot.lookup("candidates", "conversation_id", affected, UNSALTED_CANDIDATES.names)
    updated, changed = known.applied(as_schema(latest(stored, "candidates"), UNSALTED_CANDIDATES))
    moved = kept(updated, np.array(changed, np.bool_))
    return candidates, next_version(moved) if moved.num_rows else moved


def _affected(batch: pa.Table, held: Mapping[bytes, Told]) -> pa.Array:
    """Return ids of the batch's conversations that have, here or in the store, a turn without time."""
    columns = (batch[name].to_pylist() for name in ("conversation_id", "has_unknown_time"))
    untimed = [
        one
        for one, is_untimed in zip(*columns, strict=True)
        if is_untimed or (one in held and held[one].has_unknown_time)
    ]
    return pa.array(untimed, ID)


class KnownTimes:
    """Known times of some conversations, by turn."""

    def __init__(self, turns: pa.Table) -> None:
        timed: dict[bytes, dict[int, Any]] = defaultdict(dict)
        for conversation, turn, at in zip(*(turns[name].to_pylist() for name in _TURN_COLUMNS), strict=True):
            if at is not None:
                held = timed[conversation].get(turn)
                timed[conversation][turn] = at if held is None else max(held, at)
        self._turns = {conversation: sorted(times) for conversation, times in timed.items()}
        self._times = timed

    def before(self, conversation: bytes, turn: int) -> Any:
        """Return the time of the last timed turn up to `turn`, else the earliest, else None."""
        turns = self._turns.get(conversation)
        if not turns:
            return None
        place = bisect_right(turns, turn)
        times = self._times[conversation]
        return times[turns[place - 1]] if place else min(times.values())

    def applied(self, candidates: pa.Table) -> tuple[pa.Table, list[bool]]:
        """Return `candidates` with order times for untimed rows, and which rows changed."""
        names = ("conversation_id", "turn", "event_time", "order_time")
        wanted, changed = [], []
        for conversation, turn, at, ordered in zip(
            *(candidates[name].to_pylist() for name in names), strict=True
        ):
            inherited = None if at is not None else self.before(conversation, turn)
            wanted.append(inherited)
            changed.append(at is None and inherited != ordered)
        times = pa.array(wanted, candidates.schema.field("order_time").type)
        return with_column(candidates, "order_time", times), changed


def next_version(rows: pa.Table, column: str = "version") -> pa.Table:
    """Return the rows with their version, in `column`, raised by one."""
    return with_column(rows, column, pc.add(rows[column], pa.scalar(1, pa.int32())))
