"""Put candidates in the place of others, and decide every history that this touches again.

A candidate that leaves stays as a row with a gate, so that its history can be told and it can come back;
what stands is the fold of those that are eligible, as in any other commit.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from amos.admission.candidates import UNSALTED_CANDIDATES
from amos.admission.comparison import UNSALTED
from amos.admission.decision_rows import decision_ids, risks, singletons, utilities
from amos.admission.policy import Policy
from amos.admission.settle import Settlement, settle
from amos.flow.current import SnapshotRows
from amos.flow.ordering import next_version
from amos.flow.plan import rows_of_histories, settled_parts
from amos.flow.versions import latest
from amos.journal.store import EventRows, Snapshot
from amos.schemas.choosing import with_column
from amos.schemas.columns import ID
from amos.schemas.vocabulary import WITHDRAWN, Action, Outcome

_ACTIONS = {Outcome.REJECT: Action.REJECT, Outcome.IGNORE: Action.NOOP}


@dataclass(frozen=True, kw_only=True)
class Change:
    """Rows without salts.

    fresh: candidates that the store does not hold.  replaced: next versions of those it holds.
    decisions: on sources, with their versions.  entities: that may be new.
    """

    fresh: pa.Table
    replaced: pa.Table
    decisions: pa.Table
    entities: pa.Table

    @property
    def is_empty(self) -> bool:
        """Whether nothing would change."""
        return not (self.fresh.num_rows or self.replaced.num_rows or self.decisions.num_rows)


@dataclass(frozen=True, kw_only=True)
class Switched:
    """The rows of one commit, what it rests on, and every decision on a candidate that it writes."""

    rows: list[EventRows]
    reads: dict[tuple[str, str], pa.Array]
    decisions: pa.Table


def withdraw(rows: pa.Table) -> pa.Table:
    """Return the next version of candidate `rows`, withdrawn."""
    gate = pa.repeat(WITHDRAWN, rows.num_rows)
    return with_column(next_version(rows), "gate", gate)


def switch(
    snapshot: Snapshot, change: Change, *, event: str, key: bytes, policy: Policy, now: datetime
) -> Switched:
    """Return what a commit appends so that `change` takes effect.

    event: type of the event that holds the replaced candidates.
    """
    settled = _settled(snapshot, change, key=key, policy=policy, now=now)
    held = _held_decisions(snapshot, change.replaced, key=key, policy=policy, now=now)
    decisions = pa.concat_tables([settled.decisions, held])
    parts = [
        ("dictionary_updated", "entities", SnapshotRows(snapshot).absent("entities", change.entities)),
        ("candidate_proposed", "candidates", change.fresh),
        (event, "candidates", change.replaced),
        ("candidate_decided", "decisions", pa.concat_tables([decisions, change.decisions])),
        *settled_parts(settled),
    ]
    candidates = pa.concat_tables([change.fresh, change.replaced])
    sources = pa.concat_arrays(
        [candidates["source_id"].combine_chunks(), change.decisions["source_id"].combine_chunks()]
    )
    return Switched(
        rows=[EventRows(*part) for part in parts if part[2].num_rows],
        reads={
            ("sources", "source_id"): sources.unique(),
            ("candidates", "history_id"): candidates["history_id"].combine_chunks().unique(),
            ("candidates", "source_id"): sources.unique(),
            ("entities", "entity_id"): change.entities["entity_id"].combine_chunks().unique(),
        },
        decisions=decisions,
    )


def _settled(snapshot: Snapshot, change: Change, *, key: bytes, policy: Policy, now: datetime) -> Settlement:
    """Fold the histories that the change touches without and with it."""
    touched = pa.concat_tables([change.fresh, change.replaced])
    stored = rows_of_histories(snapshot, touched["history_id"].combine_chunks())
    return settle(
        change.fresh,
        stored,
        SnapshotRows(snapshot),
        replaced=change.replaced,
        key=key,
        policy=policy,
        now=now,
    )


def _held_decisions(
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


def current_rows(snapshot: Snapshot, table: str, column: str, ids: pa.Array) -> pa.Table:
    """Return the current rows of `table` whose `column` is one of `ids`, without salts."""
    schema = UNSALTED_CANDIDATES if table == "candidates" else UNSALTED[table]
    found = snapshot.lookup(table, column, ids.cast(ID), schema.names)
    return latest(found, table).select(schema.names).cast(schema)


def are_equal(one: pa.Table, other: pa.Table, silent: frozenset[str]) -> NDArray[np.bool_]:
    """Return per row whether two aligned tables say the same, apart from the columns `silent`."""
    same = np.ones(one.num_rows, np.bool_)
    for name in one.column_names:
        if name in silent:
            continue
        pairs = zip(one[name].to_pylist(), other[name].to_pylist(), strict=True)
        same &= np.fromiter((a == b for a, b in pairs), np.bool_, one.num_rows)
    return same
