"""Write the tables in sight as JSON lines, row by row, for other tools and for reading again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa

from amos.errors import UsageError
from amos.flow.printed import shown_time
from amos.flow.sight import Sight
from amos.flow.tables import visible_parts
from amos.schemas.state import TABLES

_CHUNK_ROWS = 4_096
LOST = [
    "salts and keyed digests, so that the journal cannot be verified",
    "earlier versions of rows, and what is erased",
    "texts that a screen flagged, and payloads read from them",
    "the commit log, receipts and telemetry",
]
"""What a JSON lines export leaves out."""


def export_rows(sight: Sight, tables: Sequence[str] = ()) -> Iterator[dict[str, Any]]:
    """Yield every row in sight as a JSON object whose first key `table` names its table.

    tables: names to export, all canonical tables in the order of a commit when empty.  Raises
    UsageError for a name that is none.  Text that a screen flagged is null and says `withheld`.
    """
    unknown = [name for name in tables if name not in TABLES]
    if unknown:
        raise UsageError(f"there is no table {unknown[0]!r}", advice=f"Tables: {', '.join(TABLES)}.")
    return _rows(sight, tables)


def _rows(sight: Sight, tables: Sequence[str]) -> Iterator[dict[str, Any]]:
    for name in TABLES:
        if not tables or name in tables:
            for part in visible_parts(sight, name):
                for batch in part.to_batches(max_chunksize=_CHUNK_ROWS):
                    for row in _plain(batch):
                        yield {"table": name, **row}


def _plain(batch: pa.RecordBatch) -> list[dict[str, Any]]:
    times = [field.name for field in batch.schema if pa.types.is_timestamp(field.type)]
    rows: list[dict[str, Any]] = batch.to_pylist()
    for row in rows:
        for name in times:
            row[name] = shown_time(row[name])
    return rows


def json_lines(rows: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Yield one line of JSON per row, then the line that says that these were all."""
    count = 0
    for row in rows:
        yield json.dumps(row, ensure_ascii=False)
        count += 1
    yield json.dumps({"amos_end": {"rows": count, "truncated": False, "cursor": None}})
