"""Turn a shadow run into the change that would make it the current reading of its sources."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from amos.admission.comparison import UNSALTED
from amos.admission.reviewed import DECIDING
from amos.flow.ordering import next_version
from amos.flow.versions import latest
from amos.journal.store import Snapshot
from amos.reprocess.shadow import Shadow
from amos.reprocess.switch import (
    Change,
    are_equal,
    current_rows,
    withdraw,
)
from amos.schemas.choosing import with_column
from amos.schemas.vocabulary import WITHDRAWN, Action, Outcome, Reason

_UNSAID = frozenset({"version", "order_time"})
"""Columns in which equal readings of one text may differ."""
_DECIDED = ["outcome", "reasons", "modality", "policy", "extractor"]


class Readings(NamedTuple):
    """Candidates of the same sources: those that stand, and those of the shadow run.

    What a person decided is in neither: it stays, and so does whatever it has settled.
    """

    before: pa.Table
    after: pa.Table
    kept: int


def standing_candidates(snapshot: Snapshot, sources: pa.Array) -> pa.Table:
    """Return the candidates of `sources` (ids) that no later reading has replaced, without salts."""
    rows = current_rows(snapshot, "candidates", "source_id", sources)
    return rows.filter(pc.invert(pc.fill_null(pc.equal(rows["gate"], WITHDRAWN), False)))


def change_of(snapshot: Snapshot, shadow: Shadow) -> tuple[Change, Readings]:
    """Return what the store would write, and both readings."""
    standing = standing_candidates(snapshot, shadow.sources)
    human = _decided_by_people(snapshot, standing)
    before = standing.filter(pa.array(~human))
    after = _beside(shadow.candidates, standing.filter(pa.array(human)))
    held = current_rows(snapshot, "candidates", "candidate_id", after["candidate_id"].combine_chunks())
    places = pc.index_in(after["candidate_id"], value_set=held["candidate_id"].combine_chunks())
    known = pc.is_valid(places).to_numpy(zero_copy_only=False)
    stored = held.take(places.filter(pa.array(known)).combine_chunks())
    read_again = after.filter(pa.array(known))
    is_same = are_equal(read_again, stored, _UNSAID)
    returning = _renumbered(read_again, stored).filter(pa.array(~is_same))
    leaves = pc.invert(pc.is_in(before["candidate_id"], value_set=after["candidate_id"].combine_chunks()))
    replaced = pa.concat_tables([withdraw(before.filter(leaves)), next_version(returning)])
    change = Change(
        fresh=after.filter(pa.array(~known)),
        replaced=replaced.combine_chunks(),
        decisions=_source_decisions(snapshot, shadow),
        entities=shadow.entities,
        mentions=_changed_mentions(snapshot, shadow, after),
    )
    return change, Readings(before, after, int(human.sum()))


def _changed_mentions(snapshot: Snapshot, shadow: Shadow, after: pa.Table) -> pa.Table:
    """Return whom the candidates `after` are about, where it is not stored so."""
    stays = pc.is_in(shadow.mentions["candidate_id"], value_set=after["candidate_id"].combine_chunks())
    told = shadow.mentions.filter(stays)
    held = latest(
        snapshot.lookup("mentions", "mention_id", told["mention_id"].combine_chunks(), told.schema.names),
        "mentions",
    )
    places = pc.index_in(told["mention_id"], value_set=held["mention_id"].combine_chunks())
    known = pc.is_valid(places).to_numpy(zero_copy_only=False)
    stored = held.take(places.filter(pa.array(known)).combine_chunks())
    again = told.filter(pa.array(known))
    differs = pa.array(~are_equal(again, stored, frozenset({"version"})))
    changed = next_version(_renumbered(again, stored).filter(differs))
    return pa.concat_tables([told.filter(pa.array(~known)), changed]).combine_chunks()


def _decided_by_people(snapshot: Snapshot, candidates: pa.Table) -> NDArray[np.bool_]:
    """Tell which candidates a person has decided on."""
    ids = candidates["candidate_id"].combine_chunks()
    decisions = current_rows(snapshot, "decisions", "candidate_id", ids)
    own = pc.is_in(_first_reasons(decisions), value_set=pa.array(DECIDING))
    human = decisions.filter(own)["candidate_id"].combine_chunks()
    found: NDArray[np.bool_] = pc.is_in(ids, value_set=human).to_numpy(zero_copy_only=False)
    return found


def _beside(candidates: pa.Table, settled: pa.Table) -> pa.Table:
    """Return the candidates that say nothing about what the `settled` ones of their source are about."""
    if settled.num_rows == 0:
        return candidates
    names = ("source_id", "slot_id", "spans")
    taken: dict[tuple[bytes, bytes], list[list[int]]] = {}
    for source, slot, spans in zip(*(settled[name].to_pylist() for name in names), strict=True):
        taken.setdefault((source, slot), []).append(spans)
    same = set(settled["candidate_id"].to_pylist())
    rows = zip(*(candidates[name].to_pylist() for name in ("candidate_id", *names)), strict=True)
    stays = [
        one not in same and not any(_meet(spans, other) for other in taken.get((source, slot), ()))
        for one, source, slot, spans in rows
    ]
    return candidates.filter(pa.array(stays, pa.bool_()))


def _meet(one: list[int], other: list[int]) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def _renumbered(rows: pa.Table, stored: pa.Table) -> pa.Table:
    return with_column(rows, "version", stored["version"])


def _source_decisions(snapshot: Snapshot, shadow: Shadow) -> pa.Table:
    """Return the decisions on plain sources that differ from those that stand."""
    schema = UNSALTED["decisions"]
    held = current_rows(snapshot, "decisions", "source_id", shadow.sources)
    held = held.filter(pc.and_(pc.is_null(held["candidate_id"]), _are_on_reading(held)))
    is_plain = pc.is_in(held["source_id"], value_set=shadow.plain)
    screened, held = held.filter(pc.invert(is_plain)), held.filter(is_plain)
    screened = screened.filter(pc.not_equal(screened["extractor"], shadow.extractor))
    wanted = shadow.decisions
    places = pc.index_in(wanted["source_id"], value_set=held["source_id"].combine_chunks())
    known = pc.is_valid(places).to_numpy(zero_copy_only=False)
    stored = held.take(places.filter(pa.array(known)).combine_chunks())
    again = wanted.filter(pa.array(known))
    silent = frozenset(schema.names) - frozenset(_DECIDED)
    differs = pa.array(~are_equal(again, stored, silent))
    leaves = pc.invert(pc.is_in(held["source_id"], value_set=wanted["source_id"].combine_chunks()))
    leaves = pc.and_(leaves, pc.invert(_are_withdrawn(held)))
    return pa.concat_tables(
        [
            wanted.filter(pa.array(~known)),
            next_version(_renumbered(again, stored).filter(differs)),
            withdrawn_decisions(held.filter(leaves)),
            with_column(next_version(screened), "extractor", pa.repeat(shadow.extractor, screened.num_rows)),
        ]
    ).combine_chunks()


def _first_reasons(decisions: pa.Table) -> pa.Array:
    return pc.list_element(decisions["reasons"].combine_chunks(), 0)


def _are_on_reading(decisions: pa.Table) -> pa.Array:
    """Tell which decisions are about what was read: not about a delivery, and not a person's."""
    others = pa.array([str(Reason.DELIVERY_CONFLICT), *DECIDING])
    return pc.invert(pc.is_in(_first_reasons(decisions), value_set=others))


def _are_withdrawn(decisions: pa.Table) -> pa.Array:
    return pc.equal(_first_reasons(decisions), str(Reason.SUPERSEDED_BY_EXTRACTOR))


def withdrawn_decisions(rows: pa.Table) -> pa.Table:
    """Return the next version of decisions on sources that candidates decide now."""
    schema, count = UNSALTED["decisions"], rows.num_rows
    said = {
        "outcome": pa.repeat(str(Outcome.IGNORE), count),
        "action": pa.repeat(str(Action.NOOP), count),
        "reasons": pa.array([[str(Reason.SUPERSEDED_BY_EXTRACTOR)]] * count, schema.field("reasons").type),
        "deadline": pa.nulls(count, schema.field("deadline").type),
    }
    rows = next_version(rows)
    return pa.table([said.get(field.name, rows[field.name]) for field in schema], schema=schema)
