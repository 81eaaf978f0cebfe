"""Plain values of Arrow columns, read column by column: a row at a time costs ten times as much."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from amos.schemas.buffers import column_arrays


def cells(column: pa.ChunkedArray | pa.Array) -> list[Any]:
    """Return the values of a column of text, bytes, booleans, or of numbers without nulls."""
    return list(column.to_numpy(zero_copy_only=False).tolist()) if len(column) else []


def mask(column: pa.ChunkedArray | pa.Array) -> NDArray[np.bool_]:
    """Return a column of booleans without nulls as an array."""
    return np.asarray(column.to_numpy(zero_copy_only=False), np.bool_)


def instants(column: pa.ChunkedArray | pa.Array) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the microseconds of a time column, 0 where unknown, and which rows are known."""
    read = column_arrays(column)
    if read.valid is None:
        return read.values, np.ones(read.rows, np.bool_)
    return np.where(read.valid, read.values, 0), read.valid
