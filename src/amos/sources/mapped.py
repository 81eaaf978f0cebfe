"""Read any table with a mapping file: CSV, JSON lines, a JSON array or Parquet."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterable, Iterator
from datetime import date, datetime
from typing import Any, BinaryIO, ClassVar

from amos.schemas.vocabulary import SourceFlag
from amos.sources.block import Batch, Problem
from amos.sources.faults import Fault, lost, noted
from amos.sources.line_blocks import LineBlocks
from amos.sources.mapping import Mapping
from amos.sources.messages import add_record
from amos.sources.reader import NOT_MINE, ReadContext, Reader, Recognition, Sample
from amos.sources.records import Record, json_documents, json_records
from amos.sources.splitting import BOM, buffered, skip_line

_PARQUET_MAGIC = b"PAR1"
_PARQUET_ROWS = 1024
_BYTES_ESCAPED = re.compile("[\udc80-\udcff]+")
_LARGEST_FIELD = 2**31 - 1


class MappedReader(Reader):
    """Keys: those of `messages`, under the name of the system that the mapping gives."""

    name: ClassVar[str] = "mapped"

    def __init__(self) -> None:
        self._blocks: LineBlocks | None = None

    @classmethod
    def recognise(cls, sample: Sample) -> Recognition:  # noqa: ARG003 - only a mapping makes a table readable
        """See nothing: a table is read only when a mapping is given."""
        return NOT_MINE

    def read(self, stream: BinaryIO, context: ReadContext) -> Iterator[Batch]:
        """Yield one block per row; columns without a field go to `extra`."""
        mapping = context.mapping
        form = f"{self.name}:{mapping.name if mapping else ''}"
        if mapping is None:
            problem = lost(context.file, 0, Fault.UNKNOWN_FORMAT, "a table is read with `--map FILE`")
            yield Batch(blocks=[], problems=[problem], record_count=1, format=form)
            return
        if self._blocks is None:
            self._blocks = LineBlocks(form)
        for rows in _chunks(_rows(stream, mapping, context), context.chunk_records):
            batch = Batch(blocks=[], problems=[], record_count=0, format=form)
            for row in rows:
                batch.record_count += 1
                batch.bytes_read += row.size
                if row.value is not None:
                    row.value = _told(row, mapping, context)
                add_record(row, self._blocks, context, batch)
                _name_columns(row, batch)
            yield batch


def _told(row: Record, mapping: Mapping, context: ReadContext) -> dict[str, Any] | None:
    """Return the fields of a message; None, with the reason, where the column of the text is not there."""
    assert row.value is not None
    column = mapping.fields["text"]
    if column in row.value or column.partition(".")[0] in row.value:
        return _message(row.value, mapping)
    there = ", ".join(sorted(map(str, row.value)))
    said = f"there is no column {column!r}, which the mapping names as the text; there are {there}"
    row.problems.append(lost(context.file, row.number, Fault.SCHEMA_INVALID, said))
    return None


def _name_columns(row: Record, batch: Batch) -> None:
    """Let the batch name the columns of a row that the mapping leaves out, instead of what holds them."""
    if "columns" in batch.unknown_fields and row.value is not None:
        batch.unknown_fields.discard("columns")
        batch.unknown_fields.update(row.value["columns"])


def _chunks(rows: Iterable[Record], size: int) -> Iterator[list[Record]]:
    chunk: list[Record] = []
    for row in rows:
        chunk.append(row)
        if len(chunk) >= size:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


def _rows(stream: BinaryIO, mapping: Mapping, context: ReadContext) -> Iterator[Record]:
    peekable = buffered(stream)
    kind = mapping.kind or _kind(peekable.peek(4)[:4], context.file.lower())
    if kind == "parquet":
        return _parquet_rows(peekable, context)
    if kind in {"csv", "tsv"}:
        delimiter = mapping.delimiter or ("\t" if kind == "tsv" else ",")
        return _csv_rows(peekable, delimiter, context)
    return json_records(peekable, context)


def _kind(magic: bytes, file: str) -> str:
    if magic == _PARQUET_MAGIC:
        return "parquet"
    for suffix in ("csv", "tsv"):
        if file.endswith(f".{suffix}"):
            return suffix
    return "json"


def table_or_json(stream: BinaryIO, context: ReadContext) -> Iterator[Record]:
    """Yield the rows of a Parquet or CSV file by the names of its columns, or the objects of a JSON file."""
    peekable = buffered(stream)
    kind = _kind(peekable.peek(4)[:4], context.file.lower())
    if kind == "parquet":
        return _parquet_rows(peekable, context)
    if kind in {"csv", "tsv"}:
        return _csv_rows(peekable, "\t" if kind == "tsv" else ",", context)
    return json_documents(peekable, context)


def _csv_rows(stream: BinaryIO, delimiter: str, context: ReadContext) -> Iterator[Record]:
    csv.field_size_limit(min(context.limits.record_bytes, _LARGEST_FIELD))
    reader = csv.reader(_TextLines(stream, context.limits.record_bytes), delimiter=delimiter)
    header: list[str] | None = None
    number = 0
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as cause:
            number += 1
            problem = lost(context.file, number, Fault.WRONG_TYPE, f"no table row: {cause}")
            yield Record(number=number, size=0, value=None, problems=[problem])
            continue
        if not cells:
            continue
        if header is None:
            header = [_mended(cell)[0].strip() for cell in cells]
            continue
        number += 1
        yield _csv_record(header, cells, number, context)


class _TextLines:
    """Lines with their ends; bytes that are no UTF-8 stay lone surrogates until a cell is mended.

    An iterator of its own, because it goes on after the csv.Error of a line that is too long.
    """

    def __init__(self, stream: BinaryIO, longest: int) -> None:
        self._stream = stream
        self._longest = longest
        self._is_first = True

    def __iter__(self) -> _TextLines:
        return self

    def __next__(self) -> str:
        raw = self._stream.readline(self._longest + 1)
        if not raw:
            raise StopIteration
        if len(raw) > self._longest and not raw.endswith(b"\n"):
            skip_line(self._stream, self._longest)
            raise csv.Error(f"a line of more than {self._longest} bytes")
        if self._is_first:
            raw = raw.removeprefix(BOM)
            self._is_first = False
        return raw.decode(errors="surrogateescape")


def _csv_record(header: list[str], cells: list[str], number: int, context: ReadContext) -> Record:
    problems: list[Problem] = []
    mended = [_mended(cell) for cell in cells]
    is_mended = any(changed for _, changed in mended)
    if is_mended:
        message = "bytes that are no UTF-8 became U+FFFD"
        problems.append(noted(context.file, number, Fault.INVALID_UTF8, message))
    value: dict[str, Any] = dict.fromkeys(header)
    value |= {name: cell or None for name, (cell, _) in zip(header, mended, strict=False)}
    if len(cells) > len(header):
        value[""] = [cell for cell, _ in mended[len(header) :]]
    return Record(
        number=number,
        size=sum(map(len, cells)),
        value=value,
        problems=problems,
        flags=int(SourceFlag.SURROGATE_REPLACED) if is_mended else 0,
    )


def _mended(cell: str) -> tuple[str, bool]:
    if cell.isascii():
        return cell, False
    mended = _BYTES_ESCAPED.sub("\ufffd", cell)
    return mended, mended != cell


def _parquet_rows(stream: BinaryIO, context: ReadContext) -> Iterator[Record]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    number = 0
    try:
        for rows in pq.ParquetFile(stream).iter_batches(batch_size=_PARQUET_ROWS):
            size = rows.nbytes // max(1, rows.num_rows)
            for row in rows.to_pylist():
                number += 1
                value = {name: _plain(cell) for name, cell in row.items()}
                yield Record(number=number, size=size, value=value, problems=[])
    except (pa.ArrowException, ValueError) as cause:
        problem = lost(context.file, number + 1, Fault.UNREADABLE, f"the Parquet file ends here: {cause}")
        yield Record(number=number + 1, size=0, value=None, problems=[problem])


def _plain(cell: Any) -> Any:
    """Return `cell` as JSON would hold it."""
    if isinstance(cell, datetime | date):
        return cell.isoformat()
    if isinstance(cell, bytes):
        return cell.decode(errors="replace")
    if isinstance(cell, dict):
        return {str(name): _plain(item) for name, item in cell.items()}
    if isinstance(cell, list | tuple):
        return [_plain(item) for item in cell]
    is_plain = (
        cell is None or isinstance(cell, str | int) or (isinstance(cell, float) and math.isfinite(cell))
    )
    return cell if is_plain else str(cell)


def _message(row: dict[str, Any], mapping: Mapping) -> dict[str, Any]:
    """Return the fields of a message from a table row; unmapped columns stand under `columns`."""
    message: dict[str, Any] = dict(mapping.constants)
    for name, column in mapping.fields.items():
        value = _cell(row, column)
        value = mapping.values.get(name, {}).get(value, value) if isinstance(value, str) else value
        if value is not None:
            message[name] = value
    scope = {name: _cell(row, column) for name, column in mapping.scope.items()}
    if any(value is not None for value in scope.values()):
        message["scope"] = {name: str(value) for name, value in scope.items() if value is not None}
    used = {column.partition(".")[0] for column in (*mapping.fields.values(), *mapping.scope.values())}
    used |= {*mapping.fields.values(), *mapping.scope.values()}
    rest = {name: value for name, value in row.items() if name not in used and value is not None}
    if rest:
        message["columns"] = rest
    return message


def _cell(row: dict[str, Any], column: str) -> Any:
    """Return the value under `column`, or along its dots."""
    if column in row:
        return row[column]
    value: Any = row
    for name in column.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return value
