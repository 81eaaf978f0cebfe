"""Put candidates in the place of others, and decide every history that this touches again.

A candidate that leaves stays as a row with a gate, so that its history can be told and it can come back;
what stands is the fold of those that are eligible, as in any other commit.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from amos.admission.candidates import UNSALTED_CANDIDATES
from amos.admission.comparison import UNSALTED
from amos.admission.policy import Policy
from amos.admission.settle import Settlement, settle
from amos.flow.current import SnapshotRows
from amos.flow.held import held_decisions
from amos.flow.ordering import next_version
from amos.flow.plan import rows_of_histories, settled_parts
from amos.flow.versions import latest
from amos.journal.store import EventRows, Snapshot
from amos.schemas.choosing import with_column
from amos.schemas.columns import ID
from amos.schemas.vocabulary import WITHDRAWN


@dataclass(frozen=True, kw_only=True)
class Change:
    """Rows without salts.

    fresh: candidates that the store does not hold.  replaced: next versions of those it holds.
    decisions: on sources, with their versions.  entities: that may be new.  mentions: with their versions.
    """

    fresh: pa.Table
    replaced: pa.Table
    decisions: pa.Table
    entities: pa.Table
    mentions: pa.Table

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
    held = held_decisions(snapshot, change.replaced, key=key, policy=policy, now=now)
    decisions = pa.concat_tables([settled.decisions, held])
    parts = [
        ("dictionary_updated", "entities", SnapshotRows(snapshot).absent("entities", change.entities)),
        ("candidate_proposed", "candidates", change.fresh),
        (event, "candidates", change.replaced),
        ("dictionary_updated", "mentions", change.mentions),
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
