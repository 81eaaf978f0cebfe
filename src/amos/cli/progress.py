"""Progress of long copies, on a terminal alone."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

from amos.cli.invocation import Invocation


@contextmanager
def byte_progress(invocation: Invocation, label: str) -> Iterator[Callable[[int, int], None] | None]:
    """Yield a function that takes what is done and the total, or None where nobody would see it."""
    if invocation.is_quiet or not sys.stderr.isatty():
        yield None
        return
    last = -1

    def shown(done: int, total: int) -> None:
        nonlocal last
        percent = 100 * done // max(total, 1)
        if percent != last:
            last = percent
            click.echo(f"\r{label} {percent:3d} %", nl=done >= total, err=True)

    yield shown
