"""`amos doctor`."""

from __future__ import annotations

import click

from amos.cli.invocation import Invocation, pass_invocation
from amos.cli.printing import json_option, print_lines, print_object


@click.command()
@click.option("--warm", is_flag=True, help="Compile the kernels now, so that no later run waits for it.")
@json_option
@pass_invocation
def doctor(invocation: Invocation, *, warm: bool, as_json: bool) -> None:
    """Check the environment and the store.

    Looks at Python and its packages, the disk, the store's format, key, hot rows and index, and at the
    compiled kernels. Exit code 1 when something needs attention; each such line says what to do.

    \b
    Examples:
      amos doctor
      amos doctor --warm
    """
    from amos.flow.doctor import examine
    from amos.views.checks import doctor_lines

    if warm:
        from amos.flow.warming import warm_kernels

        invocation.notice("compiling the kernels: up to half a minute")
        warm_kernels()
    record = examine(invocation.root, tenant=invocation.tenant, workspace=invocation.workspace)
    if as_json:
        print_object(record)
    else:
        print_lines(doctor_lines(record))
    if not record["ok"]:
        raise click.exceptions.Exit(1)
