"""`amos run`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from amos.cli.invocation import Invocation, pass_invocation
from amos.cli.paths import GivenPath
from amos.cli.printing import json_option
from amos.cli.progress import step_progress
from amos.cli.reading import Reading, read_into_store
from amos.errors import UsageError

if TYPE_CHECKING:
    from amos.flow.pipeline import Pipeline


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
    ingest and reprocess, which reads what is kept and takes no PATH.

    \b
    Examples:
      amos run ingest chats.zip
      amos run ingest notes.jsonl --set read.zone=Europe/Brussels
      amos run reprocess --set propose.extractor=rules@2
    """
    from amos.flow.pipeline import load_pipeline

    pipeline = load_pipeline(name, changes)
    if pipeline.is_reread:
        _reread(invocation, pipeline, paths, as_json=as_json)
        return
    reading = Reading(
        paths=pipeline.inputs_or(paths),
        is_strict=pipeline.read.strict,
        is_dry=pipeline.read.dry_run,
        as_json=as_json,
        options=pipeline.options,
    )
    read_into_store(invocation, reading)


def _reread(invocation: Invocation, pipeline: Pipeline, paths: tuple[Path, ...], *, as_json: bool) -> None:
    from amos.cli.reprocess import print_run

    if paths:
        raise UsageError(
            f"the pipeline {pipeline.name!r} reads what is kept: it takes no path",
            advice="`amos run ingest PATH` reads new files.",
        )
    with invocation.open_store(is_writing=True) as store, step_progress(invocation, "reading") as progress:
        record = store.reprocess(**pipeline.asked, progress=progress)
    print_run(record, as_json=as_json)
