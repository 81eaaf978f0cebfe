"""`amos record-outcome`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import msgspec

from amos.cli.invocation import Invocation, pass_invocation
from amos.cli.paths import GivenPath
from amos.cli.printing import json_option, print_lines, print_object
from amos.cli.progress import step_progress
from amos.errors import InputError, UsageError


@click.command("record-outcome")
@click.argument("packet", metavar="[PACKET]", required=False)
@click.option("--request", type=GivenPath(path_type=Path, dir_okay=False), metavar="FILE",
              help="A packet as `amos packet --json` printed it, where no receipt is kept.")  # fmt: skip
@click.option("--from", "batch", type=GivenPath(path_type=Path, dir_okay=False), metavar="FILE",
              help="Many outcomes: JSON lines, .csv or .parquet.")  # fmt: skip
@click.option("--label", "labels", multiple=True, metavar="LABEL",
              help="What came of it, such as good or wrong; observed if left out.")  # fmt: skip
@click.option("--used", multiple=True, metavar="REF", help="An item that changed the answer; repeatable.")
@click.option("--corrected", multiple=True, metavar="REF", help="An item that was put right; repeatable.")
@click.option("--unhelpful", multiple=True, metavar="REF", help="An item that led astray; repeatable.")
@click.option("--use-status", metavar="STATUS",
              help="used, context_only, ignored or unused; else the items tell.")  # fmt: skip
@click.option("--missing-capability", "missing_capabilities", multiple=True, metavar="TEXT",
              help="What memory or tools lacked; kept for the report alone. Repeatable.")  # fmt: skip
@click.option("--note", metavar="TEXT", help="Why, for whoever looks later.")
@click.option("--at", metavar="TIME", help="When it was so; now if left out.")
@click.option("--dry-run", is_flag=True, help="Say what would change and write nothing.")
@json_option
@pass_invocation
def record_outcome(
    invocation: Invocation,
    /,
    *,
    packet: str | None,
    request: Path | None,
    batch: Path | None,
    dry_run: bool,
    as_json: bool,
    **told: Any,
) -> None:
    """Say what came of an answer, and let memory learn.

    What changed the answer gains utility and salience, what was corrected or unhelpful loses utility; what
    was only shown stays as it is. Only items of that packet count: its receipt tells them (`amos packet
    --record`), or the packet is asked for again at its graph version. The same outcome is recorded once.

    \b
    Examples:
      amos record-outcome pkt_7f3k2q --label good --used atm_4c8m1x
      amos record-outcome pkt_7f3k2q --label wrong --corrected atm_9d2w5e --note "moved in May"
      amos packet "favourite tea" --json > p.json; amos record-outcome --request p.json --label observed
      amos record-outcome --from outcomes.jsonl --json
    """
    told = {name: list(one) if isinstance(one, tuple) else one for name, one in told.items() if one}
    if batch is not None:
        _record_many(invocation, batch, packet or request or told, dry_run=dry_run, as_json=as_json)
        return
    about = _packet(packet, request)
    from amos.views.outcomes import outcome_lines

    with invocation.open_store(is_writing=True) as store:
        result = store.record_outcome(about, dry_run=dry_run, **told)
    if as_json:
        print_object(result)
    else:
        print_lines(outcome_lines(result))


def _record_many(invocation: Invocation, path: Path, others: Any, *, dry_run: bool, as_json: bool) -> None:
    if others:
        raise UsageError("a file says for itself: leave the packet and the other options out")
    from amos.views.outcomes import batch_lines

    with invocation.open_store(is_writing=True) as store, step_progress(invocation, "outcomes") as progress:
        done = store.record_outcomes(path, dry_run=dry_run, progress=progress)
    if as_json:
        print_object(done)
    else:
        print_lines(batch_lines(done))


def _packet(packet: str | None, request: Path | None) -> Any:
    """Return the id, or the packet of a file; an id beside a file must be that packet's."""
    if packet is None and request is None:
        raise UsageError(
            "there is no packet",
            advice="Give its id, the packet itself with --request FILE, or many outcomes with --from FILE.",
        )
    if request is None:
        return packet
    if not request.is_file():
        raise UsageError(f"{request} is no file", path=str(request), advice="Check the path.")
    try:
        found = msgspec.json.decode(request.read_bytes(), type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError) as cause:
        raise InputError(
            f"{request} is no packet: {cause}",
            code="schema_invalid",
            path=str(request),
            advice="Keep what `amos packet --json` prints.",
        ) from cause
    if packet is not None and found.get("packet_id") != packet:
        raise UsageError(f"{request} is the packet {found.get('packet_id')}, not {packet}", path=packet)
    return found
