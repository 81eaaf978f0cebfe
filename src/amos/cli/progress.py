"""Progress of long work on standard error, where a terminal shows it to somebody."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import click

from amos.cli.invocation import Invocation


def is_watched(invocation: Invocation) -> bool:
    """Return whether somebody would see progress."""
    return sys.stderr.isatty() and not invocation.is_quiet


@contextmanager
def step_progress(invocation: Invocation, label: str) -> Iterator[Callable[[int, int], None] | None]:
    """Yield a function that takes what is done and the total, or None where nobody would see it."""
    with phase_progress(invocation) as shown:
        yield None if shown is None else partial(shown, label)


@contextmanager
def phase_progress(invocation: Invocation) -> Iterator[Callable[[str, int, int], None] | None]:
    """Yield a function that takes a phase, what is done of it and the total, or None."""
    if not is_watched(invocation):
        yield None
        return
    last = ""

    def shown(phase: str, done: int, total: int) -> None:
        nonlocal last
        text = f"{phase} {100 * done // max(total, 1):3d} %"
        if text != last:
            click.echo(f"\r{text:<20}", nl=False, err=True)
            last = text

    try:
        yield shown
    finally:
        if last:
            click.echo(err=True)
