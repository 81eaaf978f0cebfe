"""`amos why`."""

from __future__ import annotations

from typing import Any

import click

from amos.cli.invocation import Invocation, pass_invocation
from amos.cli.moments import moment_options
from amos.cli.printing import json_option, print_lines, print_object


@click.command()
@click.argument("ref", metavar="REF")
@click.option("--prov", "is_prov", is_flag=True, help="Every step on the way, in the terms of PROV.")
@moment_options
@json_option
@pass_invocation
def why(invocation: Invocation, /, *, ref: str, is_prov: bool, as_json: bool, **when: Any) -> None:
    """Say where a claim comes from and why it was decided so.

    Goes from an atom, a candidate, a decision or a source to the bytes it rests on, the decision with its
    reasons, what replaced what, and the events that put it there. With --prov, every version of every row
    on the way: the step that wrote it, with its version, what it used, and who ran it; with --json also as a
    PROV document.

    \b
    Examples:
      amos why atm_7f3k2q
      amos why src_q2wls3 --json
      amos why atm_7f3k2q --prov
    """
    from amos.views.lineage import prov_lines
    from amos.views.reasons import why_lines

    with invocation.open_store() as store:
        answer = store.prov(ref, **when) if is_prov else store.why(ref, **when)
    if as_json:
        print_object(answer)
    else:
        print_lines(prov_lines(answer) if is_prov else why_lines(answer))
