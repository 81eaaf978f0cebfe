"""`amos init`."""

from __future__ import annotations

import click

from amos.cli.invocation import Invocation, pass_invocation
from amos.cli.printing import json_option, print_object


@click.command()
@json_option
@pass_invocation
def init(invocation: Invocation, *, as_json: bool) -> None:
    """Make an empty store.

    A store that is there already is left as it is. `amos ingest` makes a missing store too.

    \b
    Example:
      amos -s mem init
    """
    is_new = not invocation.has_shard
    with invocation.make_store(is_announced=not as_json) as store:
        version = store.shard.head or None
    if as_json:
        print_object({"store": str(invocation.root), "created": is_new, "graph_version": version})
    elif is_new:
        click.echo(f"Next: amos -s {invocation.root} ingest PATH")
    else:
        click.echo(f"{invocation.root} is a store already; nothing was changed.")
