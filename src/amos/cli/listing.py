"""`amos list`."""

from __future__ import annotations

from typing import Any

import click

from amos.cli.invocation import Invocation, pass_invocation
from amos.cli.moments import moment_options
from amos.cli.printing import json_option, print_lines, print_rows
from amos.schemas.vocabulary import AtomType

_KINDS = (
    "atoms",
    "sources",
    "conversations",
    "candidates",
    "decisions",
    "tombstones",
    "outcomes",
    "conflicts",
)
_STATES = ("active", "superseded", "archived", "quarantined", "all")


@click.command("list")
@click.argument("kind", type=click.Choice(_KINDS), default="atoms")
@click.option(
    "--type",
    "types",
    multiple=True,
    type=click.Choice([kind.value for kind in AtomType]),
    metavar="TYPE",
    help="Only atoms of this type, such as preference or episode; repeatable.",
)
@click.option(
    "--state",
    type=click.Choice(_STATES),
    default="active",
    show_default=True,
    help="Of atoms: what holds now, what gave way, what waits for a decision.",
)
@click.option("--extractor", metavar="NAME@VERSION", help="Only what this extractor read.")
@click.option("--policy", metavar="NAME@VERSION", help="Only what this policy decided.")
@click.option("--limit", type=click.IntRange(min=1), default=100, show_default=True, help="Rows of a page.")
@click.option("--cursor", metavar="CURSOR", help="Go on after the page that printed this.")
@click.option("--since", metavar="TIME", help="Not before this time (of the event, not of the reading).")
@click.option("--until", metavar="TIME", help="Before this time.")
@moment_options
@json_option
@pass_invocation
def list_rows(
    invocation: Invocation,
    /,
    *,
    kind: str,
    types: tuple[str, ...],
    state: str,
    extractor: str | None,
    policy: str | None,
    limit: int,
    cursor: str | None,
    since: str | None,
    until: str | None,
    as_json: bool,
    **when: Any,
) -> None:
    """Walk through what is stored, newest first.

    KIND is atoms (what is known, the default), sources, conversations, candidates, decisions, tombstones (how
    what was forgotten is kept away, by when it was forgotten), outcomes (what came of answers), or conflicts:
    commands that were refused because the state was another than they expected. A list is complete, or says
    that it is not and prints the cursor of the next page. A TIME is a date or an ISO time with any offset.

    \b
    Examples:
      amos list --type preference --limit 10
      amos list sources --since 2026-03-01 --until 2026-04-01
      amos list --state quarantined --json
      amos list candidates --extractor rules@1
    """
    from amos.flow.instants import instant_us
    from amos.flow.look import Wanted
    from amos.flow.paging import PageRequest
    from amos.views.rows import listed_lines

    page = PageRequest(
        limit=limit,
        cursor=cursor,
        since_us=None if since is None else instant_us(since, "--since"),
        until_us=None if until is None else instant_us(until, "--until"),
    )
    with invocation.open_store() as store:
        wanted = Wanted(kind=kind, types=types, state=state, extractor=extractor, policy=policy, page=page)
        listed = store.list(wanted, **when)
        is_empty = store.shard.head == 0
    if as_json:
        print_rows(listed.rows, is_truncated=listed.is_truncated, cursor=listed.cursor)
    else:
        print_lines(listed_lines(listed.rows, kind, cursor=listed.cursor, is_store_empty=is_empty))
