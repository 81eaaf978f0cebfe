"""Read `messages` JSON lines, Amos's own plain format: one message per line, ids welcome."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import BinaryIO, ClassVar

import msgspec

from amos.sources.block import Batch, Block, Problem
from amos.sources.faults import UnreadableRecordError, lost
from amos.sources.line import Line, Repairs, line_of
from amos.sources.line_blocks import LineBlocks, earlier_blocks
from amos.sources.line_columns import LineColumns
from amos.sources.line_fields import decode_fields, decode_line, parse_fields
from amos.sources.raw_rows import add_table
from amos.sources.reader import NOT_MINE, ReadContext, Reader, Recognition, Sample
from amos.sources.records import Record, record_of
from amos.sources.splitting import line_chunks, line_piece, raw_lines

_CHUNK_BYTES = 1 << 20
_MANY_LINES = 256
"""From this many lines on, columns cost much less than blocks."""
_PARTS = 4
"""Into so many parts lines are cut where one is odd, so that it holds up its own part only."""
_PARSED_LINES = 512
"""From this many lines on, Arrow is asked to parse them first."""


class Message(msgspec.Struct, kw_only=True):
    """One line as `propose` needs it: earlier texts first, the message itself last.

    No blocks: the line could not be read, and `problems` says why.
    """

    line: int
    id: str
    blocks: list[Block]
    problems: list[Problem]


class MessagesReader(Reader):
    """Keys: conversation and id; without an id a chain of digests per conversation."""

    name: ClassVar[str] = "messages"

    def __init__(self) -> None:
        self._blocks = LineBlocks(self.name)

    @classmethod
    def recognise(cls, sample: Sample) -> Recognition:
        """See lines with a `text`."""
        texts = [line for line in sample.objects if isinstance(line.get("text"), str)]
        if not texts:
            is_long = not sample.objects and not sample.is_array and "text" in sample.keys
            return Recognition(40, "a long JSON line with `text`") if is_long else NOT_MINE
        sure = 20 if "type" in texts[0] else 60 if "id" in texts[0] else 50
        return Recognition(sure, "JSON lines with `text`")

    def read(self, stream: BinaryIO, context: ReadContext) -> Iterator[Batch]:
        """Yield one block per line."""
        longest, count = context.limits.record_bytes, context.chunk_records
        for numbers, raws in line_chunks(stream, longest=longest, count=count, size=_CHUNK_BYTES):
            batch = _empty_batch()
            self._read_chunk(numbers, raws, context, batch)
            yield batch

    def _read_chunk(
        self, numbers: Sequence[int], raws: Sequence[bytes], context: ReadContext, batch: Batch
    ) -> None:
        """Add the lines to `batch`: many usual ones by columns, few of them or odd ones one by one."""
        count = len(raws)
        columns = _usual_columns(raws, context) if count >= _MANY_LINES else None
        if columns is not None:
            add_table(batch, self._blocks.table(columns, numbers, raws))
            batch.record_count += count
            batch.bytes_read += sum(map(len, raws))
        elif count < 2 * _MANY_LINES:
            for number, raw in zip(numbers, raws, strict=True):
                self._read_line(number, raw, context, batch)
        else:
            step = max(-(-count // _PARTS), _MANY_LINES)
            for start in range(0, count, step):
                stop = start + step
                self._read_chunk(numbers[start:stop], raws[start:stop], context, batch)

    def _read_line(self, number: int, raw: bytes, context: ReadContext, batch: Batch) -> Line | None:
        """Add the line to `batch`; return it unless it is lost."""
        batch.record_count += 1
        batch.bytes_read += len(raw)
        try:
            line = decode_line(raw)
        except (msgspec.DecodeError, RecursionError):
            return add_record(record_of(line_piece(number, raw), context), self._blocks, context, batch)
        if not line.is_plain(raw):
            return add_record(record_of(line_piece(number, raw), context), self._blocks, context, batch)
        return _add(line, number, self._blocks, context, batch)


def add_record(record: Record, blocks: LineBlocks, context: ReadContext, batch: Batch) -> Line | None:
    """Add a decoded row of any origin to `batch`, block or problem; return it unless it is lost."""
    batch.problems.extend(record.problems)
    if record.value is None:
        return None
    repairs = Repairs(flags=record.flags)
    try:
        line = line_of(record.value, repairs, is_context_allowed=context.is_context_allowed)
    except UnreadableRecordError as cause:
        batch.problems.append(lost(context.file, record.number, cause.code, cause.message))
        return None
    batch.problems.extend(repairs.problems(context.file, record.number))
    batch.unknown_fields.update(repairs.unknown)
    return _add(line, record.number, blocks, context, batch, repairs)


def _add(
    line: Line,
    number: int,
    blocks: LineBlocks,
    context: ReadContext,
    batch: Batch,
    repairs: Repairs | None = None,
) -> Line | None:
    try:
        batch.blocks.append(blocks.block(line, number, context, batch.problems, repairs))
    except UnreadableRecordError as cause:
        batch.problems.append(lost(context.file, number, cause.code, cause.message))
        return None
    return line


def read_lines_alone(stream: BinaryIO, context: ReadContext) -> Iterator[Message]:
    """Yield each line with its `context` texts, as if nothing came before it."""
    for number, raw in raw_lines(stream, longest=context.limits.record_bytes):
        batch = _empty_batch()
        line = MessagesReader()._read_line(number, raw, context, batch)
        blocks = batch.blocks
        if line is not None:
            blocks = [*earlier_blocks(line.context, blocks[0]), *blocks]
        own = line.id if line is not None and line.id else str(number)
        yield Message(line=number, id=own, blocks=blocks, problems=batch.problems)


def _usual_columns(raws: Sequence[bytes], context: ReadContext) -> LineColumns | None:
    """Return the columns of the lines, None when any of them is odd or makes a problem."""
    raw = b"".join(raws)
    fields = parse_fields(raw, len(raws)) if len(raws) >= _PARSED_LINES else None
    fields = fields or decode_fields(raws)
    columns = None if fields is None else LineColumns(fields, context)
    return columns if columns and columns.are_plain(raw, raws) and columns.are_regular() else None


def _empty_batch() -> Batch:
    return Batch(blocks=[], problems=[], record_count=0, format=MessagesReader.name)
