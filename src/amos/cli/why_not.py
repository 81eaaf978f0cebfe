"""`amos why-not`."""

from __future__ import annotations

from typing import Any

import click

from amos.cli.asking import asking_options, request_fields
from amos.cli.invocation import Invocation, pass_invocation
from amos.cli.printing import json_option, print_lines, print_object


@click.command("why-not")
@click.argument("ref", metavar="REF")
@click.argument("words", metavar="CUE…", nargs=-1, required=True)
@asking_options
@json_option
@pass_invocation
def why_not(
    invocation: Invocation, /, *, ref: str, words: tuple[str, ...], as_json: bool, **asked: Any
) -> None:
    """Name the gate that keeps something out of the answer to a question.

    REF is an atom, a message, a candidate or a decision, CUE the question. The gates stand in this order: is
    it stored, in sight, decided, active and current, searched at all, close enough to the question, and does
    it fit into the budget. The options are those of `amos packet`.

    \b
    Examples:
      amos why-not atm_7f3k2q "what tea do I like"
      amos why-not src_q2wls3 "barn key" --include-untrusted --json
    """
    from amos.views.lineage import why_not_lines

    with invocation.open_store() as store:
        answer = store.why_not(ref, " ".join(words), **request_fields(**asked))
    if as_json:
        print_object(answer)
    else:
        print_lines(why_not_lines(answer))
