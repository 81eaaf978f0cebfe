"""`amos snapshot`."""

from __future__ import annotations

import click

from amos.cli.invocation import Invocation, pass_invocation
from amos.cli.printing import json_option, print_lines, print_object
from amos.cli.progress import phase_progress


@click.command()
@json_option
@pass_invocation
def snapshot(invocation: Invocation, *, as_json: bool) -> None:
    """Register the newest state as verified.

    Every file, row, event and span is checked, the state is folded anew from its commits and compared with
    what readers are given, its files are merged to one per table, and only then an event registers it.
    History below a snapshot may be dropped with `amos compact --drop-history`. Without new commits since
    the last one nothing is done.

    \b
    Examples:
      amos snapshot
      amos snapshot --json
    """
    from amos.views.care import snapshot_lines

    with invocation.open_store(is_writing=True) as store, phase_progress(invocation) as progress:
        record = store.snapshot(progress=progress)
    if as_json:
        print_object(record)
    else:
        print_lines(snapshot_lines(record))
