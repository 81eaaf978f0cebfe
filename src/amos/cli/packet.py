"""`amos packet`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from amos.cli.asking import asking_options, request_fields
from amos.cli.invocation import Invocation, pass_invocation
from amos.cli.printing import json_option, until_reader_leaves
from amos.errors import UsageError

if TYPE_CHECKING:
    from amos.packets.packet import Packet


@click.command()
@click.argument("words", metavar="[WORDS]…", nargs=-1)
@click.option("--cue", "cues", multiple=True, metavar="TEXT", help="A further cue; repeatable.")
@asking_options
@click.option(
    "--as",
    "form",
    type=click.Choice(["text", "markdown", "json"]),
    help="How to print it: for people (text, where nothing is said), prompts or programs.",
)
@click.option("--browse", is_flag=True, help="Ask nothing: all that is in sight, as the context weighs it.")
@click.option("--record", is_flag=True, help="Keep a receipt: which rows were named, no text.")
@json_option
@pass_invocation
def packet(
    invocation: Invocation,
    /,
    *,
    words: tuple[str, ...],
    cues: tuple[str, ...],
    form: str | None,
    browse: bool,
    record: bool,
    as_json: bool,
    **asked: Any,
) -> None:
    """Ask: one answer, bounded in items and tokens, with every item cited.

    The WORDS are one cue. What matched and is not shown is counted by reason; where nothing matches the
    packet is empty and says why. --context tells the situation, --attention what deserves attention; with
    either, or with --browse, the words may be left out.

    \b
    Examples:
      amos packet "what tea do I like"
      amos packet "promises to Robin" --max-items 3 --tokens 600
      amos packet "favourite tea" --as-of 2026-04-01 --json
      amos packet --browse --processor planner
    """
    from amos.packets.render import render_packet

    given = ((" ".join(words),) if words else ()) + cues
    if not (given or browse or asked["context"] or asked["attention"]):
        raise UsageError(
            "there is nothing to ask",
            advice='Give words, as in `amos packet "favourite tea"`, or --browse for what there is.',
        )
    with invocation.open_store() as store:
        found = store.packet(*given, record=record, rendering_target=form, **request_fields(**asked))
    shown = "json" if as_json else form or _output_type(found) or "text"
    with until_reader_leaves():
        click.echo(render_packet(found, shown).encode() + b"\n", nl=False)


def _output_type(found: Packet) -> str | None:
    """Return the form that the situation wants the answer in."""
    wanted: str | None = found.request.get("task_context", {}).get("output_type")
    return wanted
