"""The options by which `packet`, `packets` and `search` say what is wanted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from amos.cli.moments import moment_options
from amos.packets.processors import MODES, processor_names

Command = Callable[..., Any]

_VISIBILITY = (
    ("--include-untrusted", "Also what a tool, a page or an attachment says, marked as such."),
    ("--include-superseded", "Also what has been replaced, marked as such."),
)


def visibility_options(command: Command) -> Command:
    """Add the options that widen what may be shown."""
    for flag, meaning in reversed(_VISIBILITY):
        command = click.option(flag, is_flag=True, help=meaning)(command)
    return moment_options(command)


def asking_options(command: Command) -> Command:
    """Add the options of a packet request."""
    options = (
        click.option("--max-items", type=click.IntRange(min=1), help="At most so many items."),
        click.option(
            "--tokens", type=click.IntRange(min=1), help="At most so many tokens, envelope included."
        ),
        click.option(
            "--processor",
            type=click.Choice(processor_names()),
            metavar="NAME",
            default="reasoner",
            show_default=True,
            help=f"Who will read it, which sets budget and needs: {', '.join(processor_names())}.",
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
    include_untrusted: bool,
    include_superseded: bool,
    max_items: int | None = None,
    tokens: int | None = None,
    processor: str = "reasoner",
    mode: str = "general",
    **when: Any,
) -> dict[str, Any]:
    """Return what the options say, as fields of a packet request and of the moment it asks about."""
    return {
        **when,
        "include_untrusted": include_untrusted,
        "include_superseded": include_superseded,
        "max_items": max_items,
        "token_budget": tokens,
        "target_processor": processor,
        "retrieval_mode": mode,
    }
