"""The state of review in figures, and the cases themselves, for a page that is read away from the store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from amos.admission.reviewed import DECIDING
from amos.clock import as_text, to_us
from amos.flow.paging import PageRequest, choose_page
from amos.flow.review_cases import DAY_US, QueueFilter, cases_of, read_queue
from amos.flow.review_names import FORMAT, RECORD
from amos.flow.review_show import Desk, case_on, queue_rows, refuse_valid_time
from amos.flow.sight import Sight
from amos.schemas.vocabulary import Reason

MOST_CASES = 500
"""Cases that a page shows in full unless it is asked for more; the rest is counted."""
SOON_DAYS = 7
_AGES = ((1, "under 1 day"), (7, "1 to 7 days"), (30, "7 to 30 days"), (None, "over 30 days"))
Row = dict[str, Any]


def report_review(desk: Desk, *, limit: int = MOST_CASES, is_full: bool = False) -> Row:
    """Return counts, ages and deadlines of what waits, what people decided, and up to `limit` cases.

    is_full: each case with its words in context and what approving it would do, else as in a list.
    """
    sight = desk.sight
    refuse_valid_time(sight)
    queue = read_queue(sight, QueueFilter())
    order = choose_page("review", -queue["since_us"].to_numpy(), queue["item_id"], PageRequest(limit=limit))
    chosen = queue.take(pa.array(order.rows))
    shown = queue_rows(sight, queue)
    return {
        **_figures(shown),
        "expired": read_queue(sight, QueueFilter(is_expired=True)).num_rows,
        "decided": decided_by_people(sight),
        "cases": _cases(desk, chosen) if is_full else queue_rows(sight, chosen),
        "cases_left_out": queue.num_rows - chosen.num_rows,
        "scope": dict(sight.scope),
        "made_at": as_text(to_us(sight.now)),
        "graph_version": sight.snapshot.version or None,
    }


def _figures(rows: list[Row]) -> Row:
    ages = np.array([row["age_days"] for row in rows], np.float64)
    left = [row["days_left"] for row in rows if row["days_left"] is not None]
    return {
        "waiting": len(rows),
        "oldest_days": float(ages.max()) if ages.size else None,
        "median_days": round(float(np.median(ages)), 1) if ages.size else None,
        "by_age": _by_age(ages.tolist()),
        "stale": sum(row["is_stale"] for row in rows),
        "ending_soon": sum(days <= SOON_DAYS for days in left),
        "by": {
            "kind": _counted(row["kind"] for row in rows),
            "reason": _counted(row["reasons"][0] for row in rows),
            "type": _counted(row["type"] for row in rows if row["type"]),
            "trust": _counted(row["trust"] for row in rows),
            "extractor": _counted(row["extractor"] for row in rows),
            "policy": _counted(row["policy"] for row in rows),
        },
    }


def _counted(values: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(values).items(), key=lambda one: (-one[1], one[0])))


def _by_age(ages: list[float]) -> dict[str, int]:
    counts = dict.fromkeys((name for _, name in _AGES), 0)
    for age in ages:
        counts[next(name for end, name in _AGES if end is None or age < end)] += 1
    return counts


def _cases(desk: Desk, queue: pa.Table) -> list[Row]:
    since = queue["since_us"].to_pylist()
    return [case_on(desk, case, at) for case, at in zip(cases_of(desk.sight, queue), since, strict=True)]


def decided_by_people(sight: Sight) -> Row:
    """Return how many decisions of people stand, by what they were, and how many each person made."""
    decisions = sight.current("decisions", ["reasons", "source_id"])
    first = pc.list_element(decisions["reasons"], 0)
    own = decisions.filter(pc.is_in(first, value_set=pa.array(DECIDING)))
    reasons = own["reasons"].to_pylist()
    records = sight.current("sources", ["format", "block", "author", "event_time"])
    is_record = pc.and_(pc.equal(records["format"], FORMAT), pc.equal(records["block"], RECORD))
    made = records.filter(is_record)
    times = made["event_time"].cast(pa.int64()).drop_null()
    return {
        "standing": len(reasons),
        "by_outcome": _counted(row[0] for row in reasons),
        "basis_changed": sum(str(Reason.BASIS_CHANGED) in row for row in reasons),
        "recorded": made.num_rows,
        "by_person": _counted(str(one) for one in made["author"].to_pylist()),
        "newest_at": as_text(pc.max(times).as_py()) if len(times) else None,
        "days_since": _days_since(sight, times),
    }


def _days_since(sight: Sight, times: pa.ChunkedArray) -> float | None:
    if not len(times):
        return None
    return round(max(to_us(sight.now) - pc.max(times).as_py(), 0) / DAY_US, 1)
