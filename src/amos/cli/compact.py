"""`amos compact`."""

from __future__ import annotations

import click

from amos.cli.invocation import Invocation, pass_invocation
from amos.cli.printing import json_option, print_lines, print_object
from amos.cli.progress import step_progress


@click.command()
@click.option("--full", is_flag=True, help="One file per table, however large.")
@click.option("--dry-run", is_flag=True, help="Only say what would be merged.")
@click.option(
    "--drop-history", is_flag=True, help="Remove superseded row versions below the newest snapshot."
)
@json_option
@pass_invocation
def compact(invocation: Invocation, *, full: bool, dry_run: bool, drop_history: bool, as_json: bool) -> None:
    """Merge segment files until few are left, so that look-ups stay fast.

    Ingest does this by itself when there are many. Nothing that can be asked changes, at no graph version;
    a run that is killed leaves the old files or the new ones. Replaced files go once no reader holds them
    and ten minutes have passed.

    With --drop-history row versions that later ones have superseded below the newest `amos snapshot` go for
    good; their commitments stay, so that `amos verify` still covers them, and earlier graph versions can no
    longer be asked.

    \b
    Examples:
      amos compact --dry-run
      amos compact --full --json
      amos compact --drop-history --dry-run
    """
    from amos.views.care import compact_lines

    with invocation.open_store(is_writing=True) as store, step_progress(invocation, "merging") as progress:
        record = store.compact(full=full, dry_run=dry_run, drop_history=drop_history, progress=progress)
    if as_json:
        print_object(record)
    else:
        print_lines(compact_lines(record))
