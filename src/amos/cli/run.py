"""`amos run`."""

from __future__ import annotations

from pathlib import Path

import click

from amos.cli.invocation import Invocation, pass_invocation
from amos.cli.paths import GivenPath
from amos.cli.printing import json_option
from amos.cli.reading import Reading, read_into_store


@click.command()
@click.argument("name", metavar="NAME")
@click.argument("paths", metavar="[PATH]…", nargs=-1, type=GivenPath(path_type=Path))
@click.option(
    "--set", "changes", multiple=True, metavar="STAGE.KEY=VALUE", help="Change one setting; repeatable."
)
@json_option
@pass_invocation
def run(
    invocation: Invocation, *, name: str, paths: tuple[Path, ...], changes: tuple[str, ...], as_json: bool
) -> None:
    """Run a pipeline by name, or by the path of its TOML file.

    A pipeline names its stages, their settings and its inputs; PATH takes the place of the inputs. Shipped:
    ingest.

    \b
    Examples:
      amos run ingest chats.zip
      amos run ingest notes.jsonl --set read.zone=Europe/Brussels
    """
    from amos.flow.pipeline import load_pipeline

    pipeline = load_pipeline(name, changes)
    reading = Reading(
        paths=pipeline.inputs_or(paths),
        is_strict=pipeline.read.strict,
        is_dry=pipeline.read.dry_run,
        as_json=as_json,
        options=pipeline.options,
    )
    read_into_store(invocation, reading)
