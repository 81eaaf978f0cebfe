"""`amos ingest`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from amos.cli.extractors import chosen_extractor, extractor_options
from amos.cli.invocation import Invocation, pass_invocation
from amos.cli.paths import GivenPath
from amos.cli.printing import json_option
from amos.cli.reading import Reading, read_into_store


@click.command()
@click.argument("paths", metavar="PATH…", nargs=-1, required=True, type=GivenPath(path_type=Path))
@click.option("--from", "format", metavar="FORMAT", help="Read as this format instead of looking.")
@click.option(
    "--map",
    "mapping",
    type=GivenPath(path_type=Path),
    metavar="FILE",
    help="Read a table of your own: a TOML file that says what its columns mean.",
)
@click.option("--trust", metavar="TRUST", help="No message has more trust than this, whatever its role.")
@click.option("--zone", metavar="ZONE", help="Zone of times that name none, such as Europe/Brussels.")
@extractor_options
@click.option(
    "--policy",
    type=GivenPath(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Let this admission policy (TOML) decide in the store from now on.",
)
@click.option("--dry-run", is_flag=True, help="Store nothing; say what would happen and what would be cut.")
@click.option(
    "--strict",
    is_flag=True,
    help="Exit with 3 when a record could not be read, or its id belongs to another text.",
)
@json_option
@pass_invocation
def ingest(
    invocation: Invocation,
    /,
    *,
    paths: tuple[Path, ...],
    dry_run: bool,
    strict: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Read transcripts into memory: files, folders, zips, shards of an export.

    The format is detected and named. Every record is decided and accounted for; one that cannot be read
    is listed and never stops the run. Reading the same records again adds nothing, so an interrupted run
    is simply run again. A missing store is made.

    \b
    Examples:
      amos ingest chats.zip
      amos -s mem ingest notes.jsonl --from messages --zone Europe/Brussels
      amos ingest export/ --dry-run
      amos ingest chats.zip --proposals answers.jsonl
    """
    options["extractor"] = chosen_extractor(invocation, options)
    reading = Reading(paths=paths, is_dry=dry_run, is_strict=strict, as_json=as_json, options=options)
    read_into_store(invocation, reading)
