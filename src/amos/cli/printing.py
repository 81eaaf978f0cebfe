"""Print results: JSON for programs, lines for people; and the options that choose between them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import click

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")


def print_object(fields: Mapping[str, Any]) -> None:
    """Print one JSON object on one line, in UTF-8 whatever the terminal's encoding is."""
    line = json.dumps(fields, ensure_ascii=False, separators=(", ", ": "), allow_nan=False)
    click.echo(line.encode() + b"\n", nl=False)


def print_rows(
    rows: Iterable[Mapping[str, Any]], *, is_truncated: bool = False, cursor: str | None = None
) -> None:
    """Print one JSON object per row, then the line that says whether that was all."""
    count = 0
    for row in rows:
        print_object(row)
        count += 1
    print_object({"amos_end": {"rows": count, "truncated": is_truncated, "cursor": cursor}})


def print_lines(lines: Iterable[str]) -> None:
    """Print lines for people."""
    for line in lines:
        click.echo(line)
