"""Decisions on stored candidates that a gate stops from now on: no fold decides those."""

from __future__ import annotations

from datetime import datetime, timedelta

import pyarrow as pa
import pyarrow.compute as pc

from amos.admission.comparison import UNSALTED
from amos.admission.decision_rows import decision_ids, risks, singletons, utilities
from amos.admission.policy import Policy
from amos.journal.store import Snapshot
from amos.schemas.vocabulary import Action, Outcome

_ACTIONS = {Outcome.REJECT: Action.REJECT, Outcome.IGNORE: Action.NOOP}


def held_decisions(
    snapshot: Snapshot, replaced: pa.Table, *, key: bytes, policy: Policy, now: datetime
) -> pa.Table:
    """Return the next decision on each replaced candidate that a gate stops: no fold decides those."""
    rows = replaced.filter(pc.is_valid(replaced["gate"]))
    schema, count = UNSALTED["decisions"], rows.num_rows
    if count == 0:
        return schema.empty_table()
    ids = decision_ids(rows["candidate_id"], key)
    verdicts = [gate.split(":") for gate in rows["gate"].to_pylist()]
    outcomes = [Outcome(outcome) for outcome, _ in verdicts]
    end = now + timedelta(days=policy.quarantine.days)
    ends = [end if one == Outcome.QUARANTINE else None for one in outcomes]
    columns = {
        "decision_id": ids,
        "version": next_decisions(snapshot, ids),
        "candidate_id": rows["candidate_id"],
        "source_id": rows["source_id"],
        "outcome": pa.array([str(one) for one in outcomes]),
        "action": pa.array([str(_ACTIONS.get(one, Action.ADD)) for one in outcomes]),
        "reasons": singletons(pa.array([reason for _, reason in verdicts])),
        "modality": rows["modality"],
        "policy": pa.repeat(policy.label, count),
        "extractor": rows["extractor"],
        "utility": utilities(rows["memory_class"], policy),
        "risk": risks(rows["cues"], policy),
        "atom_id": pa.nulls(count, schema.field("atom_id").type),
        "targets": pa.array([[]] * count, schema.field("targets").type),
        "deadline": pa.array(ends, schema.field("deadline").type),
    }
    return pa.table([_as(columns[field.name], field.type) for field in schema], schema=schema)


def _as(column: pa.Array | pa.ChunkedArray, kind: pa.DataType) -> pa.Array | pa.ChunkedArray:
    return column if column.type == kind else column.cast(kind)


def next_decisions(snapshot: Snapshot, ids: pa.Array) -> pa.Array:
    """Return the number of the next version of each decision."""
    held = snapshot.lookup("decisions", "decision_id", ids, ["decision_id", "version"])
    known: dict[bytes, int] = {}
    for identifier, version in zip(*(held[name].to_pylist() for name in held.column_names), strict=True):
        known[identifier] = max(version, known.get(identifier, 0))
    return pa.array([known.get(one, 0) + 1 for one in ids.to_pylist()], pa.int32())
