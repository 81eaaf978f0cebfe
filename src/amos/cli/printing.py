"""Print results: JSON for programs, lines for people; and the options that choose between them."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import click

from amos.cli.system import FULL
from amos.errors import CapacityError
from amos.schemas.cuts import CUT, marked

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
_CUT_ESCAPED = json.dumps(CUT)[1:-1]


def print_object(fields: Mapping[str, Any]) -> None:
    """Print one JSON object on one line, in UTF-8 whatever the terminal's encoding is."""
    print_objects([fields])


def print_objects(rows: Iterable[Mapping[str, Any]]) -> int:
    """Print one JSON object per row, until whoever reads them has left; return how many were printed."""
    count = 0
    with until_reader_leaves():
        for row in rows:
            line = _json_of(row)
            if _CUT_ESCAPED in line:
                line = _json_of(_with_marks(row))
            click.echo(line.encode() + b"\n", nl=False)
            count += 1
    return count


def _json_of(row: Any) -> str:
    return json.dumps(row, ensure_ascii=False, separators=(", ", ": "), allow_nan=False)


def _with_marks(value: Any) -> Any:
    """Return a JSON value in whose texts one mark stands for each range that was cut."""
    if isinstance(value, str):
        return marked(value)
    if isinstance(value, Mapping):
        return {name: _with_marks(each) for name, each in value.items()}
    return [_with_marks(each) for each in value] if isinstance(value, list | tuple) else value


def print_rows(
    rows: Iterable[Mapping[str, Any]], *, is_truncated: bool = False, cursor: str | None = None
) -> None:
    """Print one JSON object per row, then the line that says whether that was all."""
    count = print_objects(rows)
    print_object({"amos_end": {"rows": count, "truncated": is_truncated, "cursor": cursor}})


def print_lines(lines: Iterable[str]) -> None:
    """Print lines for people, until whoever reads them has left."""
    with until_reader_leaves():
        for line in lines:
            click.echo(line)


@contextmanager
def until_reader_leaves() -> Iterator[None]:
    """End the block where the reader of the output has left, as `head` does once it has its lines.

    That is no failure: the command goes on to its own exit code, and what it still prints is dropped.
    """
    try:
        yield
    except BrokenPipeError:
        drop_output()
    except OSError as cause:
        if cause.errno not in FULL:
            raise
        drop_output()  # what still waits in a buffer could not be written either
        said, advice = "no space left where the output goes", "Send it to another disk, or free some space."
        raise CapacityError(said, advice=advice) from cause


def drop_output() -> None:
    """Let everything printed from now on, and what still waits in a buffer, go nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def terminal_width() -> int | None:
    """Return the columns of the terminal that is printed on, None where it is none."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None
