"""Leave no byte of what may not be kept."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from amos.schemas.vocabulary import SourceFlag


def withhold_unretained(raw: pa.Table) -> pa.Table:
    """Overwrite every byte of texts that may not be kept; their envelope stays."""
    may_retain = raw["may_retain"].combine_chunks()
    if pc.all(may_retain).as_py() is not False:
        return raw
    lengths = pc.binary_length(raw["text"])
    blank = pa.array(["\x1a" * length for length in lengths.to_pylist()], pa.string())
    text = pc.if_else(may_retain, raw["text"], blank)
    flags = pc.if_else(
        may_retain, raw["flags"], pc.bit_wise_or(raw["flags"], pa.scalar(SourceFlag.CUT, pa.int32()))
    )
    for name, column in (
        ("text", text),
        ("flags", flags),
        ("extra", pc.if_else(may_retain, raw["extra"], None)),
    ):
        place = raw.schema.get_field_index(name)
        raw = raw.set_column(place, raw.schema.field(name), column.cast(raw.schema.field(name).type))
    return raw
