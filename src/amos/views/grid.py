"""The rows of a query: a table for people, plain values for programs."""

from __future__ import annotations

import base64
import math
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa

from amos.clock import as_text, to_us
from amos.views.plain import plural, visible

SHOWN_ROWS = 200
"""Rows that people are shown; programs get all."""
_NOT_FINITE = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}
_LEAST_CELL = 16
"""Characters that a cell keeps on its line; one that is longer is folded."""
_ENDLESS = 1 << 30


def plain_rows(table: pa.Table) -> Iterator[dict[str, Any]]:
    """Yield every row with values that JSON has; columns of one name are numbered."""
    names = _distinct_names(table.schema.names)
    for batch in table.rename_columns(names).to_batches():
        for row in batch.to_pylist():
            yield {name: plain_value(value) for name, value in row.items()}


def _distinct_names(names: list[str]) -> list[str]:
    seen: dict[str, int] = {}
    found = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        found.append(name if seen[name] == 1 else f"{name}:{seen[name]}")
    return found


def plain_value(value: Any) -> Any:
    """Return a value of an Arrow row as JSON has it: instants, NaN and intervals as text, bytes as base64."""
    if isinstance(value, float):
        return value if math.isfinite(value) else _NOT_FINITE[str(value)]
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, list):
        return [plain_value(part) for part in value]
    if isinstance(value, dict):
        return {str(name): plain_value(part) for name, part in value.items()}
    return _plain_scalar(value)


def _duration(value: pa.MonthDayNano) -> str:
    """Return an interval as ISO 8601 writes one; each part has its own sign."""
    years, months = divmod(abs(value.months), 12)
    sign = "-" if value.months < 0 else ""
    seconds = Decimal(value.nanoseconds).scaleb(-9).normalize()
    date_parts = [(f"{sign}{years}Y", years), (f"{sign}{months}M", months), (f"{value.days}D", value.days)]
    told = "".join(text for text, amount in date_parts if amount)
    time_part = f"T{seconds:f}S" if seconds else ""
    return f"P{told}{time_part}" if told or time_part else "PT0S"


def _plain_scalar(value: Any) -> Any:
    if isinstance(value, pa.MonthDayNano):
        return _duration(value)
    if isinstance(value, datetime):
        return as_text(to_us(value)) if value.tzinfo else value.isoformat()
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else str(value)
    return value.total_seconds() if isinstance(value, timedelta) else str(value)


def grid_lines(table: pa.Table, *, width: int | None = None) -> Iterator[str]:
    """Yield the table for people: at most SHOWN_ROWS rows, and how many there are.

    width: columns of the terminal; None is no terminal, where every row has one line, however long.
    Where a terminal is too narrow for the columns, each row is a block of one line per column.
    """
    shown = table.slice(0, SHOWN_ROWS)
    names = [visible(name) for name in _distinct_names(table.schema.names)]
    rows = [
        [_cell(value) for value in row.values()] for row in shown.rename_columns(_numbered(names)).to_pylist()
    ]
    if width is not None and _least_width(names, rows) > width:
        yield from _record_lines(names, rows)
    else:
        yield from _table_lines(names, rows, [_is_number(field.type) for field in table.schema], width)
    if table.num_rows > SHOWN_ROWS:
        yield f"{plural(table.num_rows, 'row')}, the first {SHOWN_ROWS} shown; all of them with --json"
    else:
        yield plural(table.num_rows, "row")


def _numbered(names: list[str]) -> list[str]:
    return [str(place) for place in range(len(names))]


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _least_width(names: list[str], rows: list[list[str]]) -> int:
    """Return the width below which folded cells stop being readable."""
    columns = zip(names, *rows, strict=True)
    return sum(min(_LEAST_CELL, max(map(len, column))) + len("  ") for column in columns)


def _record_lines(names: list[str], rows: list[list[str]]) -> Iterator[str]:
    longest = max(map(len, names), default=0)
    for number, row in enumerate(rows, 1):
        yield f"row {number}"
        for name, cell in zip(names, row, strict=True):
            yield f"  {name:<{longest}}  {cell}".rstrip()


def _table_lines(
    names: list[str], rows: list[list[str]], are_numbers: list[bool], width: int | None
) -> Iterator[str]:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.measure import Measurement
    from rich.table import Table
    from rich.text import Text

    grid = Table(box=SIMPLE_HEAD)
    for name, is_number in zip(names, are_numbers, strict=True):
        grid.add_column(Text(name), justify="right" if is_number else "left")
    for row in rows:
        grid.add_row(*map(Text, row))
    console = Console(highlight=False, width=width or _ENDLESS)
    if width is None:
        console.width = max(1, Measurement.get(console, console.options, grid).maximum)
    with console.capture() as captured:
        console.print(grid)
    yield from (line.rstrip() for line in captured.get().splitlines() if line.strip())


def _cell(value: Any) -> str:
    plain = plain_value(value)
    return "" if plain is None else visible(str(plain))
