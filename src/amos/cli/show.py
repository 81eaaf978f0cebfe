"""`amos show`."""

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
def show(invocation: Invocation, /, *, ref: str, as_json: bool, **when: Any) -> None:
    """Print one thing by its reference, or by a beginning of it.

    REF is what other commands print, such as atm_7f3k2q: six characters after the underscore are enough.
    What lies outside the given scope is not found; text that a screen flagged is withheld. That nothing is
    found is an answer, of exit code 0; with --json it says `found`.

    \b
    Examples:
      amos show atm_7f3k2q
      amos show src_q2wls3 --json
    """
    from amos.views.rows import item_lines, omission_lines

    with invocation.open_store() as store:
        answer = store.show(ref, **when)
    if as_json:
        print_object(answer)
    elif answer["found"]:
        print_lines([*item_lines(answer["item"]), *omission_lines(answer["omissions"])])
    elif answer["omissions"]["withheld"]:
        print_lines(omission_lines(answer["omissions"]))
    else:
        print_lines([f"Nothing is stored under {ref}.", "Look for it with `amos list` or `amos search`."])
