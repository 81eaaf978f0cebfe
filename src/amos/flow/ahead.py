"""Rows that many questions will need, looked up once for all of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from amos.journal.store import Snapshot
from amos.retrieval.rows import ids_of


@dataclass(frozen=True, kw_only=True)
class _Held:
    """Rows by the id that was asked for; an id without a row has no place."""

    rows: pa.Table
    places: dict[bytes, list[int]]


class Ahead:
    """Looks rows up in a snapshot, those read ahead without going to it again.

    It answers `lookup` as the snapshot does, but for the order of rows.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._held: dict[tuple[str, str], _Held] = {}

    def read(self, name: str, column: str, keys: Iterable[bytes], columns: Sequence[str]) -> pa.Table:
        """Hold the rows of some ids instead of those held before; return them."""
        places: dict[bytes, list[int]] = {key: [] for key in keys}
        every = list(dict.fromkeys((*columns, column)))
        rows = self._snapshot.lookup(name, column, np.array(list(places), "S16"), every).combine_chunks()
        for at, key in enumerate(rows[column].to_pylist()):
            places[key].append(at)
        self._held[name, column] = _Held(rows=rows, places=places)
        return rows

    def lookup(self, name: str, column: str, keys: Any, columns: Sequence[str]) -> pa.Table:
        """Return all row versions whose id `column` is among `keys`, an Arrow column of ids."""
        held = self._held.get((name, column))
        asked = dict.fromkeys(keys.to_pylist())
        if held is None or any(key not in held.places for key in asked):
            return self._snapshot.lookup(name, column, ids_of(keys), columns)
        found = [at for key in asked for at in held.places[key]]
        return held.rows.select(list(columns)).take(pa.array(found, pa.int64()))
