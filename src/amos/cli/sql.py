"""`amos sql`."""

from __future__ import annotations

import re
import sys
from typing import Any

import click

from amos.cli.invocation import Invocation, pass_invocation
from amos.cli.moments import moment_options
from amos.cli.printing import json_option, print_lines, print_rows, terminal_width


class _Query(click.Command):
    """A command whose argument may begin with a comment of SQL, which looks like an option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take a word with two dashes that holds a blank before any `=` for the query."""
        told = [f" {word}" if _COMMENT.match(word) else word for word in args]
        return super().parse_args(ctx, told)


_COMMENT = re.compile(r"--[^=\s]*\s")


@click.command("sql", cls=_Query)
@click.argument("query", metavar="QUERY")
@moment_options
@json_option
@pass_invocation
def sql(invocation: Invocation, /, *, query: str, as_json: bool, **when: Any) -> None:
    """Ask the tables in SQL; nothing can be written.

    QUERY is one SELECT statement of DuckDB over sources, conversations, entities, candidates, decisions,
    atoms, edges, lineage, disputes and events: their current rows, as far as the scope shows them. Ids are
    text, payloads JSON text; atoms and candidates have a `statement`. Files and the network are out of reach.
    With `-` the query is read from standard input.

    \b
    Examples:
      amos sql "SELECT outcome, count(*) AS n FROM decisions GROUP BY outcome"
      amos sql "SELECT statement FROM atoms WHERE state = 'active'" --json
      amos sql - < question.sql
    """
    from amos.views.grid import grid_lines, plain_rows

    if query == "-":
        query = sys.stdin.buffer.read().decode("utf-8", "replace")
    with invocation.open_store() as store:
        table = store.sql(query, **when)
    if as_json:
        print_rows(plain_rows(table))
    else:
        print_lines(grid_lines(table, width=terminal_width()))
