"""`amos init`."""

from __future__ import annotations

from pathlib import Path

import click

from amos.cli.invocation import Invocation, pass_invocation
from amos.cli.printing import json_option, print_object


@click.command()
@click.option(
    "--policy",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Let this admission policy (TOML) decide in the store from now on.",
)
@json_option
@pass_invocation
def init(invocation: Invocation, *, policy: Path | None, as_json: bool) -> None:
    """Make an empty store, or choose the admission policy of one.

    A store that is there already is left as it is, but for the policy. What was decided stays; `amos
    reprocess` decides again. `amos ingest` makes a missing store too.

    \b
    Examples:
      amos -s mem init
      amos -s mem init --policy strict.toml
    """
    is_new = not invocation.has_shard
    with invocation.make_store(is_announced=not as_json) as store:
        is_chosen = policy is not None and store.choose_policy(policy)
        version = store.shard.head or None
        deciding = store.policy()
    if as_json:
        told = {name: deciding[name] for name in ("policy", "sha256", "source_id", "since")}
        made = {"store": str(invocation.root), "created": is_new, "graph_version": version}
        print_object({**made, "policy_changed": is_chosen, "policy": told})
    elif is_chosen:
        click.echo(f"The policy {deciding['policy']} decides in {invocation.root} from now on.")
    elif is_new:
        click.echo(f"Next: amos -s {invocation.root} ingest PATH")
    else:
        click.echo(f"{invocation.root} is a store already; nothing was changed.")
