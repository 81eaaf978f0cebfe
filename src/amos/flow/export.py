"""Write the tables in sight as JSON lines, row by row, for other tools and for reading again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from amos.errors import UsageError
from amos.flow.printed import shown_time
from amos.flow.sight import Sight
from amos.flow.tables import visible_table
from amos.schemas.state import TABLES

_CHUNK_ROWS = 4_096


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
            table = visible_table(sight, name)
            for batch in table.to_batches(max_chunksize=_CHUNK_ROWS):
                for row in _plain(batch):
                    yield {"table": name, **row}


def _plain(batch: pa.RecordBatch) -> list[dict[str, Any]]:
    times = [field.name for field in batch.schema if pa.types.is_timestamp(field.type)]
    rows: list[dict[str, Any]] = batch.to_pylist()
    for row in rows:
        for name in times:
            row[name] = shown_time(row[name])
    return rows


def write_lines(lines: Iterable[str], path: Path) -> int:
    """Write `lines` to `path`, which appears only when it is whole; return how many there were."""
    draft = path.with_name(f".{path.name}.draft")
    count = 0
    try:
        with draft.open("w", encoding="utf-8") as stream:
            for line in lines:
                stream.write(line + "\n")
                count += 1
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    return count
