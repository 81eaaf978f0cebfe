"""`amos forget`."""

from __future__ import annotations

from typing import Any

import click

from amos.cli.invocation import Invocation, pass_invocation
from amos.cli.printing import json_option, print_lines, print_object

RECREATION = ("forbid", "require_review", "allow_if_new_evidence")


@click.command()
@click.argument("refs", nargs=-1, metavar="[REF]...")
@click.option("--subject", metavar="NAME", help="Every claim about this subject, by name or reference.")
@click.option("--source", metavar="REF", help="This message.")
@click.option("--conversation", metavar="REF", help="Every message of this conversation.")
@click.option("--since", metavar="TIME", help="Messages from this event time on.")
@click.option("--until", metavar="TIME", help="Messages before this event time.")
@click.option("--run", metavar="REF", help="Messages that this ingest run brought.")
@click.option("--all", "is_all", is_flag=True, help="Needed where a selection matches everything.")
@click.option("--keep-evidence", is_flag=True, help="Take claims only; their words stay in the messages.")
@click.option(
    "--recreation", type=click.Choice(RECREATION), default=RECREATION[0], show_default=True,
    help="What happens when it is told again.",
)  # fmt: skip
@click.option("--expires", metavar="TIME", help="When it may return; without it, never.")
@click.option("--mentions", is_flag=True, help="Also claims about others that name the subject.")
@click.option("--suppress", is_flag=True, help="Hide instead of deleting, also what is under a hold.")
@click.option("--reason", metavar="CODE", default="user_request", show_default=True, help="A short code.")
@click.option(
    "--wait", "wait_seconds", type=click.FloatRange(min=0), default=10, show_default=True,
    help="Seconds to wait for processes that still hold files.",
)  # fmt: skip
@click.option("-n", "--dry-run", is_flag=True, help="List everything that would go; change nothing.")
@json_option
@pass_invocation
def forget(invocation: Invocation, /, *, refs: tuple[str, ...], as_json: bool, **options: Any) -> None:
    """Make things gone, and keep them gone.

    REF is an atom, a candidate, an entity, a message, a conversation or a run. Selectors narrow one another;
    scope options before the command choose messages of exactly that scope. All that rests on it goes too,
    from every file. Claims lose their evidence: its bytes are overwritten, also where other texts repeat
    them. What has other support is decided again. Keyed tombstones keep it from coming back by any path.
    The report says what remains, and why.

    The status is `purged` when no file holds the content any more, `pending` while another process does.

    \b
    Examples:
      amos forget atm_4qmm3kzd --dry-run
      amos forget --subject Anna --mentions --dry-run
      amos --user u42 forget --reason account_closed
      amos forget --since 2026-03-01 --until 2026-03-08 --recreation allow_if_new_evidence
    """
    from amos.views.forgotten import forget_lines

    with invocation.open_store(is_writing=not options["dry_run"]) as store:
        report = store.forget(*refs, **options)
    if as_json:
        print_object(report)
    else:
        print_lines(forget_lines(report))
