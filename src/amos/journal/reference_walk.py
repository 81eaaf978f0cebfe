"""Check that rows name rows that are there, over whole tables in parts of bounded size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from amos.journal.findings import Problem, VerifyReport
from amos.journal.promises import TAKING
from amos.journal.reference_check import check_contents, check_decided, check_spans, check_versions, listed
from amos.journal.snapshot import Snapshot, latest_rows
from amos.schemas.buffers import as_keys
from amos.schemas.columns import ID
from amos.schemas.state import PRIMARY_KEYS, VERSION_COLUMNS

Array = npt.NDArray[Any]

IDS_AT_ONCE = 500_000
"""Ids of one table held at once; larger tables are gone through part by part, by their ids."""

NAMED = (
    ("edge_dangling", "edges", "from_id", "atoms"),
    ("edge_dangling", "edges", "to_id", "atoms"),
    ("lineage_dangling", "lineage", "predecessor_id", "atoms"),
    ("lineage_dangling", "lineage", "successor_id", "atoms"),
    ("lineage_dangling", "lineage", "decision_id", "decisions"),
    ("lineage_dangling", "lineage", "retracts", "lineage"),
    ("dispute_dangling", "disputes", "sides", "atoms"),
    ("echo_dangling", "echoes", "atom_id", "atoms"),
    ("echo_dangling", "echoes", "source_id", "sources"),
    ("outcome_dangling", "outcomes", "source_id", "sources"),
    ("feedback_dangling", "feedback", "outcome_id", "outcomes"),
    ("feedback_dangling", "feedback", "source_id", "sources"),
    ("feedback_dangling", "feedback", "atom_id", "atoms"),
    ("feedback_dangling", "feedback", "turn_id", "sources"),
    ("feedback_dangling", "feedback", "edge_id", "edges"),
    ("mention_dangling", "mentions", "candidate_id", "candidates"),
    ("mention_dangling", "mentions", "subject_id", "entities"),
    ("mention_dangling", "mentions", "referent_id", "entities"),
    ("mention_dangling", "mentions", "referents", "entities"),
    ("decision_dangling", "decisions", "atom_id", "atoms"),
    ("decision_dangling", "decisions", "targets", "atoms"),
)
"""Kind of problem, table, column of ids, and the table in which they must stand or have stood."""


class _Part:
    """Ids that belong to one of some parts, by their first bytes."""

    def __init__(self, number: int, parts: int) -> None:
        self._number, self._parts = number, parts

    def rows(self, rows: pa.Table, column: str) -> pa.Table:
        """Return the rows whose id is there and in this part."""
        if rows.column(column).null_count:
            rows = rows.filter(pc.is_valid(rows.column(column)))
        if self._parts == 1 or not len(rows):
            return rows
        first = as_keys(rows.column(column))[:, 0].astype(np.uint64)
        return rows.filter(pa.array(first % np.uint64(self._parts) == self._number))


def _parts(snapshot: Snapshot, tables: Sequence[str]) -> Iterator[_Part]:
    counts = snapshot.counts()
    parts = 1 + max(counts[table] for table in tables) // IDS_AT_ONCE
    return (_Part(number, parts) for number in range(parts))


def _read(snapshot: Snapshot, part: _Part, table: str, key: str, columns: Sequence[str]) -> pa.Table:
    """Return the columns of all rows whose `key` is in the part."""
    wanted = list(dict.fromkeys([key, *columns]))
    found = [part.rows(rows, key) for rows in snapshot.tables(table, wanted)]
    return pa.concat_tables(found) if found else snapshot.table(table, wanted)


def check_references(snapshot: Snapshot, report: VerifyReport, progress: Any, *, is_deep: bool) -> None:
    """Check decisions, versions and evidence, and where is_deep that every named row is or was there."""
    with report.timed("references", "rows") as phase:
        report.problems += _check_decisions(snapshot)
        for table, version in VERSION_COLUMNS.items():
            key = PRIMARY_KEYS[table]
            for part in _parts(snapshot, [table]):
                report.problems += check_versions(table, _read(snapshot, part, table, key, [version]))
            phase.done += snapshot.counts()[table]
        if is_deep:
            for kind, table, column, target in NAMED:
                report.problems += _check_named(snapshot, kind, table, column, target)
    with report.timed("spans", "spans") as phase:
        _check_spans(snapshot, report, progress)
        phase.done = report.checked["spans"]


def _check_decisions(snapshot: Snapshot) -> Iterator[Problem]:
    columns = ["decision_id", "version", "candidate_id"]
    for part in _parts(snapshot, ["candidates", "decisions"]):
        rows = _read(snapshot, part, "decisions", "candidate_id", columns)
        latest = latest_rows(rows.column("decision_id"), rows.column("version"))
        current = rows if latest is None else rows.take(pa.array(latest))
        candidates = _read(snapshot, part, "candidates", "candidate_id", [])
        yield from check_decided(candidates, current)
    for rows in snapshot.tables("decisions", ["decision_id", "reasons"]):
        bare = rows.column(0).filter(pc.equal(pc.list_value_length(rows.column(1)), 0))
        yield from listed("decision_without_reason", bare, "it names no reason")
    for part in _parts(snapshot, ["sources", "candidates", "decisions"]):
        known = _read(snapshot, part, "sources", "source_id", []).column("source_id")
        heard = _read(snapshot, part, "decisions", "source_id", []).column("source_id")
        unheard = _without(pc.unique(known), heard)
        yield from listed("source_undecided", unheard, "neither it nor a candidate of it is decided")
        claims = _read(snapshot, part, "candidates", "source_id", ["candidate_id"])
        strangers = claims.filter(pc.invert(pc.is_in(claims.column("source_id"), value_set=_one(known))))
        yield from listed("candidate_without_source", strangers["candidate_id"], "its source is not stored")


def _one(ids: pa.ChunkedArray) -> pa.Array:
    return pa.concat_arrays(ids.chunks) if ids.num_chunks else pa.array([], ID)


def _without(ids: pa.Array, known: pa.ChunkedArray) -> pa.Array:
    return ids.filter(pc.invert(pc.is_in(ids, value_set=_one(known))))


def _check_named(snapshot: Snapshot, kind: str, table: str, column: str, target: str) -> Iterator[Problem]:
    if not snapshot.counts()[table]:
        return
    key = PRIMARY_KEYS[target]
    gone = _erased_ids(snapshot)
    for part in _parts(snapshot, [table, target]):
        known = _one(_read(snapshot, part, target, key, []).column(key))
        found = [_named_ids(rows.column(0)) for rows in snapshot.tables(table, [column])]
        ids = pc.unique(pa.concat_arrays([pa.array([], ID), *found]))
        named = part.rows(pa.table({"id": ids}), "id").column("id")
        for held in (known, gone):
            named = named.filter(pc.invert(pc.is_in(named, value_set=held)))
        yield from listed(kind, named, f"{table} name it in {column}; {target} hold no such row")


def _named_ids(column: pa.ChunkedArray) -> pa.Array:
    """Return the distinct ids in a column of ids or of lists of them."""
    flat = pc.list_flatten(column) if pa.types.is_list(column.type) else column
    found = pc.unique(flat)
    return found.cast(ID) if found.type != ID else found


def _erased_ids(snapshot: Snapshot) -> pa.Array:
    """Return the ids of all rows that events say are gone."""
    found = [pa.array([], ID)]
    for rows in snapshot.tables("events", ["event_type", "target_refs"]):
        chosen = rows.filter(pc.is_in(rows.column("event_type"), value_set=pa.array(sorted(TAKING))))
        found += [pc.unique(pc.list_flatten(chosen.column("target_refs"))).cast(ID)]
    return pa.concat_arrays(found).unique()


def _check_spans(snapshot: Snapshot, report: VerifyReport, progress: Any) -> None:
    """Derive every evidence span again, source by source."""
    cited = {"candidates": "candidate_id", "atoms": "atom_id"}
    checked = dict.fromkeys(cited, 0)
    counts = snapshot.counts()
    for part in snapshot.tables("sources", ["source_id", "revision", "content", "content_digest"]):
        report.problems += check_contents(part)
        for table, key in cited.items():
            wanted = [key, "source_id", "source_revision", "spans"]
            citing = snapshot.lookup(table, "source_id", part["source_id"], wanted)
            rows, spans, problems = check_spans(table, citing, part)
            checked[table] += rows
            report.checked["spans"] += spans
            report.problems += problems
        progress("spans", sum(checked.values()), sum(counts[table] for table in cited))
    for table, rows in checked.items():
        if counts[table] > rows:
            detail = f"{counts[table] - rows} rows cite no stored source"
            report.add("span_without_source", table, detail)
