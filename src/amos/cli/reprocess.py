"""`amos reprocess`, `amos runs`, `amos revert`."""

from __future__ import annotations

from typing import Any

import click

from amos.cli.extractors import chosen_extractor, extractor_options
from amos.cli.invocation import Invocation, pass_invocation
from amos.cli.paths import OutputPath
from amos.cli.printing import json_option, print_lines, print_object, print_rows
from amos.cli.progress import step_progress
from amos.errors import UsageError


@click.command()
@extractor_options
@click.option("--since", metavar="TIME", help="Only messages from this event time on.")
@click.option("--until", metavar="TIME", help="Only messages before this event time.")
@click.option(
    "--apply", "applied", metavar="RUN", help="Make what this run found the reading of its sources."
)
@click.option(
    "--as", "form", type=click.Choice(["text", "html"]), default="text", show_default=True,
    help="How to show it to people.",
)  # fmt: skip
@click.option(
    "-o", "--output", type=OutputPath(dir_okay=False, allow_dash=True), default="-", metavar="FILE",
    show_default="standard output", help="Where to write it.",
)  # fmt: skip
@json_option
@pass_invocation
def reprocess(
    invocation: Invocation,
    /,
    *,
    applied: str | None,
    form: str,
    output: str,
    as_json: bool,
    since: str | None,
    until: str | None,
    **chosen: Any,
) -> None:
    """Read kept sources again with another extractor, and see what would change.

    Nothing changes at first: the run compares what it finds with what stands and lists what is added, lost
    and changed, field by field, and which decisions flip. With --apply that run is promoted in one commit;
    `amos revert` undoes it. Scope options before the command, and a span of time, choose the sources. What
    was forgotten does not come back, and what a reviewer decided stays decided.

    \b
    Examples:
      amos reprocess --extractor rules@2
      amos reprocess --since 2026-03-01 --as html -o diff.html
      amos reprocess --apply run_7f3k2q
    """
    with invocation.open_store(is_writing=True) as store, step_progress(invocation, "reading") as progress:
        extractor = chosen_extractor(invocation, chosen)
        if applied is not None:
            asked = {"--since": since, "--until": until, "--extractor": isinstance(extractor, str)}
            _require_alone(asked, form, output)
            given = None if isinstance(extractor, str) else extractor
            record = store.apply_run(applied, given, progress=progress)
        else:
            record = store.reprocess(extractor, since=since, until=until, progress=progress)
        if output != "-":
            from amos.moves import write_told

            record["written"] = write_told(store, output, _lines(record, form, as_json=as_json))
    if output == "-" or as_json:
        print_run(record, form, as_json=as_json)
    else:
        print_lines([f"{record['run_id']} written to {output}"])


def print_run(record: dict[str, Any], form: str = "text", *, as_json: bool) -> None:
    """Print what a run would change, or has changed."""
    if as_json:
        print_object(record)
    else:
        print_lines(_lines(record, form))


def _require_alone(asked: dict[str, Any], form: str, output: str) -> None:
    named = [name for name, value in asked.items() if value]
    named += ["--as"] * (form != "text") + ["-o"] * (output != "-")
    if named:
        raise UsageError(
            f"--apply takes what its run was asked for: leave out {', '.join(named)}",
            advice="To read other sources, run `amos reprocess` without --apply first.",
        )


def _lines(record: dict[str, Any], form: str, *, as_json: bool = False) -> Any:
    from amos.views.reprocessed import reprocess_lines, reprocess_page

    if as_json and form == "text":
        import json

        return (json.dumps(row, ensure_ascii=False) for row in record["differences"])
    return reprocess_page(record) if form == "html" else reprocess_lines(record)


@click.command()
@json_option
@pass_invocation
def runs(invocation: Invocation, *, as_json: bool) -> None:
    """List what ran on the store, newest first: ingests, imports, re-readings.

    \b
    Examples:
      amos runs
      amos runs --json
    """
    from amos.views.reprocessed import runs_lines

    with invocation.open_store() as store:
        rows = store.runs()
        is_narrowed = bool(store.scope)
    if as_json:
        print_rows(rows)
    else:
        print_lines(runs_lines(rows, is_narrowed=is_narrowed))


@click.command()
@click.argument("run", metavar="RUN")
@click.option("-n", "--dry-run", is_flag=True, help="Only say how much would leave and return.")
@json_option
@pass_invocation
def revert(invocation: Invocation, *, run: str, dry_run: bool, as_json: bool) -> None:
    """Take an applied re-reading back, in one commit.

    What stood before the run stands again; what came since is kept and decided against that. A later run
    over the same sources has to be taken back first.

    \b
    Examples:
      amos revert run_7f3k2q --dry-run
      amos revert run_7f3k2q
    """
    from amos.views.reprocessed import revert_lines

    with invocation.open_store(is_writing=not dry_run) as store:
        record = store.revert(run, dry_run=dry_run)
    if as_json:
        print_object(record)
    else:
        print_lines(revert_lines(record))
