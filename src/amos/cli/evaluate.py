"""`amos evaluate`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from amos.cli.asking import profile_option
from amos.cli.invocation import Invocation, pass_invocation
from amos.cli.paths import GivenPath, OutputPath
from amos.cli.printing import json_option, print_lines, print_object
from amos.cli.progress import is_watched, step_progress
from amos.cli.reading import WARNED
from amos.errors import InputError, UsageError

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from amos.api import Store
    from amos.extraction.registry import Extractor

_GIVEN = (ParameterSource.COMMANDLINE, ParameterSource.ENVIRONMENT)


@click.group()
def evaluate() -> None:
    """Measure what is read against what is right.

    \b
    Example:
      amos evaluate extraction cases.jsonl
      amos evaluate retrieval my-set
    """


@evaluate.command("extraction")
@click.argument("cases", metavar="CASES…", nargs=-1, required=True, type=GivenPath(path_type=Path))
@click.option(
    "--extractor",
    "extractors",
    metavar="NAME@VERSION",
    multiple=True,
    help="Measure this extractor instead of the current one; again for each to compare.",
)
@click.option(
    "--proposals",
    type=GivenPath(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Measure claims that a model proposed, too: JSON lines, by text.",
)
@click.option("--failures", is_flag=True, help="List every case that is not fully right, and why.")
@click.option("--strict", is_flag=True, help="Exit with 3 when a line is no case.")
@json_option
@pass_invocation
@click.pass_context
def evaluate_extraction(
    ctx: click.Context,
    invocation: Invocation,
    /,
    *,
    cases: tuple[Path, ...],
    extractors: tuple[str, ...],
    proposals: Path | None,
    failures: bool,
    strict: bool,
    as_json: bool,
) -> None:
    """Measure extraction and admission on texts whose right answer is written down.

    CASES are files of JSON lines: a text and what a careful person expects of it. Each text is read and
    decided as `amos propose` does it, in an empty store of its own. The report goes stage by stage: where
    claims stand, what they say, what is written, how sure the extractor is and how often it is right,
    whether the evidence holds, and why things were refused; in all and by kind, channel, language,
    extractor, policy, tenant and privacy class. Where a store is named, the age of its review queue is told
    too; nothing in it changes.

    \b
    Examples:
      amos evaluate extraction cases.jsonl --failures
      amos evaluate extraction cases.jsonl --extractor rules@1 --extractor rules@2
      amos evaluate extraction cases.jsonl --extractor rules@2 --proposals answers.jsonl
      amos -s mem evaluate extraction cases.jsonl --json
    """
    from amos.api import evaluate_extraction as evaluate_all

    has_store = ctx.find_root().get_parameter_source("store") in _GIVEN
    measured = _measured(extractors, proposals)
    opened: AbstractContextManager[Store | None] = invocation.open_store() if has_store else nullcontext()
    with opened as store, _progress(invocation, cases, len(set(measured)) or 1) as progress:
        report = evaluate_all(cases, extractors=measured, failures=failures, store=store, progress=progress)
    _warn(report)
    if as_json:
        print_object(report)
    else:
        from amos.views.evaluation import extraction_lines

        print_lines(extraction_lines(report))
    if strict and report["bad"]:
        raise click.exceptions.Exit(InputError.exit_code)


@evaluate.command("retrieval")
@click.argument("folder", metavar="SET", type=GivenPath(path_type=Path, file_okay=False))
@click.option(
    "--skip-category", "skipped", multiple=True, metavar="NAME", help="Leave these questions out; repeatable."
)
@click.option(
    "--depth", type=click.IntRange(10, 1_000), default=100, show_default=True, help="Items a question."
)
@click.option(
    "--run-out",
    type=OutputPath(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write what was ranked: JSON lines of `qid` and `ranked`.",
)
@click.option(
    "--compare",
    type=GivenPath(path_type=Path, dir_okay=False),
    metavar="RUN",
    help="Compare with an earlier run file, question by question.",
)
@profile_option
@click.option("--failures", is_flag=True, help="List the worst answers: question, wanted, got.")
@json_option
@pass_invocation
def evaluate_retrieval(
    invocation: Invocation,
    /,
    *,
    folder: Path,
    skipped: tuple[str, ...],
    depth: int,
    run_out: Path | None,
    compare: Path | None,
    profile: str | None,
    failures: bool,
    as_json: bool,
) -> None:
    """Measure how well questions are answered from dialogues whose evidence is known.

    SET is a folder with `corpus.jsonl` (turns) and `queries.jsonl` (questions and the turns that answer
    them), plain or gzipped. The turns are ingested into a scratch store and every question is ranked by
    what `amos packet` uses, in its own conversation; the report gives recall, nDCG and MRR by turn and by
    session, with 95 % intervals, and how often a question without an answer got one.

    \b
    Examples:
      amos evaluate retrieval my-set
      amos evaluate retrieval my-set --run-out today.jsonl --compare before.jsonl
      amos evaluate retrieval my-set --failures --json
    """
    from amos.trials import evaluate_retrieval as measure

    with step_progress(invocation, "asking") as progress:
        report = measure(
            folder,
            skipped_categories=skipped,
            depth=depth,
            run_out=run_out,
            compare=compare,
            profile=profile,
            has_failures=failures,
            progress=progress,
        )
    if as_json:
        print_object(report)
    else:
        from amos.views.retrieval import retrieval_lines

        print_lines(retrieval_lines(report))


@evaluate.command("fit")
@click.argument(
    "folders", metavar="SET…", nargs=-1, required=True, type=GivenPath(path_type=Path, file_okay=False)
)
@click.option(
    "-o",
    "--output",
    type=OutputPath(path_type=Path, dir_okay=False),
    required=True,
    metavar="FILE",
    help="Where the profile goes, as TOML.",
)
@click.option("--name", help="Name of the profile; else that of the file.")
@click.option(
    "--begin",
    metavar="NAME|FILE",
    default="amos.v2.prior",
    show_default=True,
    help="Profile to begin with.",
)
@click.option(
    "--share",
    "shares",
    type=click.FloatRange(min=0),
    multiple=True,
    help="What each set counts; once per set.",
)
@click.option(
    "--pull",
    type=click.FloatRange(min=0),
    default=0.03,
    show_default=True,
    help="How strongly weights are drawn to where they began.",
)
@click.option("--skip-category", "skipped", multiple=True, metavar="NAME", help="Leave these questions out.")
@json_option
@pass_invocation
def evaluate_fit(
    invocation: Invocation,
    /,
    *,
    folders: tuple[Path, ...],
    output: Path,
    name: str | None,
    begin: str,
    shares: tuple[float, ...],
    pull: float,
    skipped: tuple[str, ...],
    as_json: bool,
) -> None:
    """Fit the weights of a ranking profile to labelled sets.

    Every question of the sets is ranked by what `amos packet` uses; the weights are those under which the
    turns that answer come first (list-wise softmax, none of them negative). Penalties, recency, trust and
    dates keep what they have.

    \b
    Examples:
      amos evaluate fit my-set -o mine.toml
      amos evaluate fit set-a set-b --share 1 --share 0.5 -o mine.toml
    """
    from amos.trials import fit_profile

    if shares and len(shares) != len(folders):
        raise UsageError(
            f"{len(shares)} shares for {len(folders)} sets", advice="Give --share once per set, or never."
        )
    with step_progress(invocation, "asking") as progress:
        found = fit_profile(
            folders,
            output,
            begin=begin,
            name=name,
            shares=shares or None,
            pull=pull,
            skipped_categories=skipped,
            progress=progress,
        )
    if as_json:
        print_object(found)
        return
    gain = f"loss {found['loss_before']:.4f} → {found['loss_after']:.4f}"
    click.echo(f"{found['file']}: {found['profile']}, {found['questions']} questions, {gain}")


def _measured(names: tuple[str, ...], proposals: Path | None) -> list[str | Extractor]:
    """Return the extractors to measure, the answers of a model last."""
    if proposals is None:
        return [*names]
    from amos.extraction.model import ModelExtractor
    from amos.extraction.model_answers import FileAnswers

    return [*names, ModelExtractor(FileAnswers(proposals))]


@contextmanager
def _progress(
    invocation: Invocation, cases: tuple[Path, ...], runs: int
) -> Iterator[Callable[[int], None] | None]:
    if not is_watched(invocation):
        yield None
        return
    length = runs * sum(path.read_bytes().count(b"\n") for path in cases if path.is_file())
    with click.progressbar(length=length, label="evaluating", file=sys.stderr) as bar:
        yield bar.update


def _warn(report: dict[str, Any]) -> None:
    """Name the first lines that are no case, and fields that nobody knows."""
    from amos.views.plain import plural, visible

    for one in report["bad"][:WARNED]:
        where = visible(f"{one['file']}:{one['line']}")
        click.echo(f"amos: {where}: {visible(one['message'])} ({one['reason']})", err=True)
    rest = len(report["bad"]) - WARNED
    if rest > 0:
        click.echo(f"amos: … and {plural(rest, 'more bad line')}; `--json` lists them", err=True)
    for name, count in report["unknown_fields"].items():
        said = f"`{visible(name)}` is no field of a case; it was passed over in {plural(count, 'line')}"
        click.echo(f"amos: {said}", err=True)
