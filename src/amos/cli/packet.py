"""`amos packet`."""

from __future__ import annotations

from typing import Any

import click

from amos.cli.asking import asking_options, request_fields
from amos.cli.invocation import Invocation, pass_invocation
from amos.cli.printing import json_option, until_reader_leaves
from amos.errors import UsageError


@click.command()
@click.argument("words", metavar="[WORDS]…", nargs=-1)
@click.option("--cue", "cues", multiple=True, metavar="TEXT", help="A further cue; repeatable.")
@asking_options
@click.option(
    "--as",
    "form",
    type=click.Choice(["text", "markdown"]),
    default="text",
    show_default=True,
    help="How to print it for people or prompts.",
)
@click.option("--record", is_flag=True, help="Keep a receipt: which rows were named, no text.")
@json_option
@pass_invocation
def packet(
    invocation: Invocation,
    /,
    *,
    words: tuple[str, ...],
    cues: tuple[str, ...],
    form: str,
    record: bool,
    as_json: bool,
    **asked: Any,
) -> None:
    """Ask: one answer, bounded in items and tokens, with every item cited.

    The WORDS are one cue. What matched and is not shown is counted by reason; where nothing matches the
    packet is empty and says why.

    \b
    Examples:
      amos packet "what tea do I like"
      amos packet "promises to Robin" --max-items 3 --tokens 600
      amos packet "favourite tea" --as-of 2026-04-01 --json
    """
    from amos.packets.render import render_packet

    given = ((" ".join(words),) if words else ()) + cues
    if not given:
        raise UsageError("there is nothing to ask", advice='Give words, as in `amos packet "favourite tea"`.')
    with invocation.open_store() as store:
        found = store.packet(*given, record=record, **request_fields(**asked))
    with until_reader_leaves():
        click.echo(render_packet(found, "json" if as_json else form).encode() + b"\n", nl=False)
