"""Carry erasures over from one state of a shard to an earlier one of the same key and history."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from amos.admission.policy import Policy
from amos.flow.forget import doomed_rows
from amos.flow.forget_plan import ErasurePlan, plan_erasure
from amos.flow.forget_selection import Selected
from amos.flow.versions import latest
from amos.identity import random_id
from amos.journal.erasing import row_places
from amos.journal.rows import committed
from amos.journal.store import EventRows, Shard, Snapshot
from amos.schemas.columns import ID
from amos.schemas.state import PRIMARY_KEYS, TABLES, VERSION_COLUMNS

_EVENTS = {
    "sources": "source_revised",
    "conversations": "source_revised",
    "entities": "dictionary_updated",
    "candidates": "candidate_proposed",
    "decisions": "candidate_decided",
    "atoms": "atom_updated",
    "edges": "edge_committed",
    "lineage": "candidate_decided",
    "disputes": "dispute_opened",
    "echoes": "atom_reinforced",
    "outcomes": "retrieval_outcome_recorded",
    "feedback": "retrieval_outcome_recorded",
    "mentions": "dictionary_updated",
}


@dataclass(frozen=True, kw_only=True)
class Missing:
    """What an earlier state still holds although it was forgotten later.

    doomed: by table its stored rows that must go.  renewed: by table the form that the later state gave
    to the ids of such rows.  tombstones: rows that it lacks.  claims, sources: ids of which the later
    state keeps nothing.  Rows that are to be committed have no salts.
    """

    doomed: Mapping[str, pa.Table]
    renewed: Mapping[str, pa.Table]
    tombstones: pa.Table
    claims: pa.Array
    sources: pa.Array

    @property
    def is_empty(self) -> bool:
        """Whether nothing was forgotten later."""
        return not self.doomed and not self.tombstones.num_rows


def missing_erasures(restored: Shard, live: Shard) -> Missing:
    """Return what `live` has forgotten and `restored` still holds; nothing when their keys differ.

    Rows are comparable by their places up to the last commit that both histories share; tombstones always.
    """
    with restored.pin() as old, live.pin() as new:
        is_related = restored.key == live.key
        doomed = _doomed(old, live, _shared_version(restored, live)) if is_related else {}
        tombstones = lacking_tombstones(old, new)
        return Missing(
            doomed=doomed,
            renewed={table: _renewed(new, table, rows) for table, rows in doomed.items()},
            tombstones=tombstones if is_related else tombstones.slice(0, 0),
            claims=_claims_gone(doomed, new),
            sources=_gone(new, "sources", "source_id", _ids(doomed, "sources", "source_id")),
        )


def _shared_version(one: Shard, other: Shard) -> int:
    links = {entry.graph_version: entry.link for entry in one.records().commits}
    shared = [
        entry.graph_version
        for entry in other.records().commits
        if links.get(entry.graph_version) == entry.link
    ]
    return max(shared, default=0)


def _doomed(old: Snapshot, live: Shard, shared: int) -> dict[str, pa.Table]:
    """Return the stored rows of `old` that erasures after the shared version took from `live`."""
    erasures = {entry.graph_version for entry in live.erasures() if entry.graph_version > shared}
    places: dict[str, list[int]] = {}
    for row, erased_by in live.erased_rows():
        if row.graph_version <= shared and erased_by in erasures:
            places.setdefault(row.table, []).append(row.graph_version << 32 | row.row_number)
    found = {table: _rows_at(old, table, np.array(held, np.int64)) for table, held in places.items()}
    return {table: rows for table, rows in found.items() if rows.num_rows}


def _rows_at(snapshot: Snapshot, table: str, places: NDArray[np.int64]) -> pa.Table:
    parts = [rows.filter(pa.array(np.isin(row_places(rows), places))) for rows in snapshot.tables(table)]
    return pa.concat_tables([snapshot.table(table, since=snapshot.version), *parts])


def lacking_tombstones(old: Snapshot, new: Snapshot) -> pa.Table:
    """Return the tombstones of `new`, all versions, that `old` does not have; without salts."""
    key, version = PRIMARY_KEYS["tombstones"], VERSION_COLUMNS["tombstones"]
    held = old.table("tombstones", [key, version])
    known = set(zip(held[key].to_pylist(), held[version].to_pylist(), strict=True))
    rows = new.table("tombstones", committed("tombstones").names)
    ids = zip(rows[key].to_pylist(), rows[version].to_pylist(), strict=True)
    lacking = rows.filter(pa.array([one not in known for one in ids], pa.bool_()))
    return lacking.cast(committed("tombstones"))


def _renewed(new: Snapshot, table: str, rows: pa.Table) -> pa.Table:
    key = PRIMARY_KEYS[table]
    current = latest(new.lookup(table, key, rows[key].combine_chunks().unique()), table)
    return current.select(committed(table).names).cast(committed(table))


def _ids(doomed: Mapping[str, pa.Table], table: str, column: str) -> pa.Array:
    return doomed[table][column].combine_chunks().unique() if table in doomed else pa.array([], ID)


def _gone(new: Snapshot, table: str, column: str, ids: pa.Array) -> pa.Array:
    held = new.lookup(table, column, ids, [column])[column].combine_chunks()
    return ids.filter(pc.invert(pc.is_in(ids, value_set=held)))


def _claims_gone(doomed: Mapping[str, pa.Table], new: Snapshot) -> pa.Array:
    told = [_ids(doomed, "candidates", "claim_id"), _ids(doomed, "atoms", "atom_id")]
    return _gone(new, "candidates", "claim_id", pa.concat_arrays([ids.cast(ID) for ids in told]).unique())


def forget_again(
    shard: Shard, missing: Missing, *, policy: Policy, actor: str, now: datetime
) -> dict[str, int]:
    """Take what is missing out of the shard and of every file of it; return the rows taken, by table.

    What rested on it is decided anew on the shard's own state, as by the first erasure.
    """
    if missing.is_empty:
        return {}
    with shard.pin() as snapshot:
        plan = plan_erasure(
            snapshot,
            Selected(claims=missing.claims, sources=missing.sources, named=()),
            keep_evidence="sources" not in missing.doomed,
            key=shard.key,
            policy=policy,
            now=now,
        )
        doomed = _united(doomed_rows(snapshot, plan), missing.doomed)
        rows = [*plan.rows, *_left_over(snapshot, plan, doomed, missing)]
        base = snapshot.version
    shard.erase(
        [EventRows("erasure_requested", "tombstones", missing.tombstones), *rows],
        doomed=doomed,
        request=json.dumps({"named": [["restore", ""]]}),
        base=base,
        reads={},
        operation="restore",
        actor=actor,
        run_id=random_id(),
        now=now,
    )
    shard.purge(wait_seconds=0)
    return {table: len(np.unique(row_places(found))) for table, found in doomed.items()}


def _united(one: Mapping[str, pa.Table], other: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
    found = {
        table: [tables[table] for tables in (one, other) if table in tables and tables[table].num_rows]
        for table in TABLES
    }
    return {table: pa.concat_tables(parts) for table, parts in found.items() if parts}


def _left_over(
    snapshot: Snapshot, plan: ErasurePlan, doomed: Mapping[str, pa.Table], missing: Missing
) -> list[EventRows]:
    """Return the later forms of ids that would lose every row, and that the plan gives no new one."""
    found = []
    for table, rows in missing.renewed.items():
        key = PRIMARY_KEYS[table]
        planned = [group.rows[key].combine_chunks() for group in plan.rows if group.table == table]
        held = snapshot.lookup(table, key, rows[key].combine_chunks(), [key, "graph_version", "row_number"])
        stays = held.filter(pa.array(~np.isin(row_places(held), row_places(doomed[table]))))[key]
        known = pa.concat_arrays([stays.combine_chunks(), *planned])
        lost = rows.filter(pc.invert(pc.is_in(rows[key], value_set=known)))
        if lost.num_rows:
            found.append(EventRows(_EVENTS[table], table, lost))
    return found
