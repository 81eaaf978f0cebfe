"""`amos capture record|list|show|reinforce`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from amos.cli.invocation import Invocation, pass_invocation
from amos.cli.paths import GivenPath
from amos.cli.printing import json_option, print_lines, print_object, print_rows
from amos.errors import UsageError


@click.group()
def capture() -> None:
    """Keep what an agent was asked and answered, and what it was given: record, list, show, reinforce.

    An answer that repeats a memory is noted, and the memory ranks a little higher for having been of use.

    \b
    Examples:
      amos --project pier capture record --prompt "Which berth?" --response "Yours is berth 14."
      amos capture list --since 2026-03-01
      amos capture reinforce --all
    """


@capture.command()
@click.argument("file", required=False, type=GivenPath(path_type=Path, dir_okay=False))
@click.option("--prompt", metavar="TEXT", help="What the agent was asked.")
@click.option("--response", metavar="TEXT", help="What it answered.")
@click.option("--summary", "response_summary", metavar="TEXT", help="Its own summary of the answer.")
@click.option("--memory", "memories_used", multiple=True, metavar="REF",
              help="A memory that it had been given; repeatable.")  # fmt: skip
@click.option("--chunk", "chunks_used", multiple=True, metavar="ID",
              help="A piece of a document that it had been given; repeatable.")  # fmt: skip
@click.option("--client", metavar="NAME", help="The program that called the agent.")
@click.option("--id", metavar="ID", help="Id of the interaction; one is made if left out.")
@click.option("--at", "created_at", metavar="TIME", help="When it was; now if left out.")
@click.option("--no-reinforce", is_flag=True, help="Do not look for memories in the answer.")
@json_option
@pass_invocation
def record(
    invocation: Invocation, /, *, file: Path | None, no_reinforce: bool, as_json: bool, **told: Any
) -> None:
    """Keep one interaction, or those of FILE: JSON lines with `prompt`, `response` and the other fields.

    Session, project, user and agent are the scope options before the command. Prompt and answer are decided
    like any message: a prompt can tell memory something, an answer cannot. Repeating an id adds nothing.

    \b
    Examples:
      amos --session s1 capture record --prompt "Any plans?" --response "You want to learn Danish."
      amos capture record turns.jsonl --no-reinforce
    """
    fields = {name: value for name, value in told.items() if value not in (None, ())}
    if (file is None) == ("prompt" not in fields):
        raise UsageError(
            "give either a file or a prompt" if file else "there is nothing to capture",
            advice="`amos capture record --prompt TEXT --response TEXT`, or a file of JSON lines.",
        )
    with invocation.make_store(is_announced=not as_json) as store:
        if file is not None:
            if fields:
                raise UsageError(f"a file says for itself: leave out --{next(iter(fields))}")
            receipt = store.capture_file(file, reinforce=not no_reinforce)
        else:
            lists = {name: list(value) for name, value in fields.items() if isinstance(value, tuple)}
            receipt = store.capture({**fields, **lists}, reinforce=not no_reinforce)
    if as_json:
        print_object(receipt)
        return
    from amos.views.captured import captured_lines

    print_lines(captured_lines(receipt))


@capture.command("list")
@click.option("--client", metavar="NAME", help="Only of this program.")
@click.option("--since", metavar="TIME", help="From this time on, that instant included.")
@click.option("--until", metavar="TIME", help="Before this time.")
@click.option("--limit", type=click.IntRange(min=0), default=50, show_default=True, help="Rows of a page.")
@click.option("--cursor", metavar="CURSOR", help="Go on after the page that printed this.")
@json_option
@pass_invocation
def list_captured(invocation: Invocation, /, *, as_json: bool, **asked: Any) -> None:
    """List interactions, newest first, as summaries; --project and --session before the command narrow.

    \b
    Examples:
      amos capture list
      amos --session s1 capture list --since 2026-03-01T10:00:00Z --limit 10
    """
    with invocation.open_store() as store:
        page = store.interactions(_chosen(asked))
    if as_json:
        print_rows(page["interactions"], is_truncated=page["truncated"], cursor=page["cursor"])
        return
    from amos.views.captured import listed_lines

    print_lines(listed_lines(page))


@capture.command()
@click.argument("name", metavar="ID")
@json_option
@pass_invocation
def show(invocation: Invocation, *, name: str, as_json: bool) -> None:
    """Print one interaction whole: prompt, answer, summary, and what the agent had been given.

    \b
    Example:
      amos capture show 4f2a90c1
    """
    with invocation.open_store() as store:
        found = store.interaction(name)
    if as_json:
        print_object(found)
        return
    from amos.views.captured import interaction_lines

    print_lines(interaction_lines(found))


@capture.command()
@click.argument("names", metavar="[ID]…", nargs=-1)
@click.option("--all", "is_all", is_flag=True, help="All interactions that the other options choose.")
@click.option("--client", metavar="NAME", help="Only of this program.")
@click.option("--since", metavar="TIME", help="From this time on, that instant included.")
@click.option("--until", metavar="TIME", help="Before this time.")
@click.option("--atom", metavar="REF", help="Say that the answer of one interaction made use of this memory.")
@click.option("--delta", type=float, default=0.02, show_default=True, help="With --atom: what that adds.")
@click.option("-n", "--dry-run", is_flag=True, help="Only say what would be noted.")
@json_option
@pass_invocation
def reinforce(
    invocation: Invocation,
    /,
    *,
    names: tuple[str, ...],
    is_all: bool,
    atom: str | None,
    delta: float,
    dry_run: bool,
    as_json: bool,
    **asked: Any,
) -> None:
    """Note which memories the answers of interactions repeat; doing it again adds nothing.

    What the agent had been given for that very turn is noted as an exposure and adds nothing. Each
    conversation adds 0.02 to the confidence a memory ranks with, all of them together 0.10 at most; nothing
    here is evidence.

    \b
    Examples:
      amos capture reinforce 4f2a90c1
      amos capture reinforce --all --since 2026-03-01 --dry-run
      amos capture reinforce 4f2a90c1 --atom atm_7f3k2q
    """
    if bool(names) == is_all or (atom is not None and (len(names) != 1 or dry_run)):
        raise UsageError(
            "it is not clear which interactions are meant",
            advice="Give ids, or --all; with --atom exactly one id.",
        )
    with invocation.open_store(is_writing=True) as store:
        if atom is not None:
            told = store.reinforce_atom(atom, names[0], delta=delta)
            done = {"interactions": 1, "echoes": [told], "written": told["written"], "dry_run": False}
        else:
            chosen = _chosen({**asked, "limit": None, "cursor": None})
            done = store.reinforce(list(names) or None, chosen=chosen, dry_run=dry_run)
    if as_json:
        print_object(done)
        return
    from amos.views.captured import reinforced_lines

    print_lines(reinforced_lines(done))


def _chosen(asked: dict[str, Any]) -> Any:
    from amos.flow.captured import Chosen
    from amos.flow.instants import instant_us

    since, until = (
        None if asked[name] is None else instant_us(asked[name], f"--{name}") for name in ("since", "until")
    )
    return Chosen(
        client=asked["client"],
        since_us=since,
        until_us=until,
        limit=asked["limit"],
        cursor=asked["cursor"],
    )
