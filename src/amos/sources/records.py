"""Turn pieces of a stream into decoded JSON objects, one by one, faults beside them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

import msgspec

from amos.schemas.vocabulary import SourceFlag
from amos.sources.block import Batch, Block, Problem
from amos.sources.decoding import decode_record
from amos.sources.faults import Fault, UnreadableRecordError, lost, noted
from amos.sources.raw_rows import add_table
from amos.sources.reader import ReadContext
from amos.sources.splitting import BOM, Piece, buffered, split_lines, split_values


class Record(msgspec.Struct, kw_only=True, gc=False):
    """One JSON object of a stream; `value` is None when it is lost, `problems` says why."""

    number: int
    size: int
    value: dict[str, Any] | None
    problems: list[Problem]
    flags: int = 0


def json_lines(stream: BinaryIO, context: ReadContext) -> Iterator[Record]:
    """Yield the object on each line that is not blank."""
    pieces = split_lines(stream, longest=context.limits.record_bytes)
    return (record_of(piece, context) for piece in pieces)


def json_values(stream: BinaryIO, context: ReadContext) -> Iterator[Record]:
    """Yield the objects of a top-level array, or of a sequence of values."""
    pieces = split_values(stream, longest=context.limits.record_bytes)
    return (record_of(piece, context) for piece in pieces)


_SAID = {
    Fault.TRUNCATED: "the file ends in the middle of a record",
    Fault.TOO_LARGE: "longer than one record may be",
    Fault.WRONG_TYPE: "no object",
}


def record_of(piece: Piece, context: ReadContext) -> Record:
    """Return the decoded `piece`; its problems say what was lost or mended."""
    if piece.fault is not None:
        return _lost(piece, context, piece.fault, _SAID[piece.fault])
    try:
        decoded = decode_record(piece.raw, depth=context.limits.depth)
    except UnreadableRecordError as cause:
        is_cut = piece.is_last and cause.code is Fault.INVALID_JSON
        code = Fault.TRUNCATED if is_cut else cause.code
        return _lost(piece, context, code, _SAID[code] if is_cut else cause.message)
    if not isinstance(decoded.value, dict):
        return _lost(piece, context, Fault.WRONG_TYPE, f"{json_kind(decoded.value)} where an object belongs")
    return Record(
        number=piece.number,
        size=piece.size,
        value=decoded.value,
        problems=[noted(context.file, piece.number, *repair) for repair in decoded.repairs],
        flags=int(SourceFlag.SURROGATE_REPLACED) if decoded.is_text_replaced else 0,
    )


def _lost(piece: Piece, context: ReadContext, code: Fault, message: str) -> Record:
    problem = lost(context.file, piece.number, code, message)
    return Record(number=piece.number, size=piece.size, value=None, problems=[problem])


def json_records(stream: BinaryIO, context: ReadContext) -> Iterator[Record]:
    """Yield the objects of a file of lines, or of one large array: whichever the first byte says."""
    peekable = buffered(stream)
    start = peekable.peek(_PEEK_BYTES)[:_PEEK_BYTES].removeprefix(BOM).lstrip()
    return (json_values if start.startswith(b"[") else json_lines)(peekable, context)


_PEEK_BYTES = 4096
_OPEN_ENDS = (b"[", b"{", b",", b":")


def json_documents(stream: BinaryIO, context: ReadContext) -> Iterator[Record]:
    """Yield the objects of a file of lines, of one large array, or of values that span lines.

    A file counts as one of lines when an object stands whole on one of the lines it begins with and the
    first of them leaves nothing open, or when not even the first of them ends there.
    """
    peekable = buffered(stream)
    start = peekable.peek(_SEEN_BYTES)[:_SEEN_BYTES].removeprefix(BOM).lstrip()
    lines = start.split(b"\n")
    is_open = len(lines) > 1 and lines[0].rstrip().endswith(_OPEN_ENDS)
    is_whole = len(lines) == 1 or any(map(_is_object, lines[:-1]))
    is_lines = is_whole and not is_open and not start.startswith(b"[")
    return (json_lines if is_lines else json_values)(peekable, context)


def _is_object(line: bytes) -> bool:
    if not line.startswith(b"{"):
        return False
    try:
        return isinstance(msgspec.json.decode(line), dict)
    except (msgspec.DecodeError, RecursionError):
        return False


_SEEN_BYTES = 1 << 16


def json_kind(value: Any) -> str:
    """Return the JSON word for the type of `value`."""
    if value is None or isinstance(value, bool):
        return "null" if value is None else "a boolean"
    kinds = {str: "text", int: "a number", float: "a number", list: "a list", dict: "an object"}
    return kinds.get(type(value), type(value).__name__)


def one_record(blocks: list[Block], problems: list[Problem], *, form: str, size: int = 0) -> Batch:
    """Return the batch of a single record in format `form`."""
    return Batch(blocks=blocks, problems=problems, record_count=1, format=form, bytes_read=size)


def opening_of(record: Record, *, form: str) -> Batch:
    """Return what is told of a document before the records inside it: its problems and its size.

    One that could not be read is a record of its own.
    """
    if record.value is None:
        return one_record([], record.problems, form=form, size=record.size)
    return Batch(blocks=[], problems=record.problems, record_count=0, format=form, bytes_read=record.size)


def coalesced(
    batches: Iterable[Batch], *, records: int, size: int, first: int | None = None
) -> Iterator[Batch]:
    """Yield the same content in batches of at least `records` records or `size` bytes, but the last.

    A batch is never split, so one record stays whole; inputs of two formats never meet.
    first: records that are enough for the first batch, when fewer.
    """
    whole: Batch | None = None
    wanted = records if first is None else min(records, first)
    for batch in batches:
        if whole is None or whole.format != batch.format:
            if whole is not None:
                yield whole
            whole = batch
        else:
            for table in batch.tables:
                add_table(whole, table)
            whole.blocks.extend(batch.blocks)
            whole.problems.extend(batch.problems)
            whole.paths.update(batch.paths)
            whole.record_count += batch.record_count
            whole.bytes_read += batch.bytes_read
        if whole.record_count >= wanted or whole.bytes_read >= size:
            yield whole
            whole, wanted = None, records
    if whole is not None:
        yield whole
