"""The options by which `packet`, `packets` and `search` say what is wanted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from amos.packets.budgets import MODES, PROCESSORS

Command = Callable[..., Any]

OTHER_PROCESSOR = "other"
"""Any processor without a budget of its own; the library takes its name."""

_VISIBILITY = (
    ("--include-untrusted", "Also what a tool, a page or an attachment says, marked as such."),
    ("--include-superseded", "Also what has been replaced, marked as such."),
)


def visibility_options(command: Command) -> Command:
    """Add the options that widen what may be shown."""
    for flag, meaning in reversed(_VISIBILITY):
        command = click.option(flag, is_flag=True, help=meaning)(command)
    return click.option("--as-of", metavar="TIME", help="What held then; nothing said later.")(command)


def asking_options(command: Command) -> Command:
    """Add the options of a packet request."""
    options = (
        click.option("--max-items", type=click.IntRange(min=1), help="At most so many items."),
        click.option(
            "--tokens", type=click.IntRange(min=1), help="At most so many tokens, envelope included."
        ),
        click.option(
            "--processor",
            type=click.Choice([*PROCESSORS, OTHER_PROCESSOR]),
            metavar="NAME",
            default="reasoner",
            show_default=True,
            help=f"Who will read it, which sets the budget: {', '.join(PROCESSORS)}, or {OTHER_PROCESSOR}.",
        ),
        click.option(
            "--mode", type=click.Choice(MODES), default="general", show_default=True, help="Retrieval mode."
        ),
    )
    command = visibility_options(command)
    for option in reversed(options):
        command = option(command)
    return command


def request_fields(
    *,
    as_of: str | None,
    include_untrusted: bool,
    include_superseded: bool,
    max_items: int | None = None,
    tokens: int | None = None,
    processor: str = "reasoner",
    mode: str = "general",
) -> dict[str, Any]:
    """Return what the options say, as fields of a packet request."""
    from amos.flow.instants import instant_us

    return {
        "as_of_us": None if as_of is None else instant_us(as_of, "--as-of"),
        "include_untrusted": include_untrusted,
        "include_superseded": include_superseded,
        "max_items": max_items,
        "token_budget": tokens,
        "target_processor": processor,
        "retrieval_mode": mode,
    }
