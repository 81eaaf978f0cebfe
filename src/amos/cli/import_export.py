"""`amos import`."""

from __future__ import annotations

from pathlib import Path

import click

from amos.cli.invocation import Invocation, pass_invocation
from amos.cli.paths import GivenPath
from amos.cli.printing import json_option, print_lines, print_object
from amos.cli.progress import step_progress
from amos.cli.secrets import read_secret, secret_options


@click.command("import")
@click.argument("path", type=GivenPath(exists=True, path_type=Path))
@secret_options
@click.option("--dry-run", is_flag=True, help="Check the export and count; write nothing.")
@json_option
@pass_invocation
def import_export(
    invocation: Invocation,
    *,
    path: Path,
    key_from: Path | None,
    passphrase: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Bring in what `amos export` wrote.

    A Parquet export is checked first: every file, the chain of commits, every row, the state. With its key
    and into a store without commits it becomes that store, journal and tombstones included. Otherwise its
    sources come in like any transcript and are decided here: what is there already adds nothing, and what
    this store has forgotten stays out.

    Transcripts and other products' exports are for `amos ingest`.

    \b
    Examples:
      amos import old-memory --key-from secret.txt
      amos import memory.jsonl --dry-run --json
    """
    from amos.moves import import_export as bring_in
    from amos.views.moves import import_lines

    secret = read_secret(key_from, is_asked=passphrase, is_new=False)
    with step_progress(invocation, "checking") as progress:
        record = bring_in(
            invocation.root,
            path,
            shard=(invocation.tenant, invocation.workspace),
            secret=secret,
            dry_run=dry_run,
            progress=progress,
        )
    if as_json:
        print_object(record)
    else:
        print_lines(import_lines(record))
