"""`amos report`."""

from __future__ import annotations

import click

from amos.cli.invocation import Invocation, pass_invocation
from amos.cli.printing import json_option, print_lines, print_object


@click.group()
def report() -> None:
    """Report on what runs have done.

    \b
    Example:
      amos report ingest
    """


@report.command("ingest")
@click.option(
    "--as",
    "form",
    type=click.Choice(["text"]),
    default="text",
    show_default=True,
    help="How to print it for people.",
)
@json_option
@pass_invocation
def report_ingest(invocation: Invocation, *, form: str, as_json: bool) -> None:  # noqa: ARG001 - one form so far
    """Report what was read, decided, cut and refused.

    Per run and in total: records by fate, decisions by outcome and reason, cuts by rule and by who said it,
    and what is stored now by format and trust.

    \b
    Examples:
      amos report ingest
      amos report ingest --json
    """
    from amos.views.receipt import report_lines

    with invocation.open_store() as store:
        record = store.report_ingest()
    if as_json:
        print_object(record)
    else:
        print_lines(report_lines(record))
