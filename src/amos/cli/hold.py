"""`amos hold place|release|list`."""

from __future__ import annotations

import click

from amos.cli.invocation import Invocation, pass_invocation
from amos.cli.printing import json_option, print_lines, print_object, print_rows
from amos.errors import UsageError


@click.group()
def hold() -> None:
    """Protect things from deletion: place, release, list.

    `amos forget` is refused for what a hold protects; hiding it with --suppress is not.

    \b
    Examples:
      amos hold place cnv_7yq2mmkz --reason case_112
      amos hold list
      amos hold release hld_k3v5q2ab
    """


@hold.command()
@click.argument("ref", required=False)
@click.option("--reason", required=True, metavar="CODE", help="A short code, no text.")
@click.option("--all", "is_all", is_flag=True, help="Protect everything in the shard.")
@json_option
@pass_invocation
def place(invocation: Invocation, *, ref: str | None, reason: str, is_all: bool, as_json: bool) -> None:
    """Place a hold on an atom, a message, a conversation, an entity, a scope or everything.

    \b
    Examples:
      amos hold place cnv_7yq2mmkz --reason case_112
      amos --user u42 hold place --reason audit
    """
    if not (ref or invocation.scope or is_all):
        raise UsageError("nothing is named", advice="Give a reference, a scope option or --all.")
    with invocation.open_store(is_writing=True) as store:
        found = store.hold(ref, reason=reason)
    if as_json:
        print_object(found)
    else:
        print_lines([f"{found['hold_id']} protects {_thing(found)}"])


@hold.command()
@click.argument("ref")
@json_option
@pass_invocation
def release(invocation: Invocation, *, ref: str, as_json: bool) -> None:
    """End a hold.

    \b
    Example:
      amos hold release hld_k3v5q2ab
    """
    with invocation.open_store(is_writing=True) as store:
        found = store.release(ref)
    if as_json:
        print_object(found)
    else:
        print_lines([f"{found['hold_id']} is released"])


@hold.command("list")
@json_option
@pass_invocation
def list_holds(invocation: Invocation, *, as_json: bool) -> None:
    """List holds, released ones too.

    \b
    Example:
      amos hold list --json
    """
    with invocation.open_store() as store:
        found = store.holds()
    if as_json:
        print_rows(found)
    elif not found:
        print_lines(["No hold was ever placed."])
    else:
        print_lines(
            f"{one['hold_id']}  {_thing(one)}  {one['reason']}  {one['placed_at']}"
            + (f"  released {one['released_at']}" if one["released_at"] else "")
            for one in found
        )


def _thing(found: dict[str, object]) -> str:
    return str(found["ref"] or "everything")
