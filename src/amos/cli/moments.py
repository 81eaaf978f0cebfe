"""The options that ask about another time, and where they belong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

Command = Callable[..., Any]

MOMENT_FLAGS = ("--as-of", "--at-version", "--known-at", "--min-version")
MOMENT_COMMANDS = (
    "packet",
    "packets",
    "search",
    "show",
    "list",
    "why",
    "sql",
    "review list",
    "review show",
    "lineage",
    "why-not",
    "report review",
)
"""The commands that take them; every other one works on what stands now."""


def moment_options(command: Command) -> Command:
    """Add the options of valid time and of transaction time."""
    options = (
        click.option("--as-of", metavar="TIME", help="Valid time: what held then."),
        click.option(
            "--at-version",
            type=click.IntRange(min=0),
            metavar="N",
            help="Transaction time: the store as it was at graph version N.",
        ),
        click.option(
            "--known-at", metavar="TIME", help="Transaction time: the store as it was at this time."
        ),
        click.option(
            "--min-version",
            type=click.IntRange(min=0),
            metavar="N",
            help="Answer from graph version N or a later one; waits a moment for it.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


def misplaced(flag: str, command_path: str) -> str | None:
    """Return why a command does not take a flag of another time; None for any other flag."""
    if flag not in MOMENT_FLAGS:
        return None
    return f"`{command_path}` works on what stands now and does not take {flag}"


def placed_advice() -> str:
    """Return where the flags belong."""
    return f"{', '.join(MOMENT_FLAGS)} belong to {', '.join(f'`amos {name}`' for name in MOMENT_COMMANDS)}."
