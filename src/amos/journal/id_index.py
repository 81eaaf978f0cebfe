"""Find rows by id: sorted 64-bit key halves in a file, and runs in memory for what came after it."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

STORED_WHILE_RUNNING = 1 << 18
STORED_AT_REST = 1 << 12
"""Keys in memory beyond which a column's file is written anew: in the middle of a run, and at its end."""
MOST_IN_MEMORY = 1 << 21
_GROWTH = 4
"""How many times longer than the next a run is, at least: fewer runs to look into, more to sort again."""

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
    ("echoes", "atom_id"),
    ("outcomes", "outcome_id"),
    ("feedback", "atom_id"),
    ("mentions", "mention_id"),
    ("mentions", "conversation_id"),
    ("mentions", "name_key"),
    ("mentions", "role_key"),
]
"""Id columns that decisions look rows up by; any other 16-byte column works as well."""


class IdBase(Protocol):
    """Ids that stand in a file."""

    @property
    def row_count(self) -> int:
        """How many rows of the table are covered, from the first."""

    @property
    def key_count(self) -> int:
        """How many of these rows have an id."""

    def find(self, low: Array, high: Array) -> Array:
        """Return the positions of all keys that lie in one of the inclusive ranges."""


class IdBases(Protocol):
    """Keeps and finds files of ids."""

    is_writable: bool

    def open(self, table: str, column: str, erasures: int) -> Any:
        """Return the file of a column when it belongs to this history, else None."""

    def save(
        self, table: str, column: str, covered: tuple[int, int, int], base: Any, tail: tuple[Array, Array]
    ) -> Any:
        """Write base and tail as one file and return it, None where that is not possible."""


class IdIndex:
    """Row positions of one id column: a file for most rows, and a tail in memory.

    Runs of the tail grow geometrically, so that n rows cost O(n log n) in total whether they came in one
    commit or in thousands, and a look-up visits O(log n) runs.
    """

    def __init__(self, base: IdBase | None = None) -> None:
        self.base = base
        self.row_count = 0 if base is None else base.row_count
        self._runs: list[tuple[Array, Array]] = []

    @property
    def tail_keys(self) -> int:
        """How many keys are held in memory."""
        return sum(len(keys) for keys, _ in self._runs)

    def tail(self) -> tuple[Array, Array]:
        """Return the keys in memory as one sorted run."""
        empty = np.zeros(0, np.uint64), np.zeros(0, np.int64)
        keys, positions = zip(empty, *self._runs, strict=True)
        return _sorted(np.concatenate(keys), np.concatenate(positions))

    def extend(self, keys: Array, positions: Array, row_count: int) -> None:
        """Add (n,) uint64 `keys` at (n,) int64 `positions`; `row_count` rows are then covered."""
        self.row_count = row_count
        if len(keys) == 0:
            return
        self._runs.append(_sorted(keys.astype(np.uint64), positions))
        while len(self._runs) > 1 and len(self._runs[-2][0]) <= _GROWTH * len(self._runs[-1][0]):
            late, early = self._runs.pop(), self._runs.pop()
            keys, positions = np.concatenate([early[0], late[0]]), np.concatenate([early[1], late[1]])
            self._runs.append(_sorted(keys, positions))

    def find(self, keys: Array) -> Array:
        """Return the ascending positions of rows whose key is among (m,) uint64 `keys`."""
        wanted = np.unique(keys.astype(np.uint64))
        return self._among(wanted, wanted)

    def between(self, low: int, high: int) -> Array:
        """Return the ascending positions of rows with low <= key <= high."""
        return self._among(np.array([low], np.uint64), np.array([high], np.uint64))

    def _among(self, low: Array, high: Array) -> Array:
        found = [_between(run, low, high) for run in self._runs]
        if self.base is not None:
            found.append(self.base.find(low, high))
        return np.unique(np.concatenate(found)) if found else np.zeros(0, np.int64)


def is_worth_storing(index: IdIndex, at_least: int) -> bool:
    """Return whether the tail is long: beyond `at_least` keys, and an eighth of the file or very many."""
    held = 0 if index.base is None else index.base.key_count
    return index.tail_keys > max(at_least, min(held // 8, MOST_IN_MEMORY))


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
