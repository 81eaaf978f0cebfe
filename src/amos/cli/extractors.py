"""Options that choose what reads claims: the rules by version, or the answers of a model."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from amos.cli.invocation import Invocation
from amos.cli.paths import GivenPath
from amos.errors import UsageError

if TYPE_CHECKING:
    from amos.extraction.registry import Extractor

KEY_VARIABLE = "AMOS_MODEL_KEY"
CHOOSING = ("extractor", "proposals", "endpoint", "model", "timeout")
"""Names of the options."""

Command = TypeVar("Command", bound=Callable[..., Any])


def extractor_options(command: Command) -> Command:
    """Add the options that choose an extractor."""
    for option in (
        click.option(
            "--timeout", type=click.FloatRange(min=0.1), default=60.0, show_default=True, metavar="SECONDS",
            help="How long one request to the endpoint may take.",
        ),
        click.option("--model", metavar="NAME", help="The model to ask at the endpoint."),
        click.option(
            "--endpoint", metavar="URL",
            help=f"Ask an OpenAI-compatible endpoint for what FILE lacks; its key is in {KEY_VARIABLE}.",
        ),
        click.option(
            "--proposals", type=GivenPath(path_type=Path, dir_okay=False), metavar="FILE",
            help="Read claims that a model proposed: JSON lines, by text.",
        ),
        click.option(
            "--extractor", metavar="NAME@VERSION",
            help="Read claims with this extractor instead of the current one.",
        ),
    ):  # fmt: skip
        command = option(command)
    return command


def chosen_extractor(invocation: Invocation, options: dict[str, Any]) -> Extractor | str | None:
    """Take the options that choose an extractor out of `options`, and return what they choose.

    Raises UsageError for options that contradict each other.
    """
    chosen = {name: options.pop(name) for name in CHOOSING}
    name, path = chosen["extractor"], chosen["proposals"]
    if path is None:
        if chosen["endpoint"] or chosen["model"]:
            raise UsageError(
                "a model's answers are kept in a file, and none is named", advice="Add `--proposals FILE`."
            )
        return None if name is None else str(name)
    from amos.extraction.registry import PROPOSALS

    if name not in (None, PROPOSALS):
        raise UsageError(
            f"--proposals is read by {PROPOSALS}, not by {name}", advice="Leave --extractor out."
        )
    if bool(chosen["endpoint"]) != bool(chosen["model"]):
        raise UsageError("--endpoint and --model go together", advice="Name both, or neither.")
    return _model_extractor(invocation, path, chosen)


def _model_extractor(invocation: Invocation, path: Path, chosen: dict[str, Any]) -> Extractor:
    from amos.extraction.model import ModelExtractor
    from amos.extraction.model_answers import FileAnswers

    asking = None
    if chosen["endpoint"]:
        from amos.extraction.model_client import ModelClient

        asking = ModelClient(
            chosen["endpoint"], chosen["model"], key=os.environ.get(KEY_VARIABLE), timeout=chosen["timeout"]
        )
        invocation.notice(f"texts that {path} does not answer are sent to {chosen['endpoint']}")
    return ModelExtractor(FileAnswers(path, asking=asking))
