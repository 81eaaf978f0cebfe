"""`amos report`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from amos.cli.invocation import Invocation, pass_invocation
from amos.cli.moments import moment_options
from amos.cli.printing import json_option, print_lines, print_object


def _form_option(meaning: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return the option of a report that has a page."""
    return click.option(
        "--as",
        "form",
        type=click.Choice(["text", "html", "json"]),
        default="text",
        show_default=True,
        help=meaning,
    )


@click.group()
def report() -> None:
    """Report on what runs have done, and what waits for a person.

    \b
    Examples:
      amos report ingest
      amos report review --as html > queue.html
      amos report outcomes
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


@report.command("review")
@_form_option("Text, one HTML page of the whole queue, or JSON.")
@click.option(
    "--limit", type=click.IntRange(min=1), metavar="N", help="At most so many cases; 20 in text, else 500."
)
@moment_options
@json_option
@pass_invocation
def report_review(
    invocation: Invocation, /, *, form: str, limit: int | None, as_json: bool, **when: Any
) -> None:
    """Report what waits for a person, for how long, and what people decided.

    Counts by reason, age, trust, extractor and policy; what is stale, ends soon or has expired; then the
    cases, the longest waiting first. The HTML page shows every case with its words in context; it needs no
    other file.

    \b
    Examples:
      amos report review
      amos report review --as html > queue.html
      amos report review --json
    """
    from amos.views.review_report import page_lines, report_lines

    is_text = form == "text" and not as_json
    with invocation.open_store() as store:
        found = store.report_review(limit=limit or (20 if is_text else None), is_full=form == "html", **when)
    if as_json or form == "json":
        print_object(found)
    else:
        print_lines(page_lines(found) if form == "html" else report_lines(found))


@report.command("outcomes")
@_form_option("Text, one HTML page, or JSON.")
@json_option
@pass_invocation
def report_outcomes(invocation: Invocation, /, *, form: str, as_json: bool) -> None:
    """Report what became of answers: how score and rank tell use.

    For every tenth of the score and for ranks: how many items were shown, what share was used and what share
    was put right, with 95 % intervals, in all and per profile and processor. Then the claims that are shown
    and never used, and what callers say was missing.

    \b
    Examples:
      amos report outcomes
      amos report outcomes --as html > outcomes.html
      amos report outcomes --json
    """
    from amos.views.outcome_report import page_lines, report_lines

    with invocation.open_store() as store:
        found = store.report_outcomes()
    if as_json or form == "json":
        print_object(found)
    else:
        print_lines(page_lines(found) if form == "html" else report_lines(found))
