"""Say what went wrong in one line, what to do next, and with which exit code."""

from __future__ import annotations

import json
import traceback
from collections.abc import Sequence

import click

from amos.cli.moments import misplaced, placed_advice
from amos.cli.system import system_failure
from amos.errors import EngineError, UsageError


class InterruptedRunError(EngineError):
    """The user stopped the command; the message says what is stored."""

    exit_code = 130
    default_code = "interrupted"
    default_advice = "Run the same command again: it goes on where it stopped."


class UnforeseenError(EngineError):
    """Nobody foresaw this; the traceback is shown with `-v`."""

    default_code = "unexpected"
    default_advice = "Run it again with `amos -v …` for the traceback, and report it with that text."


def report_failure(failure: Exception, words: Sequence[str]) -> int:
    """Print `failure` for people, and with `--json` as an object too; return the exit code."""
    if isinstance(failure, click.exceptions.Exit):
        return failure.exit_code
    if isinstance(failure, click.exceptions.NoArgsIsHelpError):
        click.echo(failure.format_message(), err=True)
        return failure.exit_code
    known = _as_engine_error(failure)
    own = words[: words.index("--")] if "--" in words else words
    if "--json" in own:
        click.echo(json.dumps({"error": known.as_record()}, ensure_ascii=False).encode() + b"\n", nl=False)
    lines = " ".join(_visible(known.message).split())
    click.echo(f"amos: {lines}\n  next: {_visible(known.advice)}", err=True)
    if isinstance(known, UnforeseenError) and _is_verbose(own):
        click.echo("".join(traceback.format_exception(failure)), err=True)
    return known.exit_code


def _as_engine_error(failure: Exception) -> EngineError:
    if isinstance(failure, EngineError):
        return failure
    if isinstance(failure, click.Abort):
        return InterruptedRunError("interrupted; nothing was changed", advice="Run it again.")
    if isinstance(failure, click.ClickException):
        return _usage_error(failure)
    said = system_failure(failure)
    if said is not None:
        return said
    return UnforeseenError(f"unforeseen failure: {type(failure).__name__}: {failure}")


def _usage_error(failure: click.ClickException) -> UsageError:
    context = getattr(failure, "ctx", None)
    path = context.command_path if context is not None else "amos"
    advice = f"Run `{path} --help`."
    if isinstance(failure, click.NoSuchOption) and context is not None:
        reason = misplaced(failure.option_name, path)
        if reason is not None:
            return UsageError(reason, advice=placed_advice())
        advice = _place_of_option(failure.option_name, context) or advice
    return UsageError(failure.format_message(), advice=advice)


def _place_of_option(name: str, context: click.Context) -> str | None:
    """Return where an option belongs that only the whole command has; None when it has no such option."""
    whole = context.find_root()
    known = {flag for option in whole.command.params for flag in (*option.opts, *option.secondary_opts)}
    if context is whole or name not in known:
        return None
    rest = context.command_path.removeprefix(f"{whole.info_name} ")
    return f"Global options stand before the command: `{whole.info_name} {name} {rest} …`."


def _visible(text: str) -> str:
    """Return `text` with control characters written out: what a file holds must not drive a terminal."""
    return "".join(char if char.isprintable() or char == "\n" else repr(char)[1:-1] for char in text)


def _is_verbose(words: Sequence[str]) -> bool:
    return any(word == "--verbose" or (word.startswith("-v") and not word.startswith("--")) for word in words)
