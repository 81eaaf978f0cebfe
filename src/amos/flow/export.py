"""Write the tables in sight as JSON lines, row by row, for other tools and for reading again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

import pyarrow as pa

from amos.errors import UsageError
from amos.flow.printed import shown_hold, shown_time
from amos.flow.sight import Sight
from amos.flow.tables import visible_parts
from amos.schemas.catalog import HoldEntry
from amos.schemas.state import TABLES

HOLDS = "holds"
"""What rows of legal holds name as their table: they stand beside the memory."""

_CHUNK_ROWS = 4_096
LOST = [
    "salts and keyed digests of deliveries, so that the journal cannot be verified",
    "earlier versions of rows, and what is erased",
    "texts that a screen flagged, and payloads read from them",
    "the commit log, receipts and telemetry",
]
"""What a JSON lines export leaves out."""


def export_rows(
    sight: Sight, tables: Sequence[str] = (), holds: Sequence[HoldEntry] = ()
) -> Iterator[dict[str, Any]]:
    """Yield every row in sight as a JSON object whose first key `table` names its table.

    tables: names to export; when empty all canonical tables in the order of a commit, then the legal holds
    unless the sight is narrowed: they are of the whole shard.  Raises UsageError for a name that is none.
    Text that a screen flagged is null and says `withheld`.
    """
    unknown = [name for name in tables if name not in TABLES]
    if unknown:
        raise UsageError(f"there is no table {unknown[0]!r}", advice=f"Tables: {', '.join(TABLES)}.")
    told = [] if tables or sight.scope else holds
    return chain(_rows(sight, tables), ({"table": HOLDS, **shown_hold(entry)} for entry in told))


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
