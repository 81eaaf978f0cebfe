"""`amos propose`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from amos.cli.extractors import chosen_extractor, extractor_options
from amos.cli.invocation import Invocation, pass_invocation
from amos.cli.paths import GivenPath
from amos.cli.printing import print_objects
from amos.errors import InputError

if TYPE_CHECKING:
    from amos.sources.block import Problem


@click.command()
@click.argument("paths", metavar="PATH…", nargs=-1, required=True, type=GivenPath(path_type=Path))
@click.option("--from", "format", metavar="FORMAT", help="Read as this format instead of looking.")
@click.option("--trust", metavar="TRUST", help="No message has more trust than this, whatever its role.")
@click.option("--zone", metavar="ZONE", help="Zone of times that name none.")
@extractor_options
@click.option(
    "--policy",
    type=GivenPath(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Decide by this admission policy (TOML) instead of the one that ships.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON lines, which it always does.")
@pass_invocation
def propose(
    invocation: Invocation,
    /,
    *,
    paths: tuple[Path, ...],
    format: str | None,  # noqa: A002 - the word of the command line
    trust: str | None,
    zone: str | None,
    policy: Path | None,
    as_json: bool,  # noqa: ARG001 - there is no other form
    **chosen: Any,
) -> None:
    """Print the candidates of texts without a store, one JSON line each.

    Every message is decided as if it were alone in an empty store; a line of `messages` may bring earlier
    texts along in `context`. Where a text states nothing, one line says why. Exit code 3 when a line could
    not be read.

    \b
    Examples:
      amos propose notes.jsonl --from messages
      amos propose chats.zip | head
    """
    from amos.api import propose as propose_all
    from amos.sources.faults import NOTES

    lost: list[Problem] = []

    def report(problem: Problem) -> None:
        if problem.code in NOTES and not invocation.verbosity:
            return
        click.echo(f"amos: {problem.file}:{problem.record}: {problem.message} ({problem.code})", err=True)
        if problem.is_lost:
            lost.append(problem)

    extractor = chosen_extractor(invocation, chosen)
    proposed = propose_all(
        paths, format=format, zone=zone, trust=trust, extractor=extractor, policy=policy, report=report
    )
    print_objects(proposed)
    if lost:
        raise click.exceptions.Exit(InputError.exit_code)
