"""Write the whole journal of a shard as JSON lines: commits, their events, and the rows of each event."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple, Protocol

import numpy as np
import pyarrow as pa

from amos.errors import IntegrityError
from amos.journal.catalog_check import CatalogSource
from amos.journal.history_check import ROW_TABLES, HistorySource
from amos.journal.rows import committed
from amos.journal.streams import RowStream
from amos.journal.tree import TreeRoot
from amos.schemas.buffers import BYTES, BYTES_LIST, INT, kind_of
from amos.schemas.catalog import CommitEntry, ErasedColumns, Layout
from amos.schemas.state import EVENTS

FORMAT = 1
_CHUNK_ROWS = 4_096


class ExportSource(HistorySource, CatalogSource, Protocol):
    """What an export reads of a shard; a pin must be held meanwhile."""

    def layout(self) -> Layout:
        """Return where the rows stand."""
        ...


class _Row(NamedTuple):
    version: int
    number: int
    line: str


def column_kinds(schema: pa.Schema) -> list[list[str]]:
    """Return the name and kind of each column: int, bool, time, text, hex, ints, texts or hexes."""
    return [[field.name, _kind(field.type)] for field in schema]


def _kind(kind: pa.DataType) -> str:
    shape = kind_of(kind)
    if shape == INT:
        return "bool" if pa.types.is_boolean(kind) else "time" if pa.types.is_timestamp(kind) else "int"
    if shape == BYTES:
        return "text" if pa.types.is_string(kind) else "hex"
    if shape == BYTES_LIST:
        return "texts" if pa.types.is_string(kind.value_type) else "hexes"
    return "ints"


def exported_columns() -> dict[str, list[list[str]]]:
    """Return the columns of every table as the first line of a journal states them."""
    tables = {table: column_kinds(committed(table)) for table in ROW_TABLES}
    return {**tables, "events": column_kinds(EVENTS)}


def plain_rows(rows: pa.Table, schema: pa.Schema) -> list[dict[str, Any]]:
    """Return rows as JSON values: times as microseconds, bytes as hexadecimal digits."""
    columns = {}
    for field in schema:
        kind = _kind(field.type)
        column = rows.column(field.name)
        values = column.cast(pa.int64()).to_pylist() if kind == "time" else column.to_pylist()
        if kind == "hex":
            values = [None if value is None else value.hex() for value in values]
        elif kind == "hexes":
            values = [None if value is None else [item.hex() for item in value] for value in values]
        columns[field.name] = values
    names = schema.names
    return [dict(zip(names, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def journal_lines(source: ExportSource) -> Iterator[str]:
    """Yield the lines of a journal, without line ends, in flat memory.

    The rows of an event follow it, in the order of its Merkle tree; a row that is gone is told by its
    commitment and the commit that took it.  Raises IntegrityError where rows cannot be read or are missing.
    """
    layout = source.layout()
    head = {
        "amos_journal": FORMAT,
        "shard": "/".join(source.labels()),
        "graph_version": layout.head,
        "tables": exported_columns(),
    }
    yield _text(head)
    writer = _Writer(source, layout)
    for commits in source.commit_pages(until=layout.head):
        yield from writer.lines(commits)
    yield _text({"end": writer.end(layout.head)})


class _Writer:
    def __init__(self, source: ExportSource, layout: Layout) -> None:
        self._events = RowStream(source, "events", layout.segments, layout.hot, _refuse)
        self._rows = {
            table: _row_lines(
                table,
                RowStream(source, table, layout.segments, layout.hot, _refuse),
                source.erased_columns(table),
            )
            for table in ROW_TABLES
        }
        self._tree = TreeRoot()
        self._link = bytes(32)
        self._count = 0

    def lines(self, commits: Sequence[CommitEntry]) -> Iterator[str]:
        """Yield the lines of some commits."""
        rows = (event for part in self._events.until(commits[-1].graph_version) for event in _events(part))
        for commit in commits:
            yield _text(_commit_record(commit))
            self._link = commit.link
            for event in islice(rows, commit.event_count):
                yield _text({"event": event})
                yield from self._rows_of(event)

    def _rows_of(self, event: dict[str, Any]) -> Iterator[str]:
        payload = json.loads(event["payload"])
        self._tree.add(_digest_row(event["checksum"]))
        if "rows" not in payload:
            return
        for row in islice(self._rows[payload["table"]], payload["rows"]):
            if row.version != event["version"]:
                raise IntegrityError(f"rows of {payload['table']} are missing at commit {event['version']}")
            self._count += 1
            yield row.line

    def end(self, head: int) -> dict[str, Any]:
        """Return what the last line says."""
        return {
            "graph_version": head,
            "events": self._tree.size,
            "rows": self._count,
            "link": self._link.hex(),
            "root": self._tree.root().hex(),
        }


def _digest_row(checksum: str) -> Any:
    return np.frombuffer(bytes.fromhex(checksum), np.uint8)[None, :]


def _events(part: pa.Table) -> Iterator[dict[str, Any]]:
    for start in range(0, len(part), _CHUNK_ROWS):
        yield from plain_rows(part.slice(start, _CHUNK_ROWS), EVENTS)


def _row_lines(table: str, stream: RowStream, erased: ErasedColumns) -> Iterator[_Row]:
    """Yield the rows of a table in commit order, those that are gone in their places."""
    gone = zip(erased.places.tolist(), erased.digests, erased.erased_by.tolist(), strict=True)
    lost = next(gone, None)
    for row in _present_lines(table, stream):
        while lost is not None and lost[0] < row.version << 32 | row.number:
            yield _erased_line(table, *lost)
            lost = next(gone, None)
        yield row
    while lost is not None:
        yield _erased_line(table, *lost)
        lost = next(gone, None)


def _present_lines(table: str, stream: RowStream) -> Iterator[_Row]:
    schema = committed(table)
    for part in stream.rest():
        for start in range(0, len(part), _CHUNK_ROWS):
            rows = part.slice(start, _CHUNK_ROWS)
            names = ("graph_version", "row_number", "salt")
            places = zip(*(rows.column(name).to_pylist() for name in names), strict=True)
            for (version, number, salt), values in zip(places, plain_rows(rows, schema), strict=True):
                record = {"row": [table, version, number], "salt": salt.hex(), "values": values}
                yield _Row(version, number, _text(record))


def _erased_line(table: str, place: int, digest: Any, erased_by: int) -> _Row:
    version, number = place >> 32, place & 0xFFFFFFFF
    record = {
        "erased": [table, version, number],
        "commitment": digest.tobytes().hex(),
        "erased_by": erased_by,
    }
    return _Row(version, number, _text(record))


def _commit_record(commit: CommitEntry) -> dict[str, Any]:
    fields = commit._asdict()
    version = fields.pop("graph_version")
    fields["run_id"], fields["link"] = commit.run_id.hex(), commit.link.hex()
    return {"commit": version, **fields}


def _text(record: object) -> str:
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"))


def _refuse(kind: str, where: str, detail: str) -> None:
    raise IntegrityError(f"{kind} at {where}: {detail}", path=where)
