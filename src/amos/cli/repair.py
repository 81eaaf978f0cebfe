"""`amos repair`."""

from __future__ import annotations

from pathlib import Path

import click

from amos.cli.invocation import Invocation, pass_invocation
from amos.cli.paths import GivenPath
from amos.cli.printing import json_option, print_lines, print_object
from amos.errors import IntegrityError


@click.command()
@click.option(
    "--from",
    "backup",
    type=GivenPath(exists=True, file_okay=False, path_type=Path),
    metavar="BACKUP",
    help="Take from this backup what is still the same.",
)
@click.option(
    "--discard-newer",
    is_flag=True,
    help="Give up segments that are later than the catalog, for good.",
)
@click.option("--dry-run", is_flag=True, help="Only say what would be repaired.")
@json_option
@pass_invocation
def repair(
    invocation: Invocation, *, backup: Path | None, discard_newer: bool, dry_run: bool, as_json: bool
) -> None:
    """Write again what can be derived, and say what cannot.

    Derived: rows of the commit log that the events tell, counters and labels, indexes, stamps; an erasure
    that was cut short is brought to its end, files that nothing names go once everything else is sound. From
    a backup: segments with the SHA-256 that the catalog states, and rows that are what their event promises.
    No row is dropped to make a check pass: what is left is named with its reason, and exit code 5 says so.
    Segments later than the catalog mean that an older shard.sqlite was put in place of theirs: they stay, and
    nothing writes to the store, until the right one is back or `--discard-newer` gives them up.

    \b
    Examples:
      amos repair --dry-run
      amos repair --from /mnt/disk/amos --json
    """
    from amos.moves import repair as repair_store
    from amos.views.checks import repair_lines

    record = repair_store(
        invocation.root,
        shard=(invocation.tenant, invocation.workspace),
        backup=backup,
        discard_newer=discard_newer,
        dry_run=dry_run,
    )
    if as_json:
        print_object(record)
    else:
        print_lines(repair_lines(record))
    if not record["ok"]:
        raise click.exceptions.Exit(IntegrityError.exit_code)
