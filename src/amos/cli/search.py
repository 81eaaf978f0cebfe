"""`amos search`."""

from __future__ import annotations

from typing import Any

import click

from amos.cli.asking import request_fields, visibility_options
from amos.cli.invocation import Invocation, pass_invocation
from amos.cli.printing import json_option, print_lines, print_rows


@click.command()
@click.argument("text", metavar="TEXT…", nargs=-1, required=True)
@click.option(
    "--limit", type=click.IntRange(min=1, max=1_000), default=20, show_default=True, help="Rows of a page."
)
@click.option("--cursor", metavar="CURSOR", help="Go on after the page that printed this.")
@visibility_options
@json_option
@pass_invocation
def search(
    invocation: Invocation,
    /,
    *,
    text: tuple[str, ...],
    limit: int,
    cursor: str | None,
    as_json: bool,
    **asked: Any,
) -> None:
    """Search turns and claims by words, best first.

    The same ranking as `amos packet`, without a budget, page by page.

    \b
    Examples:
      amos search "low water"
      amos search tide --limit 5 --json
    """
    from amos.views.rows import found_lines

    with invocation.open_store() as store:
        page = store.search(" ".join(text), limit=limit, cursor=cursor, **request_fields(**asked))
    if as_json:
        print_rows(page.rows, is_truncated=page.cursor is not None, cursor=page.cursor)
    else:
        print_lines(found_lines(page.rows, page.total, page.cursor, page.empty_reason))
