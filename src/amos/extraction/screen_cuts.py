"""Overwrite what the screen cut, keeping every length, offset and valid UTF-8."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from amos.extraction.screen_json import cut_json
from amos.schemas.vocabulary import Reason, SourceFlag

CUT_BYTE = b"\x1a"
_CONTINUATION = 0x80
_CONTINUATION_MASK = 0xC0

Range = tuple[int, int]


def apply_cuts(sources: pa.Table, findings: pa.Table) -> tuple[pa.Table, npt.NDArray[np.int64]]:
    """Overwrite the ranges of `findings` with 0x1A and mark the rows; other rows stay as they are.

    sources: RAW rows.  findings: FINDINGS of the same batch.  Ranges widen to whole code
    points; inside `extra` the decoded string keeps its byte length.  Returns the RAW table and
    the bytes overwritten per row, (n,).
    """
    cut_bytes = np.zeros(sources.num_rows, dtype=np.int64)
    if findings.num_rows == 0:
        return sources, cut_bytes
    flags = sources["flags"].to_numpy().copy()
    by_field = _ranges(findings, flags)
    for field, rows in by_field.items():
        name = "text" if field == "content" else field
        sources = _cut_column(sources, name, rows, cut_bytes)
    flags[cut_bytes > 0] |= int(SourceFlag.CUT)
    place = sources.schema.get_field_index("flags")
    marked = pa.array(flags.astype(np.int32))
    return sources.set_column(place, sources.schema.field(place), marked), cut_bytes


def _ranges(findings: pa.Table, flags: npt.NDArray[np.int32]) -> dict[str, dict[int, list[Range]]]:
    """Return cut ranges by field and row; mark instruction-shaped rows in `flags`."""
    by_field: dict[str, dict[int, list[Range]]] = {}
    for found in findings.to_pylist():
        if found["reason"] == Reason.INSTRUCTION_SHAPED_CONTENT:
            flags[found["source_row"]] |= int(SourceFlag.INSTRUCTION_SHAPED)
        if found["reason"] == Reason.TOMBSTONED and found["action"] == "flag":
            flags[found["source_row"]] |= int(SourceFlag.WITHHELD)
        if found["action"] == "cut":
            rows = by_field.setdefault(found["field"], {})
            rows.setdefault(found["source_row"], []).append((found["start"], found["end"]))
    return by_field


def _cut_column(
    sources: pa.Table, name: str, rows: dict[int, list[Range]], cut_bytes: npt.NDArray[np.int64]
) -> pa.Table:
    """Return `sources` with column `name` cut at `rows`; add the bytes cut to `cut_bytes`."""
    place = sources.schema.get_field_index(name)
    column = sources[name].combine_chunks()
    ordered = sorted(rows)
    texts = column.take(pa.array(ordered, pa.int64())).to_pylist()
    replaced: list[str] = []
    for row, text in zip(ordered, texts, strict=True):
        cut, size = _cut_text(text.encode(), rows[row], is_json=name == "extra")
        replaced.append(cut.decode())
        cut_bytes[row] += size
    mask = np.zeros(len(column), dtype=np.bool_)
    mask[ordered] = True
    merged = pc.replace_with_mask(column, pa.array(mask), pa.array(replaced, column.type))
    return sources.set_column(place, sources.schema.field(place), merged)


def _cut_text(text: bytes, ranges: list[Range], *, is_json: bool) -> tuple[bytes, int]:
    merged = merge_ranges(widen(text, start, end) for start, end in ranges)
    if is_json:
        return cut_json(text, merged)
    overwritten = bytearray(text)
    for start, end in merged:
        overwritten[start:end] = CUT_BYTE * (end - start)
    return bytes(overwritten), sum(end - start for start, end in merged)


def widen(text: bytes, start: int, end: int) -> Range:
    """Move both ends of a byte range outwards to the edges of code points."""
    while 0 < start < len(text) and text[start] & _CONTINUATION_MASK == _CONTINUATION:
        start -= 1
    while end < len(text) and text[end] & _CONTINUATION_MASK == _CONTINUATION:
        end += 1
    return start, min(end, len(text))


def merge_ranges(ranges: Iterable[Range]) -> list[Range]:
    """Return `ranges` as ascending, disjoint, non-empty ranges."""
    merged: list[Range] = []
    for start, end in sorted(ranges):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        elif end > start:
            merged.append((start, end))
    return merged
