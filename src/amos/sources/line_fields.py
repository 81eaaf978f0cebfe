"""Take the fields of many `messages` lines apart: as Arrow parses them, or line by line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
import pyarrow as pa
from pyarrow import json as arrow_json

from amos.sources.line import Line, Scope

_TEXT = pa.string()
_TEXTS = ("text", "id", "role", "author", "ts", "conversation", "session", "reply_to", "source")
_TYPES: dict[str, pa.DataType] = dict.fromkeys(_TEXTS, _TEXT) | {"turn": pa.int64(), "retain": pa.bool_()}
_PARSING = arrow_json.ParseOptions(
    explicit_schema=pa.schema(_TYPES.items()), unexpected_field_behavior="error"
)
_PIECE = 512
"""Lines turned into columns at once: fewer than wake the garbage collector, which would find none."""
_NO_SCOPE = (None,) * len(Scope.__struct_fields__)
_RARE = ("trust", "channel", "title", "purposes", "context")
decode_line = msgspec.json.Decoder(Line).decode


class LineFields(NamedTuple):
    """The fields of some lines by name, null where a line says nothing, of one type each.

    columns: texts, but `turn` a number and `retain` a yes or no; `ts` is null where it is a number.
    scopes: the parts of the scopes; nothing when no line has a scope.  times: `ts` as written, where
    some are numbers.
    """

    columns: dict[str, pa.Array]
    scopes: dict[str, pa.Array]
    times: Sequence[Any] | None = None


def parse_fields(raw: bytes, count: int) -> LineFields | None:
    """Return the fields of `count` lines that together are `raw`, None where only `decode_fields` can tell.

    Arrow parses them without the interpreter's lock.  It takes fewer texts for JSON than the other way, but
    knows no lines: an object must begin and end with each of them.
    """
    if not _is_object_a_line(raw, count):
        return None
    reading = arrow_json.ReadOptions(use_threads=False, block_size=len(raw) + 1)
    try:
        raw.decode()
        table = arrow_json.read_json(pa.BufferReader(raw), read_options=reading, parse_options=_PARSING)
    except (pa.ArrowInvalid, UnicodeDecodeError):
        return None
    columns = {name: _one(table.column(name)) for name in _TYPES}
    return LineFields(columns, {}) if len(table) == count and not columns["text"].null_count else None


def _is_object_a_line(raw: bytes, count: int) -> bool:
    joints = raw.count(b"}\n{")
    if joints < count - 1:
        joints += raw.count(b"}\r\n{")
    return joints == count - 1 and raw.startswith(b"{") and raw.rstrip().endswith(b"}")


def _one(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def decode_fields(raws: Sequence[bytes]) -> LineFields | None:
    """Return the fields of the lines `raws`, None when one of them is odd or has a rare field."""
    try:
        told = _columns([decode_line(raw) for raw in raws])
    except (msgspec.DecodeError, RecursionError):
        return None
    if any(_is_set(told[name]) for name in _RARE):
        return None
    times = told["ts"]
    told["ts"] = [value if type(value) is str else None for value in times]
    try:
        columns = {name: pa.array(told[name], kind) for name, kind in _TYPES.items()}
    except (OverflowError, pa.ArrowInvalid):  # a turn that no column holds
        return None
    has_numbers = columns["ts"].null_count > times.count(None)
    return LineFields(columns, _scopes(told["scope"]), times if has_numbers else None)


def _columns(lines: Sequence[Line]) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {name: [] for name in Line.__struct_fields__}
    for start in range(0, len(lines), _PIECE):
        rows = map(msgspec.structs.astuple, lines[start : start + _PIECE])
        for column, part in zip(columns.values(), zip(*rows, strict=True), strict=True):
            column.extend(part)
    return columns


def _is_set(column: Sequence[Any]) -> bool:
    return column.count(None) != len(column)


def _scopes(scopes: Sequence[Scope | None]) -> dict[str, pa.Array]:
    if not _is_set(scopes):
        return {}
    rows = (_NO_SCOPE if scope is None else msgspec.structs.astuple(scope) for scope in scopes)
    return _text_columns(dict(zip(Scope.__struct_fields__, zip(*rows, strict=True), strict=True)))


def _text_columns(columns: Mapping[str, Sequence[str | None]]) -> dict[str, pa.Array]:
    return {name: pa.array(column, _TEXT) for name, column in columns.items()}
