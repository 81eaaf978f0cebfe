"""`amos export`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from amos.cli.invocation import Invocation, pass_invocation
from amos.cli.paths import GivenPath, OutputPath
from amos.cli.printing import json_option, print_lines, print_object, print_rows
from amos.cli.progress import step_progress
from amos.cli.secrets import read_secret, secret_options

_file_option = click.option(
    "-o",
    "--output",
    type=OutputPath(dir_okay=False, allow_dash=True),
    default="-",
    metavar="FILE",
    show_default="standard output",
    help="Where to write.",
)
_replace_option = click.option("--replace", is_flag=True, help="Replace the file that stands there.")
_folder_option = click.option(
    "-o",
    "--output",
    type=GivenPath(path_type=Path),
    required=True,
    metavar="FOLDER",
    help="A folder that does not exist yet.",
)


@click.group()
def export() -> None:
    """Write the tables out for other tools.

    Every format but `parquet` leaves something out, and says what. A file or folder appears only when it is
    whole, and the store remembers where it went, so that forgetting can name it. Nothing is overwritten:
    a file that stands there is replaced only with --replace, a folder never.

    \b
    Examples:
      amos export parquet -o memory --key-from secret.txt
      amos export jsonl -o memory.jsonl
    """


@export.command()
@_file_option
@_replace_option
@click.option("--table", "tables", multiple=True, metavar="TABLE", help="Only this table; repeatable.")
@json_option
@pass_invocation
def jsonl(
    invocation: Invocation, *, output: str, replace: bool, tables: tuple[str, ...], as_json: bool
) -> None:
    """Write one JSON object per row, table by table.

    The key `table` says which table a row belongs to; ids are text, times RFC 3339. Everything of the
    current rows is there except salts and keyed digests; text that a screen flagged is null and what was cut
    before storing stays cut. Sources keep format, record key and text, so that `amos import` can read them
    again. The last line says how many rows there were.

    \b
    Examples:
      amos export jsonl -o memory.jsonl
      amos export jsonl --table atoms
    """
    from amos.moves import export_lines, left_out

    with invocation.open_store() as store:
        rows = store.export(tables)
        if output == "-":
            print_rows(rows)
            for what in left_out(store, "jsonl"):
                invocation.notice(f"left out: {what}")
            return
        record = export_lines(store, "jsonl", output, tables=tables, replace=replace)
    _tell(record, as_json=as_json)


@export.command()
@_folder_option
@secret_options
@click.option("--format-version", type=int, metavar="N", help="An older format.")
@click.option("--leave-out", is_flag=True, help="Go without what that format cannot hold.")
@json_option
@pass_invocation
def parquet(
    invocation: Invocation,
    *,
    output: Path,
    key_from: Path | None,
    passphrase: bool,
    format_version: int | None,
    leave_out: bool,
    as_json: bool,
) -> None:
    """Write everything, without loss: one Parquet file per table and a manifest of digests.

    Every version of every row, the journal and the commit log are in it. With --key-from or --passphrase the
    erasure key goes along, wrapped by that secret: tombstones then hold wherever it is imported. Without,
    they are not transferable. Under a scope option only what is in sight is written, without the journal.

    An older format goes without what it cannot hold and the sources give again, and then without the
    journal; for outcomes, tombstones and legal holds that it cannot hold it takes --leave-out.

    \b
    Examples:
      amos export parquet -o memory
      amos export parquet -o memory --key-from secret.txt --json
    """
    from amos.moves import export_tables

    secret = read_secret(key_from, is_asked=passphrase, is_new=True)
    with invocation.open_store() as store, step_progress(invocation, "writing") as progress:
        record = export_tables(
            store,
            output,
            secret=secret,
            format_version=format_version,
            leave_out=leave_out,
            progress=progress,
        )
    _tell(record, as_json=as_json)


@export.command()
@_folder_option
@json_option
@pass_invocation
def markdown(invocation: Invocation, *, output: Path, as_json: bool) -> None:
    """Write a page per subject: what holds, what held once, and the words it rests on.

    \b
    Example:
      amos export markdown -o pages
    """
    from amos.moves import export_lines

    with invocation.open_store() as store:
        _tell(export_lines(store, "markdown", output), as_json=as_json)


@export.command()
@_file_option
@_replace_option
@json_option
@pass_invocation
def mem0(invocation: Invocation, *, output: str, replace: bool, as_json: bool) -> None:
    """Write claims as mem0 keeps memories: one object with `results`.

    \b
    Example:
      amos export mem0 -o memories.json
    """
    _shape(invocation, "mem0", output, replace=replace, as_json=as_json)


@export.command("mcp-memory")
@_file_option
@_replace_option
@json_option
@pass_invocation
def mcp_memory(invocation: Invocation, *, output: str, replace: bool, as_json: bool) -> None:
    """Write what holds now as the MCP memory server keeps it: entities, observations, relations.

    `amos ingest` reads it again.

    \b
    Example:
      amos export mcp-memory -o memory.jsonl
    """
    _shape(invocation, "mcp-memory", output, replace=replace, as_json=as_json)


@export.command()
@_file_option
@_replace_option
@json_option
@pass_invocation
def openai(invocation: Invocation, *, output: str, replace: bool, as_json: bool) -> None:
    """Write each conversation as one line of messages with roles.

    \b
    Example:
      amos export openai -o messages.jsonl
    """
    _shape(invocation, "openai", output, replace=replace, as_json=as_json)


@export.command()
@click.argument("output", type=OutputPath(dir_okay=False, path_type=Path), metavar="OUT")
@_replace_option
@json_option
@pass_invocation
def journal(invocation: Invocation, *, output: Path, replace: bool, as_json: bool) -> None:
    """Write the whole journal to OUT, one JSON object per line, with a verifier beside it.

    Commits in order, the events of each, and after every event its rows with their salts; a row that was
    forgotten is told by its commitment alone. check_export.py, written beside it, checks everything with
    Python's standard library: python -I check_export.py journal.jsonl

    \b
    Example:
      amos export journal journal.jsonl
    """
    with invocation.open_store() as store:
        record = store.export_journal(output, replace=replace)
    if as_json:
        print_object(record)
    else:
        click.echo(f"{output}: {record['lines']:,} lines, root {record['root']}")
        click.echo(f"check it with: python -I {record['verifier']} {output}")


def _shape(invocation: Invocation, form: str, output: str, *, replace: bool, as_json: bool) -> None:
    from amos.moves import export_lines, left_out, shape_lines

    with invocation.open_store() as store:
        if output != "-":
            _tell(export_lines(store, form, output, replace=replace), as_json=as_json)
            return
        print_lines(shape_lines(store, form))
        lost = left_out(store, form)
    for what in lost:
        invocation.notice(f"left out: {what}")


def _tell(record: dict[str, Any], *, as_json: bool) -> None:
    from amos.views.moves import written_lines

    if as_json:
        print_object(record)
    else:
        print_lines(written_lines(record))
