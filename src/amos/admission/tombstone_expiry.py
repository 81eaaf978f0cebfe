"""Tombstones whose time is over: what is noted of them, and how they are asked when something comes back."""

from __future__ import annotations

from datetime import datetime

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from amos.admission.tombstones import UNSALTED_TOMBSTONES, Graves
from amos.clock import to_us
from amos.schemas.choosing import with_column

ACTIVE, EXPIRED = "active", "expired"


def over_rows(rows: pa.Table, now: datetime) -> pa.Table:
    """Return the tombstones that bar nothing any more, noted as expired or not.

    rows: current rows of `tombstones`.
    """
    ended = pc.less_equal(rows["expires_at"].cast(pa.int64()), to_us(now))
    return rows.filter(pc.or_(pc.equal(rows["status"], EXPIRED), pc.fill_null(ended, False)))


def due_rows(over: pa.Table) -> pa.Table:
    """Return the next version (without salt) of every tombstone that is over and still says active."""
    due = over.filter(pc.equal(over["status"], ACTIVE)).select(UNSALTED_TOMBSTONES.names)
    return _with(due, version=pc.add(due["version"], pa.scalar(1, pa.int32())), status=_all(due, EXPIRED))


def graves_over(over: pa.Table, key: bytes, now: datetime) -> Graves | None:
    """Return tombstones that are over as if they still stood, None when there are none."""
    if not over.num_rows:
        return None
    endless = pa.nulls(over.num_rows, over.schema.field("expires_at").type)
    return Graves(_with(over, status=_all(over, ACTIVE), expires_at=endless), key, now)


def _all(rows: pa.Table, value: str) -> pa.Array:
    return pa.array(np.full(rows.num_rows, value, object), pa.string())


def _with(rows: pa.Table, **columns: pa.Array) -> pa.Table:
    for name, column in columns.items():
        rows = with_column(rows, name, column)
    return rows
