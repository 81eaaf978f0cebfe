"""`amos verify`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from amos.cli.invocation import Invocation, pass_invocation
from amos.cli.paths import GivenPath, OutputPath
from amos.cli.printing import json_option, print_lines, print_object
from amos.cli.progress import phase_progress
from amos.errors import InputError, IntegrityError, UsageError

_FILE = GivenPath(dir_okay=False, exists=True, path_type=Path)


@click.command()
@click.option(
    "--deep", is_flag=True, help="Recompute every sealed row, follow every reference, replay the state."
)
@click.option("--proof", "ref", metavar="REF", help="Prove that this row was committed.")
@click.option("--check-proof", "proof", type=_FILE, metavar="FILE", help="Check a proof; needs no store.")
@click.option(
    "--checkpoint",
    type=OutputPath(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write how far the history is; with --check-proof: read it.",
)
@click.option("--since", type=_FILE, metavar="FILE", help="The history must go on from this checkpoint.")
@click.option(
    "-o",
    "--output",
    type=OutputPath(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Where to write the proof.",
)
@json_option
@pass_invocation
def verify(
    invocation: Invocation,
    *,
    deep: bool,
    ref: str | None,
    proof: Path | None,
    checkpoint: Path | None,
    since: Path | None,
    output: Path | None,
    as_json: bool,
) -> None:
    """Check that the store holds what was committed, byte for byte.

    Hashes every file and follows the chain event by event; rows that the catalog holds itself, and sealed
    ones while they are few, are recomputed and their evidence spans cut again. --deep does so however many
    they are, follows all references and replays the state. Exit code 5 when something differs. Nothing is
    changed.

    A checkpoint is a small file to keep apart from the store: with --since it shows a catalog that was rolled
    back, a history that lost its end or was rewritten, however often the store was compacted meanwhile. A
    proof leads from one row to the root in such a file, and can be checked without the store.

    \b
    Examples:
      amos verify
      amos verify --deep --json
      amos verify --checkpoint monday.json
      amos verify --since monday.json --checkpoint tuesday.json
      amos verify --proof atm_m4t2 --output proof.json
      amos verify --check-proof proof.json --checkpoint monday.json
    """
    if output is not None and ref is None:
        raise UsageError("--output is for --proof", advice="Use --checkpoint FILE for a checkpoint.")
    if proof is not None:
        if ref is not None or deep or since is not None:
            raise UsageError("--check-proof stands alone, or with --checkpoint", advice="Run it by itself.")
        _check_proof(proof, checkpoint, as_json=as_json)
    elif ref is not None:
        if deep or since is not None or checkpoint is not None:
            raise UsageError("--proof stands alone", advice="Verify first, then ask for the proof.")
        _prove(invocation, ref, output, as_json=as_json)
    else:
        _verify(invocation, deep=deep, checkpoint=checkpoint, since=since, as_json=as_json)


def _verify(
    invocation: Invocation, *, deep: bool, checkpoint: Path | None, since: Path | None, as_json: bool
) -> None:
    from amos.views.checks import verify_lines

    earlier = None if since is None else _read(since)
    taken = None
    with invocation.open_store() as store:
        with phase_progress(invocation) as progress:
            report = store.verify(deep=deep, since=earlier, progress=progress)
        if checkpoint is not None and report.ok:
            taken = store.checkpoint(earlier)
    record = dict(report.as_record())
    if checkpoint is not None and taken is not None:
        checkpoint.write_text(json.dumps(taken, indent=1) + "\n", encoding="utf-8")
        record["checkpoint"] = {"file": str(checkpoint), **taken}
    if as_json:
        print_object(record)
    else:
        print_lines(verify_lines(record))
    if not report.ok:
        raise click.exceptions.Exit(IntegrityError.exit_code)


def _prove(invocation: Invocation, ref: str, output: Path | None, *, as_json: bool) -> None:
    from amos.views.checks import proof_lines

    with invocation.open_store() as store:
        record = store.prove(ref)
    if output is not None:
        output.write_text(json.dumps(record, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    if as_json:
        print_object(record)
    else:
        print_lines(proof_lines(record))


def _check_proof(proof: Path, checkpoint: Path | None, *, as_json: bool) -> None:
    from amos.flow.proving import check_proof_record
    from amos.views.checks import shown_lines

    record = check_proof_record(_read(proof), None if checkpoint is None else _read(checkpoint))
    if as_json:
        print_object(record)
    else:
        print_lines(shown_lines(record))


def _read(path: Path) -> dict[str, Any]:
    """Return the JSON object in a file.  Raises InputError when there is none."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as cause:
        raise InputError(f"{path} cannot be read: {cause}", path=str(path)) from cause
    if not isinstance(found, dict):
        raise InputError(f"{path} holds no JSON object", path=str(path))
    return found
