"""`amos export`."""

from __future__ import annotations

import json
from pathlib import Path

import click

from amos.cli.invocation import Invocation, pass_invocation
from amos.cli.paths import OutputPath
from amos.cli.printing import json_option, print_object, print_objects


@click.group()
def export() -> None:
    """Write the tables out for other tools.

    \b
    Example:
      amos export jsonl -o memory.jsonl
    """


@export.command()
@click.option(
    "-o",
    "--output",
    type=OutputPath(dir_okay=False, allow_dash=True),
    default="-",
    metavar="FILE",
    show_default="standard output",
    help="Where to write.",
)
@click.option("--table", "tables", multiple=True, metavar="TABLE", help="Only this table; repeatable.")
@json_option
@pass_invocation
def jsonl(invocation: Invocation, *, output: str, tables: tuple[str, ...], as_json: bool) -> None:
    """Write one JSON object per row, table by table.

    The key `table` says which table a row belongs to; ids are text, times RFC 3339. Everything of the
    current rows is there except salts and keyed digests; text that a screen flagged is null and what was cut
    before storing stays cut. Sources keep format, record key and text, so that they can be told apart when
    they are read again.

    \b
    Examples:
      amos export jsonl -o memory.jsonl
      amos export jsonl --table atoms
    """
    with invocation.open_store() as store:
        rows = store.export(tables)
        if output == "-":
            print_objects(rows)
            return
        from amos.flow.export import write_lines

        count = write_lines((json.dumps(row, ensure_ascii=False) for row in rows), Path(output))
    if as_json:
        print_object({"file": output, "rows": count})
    else:
        click.echo(f"{output}: {count:,} rows")
