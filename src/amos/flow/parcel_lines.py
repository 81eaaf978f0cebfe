"""Read a JSON lines export again: rows by table, each text checked against its digest."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa

from amos.clock import to_us
from amos.errors import InputError, IntegrityError
from amos.flow.export import HOLDS
from amos.flow.printed import ID_TABLES
from amos.schemas.catalog import HoldEntry
from amos.schemas.state import TABLES, stored
from amos.sources.own_exports import LINES, own_file
from amos.sources.reader import Sample

_LONGEST_LINE = 64 << 20
_HEAD_BYTES = 1 << 16
_AT_ONCE = 4_096
_ID_BYTES = 16
_AGAIN = "Copy the export again, or write it again."
_ADVICE = "Transcripts and other products' exports are for `amos ingest`."


@dataclass(frozen=True, kw_only=True)
class Lines:
    """A JSON lines export that was read through once.

    rows: how many there are.  withheld: sources whose text the export leaves out.
    """

    path: Path
    rows: int
    withheld: int

    def groups(self, table: str, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """Yield the rows of a table, a few thousand at a time; sources without their text are left out."""
        schema = stored(table)
        fields = [schema.field(name) for name in columns or schema.names]
        waiting: list[dict[str, Any]] = []
        for row in _rows(self.path):
            if row.get("table") == table and not (table == "sources" and row["content"] is None):
                waiting.append(row)
            if len(waiting) == _AT_ONCE:
                yield _as_table(waiting, fields, self.path)
                waiting = []
        if waiting:
            yield _as_table(waiting, fields, self.path)

    def holds(self) -> list[HoldEntry]:
        """Return the legal holds.  Raises InputError for one that is none."""
        return [_hold(row, self.path) for row in _rows(self.path) if row.get("table") == HOLDS]


def open_lines(path: Path) -> Lines:
    """Return a JSON lines export whose end is there and whose texts have their digests.

    Raises InputError when it is none of ours, IntegrityError when it is cut short or a text was changed.
    """
    rows = withheld = 0
    stated: object = None
    for number, row in enumerate(_rows(path), start=1):
        if "amos_end" in row:
            stated = row["amos_end"].get("rows") if isinstance(row["amos_end"], dict) else None
            continue
        if row.get("table") not in (*TABLES, HOLDS) or stated is not None:
            raise _stranger(path, number)
        rows += 1
        if row["table"] == "sources":
            withheld += row.get("content") is None
            _check_text(row, number, path)
    if stated != rows:
        raise _cut_short(path, f"holds {rows} rows and says {'nothing' if stated is None else stated}")
    return Lines(path=path, rows=rows, withheld=withheld)


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open("rb") as stream:
        number = 0
        while line := stream.readline(_LONGEST_LINE):
            number += 1
            try:
                row = msgspec.json.decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as cause:
                if number > 1:  # what stands before it is ours
                    raise _damaged(path, number, line) from cause
                raise _stranger(path, number) from cause
            if not isinstance(row, dict):
                raise _stranger(path, number)
            yield row


def _cut_short(path: Path, said: str) -> IntegrityError:
    return IntegrityError(f"{path} {said}: it is cut short", path=str(path), advice=_AGAIN)


def _damaged(path: Path, number: int, line: bytes) -> IntegrityError:
    if not line.endswith(b"\n") and len(line) < _LONGEST_LINE:
        return _cut_short(path, f"ends inside line {number}")
    said = f"{path}: line {number} is not the one exported"
    return IntegrityError(said, path=str(path), advice=_AGAIN)


def _stranger(path: Path, number: int) -> InputError:
    with path.open("rb") as stream:
        own = own_file(Sample(name=path.name, head=stream.read(_HEAD_BYTES)))
    if own not in (None, LINES) and number == 1:
        return InputError(f"{path} is {own.what}", path=str(path), advice=own.advice_for(path))
    return InputError(f"{path}: line {number} is no row of ours", path=str(path), advice=_ADVICE)


def _check_text(row: dict[str, Any], number: int, path: Path) -> None:
    text = row.get("content")
    if text is None:
        return
    if not isinstance(text, str) or hashlib.sha256(text.encode()).hexdigest() != row.get("content_digest"):
        raise IntegrityError(f"{path}: the text of line {number} is not the one exported", path=str(path))


def _as_table(rows: Sequence[dict[str, Any]], fields: Sequence[pa.Field], path: Path) -> pa.Table:
    try:
        arrays = [
            pa.array([_value(field, row.get(field.name)) for row in rows], field.type) for field in fields
        ]
    except (ValueError, TypeError, OverflowError, pa.ArrowException) as cause:
        table = rows[0]["table"]
        raise InputError(f"{path}: a row of {table} cannot be read: {cause}", path=str(path)) from cause
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields))


def _hold(row: dict[str, Any], path: Path) -> HoldEntry:
    try:
        placed, released = (
            None if row[name] is None else to_us(datetime.fromisoformat(row[name]))
            for name in ("placed_at", "released_at")
        )
        texts = {name: str(row[name]) for name in ("kind", "ref", "reason")}
        return HoldEntry(hold_id=_id(row["hold_id"]), placed_us=placed or 0, released_us=released, **texts)
    except (ValueError, TypeError, KeyError, AttributeError) as cause:
        raise InputError(f"{path}: a hold cannot be read: {cause}", path=str(path)) from cause


def _value(field: pa.Field, value: Any) -> Any:
    if value is None:
        return None
    if pa.types.is_timestamp(field.type):
        return datetime.fromisoformat(value)
    if pa.types.is_fixed_size_binary(field.type):
        return _id(value) if field.name in ID_TABLES else bytes.fromhex(value)
    return value


def _id(text: str) -> bytes:
    body = text.partition("_")[2].upper()
    found = base64.b32decode(body + "=" * (-len(body) % 8))
    if len(found) != _ID_BYTES:
        raise ValueError(f"{text!r} is no reference")
    return found
