"""Run one ingest and tell about it: progress, warnings, summary, exit code."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from amos.cli.failures import InterruptedRunError
from amos.cli.invocation import Invocation
from amos.cli.printing import print_lines, print_object
from amos.cli.progress import is_watched
from amos.errors import InputError

if TYPE_CHECKING:
    from amos.api import Store

WARNED = 10
"""Problems named on standard error; all are counted, and listed by `--json`."""


_OF_RULES = ("extractor", "policy")


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What is to be read and how it is told.  options: format, mapping, trust, zone, and of _OF_RULES."""

    paths: tuple[Path, ...]
    is_dry: bool = False
    is_strict: bool = False
    as_json: bool = False
    options: dict[str, Any] = field(default_factory=dict)


@dataclass
class Progress:
    """Counts what is done, and moves the bar if there is one."""

    bar: Any = None
    records: int = 0

    def __call__(self, records: int, size: int) -> None:
        """Take note of a finished batch of `records` records and `size` bytes."""
        self.records += records
        if self.bar is not None:
            self.bar.update(size)


def read_into_store(invocation: Invocation, reading: Reading) -> None:
    """Read and print the receipt.

    Leaves with 3 where no record could be kept, or where a strict run met one that was not.
    """
    from amos.flow.inputs import measure_inputs

    inputs = {name: value for name, value in reading.options.items() if name not in _OF_RULES}
    size = measure_inputs(reading.paths, **inputs)
    with _store_for(invocation, reading) as store:
        _compile_first(invocation, size)
        receipt = _ingest(invocation, store, reading, size)
    _warn(receipt, is_verbose=invocation.verbosity > 0)
    if reading.as_json:
        print_object(_shown_receipt(receipt, reading))
    else:
        from amos.views.receipt import counted_notes, receipt_lines

        print_lines(receipt_lines(receipt))
        if not invocation.is_quiet:
            print_lines(counted_notes(receipt))
    _leave_with_faults(receipt, reading)


def _leave_with_faults(receipt: dict[str, Any], reading: Reading) -> None:
    """Exit with 3 where nothing was kept, or the run is strict and something was not."""
    from amos.views.receipt import nothing_kept

    said = nothing_kept(receipt, reading.options.get("format"))
    for line in said:
        click.echo(line, err=True)
    is_partial = receipt["sources"]["unreadable"] or receipt["conflicts"]
    if said or (reading.is_strict and is_partial):
        raise click.exceptions.Exit(InputError.exit_code)


def _shown_receipt(receipt: dict[str, Any], reading: Reading) -> dict[str, Any]:
    return receipt if reading.is_dry else {name: receipt[name] for name in receipt if name != "cut_places"}


@contextmanager
def _store_for(invocation: Invocation, reading: Reading) -> Iterator[Store]:
    """Yield the store; for a dry run without one, an empty one that is thrown away."""
    if reading.is_dry and not invocation.has_shard:
        with tempfile.TemporaryDirectory(prefix="amos-dry-run-") as folder:
            from amos.api import Store

            root = Path(folder) / "empty"
            with Store.create(root, tenant=invocation.tenant, workspace=invocation.workspace) as store:
                yield store
        return
    opened = invocation.open_store(is_writing=True) if reading.is_dry else invocation.make_store()
    with opened as store:
        yield store


def _compile_first(invocation: Invocation, size: int) -> None:
    """Compile what a large input is read with, where that was never done: not part of the run's time."""
    from amos.flow.rules import COMPILED_FROM_BYTES

    if size >= COMPILED_FROM_BYTES:
        from amos.flow.warming import warm_kernels
        from amos.kernels.warmth import is_warm

        if not is_warm():
            invocation.notice("compiling the kernels, once per machine: up to half a minute")
            warm_kernels()


def _ingest(invocation: Invocation, store: Store, reading: Reading, size: int) -> dict[str, Any]:
    progress = Progress()
    try:
        if not is_watched(invocation):
            return store.ingest(reading.paths, dry_run=reading.is_dry, progress=progress, **reading.options)
        with click.progressbar(length=size, label="reading", file=sys.stderr) as bar:
            progress.bar = bar
            return store.ingest(reading.paths, dry_run=reading.is_dry, progress=progress, **reading.options)
    except KeyboardInterrupt as cause:
        if reading.is_dry:
            raise InterruptedRunError("interrupted; nothing was stored", advice="Run it again.") from cause
        raise InterruptedRunError(f"interrupted; {progress.records:,} records are stored for good") from cause


def _warn(receipt: dict[str, Any], *, is_verbose: bool) -> None:
    """Name the first problems on standard error, and count the rest; notes only when asked to."""
    from amos.views.plain import plural
    from amos.views.receipt import CONFLICT, conflict_lines, note_lines, problem_line

    lines = note_lines(receipt) if is_verbose else ()
    for note in lines:
        click.echo(note, err=True)
    problems = [one for one in receipt["errors"] if one["code"] != CONFLICT]
    for problem in problems[:WARNED]:
        click.echo(problem_line(problem), err=True)
    rest = receipt["errors_total"] - receipt["conflicts"] - min(WARNED, len(problems))
    if rest > 0:
        click.echo(f"amos: … and {plural(rest, 'more problem')}; `--json` lists them", err=True)
    for line in conflict_lines(receipt):
        click.echo(line, err=True)
