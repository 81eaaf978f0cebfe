"""`amos review list|show|decide|expire`."""

from __future__ import annotations

from typing import Any

import click

from amos.cli.invocation import Invocation, pass_invocation
from amos.cli.moments import moment_options
from amos.cli.printing import json_option, print_lines, print_object, print_rows
from amos.errors import UsageError
from amos.schemas.vocabulary import AtomType, Reason, Trust

_KINDS = ("claim", "message", "changed", "forget", "flagged")
RECREATIONS = ("forbid", "require_review", "allow_if_new_evidence")
_VERDICTS = ("approve", "edit", "reject", "defer")
_FILTERS = (
    "kinds",
    "reasons",
    "types",
    "trusts",
    "extractors",
    "subject",
    "source",
    "conversation",
    "older_days",
)
_LONGEST_DAYS = 3_650


_CHOICES: tuple[tuple[str, str, tuple[str, ...] | None, str], ...] = (
    (
        "--kind",
        "kinds",
        _KINDS,
        "Only claims, messages, changed decisions, requests to forget, claims in question.",
    ),
    ("--why", "reasons", tuple(one.value for one in Reason), "Only what waits for this reason code."),
    ("--type", "types", tuple(one.value for one in AtomType), "Only claims of this type."),
    ("--trust", "trusts", tuple(one.value for one in Trust), "Only from sources of this trust."),
    ("--extractor", "extractors", None, "Only what this extractor read, such as rules@1."),
)
_REFS = (
    ("--subject", "Only claims about this entity."),
    ("--source", "Only from this message."),
    ("--conversation", "Only from this conversation."),
)


def filter_options(command: Any) -> Any:
    """Give a command the options that choose a part of the queue."""
    command = click.option(
        "--older-than",
        "older_days",
        type=click.FloatRange(min=0),
        metavar="DAYS",
        help="Only what has waited at least so long.",
    )(command)
    for flag, text in reversed(_REFS):
        command = click.option(flag, metavar="REF", help=text)(command)
    for flag, name, values, text in reversed(_CHOICES):
        kind = None if values is None else click.Choice(values)
        metavar = {"--why": "CODE", "--extractor": "NAME"}.get(flag, flag[2:].upper())
        command = click.option(flag, name, multiple=True, type=kind, metavar=metavar, help=text)(command)
    return command


@click.group(invoke_without_command=True)
@click.pass_context
def review(ctx: click.Context) -> None:
    """Decide what waits for a person: list, show, decide, expire.

    A claim waits when it is uncertain, sensitive, about somebody else, or comes from a source that nobody
    vouches for. What a person decided is never decided again by itself: when what it rests on changes, it
    comes back here. Alone, the command lists the queue.

    \b
    Examples:
      amos review
      amos review show can_4qmm3kzd
      amos review decide approve can_4qmm3kzd --note "asked on the phone"
    """
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_cases)


@review.command("list")
@filter_options
@click.option("--expired", "is_expired", is_flag=True, help="What has passed its deadline instead.")
@click.option("--limit", type=click.IntRange(min=1), default=100, show_default=True, help="Rows of a page.")
@click.option("--cursor", metavar="CURSOR", help="Go on after the page that printed this.")
@moment_options
@json_option
@pass_invocation
def list_cases(
    invocation: Invocation,
    /,
    *,
    limit: int = 100,
    cursor: str | None = None,
    as_json: bool = False,
    **options: Any,
) -> None:
    """List what waits, the longest waiting first, with its reasons, age and deadline.

    A stale case rests on claims that changed after it was proposed: look at it before you decide.

    \b
    Examples:
      amos review list --why sensitive_content --older-than 7
      amos review list --trust tool --json
    """
    from amos.flow.paging import PageRequest
    from amos.flow.review_cases import QueueFilter
    from amos.views.review import queue_lines

    chosen = {name: options.pop(name) for name in (*_FILTERS, "is_expired") if name in options}
    wanted = QueueFilter(**chosen)
    with invocation.open_store() as store:
        listed = store.review(wanted, PageRequest(limit=limit, cursor=cursor), **options)
        is_empty = store.shard.head == 0
    if as_json:
        print_rows(listed.rows, is_truncated=listed.is_truncated, cursor=listed.cursor)
    else:
        print_lines(
            queue_lines(
                listed.rows,
                cursor=listed.cursor,
                is_store_empty=is_empty,
                is_filtered=wanted != QueueFilter(),
            )
        )


@review.command("show")
@click.argument("ref", metavar="REF")
@moment_options
@json_option
@pass_invocation
def show_case(invocation: Invocation, /, *, ref: str, as_json: bool, **when: Any) -> None:
    """Show one case: its words in context, what approving it would do, what is known, what was decided.

    REF is a candidate, its decision, or a withheld message; the text of such a message is shown here alone.

    \b
    Examples:
      amos review show can_4qmm3kzd
      amos review show src_q2wls3 --json
    """
    from amos.views.review import case_lines

    with invocation.open_store() as store:
        case = store.show_review(ref, **when)
    if as_json:
        print_object(case)
    else:
        print_lines(case_lines(case))


@review.command("decide")
@click.argument("verdict", type=click.Choice(_VERDICTS))
@click.argument("refs", nargs=-1, metavar="[REF]...")
@filter_options
@click.option("--all", "is_all", is_flag=True, help="Everything that waits.")
@click.option("--note", default="", metavar="TEXT", help="Why; it is kept as a source of its own.")
@click.option(
    "--text", metavar="TEXT", help="Of edit: the claim in one sentence, as its author would say it."
)
@click.option("--value", metavar="TEXT", help="Of edit: another value for the same property.")
@click.option("--referent", metavar="ENTITY", help="Of edit: whom it is about, by reference or label.")
@click.option(
    "--days", type=click.FloatRange(min=0, max=_LONGEST_DAYS), metavar="DAYS", help="Of defer: wait so long."
)
@click.option("--until", metavar="TIME", help="Of defer: wait until then.")
@click.option(
    "--seen", type=click.IntRange(min=0), metavar="VERSION", help="The graph version you looked at."
)
@click.option(
    "--recreation",
    type=click.Choice(RECREATIONS),
    default="forbid",
    show_default=True,
    help="Of a request to forget: may what goes come back?",
)
@click.option("--key", metavar="KEY", help="Repeating the command with this key is the same act.")
@click.option("-n", "--dry-run", is_flag=True, help="Say what would be decided; change nothing.")
@json_option
@pass_invocation
def decide(
    invocation: Invocation,
    /,
    *,
    verdict: str,
    refs: tuple[str, ...],
    is_all: bool,
    as_json: bool,
    dry_run: bool,
    days: float | None,
    until: str | None,
    **options: Any,
) -> None:
    """Approve, edit, reject or defer what waits: one case, several, or all that a filter finds.

    Approving lets a claim into memory as it was proposed, editing in your words. A decision is checked
    against the claims that it would meet: when one of them changed since the proposal, nothing is decided;
    look again, and give the graph version that you saw. The first decision on a case stands.

    Approving a request to forget forgets what `show` says it reaches, for good. Such requests are decided by
    name, or by `--kind forget`: no other filter sweeps them up.

    \b
    Examples:
      amos review decide approve can_4qmm3kzd --note "asked on the phone"
      amos review decide edit can_4qmm3kzd --value "112 cm"
      amos review decide edit can_4qmm3kzd --referent "user's brother Tom"
      amos review decide reject --why untrusted_source_requires_review --older-than 14 --dry-run
      amos review decide defer src_q2wls3 --days 14
    """
    from amos.flow.review_cases import QueueFilter
    from amos.views.review import decided_lines

    chosen = QueueFilter(**{name: options.pop(name) for name in _FILTERS})
    wanted = chosen if is_all or chosen != QueueFilter() else None
    end = _end(days, until)
    with invocation.open_store(is_writing=not dry_run) as store:
        report = store.decide(verdict, *refs, wanted=wanted, until_us=end, dry_run=dry_run, **options)
    if as_json:
        print_object(report)
    else:
        print_lines(decided_lines(report))
    _warn(invocation, report)


@review.command("expire")
@click.option(
    "--wait", "wait_seconds", type=click.FloatRange(min=0), default=10, show_default=True,
    help="Seconds to wait for readers that still hold files.",
)  # fmt: skip
@click.option("-n", "--dry-run", is_flag=True, help="Say what would go; change nothing.")
@json_option
@pass_invocation
def expire(invocation: Invocation, /, *, wait_seconds: float, dry_run: bool, as_json: bool) -> None:
    """Purge what has passed its deadline and nobody has decided on.

    The claims go from every file, with what reviewers wrote about them; the words stay in their messages. A
    message that is withheld stays withheld, and waits no longer. An expired case cannot be decided any more,
    whether it was purged or not.

    \b
    Examples:
      amos review expire --dry-run
      amos review expire
    """
    from amos.views.review import expired_lines

    with invocation.open_store(is_writing=not dry_run) as store:
        report = store.expire(dry_run=dry_run, wait_seconds=wait_seconds)
    if as_json:
        print_object(report)
    else:
        print_lines(expired_lines(report))


def _end(days: float | None, until: str | None) -> int | None:
    from amos.clock import to_us, utc_now
    from amos.flow.instants import instant_us

    if days is not None and until is not None:
        raise UsageError("--days and --until both say when", advice="Give one of them.")
    if until is not None:
        return instant_us(until, "--until")
    return None if days is None else to_us(utc_now()) + int(days * 86_400_000_000)


def _warn(invocation: Invocation, report: dict[str, Any]) -> None:
    """Say on standard error what stayed as it is; exit with 6 when nothing was decided because of that."""
    refused = [item for item in report["items"] if item["status"] == "refused"]
    if not refused:
        return
    first = refused[0]
    invocation.notice(f"amos: {len(refused)} left as they are, first {first['ref']}: {first['message']}")
    invocation.notice(f"  next: {first['advice']}")
    if not report["decided"] and not report["replayed"]:
        click.get_current_context().exit(6)
