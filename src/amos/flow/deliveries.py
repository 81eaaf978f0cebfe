"""Tell new deliveries from replays and from other texts under a key that is taken."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from amos.journal.store import Snapshot


@dataclass(frozen=True, kw_only=True)
class Deliveries:
    """The fate of every block of a batch: fresh, linked, or in conflict with a stored one."""

    raw: pa.Table
    source_ids: pa.Array
    fresh: NDArray[np.int64]
    linked: NDArray[np.int64]
    conflicts: pa.Table
    conflict_rows: NDArray[np.int64]

    def fates(self) -> Counter[str]:
        """Return records by fate; a record with any new block is new, with any conflict refused."""
        codes = self.raw["locator"].combine_chunks().dictionary_encode().indices.to_numpy()
        count = int(codes.max()) + 1 if codes.size else 0
        is_new = np.zeros(count, bool)
        is_refused = np.zeros(count, bool)
        is_new[codes[self.fresh]] = True
        is_refused[codes[self.conflict_rows]] = True
        may_retain = self.raw["may_retain"].to_numpy(zero_copy_only=False)
        withheld = np.zeros(count, bool)
        withheld[codes[~may_retain]] = True
        refused = (is_refused & ~is_new) | (withheld & is_new)
        new = int((is_new & ~refused).sum())
        return Counter(new=new, rejected=int(refused.sum()), linked=count - new - int(refused.sum()))


def sort_deliveries(
    snapshot: Snapshot, raw: pa.Table, source_ids: pa.Array, delivered: pa.Array
) -> Deliveries:
    """Tell fresh blocks from replays and conflicts, against the store and inside the batch."""
    known = snapshot.lookup("sources", "source_id", source_ids, ["source_id", "delivery_digest", "revision"])
    stored = dict(zip(known["source_id"].to_pylist(), known["delivery_digest"].to_pylist(), strict=True))
    fresh: list[int] = []
    linked: list[int] = []
    refused: list[int] = []
    for row, (source, digest) in enumerate(zip(source_ids.to_pylist(), delivered.to_pylist(), strict=True)):
        held = stored.get(source)
        if held is None:
            stored[source] = digest
            fresh.append(row)
        elif held == digest:
            linked.append(row)
        else:
            refused.append(row)
    rows = np.array(refused, np.int64)
    conflicts = pa.table({"source_id": source_ids.take(rows), "delivery_digest": delivered.take(rows)})
    return Deliveries(
        raw=raw,
        source_ids=source_ids,
        fresh=np.array(fresh, np.int64),
        linked=np.array(linked, np.int64),
        conflicts=conflicts,
        conflict_rows=rows,
    )
