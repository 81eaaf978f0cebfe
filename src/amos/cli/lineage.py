"""`amos lineage`."""

from __future__ import annotations

from typing import Any

import click

from amos.cli.invocation import Invocation, pass_invocation
from amos.cli.moments import moment_options
from amos.cli.printing import json_option, print_lines, print_object


@click.command()
@click.argument("ref", metavar="REF")
@moment_options
@json_option
@pass_invocation
def lineage(invocation: Invocation, /, *, ref: str, as_json: bool, **when: Any) -> None:
    """Tell the history of a value: what held when, what replaced it, who decided so.

    REF is an atom, a candidate or a decision; its whole property is told, with the words that each value
    rests on, changes that were withdrawn later, open disputes, and what still waits for a review.

    \b
    Examples:
      amos lineage atm_7f3k2q
      amos lineage atm_7f3k2q --known-at 2026-05-01 --json
    """
    from amos.views.lineage import lineage_lines

    with invocation.open_store() as store:
        answer = store.lineage(ref, **when)
    if as_json:
        print_object(answer)
    else:
        print_lines(lineage_lines(answer))
