"""Which of several stored versions of a row counts."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from amos.schemas.state import PRIMARY_KEYS, VERSION_COLUMNS


def latest(rows: pa.Table, table: str) -> pa.Table:
    """Return the highest version per id, in the order of first appearance."""
    if table not in VERSION_COLUMNS or rows.num_rows < 2:
        return rows
    encoded = rows[PRIMARY_KEYS[table]].combine_chunks().dictionary_encode()
    codes = encoded.indices.to_numpy()
    if len(encoded.dictionary) == rows.num_rows:
        return rows
    order = np.lexsort((rows[VERSION_COLUMNS[table]].to_numpy(), codes))
    is_last = np.append(codes[order][1:] != codes[order][:-1], True)
    return rows.take(order[is_last])


def standing_lineage(lineage: pa.Table) -> pa.Table:
    """Return the lineage rows that nothing has withdrawn."""
    withdrawn = {name for name in lineage["retracts"].to_pylist() if name is not None}
    pairs = zip(lineage["lineage_id"].to_pylist(), lineage["retracts"].to_pylist(), strict=True)
    keep = [identity not in withdrawn and retracts is None for identity, retracts in pairs]
    return lineage.filter(pa.array(keep, pa.bool_()))
