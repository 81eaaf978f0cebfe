"""`amos export`."""

from __future__ import annotations

import json
from pathlib import Path

import click

from amos.cli.invocation import Invocation, pass_invocation
from amos.cli.paths import GivenPath, OutputPath
from amos.cli.printing import json_option, print_lines, print_object, print_objects
from amos.cli.progress import byte_progress
from amos.cli.secrets import read_secret, secret_options


@click.group()
def export() -> None:
    """Write the tables out for other tools.

    \b
    Example:
      amos export parquet -o memory --key-from secret.txt
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


@export.command()
@click.option("-o", "--output", type=GivenPath(path_type=Path), required=True, metavar="FOLDER",
              help="A folder that does not exist yet.")  # fmt: skip
@secret_options
@click.option("--format-version", type=int, metavar="N", help="An older format.")
@json_option
@pass_invocation
def parquet(
    invocation: Invocation,
    *,
    output: Path,
    key_from: Path | None,
    passphrase: bool,
    format_version: int | None,
    as_json: bool,
) -> None:
    """Write everything, without loss: one Parquet file per table and a manifest of digests.

    Every version of every row, the journal and the commit log are in it. With --key-from or --passphrase the
    erasure key goes along, wrapped by that secret: tombstones then hold wherever it is imported. Without,
    they are not transferable. Under a scope option only what is in sight is written, without the journal.

    \b
    Examples:
      amos export parquet -o memory
      amos export parquet -o memory --key-from secret.txt --json
    """
    from amos.moves import export_tables
    from amos.views.moves import export_lines

    secret = read_secret(key_from, is_asked=passphrase, is_new=True)
    with invocation.open_store() as store, byte_progress(invocation, "writing") as progress:
        record = export_tables(store, output, secret=secret, format_version=format_version, progress=progress)
    if as_json:
        print_object(record)
    else:
        print_lines(export_lines(record))


@export.command()
@click.argument("output", type=OutputPath(dir_okay=False, path_type=Path), metavar="OUT")
@json_option
@pass_invocation
def journal(invocation: Invocation, *, output: Path, as_json: bool) -> None:
    """Write the whole journal to OUT, one JSON object per line, with a verifier beside it.

    Commits in order, the events of each, and after every event its rows with their salts; a row that was
    forgotten is told by its commitment alone. check_export.py, written beside it, checks everything with
    Python's standard library: python -I check_export.py journal.jsonl

    \b
    Example:
      amos export journal journal.jsonl
    """
    with invocation.open_store() as store:
        record = store.export_journal(output)
    if as_json:
        print_object(record)
    else:
        click.echo(f"{output}: {record['lines']:,} lines, root {record['root']}")
        click.echo(f"check it with: python -I {record['verifier']} {output}")
