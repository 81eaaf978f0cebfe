"""Give every row that an applied run wrote the form that it had before."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from amos.admission.candidates import UNSALTED_CANDIDATES
from amos.admission.comparison import UNSALTED
from amos.errors import UsageError
from amos.flow.ordering import next_version
from amos.flow.prepare import UNSALTED_ENTITIES
from amos.flow.referents import UNSALTED_MENTIONS
from amos.flow.versions import latest
from amos.identity import id_text
from amos.journal.store import Shard, Snapshot
from amos.reprocess.change import withdrawn_decisions
from amos.reprocess.switch import Change, current_rows, withdraw
from amos.schemas.choosing import with_column
from amos.schemas.state import PRIMARY_KEYS
from amos.schemas.vocabulary import WITHDRAWN

_OWN = ["version", "order_time"]
"""Columns that go on as they are now when an earlier form of a candidate returns."""


def backward_change(shard: Shard, snapshot: Snapshot, version: int) -> Change:
    """Return the change that takes the run back which committed graph version `version`.

    Rows that were decided otherwise since, by an erasure or a reviewer, stay as they are.  Raises
    UsageError when a later run reads the same sources, or the history it needs was dropped.
    """
    candidates = _written(snapshot, "candidates", version)
    now = current_rows(snapshot, "candidates", "candidate_id", candidates["candidate_id"].combine_chunks())
    then = _aligned(candidates, now, "candidate_id")
    _require_last(shard, snapshot, now, then)
    now = now.filter(pc.equal(_gates(now), _gates(then)))
    with shard.pin(version - 1) as earlier:  # refused by name where that history was dropped
        replaced = _as_before(earlier, now)
        decisions = _decisions_before(earlier, snapshot, version)
        mentions = _mentions_before(earlier, snapshot, version)
    return Change(
        fresh=UNSALTED_CANDIDATES.empty_table(),
        replaced=replaced,
        decisions=decisions,
        entities=UNSALTED_ENTITIES.empty_table(),
        mentions=mentions,
    )


def _written(snapshot: Snapshot, table: str, version: int) -> pa.Table:
    """Return the rows of `table` that one commit wrote, without salts."""
    schema = {"candidates": UNSALTED_CANDIDATES, "mentions": UNSALTED_MENTIONS}.get(table) or UNSALTED[table]
    rows = snapshot.table(table, [*schema.names, "graph_version"], since=version - 1)
    return rows.filter(pc.equal(rows["graph_version"], version)).select(schema.names).cast(schema)


def _aligned(rows: pa.Table, others: pa.Table, key: str) -> pa.Table:
    """Return `rows` in the order in which `others` name them."""
    return rows.take(pc.index_in(others[key], value_set=rows[key].combine_chunks()).combine_chunks())


def _gates(rows: pa.Table) -> pa.Array:
    return pc.fill_null(rows["gate"].combine_chunks(), "")


def _require_last(shard: Shard, snapshot: Snapshot, now: pa.Table, then: pa.Table) -> None:
    """Raise UsageError when a later run has withdrawn or brought back one of the candidates."""
    is_out, was_out = (np.array(_gates(rows).to_pylist()) == WITHDRAWN for rows in (now, then))
    moved = np.flatnonzero(is_out != was_out)
    if not moved.size:
        return
    ids = now["candidate_id"].combine_chunks().take(pa.array(moved[:1]))
    found = latest(
        snapshot.lookup("candidates", "candidate_id", ids, ["candidate_id", "version", "graph_version"]),
        "candidates",
    )
    at = found["graph_version"][0].as_py()
    later = next(
        id_text("runs", entry.run_id)
        for page in shard.commit_pages(until=at)
        for entry in page
        if entry.graph_version == at
    )
    raise UsageError(
        f"run {later} came later and reads the same sources",
        path=later,
        advice=f"Take that one back first: `amos revert {later}`.",
    )


def _as_before(earlier: Snapshot, now: pa.Table) -> pa.Table:
    """Return the next version of each candidate: its earlier form, withdrawn where it had none."""
    old = current_rows(earlier, "candidates", "candidate_id", now["candidate_id"].combine_chunks())
    had = pc.is_in(now["candidate_id"], value_set=old["candidate_id"].combine_chunks())
    kept = now.filter(had)
    back = _aligned(old, kept, "candidate_id")
    for name in _OWN:
        back = with_column(back, name, kept[name])
    return pa.concat_tables([withdraw(now.filter(pc.invert(had))), next_version(back)]).combine_chunks()


def _mentions_before(earlier: Snapshot, snapshot: Snapshot, version: int) -> pa.Table:
    """Return the next version of each mention that the commit wrote anew: its earlier form.

    One that it wrote first belongs to a candidate that leaves.
    """
    ids = _written(snapshot, "mentions", version)["mention_id"].combine_chunks()
    names = UNSALTED_MENTIONS.names
    now = latest(snapshot.lookup("mentions", "mention_id", ids, names), "mentions")
    old = latest(earlier.lookup("mentions", "mention_id", ids, names), "mentions")
    now = now.filter(pc.is_in(now["mention_id"], value_set=old["mention_id"].combine_chunks()))
    back = _aligned(old, now, "mention_id")
    return next_version(with_column(back, "version", now["version"])).cast(UNSALTED_MENTIONS)


def _decisions_before(earlier: Snapshot, snapshot: Snapshot, version: int) -> pa.Table:
    """Return the next version of each decision on a source that the commit wrote: its earlier form."""
    key = PRIMARY_KEYS["decisions"]
    then = _written(snapshot, "decisions", version)
    then = then.filter(pc.is_null(then["candidate_id"]))
    now = current_rows(snapshot, "decisions", key, then[key].combine_chunks())
    then = _aligned(then, now, key)
    stays = np.array(
        [
            one == other
            for one, other in zip(now["version"].to_pylist(), then["version"].to_pylist(), strict=True)
        ],
        np.bool_,
    )
    now = now.filter(pa.array(stays, pa.bool_()))
    old = current_rows(earlier, "decisions", key, now[key].combine_chunks())
    had = pc.is_in(now[key], value_set=old[key].combine_chunks())
    kept = now.filter(had)
    back = _aligned(old, kept, key)
    back = next_version(with_column(back, "version", kept["version"]))
    return pa.concat_tables([withdrawn_decisions(now.filter(pc.invert(had))), back]).combine_chunks()
