"""`amos verify`."""

from __future__ import annotations

import click

from amos.cli.invocation import Invocation, pass_invocation
from amos.cli.printing import json_option, print_lines, print_object
from amos.errors import IntegrityError


@click.command()
@json_option
@pass_invocation
def verify(invocation: Invocation, *, as_json: bool) -> None:
    """Check that the store holds what was committed, byte for byte.

    Hashes every file, recomputes every row's commitment, every event and the chain of commits, and cuts
    every evidence span again. Exit code 5 when something differs. Nothing is changed.

    \b
    Examples:
      amos verify
      amos verify --json
    """
    from amos.views.checks import verify_lines

    with invocation.open_store() as store:
        report = store.verify()
    record = report.as_record()
    if as_json:
        print_object(record)
    else:
        print_lines(verify_lines(record))
    if not report.ok:
        raise click.exceptions.Exit(IntegrityError.exit_code)
