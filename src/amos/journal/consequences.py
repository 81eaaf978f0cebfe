"""Set apart what verification finds only because something else cannot be read: the cause is named once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from amos.journal.findings import Problem, Unchecked, VerifyReport
from amos.schemas.catalog import SegmentEntry

_OF_ROWS = frozenset(["rows_missing", "rows_changed"])
_OF_EVENTS = _OF_ROWS | {
    "event_count",
    "link_broken",
    "erased_rows_changed",
    "erasure_changed",
    "erasure_missing",
    "history_rewritten",
    "history_rolled_back",
    "hold_changed",
    "hold_missing",
    "promise_changed",
    "promise_missing",
    "snapshot_changed",
    "snapshot_missing",
}
_ELSEWHERE = frozenset(["meta retained_from"])
_COMMIT = re.compile(r"(?:(\w+), |event \d+, |)commit (\d+)")
_TABLE = re.compile(r"\w+")
_HOT = re.compile(r"hot rows of (\w+), commits (\d+) to (\d+)")


class _Cause(NamedTuple):
    """What cannot be read: rows of a table, in a range of commits."""

    where: str
    table: str
    first: int
    last: int
    rows: int | None


def set_apart(report: VerifyReport, segments: Sequence[SegmentEntry]) -> None:
    """Take out of the report's problems what follows from files and blobs that cannot be read.

    Each of those stays a problem, and `unchecked` says what could not be looked at because of it.
    """
    causes = _causes(report.problems, segments)
    if not causes:
        return
    left = []
    followed = dict.fromkeys((cause.where for cause in causes), 0)
    for problem in report.problems:
        cause = None if problem.where in followed else _cause_of(problem, causes)
        if cause is None:
            left.append(problem)
        else:
            followed[cause.where] += 1
    report.problems[:] = left
    report.unchecked += [Unchecked(cause.where, _what(cause), followed[cause.where]) for cause in causes]


def _causes(problems: Sequence[Problem], segments: Sequence[SegmentEntry]) -> list[_Cause]:
    named = {entry.file: entry for entry in segments}
    found: dict[str, _Cause] = {}
    for problem in problems:
        entry = named.get(problem.where.partition(", commits ")[0])
        hot = _HOT.fullmatch(problem.where)
        if problem.kind in ("segment_damaged", "segment_missing") and entry is not None:
            place = entry.table, entry.first_version, entry.last_version, entry.row_count
            found[problem.where] = _Cause(problem.where, *place)
        elif problem.kind == "hot_damaged" and hot is not None:
            found[problem.where] = _Cause(problem.where, hot[1], int(hot[2]), int(hot[3]), None)
    return list(found.values())


def _cause_of(problem: Problem, causes: Sequence[_Cause]) -> _Cause | None:
    """Return what a problem follows from, None where it stands for itself."""
    at, table = _COMMIT.fullmatch(problem.where), _TABLE.fullmatch(problem.where)
    for cause in causes:
        is_events = cause.table == "events"
        if problem.kind not in (_OF_EVENTS if is_events else _OF_ROWS):
            if is_events and problem.where in _ELSEWHERE:
                return cause
            continue
        if at is not None:
            is_near = cause.first <= int(at[2]) <= cause.last
            if is_near and (is_events or at[1] == cause.table):
                return cause
        elif is_events or (table is not None and table[0] == cause.table):
            return cause
    return None


def _what(cause: _Cause) -> str:
    commits = (
        f"commit {cause.first}" if cause.first == cause.last else f"commits {cause.first} to {cause.last}"
    )
    if cause.table == "events":
        return f"the chain of {commits}, and all that its events promise: rows, snapshots, holds, erasures"
    rows = "rows" if cause.rows is None else f"{cause.rows} rows"
    return f"{rows} of {cause.table} in {commits}"
