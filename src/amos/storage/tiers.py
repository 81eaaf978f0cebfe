"""Which segments of a table become one, so that few stay and each row is written anew only a few times.

Levels that each hold a fixed number of equal segments keep either many segments or rewrite much: with ten
live segments and a ratio of eight a simulated ingest of 1,000 commits rewrote each byte 11 times.  Merging
the neighbours that free a place for the fewest bytes, and waiting until there are 32, rewrites it 4 times.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from amos.schemas.catalog import SegmentEntry

MOST_LIVE = 10
"""Segments a table has at rest; beyond that a look-up or a count opens too many files."""
MOST_WAITING = 32
"""Segments a table may have while a run goes on."""
_LONGEST_RUN = 40


def planned(entries: Iterable[SegmentEntry], most: int) -> list[list[SegmentEntry]]:
    """Return the runs to merge of all tables; `plan_merges` for each."""
    tables: dict[str, list[SegmentEntry]] = {}
    for entry in sorted(entries, key=lambda one: (one.table, one.first_version)):
        tables.setdefault(entry.table, []).append(entry)
    return [run for found in tables.values() for run in plan_merges(found, most=most)]


def plan_merges(entries: Sequence[SegmentEntry], *, most: int = MOST_LIVE) -> list[list[SegmentEntry]]:
    """Return runs of neighbours to merge so that at most `most` segments stay; empty when they do already.

    entries: all segments of one table, in commit order.  Runs do not overlap.
    """
    groups = [[entry] for entry in entries]
    sizes = [entry.byte_count for entry in entries]
    while len(groups) > most:
        start, stop = _cheapest(sizes, len(groups) - most + 1)
        groups[start:stop] = [[entry for group in groups[start:stop] for entry in group]]
        sizes[start:stop] = [sum(sizes[start:stop])]
    return [group for group in groups if len(group) > 1]


def _cheapest(sizes: Sequence[int], longest: int) -> tuple[int, int]:
    """Return the run of neighbours with the fewest bytes per segment that merging it saves."""
    sums = np.concatenate([[0], np.cumsum(np.array(sizes, np.int64))])
    best = (np.inf, 0, 0)
    for length in range(2, min(longest, _LONGEST_RUN) + 1):
        costs = (sums[length:] - sums[:-length]) / (length - 1)
        start = int(costs.argmin())
        if costs[start] < best[0]:
            best = (float(costs[start]), start, start + length)
    return best[1], best[2]
