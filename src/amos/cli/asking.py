"""The options by which `packet`, `packets` and `search` say what is wanted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from amos.cli.moments import moment_options
from amos.cli.paths import GivenPath
from amos.errors import InputError
from amos.packets.modes import MODES
from amos.packets.processors import processor_names
from amos.packets.request import CONSISTENCY, PROVENANCE_LEVELS, PURPOSES

Command = Callable[..., Any]

_VISIBILITY = (
    ("--include-untrusted", "Also what a tool, a page or an attachment says, marked as such."),
    ("--include-superseded", "Also what has been replaced, marked as such."),
    ("--include-archived", "Also what was archived."),
    ("--include-low-health", "Also what is stale, confounding, orphaned, redundant or of low utility."),
)

profile_option = click.option(
    "--profile",
    metavar="NAME|FILE",
    help="Rank by this profile: its name, or a TOML file as `amos evaluate fit` writes it.",
)


def visibility_options(command: Command) -> Command:
    """Add the options that widen what may be shown, and the profile that ranks it."""
    for flag, meaning in reversed(_VISIBILITY):
        command = click.option(flag, is_flag=True, help=meaning)(command)
    return moment_options(profile_option(command))


_BUDGET = (
    click.option("--max-items", type=click.IntRange(min=1), help="At most so many items."),
    click.option("--tokens", type=click.IntRange(min=1), help="At most so many tokens, envelope included."),
    click.option(
        "--processor",
        type=click.Choice(processor_names()),
        metavar="NAME",
        default="reasoner",
        show_default=True,
        help=f"Who will read it, which sets budget and needs: {', '.join(processor_names())}.",
    ),
)
_AIM = (
    click.option(
        "--mode",
        type=click.Choice(MODES),
        metavar="NAME",
        default=MODES[0],
        show_default=True,
        help=f"What is looked for: {', '.join(MODES)}.",
    ),
    click.option(
        "--purpose",
        type=click.Choice(PURPOSES),
        default=PURPOSES[0],
        show_default=True,
        help="Act on it, weigh it with what speaks against it, or look back.",
    ),
    click.option("--subject", metavar="AGENT", help="Whose acts are meant, in agentic recall."),
    click.option("--context", type=GivenPath(path_type=Path), metavar="FILE", help="The situation, as JSON."),
    click.option(
        "--attention",
        type=GivenPath(path_type=Path),
        metavar="FILE",
        help="What to bring to the fore and what to hold back, as JSON.",
    ),
    click.option(
        "--type", "types", multiple=True, metavar="TYPE", help="Only claims of this type, or `turn`."
    ),
)
_DETAIL = (
    click.option(
        "--consistency",
        type=click.Choice(CONSISTENCY),
        default="monotonic",
        show_default=True,
        help="Whether to wait for --min-version, or to answer from what is there and say so.",
    ),
    click.option(
        "--provenance",
        type=click.Choice(PROVENANCE_LEVELS),
        default="none",
        show_default=True,
        help="How much to tell of where claims come from.",
    ),
    click.option("--conflicts/--no-conflicts", default=None, help="With what is in dispute, or without."),
)


def asking_options(command: Command) -> Command:
    """Add the options of a packet request."""
    command = visibility_options(command)
    for option in reversed((*_BUDGET, *_AIM, *_DETAIL)):
        command = option(command)
    return command


_FIELDS = {
    "tokens": "token_budget",
    "processor": "target_processor",
    "mode": "retrieval_mode",
    "subject": "agentic_recall_subject",
    "types": "requested_memory_types",
    "consistency": "consistency_requirement",
    "provenance": "include_provenance",
    "conflicts": "include_conflicts",
}
"""Options whose field of a request has another name."""


def request_fields(
    *, context: Path | None = None, attention: Path | None = None, **asked: Any
) -> dict[str, Any]:
    """Return what the options say, as fields of a packet request and of the moment it asks about."""
    fields = {_FIELDS.get(name, name): value for name, value in asked.items()}
    if fields.get("include_provenance") == PROVENANCE_LEVELS[0]:
        del fields["include_provenance"]
    for name, path in (("task_context", context), ("attention_context", attention)):
        if path is not None:
            fields[name] = _read_context(path)
    return fields


def _read_context(path: Path) -> dict[str, Any]:
    """Return the object in a JSON file.  Raises InputError where there is none."""
    import msgspec

    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as cause:
        raise InputError(
            f"{path}: {cause}", path=str(path), advice="It holds one JSON object; see `docs/how-to/ask.md`."
        ) from cause
