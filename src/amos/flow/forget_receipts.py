"""Cut forgotten words out of the receipts of runs, which may quote what could not be read."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from amos.admission.tombstones import Forbidden, Graves
from amos.clock import from_us
from amos.extraction.screen_cuts import apply_cuts
from amos.flow.tombstoned import as_findings, find_echoes
from amos.identity import CLAIM_SCOPE
from amos.journal.store import Shard


def scrub_receipts(shard: Shard, forbidden: Forbidden) -> int:
    """Cut the passages of `forbidden` out of every run's receipt; return how many receipts changed."""
    runs = shard.runs()
    passages = [(words, (None,) * len(CLAIM_SCOPE)) for words, _ in forbidden.passages]
    if not runs or not passages:
        return 0
    receipts = pa.table(
        {
            "extra": pa.array([run.receipt for run in runs], pa.string()),
            "flags": pa.array(np.zeros(len(runs), np.int32)),
            **{name: pa.nulls(len(runs), pa.string()) for name in CLAIM_SCOPE},
        }
    )
    found = list(find_echoes(receipts, Graves.for_passages(passages, shard.key)))
    if not found:
        return 0
    cut = apply_cuts(receipts, as_findings(found, receipts))[0]["extra"].to_pylist()
    changed = sorted({echo.row for echo in found})
    for row in changed:
        run = runs[row]
        shard.record_run(run.run_id, run.kind, from_us(run.started_us), from_us(run.finished_us), cut[row])
    return len(changed)
