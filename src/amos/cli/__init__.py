"""The command line: `amos`, a group whose commands are imported when they are first named."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import click

from amos import __version__
from amos.cli.failures import report_failure
from amos.cli.invocation import SCOPE_OPTIONS, Invocation
from amos.cli.paths import GivenPath


class Entry(NamedTuple):
    """Where a command stands in the help, and where its code is."""

    section: str
    target: str
    summary: str


COMMANDS: dict[str, Entry] = {
    "demo": Entry("Start", "amos.cli.demo:demo", "See the whole life of a memory on a sample story."),
    "init": Entry("Start", "amos.cli.init:init", "Make an empty store."),
    "ingest": Entry("Start", "amos.cli.ingest:ingest", "Read transcripts into memory."),
    "run": Entry("Start", "amos.cli.run:run", "Run a pipeline by name."),
    "packet": Entry("Look", "amos.cli.packet:packet", "Ask: one answer, bounded in items and tokens."),
    "packets": Entry("Look", "amos.cli.packets:packets", "Ask many questions at once."),
    "search": Entry("Look", "amos.cli.search:search", "Search turns and claims by words."),
    "show": Entry("Look", "amos.cli.show:show", "Print one thing by its reference."),
    "list": Entry("Look", "amos.cli.listing:list_rows", "Walk through what is stored."),
    "why": Entry("Look", "amos.cli.why:why", "Say where a claim comes from and why it was decided so."),
    "why-not": Entry(
        "Look",
        "amos.cli.why_not:why_not",
        "Name the gate that keeps something out of the answer to a question.",
    ),
    "lineage": Entry(
        "Look",
        "amos.cli.lineage:lineage",
        "Tell the history of a value: what held when, what replaced it, who decided so.",
    ),
    "entities": Entry(
        "Look",
        "amos.cli.entities:entities",
        "Tell who and what is known, and who is meant by whom: list, show, merge, split.",
    ),
    "sql": Entry("Look", "amos.cli.sql:sql", "Ask the tables in SQL; nothing can be written."),
    "review": Entry(
        "Decide", "amos.cli.review:review", "Decide what waits for a person: list, show, decide, expire."
    ),
    "propose": Entry("Decide", "amos.cli.propose:propose", "Print the candidates of texts without a store."),
    "reprocess": Entry(
        "Decide",
        "amos.cli.reprocess:reprocess",
        "Read kept sources again with another extractor, and see what would change.",
    ),
    "runs": Entry("Decide", "amos.cli.reprocess:runs", "List what ran on the store."),
    "revert": Entry("Decide", "amos.cli.reprocess:revert", "Take an applied re-reading back."),
    "forget": Entry("Care", "amos.cli.forget:forget", "Make things gone, and keep them gone."),
    "hold": Entry("Care", "amos.cli.hold:hold", "Protect things from deletion: place, release, list."),
    "report": Entry(
        "Care", "amos.cli.report:report", "Report on what runs have done, and what waits for a person."
    ),
    "verify": Entry("Care", "amos.cli.verify:verify", "Check that the store holds what was committed."),
    "snapshot": Entry("Care", "amos.cli.snapshot:snapshot", "Register the newest state as verified."),
    "repair": Entry(
        "Care", "amos.cli.repair:repair", "Write again what can be derived, and say what cannot."
    ),
    "compact": Entry("Care", "amos.cli.compact:compact", "Merge segment files until few are left."),
    "backup": Entry("Care", "amos.cli.backup:backup", "Copy the newest state of the store to a folder."),
    "restore": Entry(
        "Care",
        "amos.cli.backup:restore",
        "Make a store of a backup.",
    ),
    "export": Entry("Care", "amos.cli.export:export", "Write the tables out for other tools."),
    "import": Entry("Care", "amos.cli.import_export:import_export", "Bring in what `amos export` wrote."),
    "doctor": Entry("Care", "amos.cli.doctor:doctor", "Check the environment and the store."),
    "evaluate": Entry("Measure", "amos.cli.evaluate:evaluate", "Measure what is read against what is right."),
    "capture": Entry("Agents", "amos.cli.capture:capture", "Keep what an agent was asked and answered."),
    "record-outcome": Entry(
        "Agents",
        "amos.cli.record_outcome:record_outcome",
        "Say what came of an answer, and let memory learn.",
    ),
}
SECTIONS = ("Start", "Look", "Decide", "Care", "Measure", "Agents")


class LazyGroup(click.Group):
    """Lists commands from a table and imports one only when it is run or explained."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the names in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import and return a command, or None when there is none of this name."""
        entry = COMMANDS.get(cmd_name)
        if entry is None:
            return None
        module, _, attribute = entry.target.partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the commands in sections, without importing any."""
        for section in SECTIONS:
            rows = [(name, entry.summary) for name, entry in COMMANDS.items() if entry.section == section]
            if rows:
                with formatter.section(section):
                    formatter.write_dl(rows)

    def main(self, args: Sequence[str] | None = None, *rest: Any, **options: Any) -> Any:
        """Run a command; a failure becomes one line, its advice and an exit code."""
        words = list(sys.argv[1:] if args is None else args)
        options |= {"standalone_mode": False, "prog_name": "amos"}
        try:
            code = super().main(words, *rest, **options)
        except SystemExit as left:
            if not isinstance(left.__context__, BrokenPipeError):
                raise
            code = _leave_quietly()  # the reader of the help or of a line has left: no failure
        except Exception as failure:  # noqa: BLE001 - the last place where a failure can be explained
            code = report_failure(failure, words)
        _leave(code if isinstance(code, int) else 0)


def _leave(code: int) -> NoReturn:
    """End the program; at once where a query that hears no interruption would abort an orderly end."""
    bounds = sys.modules.get("amos.flow.sql_bounds")  # no other command pays for its import
    if bounds is not None and bounds.is_any_running():
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


def _leave_quietly() -> int:
    from amos.cli.printing import drop_output

    drop_output()
    return 0


def _scope_options(command: Any) -> Any:
    for name in reversed(SCOPE_OPTIONS):
        flag = f"--{name.replace('_', '-')}"
        command = click.option(flag, metavar="NAME", help="Only this scope, and what has none.")(command)
    return command


@click.group(
    "amos",
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    help="""Memory for agents: transcripts in, typed and cited memory out, offline.

    Global options stand before the command, its own after it.

    \b
    Examples:
      amos demo
      amos ingest chats.zip
      amos packet "what tea do I like"
    """,
)
@click.option(
    "-s", "--store", type=GivenPath(path_type=Path), default=Path("amos-store"), envvar="AMOS_STORE",
    show_default="./amos-store, or AMOS_STORE", help="Folder of the store.",
)  # fmt: skip
@click.option("--tenant", default="default", show_default=True, help="Tenant inside the store.")
@click.option("--workspace", default="default", show_default=True, help="Workspace inside the tenant.")
@_scope_options
@click.option("-q", "--quiet", is_flag=True, help="Print no notices and no progress.")
@click.option("-v", "--verbose", count=True, help="Log more; twice for everything.")
@click.version_option(__version__, prog_name="amos")
@click.pass_context
def main(
    ctx: click.Context,
    /,
    *,
    store: Path,
    tenant: str,
    workspace: str,
    quiet: bool,
    verbose: int,
    **scope: str | None,
) -> None:
    """Take the global options; see `help` of the group."""
    from amos.log import configure

    configure(-1 if quiet else verbose)
    if "NO_COLOR" in os.environ:
        ctx.color = False
    ctx.obj = Invocation(
        root=store,
        tenant=tenant,
        workspace=workspace,
        scope={name: value for name, value in scope.items() if value is not None},
        is_quiet=quiet,
        verbosity=verbose,
    )
