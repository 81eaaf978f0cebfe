"""Bound temporary states: what holds now holds until the small hours of the next local day."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from amos.clock import to_us
from amos.extraction.times import end_of_local_day
from amos.schemas.claims import CLAIMS, SEGMENTABLE
from amos.schemas.vocabulary import MemoryClass
from amos.stage import stage


@stage(reads={"claims": CLAIMS, "sources": SEGMENTABLE}, writes=CLAIMS, version=1)
def bound_temporary(claims: pa.Table, sources: pa.Table) -> pa.Table:
    """Give every temporary state without a stated end the end of the local day on which it begins.

    That day is the source's own, or the day of a later `valid_from`.  claims: rows point into
    sources by `source_row`.  Sources without a time bound nothing.
    """
    is_open = pc.and_(
        pc.equal(claims["memory_class"], str(MemoryClass.TEMPORARY_STATE)), pc.is_null(claims["valid_until"])
    )
    if claims.num_rows == 0 or not pc.any(is_open).as_py():
        return claims
    rows = claims["source_row"]
    said = sources["event_time"].take(rows)
    is_later = pc.fill_null(pc.greater(claims["valid_from"], said), False)
    instants = pc.if_else(is_later, claims["valid_from"], said).to_pylist()
    zones = sources["zone"].take(rows).to_pylist()
    stated = claims["valid_until"].to_pylist()
    ends = [
        end_of_local_day(to_us(at), zone) if opens and at is not None else None
        for opens, at, zone in zip(is_open.to_pylist(), instants, zones, strict=True)
    ]
    merged = [to_us(until) if until is not None else end for until, end in zip(stated, ends, strict=True)]
    field = CLAIMS.field("valid_until")
    column = pa.array(merged, pa.int64()).cast(pa.timestamp("us")).cast(field.type)
    return claims.set_column(CLAIMS.get_field_index("valid_until"), field, column)
