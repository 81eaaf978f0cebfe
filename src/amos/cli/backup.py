"""`amos backup` and `amos restore`."""

from __future__ import annotations

from pathlib import Path

import click

from amos.cli.invocation import Invocation, pass_invocation
from amos.cli.paths import GivenPath
from amos.cli.printing import json_option, print_lines, print_object
from amos.cli.progress import step_progress


@click.command()
@click.argument("destination", type=GivenPath(file_okay=False, path_type=Path))
@click.option("--with-keys", is_flag=True, help="Copy the erasure key too: without it nothing opens.")
@click.option("--link", is_flag=True, help="Share bytes on the same disk: faster, no second copy.")
@click.option("--dry-run", is_flag=True, help="Only say what would be copied.")
@json_option
@pass_invocation
def backup(
    invocation: Invocation, *, destination: Path, with_keys: bool, link: bool, dry_run: bool, as_json: bool
) -> None:
    """Copy the newest state of the store to a folder.

    Others may write meanwhile. Every file is hashed where it arrives. Again to the same folder copies only
    what is new and removes what the store no longer has. The folder is laid out like a store, so that
    `amos -s FOLDER verify` checks it. Without --with-keys keep a copy of keys.sqlite elsewhere: whoever has
    both can read everything.

    \b
    Examples:
      amos backup /mnt/disk/amos --with-keys
      amos backup /mnt/disk/amos --dry-run --json
    """
    from amos.moves import back_up
    from amos.views.moves import backup_lines

    with step_progress(invocation, "copying") as progress:
        record = back_up(
            invocation.root,
            destination,
            shard=(invocation.tenant, invocation.workspace),
            with_keys=with_keys,
            link=link,
            dry_run=dry_run,
            progress=progress,
        )
    if as_json:
        print_object(record)
    else:
        print_lines(backup_lines(record))
    if not dry_run and not record["registered"]:
        click.echo("amos: the store could not be written, so that it does not know of this copy", err=True)


@click.command()
@click.argument("source", type=GivenPath(exists=True, file_okay=False, path_type=Path))
@click.argument("destination", type=GivenPath(file_okay=False, path_type=Path))
@click.option("--keys", type=GivenPath(exists=True, dir_okay=False, path_type=Path), metavar="FILE",
              help="A keys.sqlite, when the backup has none.")  # fmt: skip
@click.option("--replace", is_flag=True, help="Move aside what stands at DESTINATION.")
@click.option("--without-erasures", is_flag=True,
              help="Pass over a damaged store: what it has forgotten since comes back.")  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Do everything but the last step.")
@json_option
@pass_invocation
def restore(
    invocation: Invocation,
    *,
    source: Path,
    destination: Path,
    keys: Path | None,
    replace: bool,
    without_erasures: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Make a store of a backup.

    The store named by --store, if it is there and has the same key, is the live one: what was forgotten in
    it since the backup is forgotten in the restored store too, before that can be opened. The same holds for
    a store that is replaced, and for the one that the file of --keys lies in. Everything is built beside its
    place and verified first.

    \b
    Examples:
      amos restore /mnt/disk/amos second-store
      amos -s mem restore /mnt/disk/amos mem --replace --dry-run
    """
    from amos.moves import restore as restore_store
    from amos.views.moves import restore_lines

    with step_progress(invocation, "restoring") as progress:
        record = restore_store(
            source,
            destination,
            shard=(invocation.tenant, invocation.workspace),
            keys=keys,
            live=invocation.root,
            replace=replace,
            without_erasures=without_erasures,
            dry_run=dry_run,
            progress=progress,
        )
    if as_json:
        print_object(record)
    else:
        print_lines(restore_lines(record))
