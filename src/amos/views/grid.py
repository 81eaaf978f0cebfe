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
    """Return a value of an Arrow row as JSON has it: instants as text, bytes as base64, no NaN."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, list | tuple):
        return [plain_value(part) for part in value]
    if isinstance(value, dict):
        return {str(name): plain_value(part) for name, part in value.items()}
    return _plain_scalar(value)


def _plain_scalar(value: Any) -> Any:
    if isinstance(value, datetime):
        return as_text(to_us(value)) if value.tzinfo else value.isoformat()
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else str(value)
    return value.total_seconds() if isinstance(value, timedelta) else str(value)


def grid_lines(table: pa.Table) -> Iterator[str]:
    """Yield the table for people: at most SHOWN_ROWS rows, and how many there are."""
    yield from _grid(table.slice(0, SHOWN_ROWS))
    if table.num_rows > SHOWN_ROWS:
        yield f"{plural(table.num_rows, 'row')}, the first {SHOWN_ROWS} shown; all of them with --json"
    else:
        yield plural(table.num_rows, "row")


def _grid(table: pa.Table) -> Iterator[str]:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    grid = Table(box=SIMPLE_HEAD)
    for field in table.schema:
        is_number = pa.types.is_integer(field.type) or pa.types.is_floating(field.type)
        grid.add_column(Text(visible(field.name)), justify="right" if is_number else "left")
    for row in table.rename_columns(_distinct_names(table.schema.names)).to_pylist():
        grid.add_row(*(Text(_cell(value)) for value in row.values()))
    console = Console(highlight=False)
    with console.capture() as captured:
        console.print(grid)
    yield from (line.rstrip() for line in captured.get().splitlines() if line.strip())


def _cell(value: Any) -> str:
    plain = plain_value(value)
    return "" if plain is None else visible(str(plain))
