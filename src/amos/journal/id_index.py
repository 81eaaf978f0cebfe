"""Find rows by id: sorted runs of 64-bit key halves, extended as commits arrive."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

LOOKUPS = [
    ("sources", "source_id"),
    ("conversations", "conversation_id"),
    ("entities", "entity_id"),
    ("candidates", "history_id"),
    ("candidates", "source_id"),
    ("decisions", "decision_id"),
    ("decisions", "source_id"),
    ("atoms", "atom_id"),
    ("edges", "from_id"),
    ("lineage", "successor_id"),
    ("disputes", "dispute_id"),
]
"""Id columns that decisions look rows up by; any other 16-byte column works as well."""


class IdIndex:
    """Row positions of one id column, in memory.

    Runs grow geometrically, so that n rows cost O(n log n) in total whether they came in one
    commit or in thousands, and a look-up visits O(log n) runs.
    """

    def __init__(self) -> None:
        self.row_count = 0
        self._runs: list[tuple[Array, Array]] = []

    def extend(self, keys: Array, positions: Array, row_count: int) -> None:
        """Add (n,) uint64 `keys` at (n,) int64 `positions`; `row_count` rows are then covered."""
        self.row_count = row_count
        if len(keys) == 0:
            return
        self._runs.append(_sorted(keys.astype(np.uint64), positions))
        while len(self._runs) > 1 and len(self._runs[-2][0]) <= 2 * len(self._runs[-1][0]):
            late, early = self._runs.pop(), self._runs.pop()
            keys, positions = np.concatenate([early[0], late[0]]), np.concatenate([early[1], late[1]])
            self._runs.append(_sorted(keys, positions))

    def find(self, keys: Array) -> Array:
        """Return the ascending positions of rows whose key is among (m,) uint64 `keys`."""
        wanted = np.unique(keys.astype(np.uint64))
        found = [_between(run, wanted, wanted) for run in self._runs]
        return np.unique(np.concatenate(found)) if found else np.zeros(0, np.int64)

    def between(self, low: int, high: int) -> Array:
        """Return the ascending positions of rows with low <= key <= high."""
        first, last = np.array([low], np.uint64), np.array([high], np.uint64)
        found = [_between(run, first, last) for run in self._runs]
        return np.unique(np.concatenate(found)) if found else np.zeros(0, np.int64)


def _sorted(keys: Array, positions: Array) -> tuple[Array, Array]:
    order = np.argsort(keys, kind="stable")
    return keys[order], positions[order]


def _between(run: tuple[Array, Array], low: Array, high: Array) -> Array:
    keys, positions = run
    starts = np.searchsorted(keys, low, "left")
    counts = np.searchsorted(keys, high, "right") - starts
    total = int(counts.sum())
    if total == 0:
        return np.zeros(0, np.int64)
    before = np.cumsum(counts) - counts
    return positions[np.repeat(starts - before, counts) + np.arange(total)]
