"""`amos entities list|show|relations|merge|split|deprecate`."""

from __future__ import annotations

from typing import Any

import click

from amos.cli.invocation import Invocation, pass_invocation
from amos.cli.moments import moment_options
from amos.cli.printing import json_option, print_lines, print_object, print_rows

_KINDS = ("author", "person", "animal", "thing", "other")


@click.group(invoke_without_command=True)
@click.pass_context
def entities(ctx: click.Context) -> None:
    """Tell who and what is known, and who is meant by whom: list, show, merge, split, deprecate.

    "My sister", "my sister Ana" and "Ana" are one entity once they were introduced as one; two people of one
    name stay two. Alone, the command lists everybody.

    \b
    Examples:
      amos entities
      amos entities show ent_4qmm3kzd
    """
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_entities)


@entities.command("list")
@click.argument("text", required=False)
@click.option("--kind", "kinds", multiple=True, type=click.Choice(_KINDS), help="Only of this kind.")
@moment_options
@json_option
@pass_invocation
def list_entities(
    invocation: Invocation,
    /,
    *,
    text: str | None = None,
    kinds: tuple[str, ...] = (),
    as_json: bool = False,
    **when: Any,
) -> None:
    """List entities with all their labels and the number of claims; only those called TEXT, if given.

    \b
    Examples:
      amos entities list Ana
      amos entities list --kind person --json
    """
    from amos.views.entities import entity_list_lines

    with invocation.open_store() as store:
        rows = store.entities(kinds=kinds, text=text, **when)
    if as_json:
        print_rows(rows, is_truncated=False, cursor=None)
    else:
        print_lines(entity_list_lines(rows))


@entities.command("show")
@click.argument("ref", metavar="REF")
@moment_options
@json_option
@pass_invocation
def show_entity(invocation: Invocation, /, *, ref: str, as_json: bool, **when: Any) -> None:
    """Show an entity: what it is called and since which message, what is claimed of it, who means it.

    \b
    Examples:
      amos entities show ent_4qmm3kzd
      amos entities show ent_4qmm3kzd --json
    """
    from amos.views.entities import entity_lines

    with invocation.open_store() as store:
        answer = store.entity(ref, **when)
    if as_json:
        print_object(answer)
    else:
        print_lines(entity_lines(answer))


@entities.command("relations")
@json_option
def list_relations(*, as_json: bool) -> None:
    """List the words for relatives and roles, what they are called the other way round, and whose they are.

    \b
    Examples:
      amos entities relations
      amos entities relations --json
    """
    from amos.flow.entity_rows import relation_rows
    from amos.views.entities import relation_lines

    rows = relation_rows()
    if as_json:
        print_rows(rows, is_truncated=False, cursor=None)
    else:
        print_lines(relation_lines(rows))


_note_option = click.option("--note", default="", metavar="TEXT", help="Why; kept with the decision.")
_dry_option = click.option("--dry-run", is_flag=True, help="Say what would move, and change nothing.")


@entities.command("merge")
@click.argument("ref", metavar="REF")
@click.argument("into", metavar="INTO")
@_note_option
@_dry_option
@json_option
@pass_invocation
def merge_entities(
    invocation: Invocation, /, *, ref: str, into: str, note: str, dry_run: bool, as_json: bool
) -> None:
    """Declare the entity REF to be the entity INTO: its claims follow, and so does what is said later.

    Both must be people, roles or animals of one author and one scope. Who decided so, when and why is kept;
    `split` takes it back.

    \b
    Examples:
      amos entities merge ent_4qmm3kzd ent_7f3k2qaa --note "asked on the phone"
      amos entities merge ent_4qmm3kzd ent_7f3k2qaa --dry-run
    """
    from amos.views.entities import joined_lines

    with invocation.open_store(is_writing=True) as store:
        done = store.merge(ref, into, note=note, dry_run=dry_run)
    if as_json:
        print_object(done)
    else:
        print_lines(joined_lines(done))


@entities.command("split")
@click.argument("ref", metavar="REF")
@_note_option
@_dry_option
@json_option
@pass_invocation
def split_entity(invocation: Invocation, /, *, ref: str, note: str, dry_run: bool, as_json: bool) -> None:
    """Take back that the entity REF was merged: its claims return to it.

    \b
    Examples:
      amos entities split ent_4qmm3kzd --note "two people after all"
      amos entities split ent_4qmm3kzd --dry-run
    """
    from amos.views.entities import joined_lines

    with invocation.open_store(is_writing=True) as store:
        done = store.split(ref, note=note, dry_run=dry_run)
    if as_json:
        print_object(done)
    else:
        print_lines(joined_lines(done))


@entities.command("deprecate")
@click.argument("ref", metavar="REF")
@click.option("--undo", is_flag=True, help="Take it back into use.")
@_note_option
@_dry_option
@json_option
@pass_invocation
def deprecate_entity(
    invocation: Invocation, /, *, ref: str, undo: bool, note: str, dry_run: bool, as_json: bool
) -> None:
    """Declare the entity REF out of use: its claims stay, and it is marked wherever it is listed.

    Its reference works until nothing that the store keeps names it; then it is no longer listed or shown. Who
    decided so, when and why is kept.

    \b
    Examples:
      amos entities deprecate ent_4qmm3kzd --note "left the company"
      amos entities deprecate ent_4qmm3kzd --undo
    """
    from amos.views.entities import retired_lines

    with invocation.open_store(is_writing=True) as store:
        done = store.deprecate(ref, note=note, undo=undo, dry_run=dry_run)
    if as_json:
        print_object(done)
    else:
        print_lines(retired_lines(done))
