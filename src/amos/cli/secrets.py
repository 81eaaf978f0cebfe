"""The secret that wraps an erasure key: a file's bytes, or a passphrase typed in."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from amos.cli.paths import GivenPath
from amos.errors import InputError, UsageError

_LONGEST = 1 << 20


def secret_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--key-from FILE` and `--passphrase` to a command."""
    command = click.option("--passphrase", is_flag=True, help="Ask for the secret on the terminal.")(command)
    return click.option(
        "--key-from",
        type=GivenPath(exists=True, dir_okay=False, path_type=Path),
        metavar="FILE",
        help="Take the secret from this file.",
    )(command)


def read_secret(key_from: Path | None, *, is_asked: bool, is_new: bool) -> bytes | None:
    """Return the secret, None when none is wanted.  is_new: it is typed twice.

    A file counts without its last line break, so that one written by an editor is the same passphrase.
    """
    if key_from is not None and is_asked:
        raise UsageError("--key-from and --passphrase name two secrets", advice="Give one of them.")
    if is_asked:
        typed: str = click.prompt("Passphrase", hide_input=True, confirmation_prompt=is_new, err=True)
        return typed.encode()
    if key_from is None:
        return None
    with key_from.open("rb") as stream:
        found = stream.read(_LONGEST + 1)
    found = found.removesuffix(b"\n").removesuffix(b"\r")
    if not found or len(found) > _LONGEST:
        raise InputError(f"{key_from} holds no secret: 1 byte to 1 MiB are one", path=str(key_from))
    return found
