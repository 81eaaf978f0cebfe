"""Help, options and failures that every command shares."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import click
import pytest

from amos.cli import COMMANDS, SECTIONS, main
from households import call

HEAVY = {"apsw", "duckdb", "msgspec", "numba", "numpy", "polars", "pyarrow", "rich", "Stemmer"}


def commands() -> list[tuple[str, click.Command]]:
    context = click.Context(main, info_name="amos")
    found = [(name, main.get_command(context, name)) for name in main.list_commands(context)]
    inner = [
        (f"{name} {part}", one)
        for name, command in found
        if isinstance(command, click.Group)
        for part, one in command.commands.items()
    ]
    return [(name, command) for name, command in [*found, *inner] if command is not None]


def test_help_imports_click_and_nothing_heavy():
    script = (
        "import sys\n"
        "from amos.cli import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        f"print(sorted({HEAVY!r} & {{name.split('.')[0] for name in sys.modules}}))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_help_costs_less_than_its_budget():
    """Processor time, the fastest of three: others on the machine do not count."""

    def spent(script: str) -> float:
        before = os.times()
        subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
        after = os.times()
        return after.children_user + after.children_system - before.children_user - before.children_system

    assert min(spent("from amos.cli import main; main(['--help'])") for _ in range(3)) < 0.15


@pytest.mark.parametrize("words", [(), ("export",), ("report",)])
def test_a_group_without_a_command_prints_its_help(amos, words):
    told = amos(*words)
    assert told.code == 2
    assert told.err == amos(*words, "--help").out


def test_help_is_grouped_and_every_command_stands_in_one_group(amos):
    out = amos("--help").out
    used = {entry.section for entry in COMMANDS.values()}
    assert used <= set(SECTIONS)
    assert [section for section in SECTIONS if f"\n{section}:\n" in out] == [
        section for section in SECTIONS if section in used
    ]


@pytest.mark.parametrize(
    ("name", "command"), commands(), ids=lambda value: value if isinstance(value, str) else ""
)
def test_every_command_has_help_with_an_example(name, command):
    assert command.help
    assert "Example" in command.help
    assert f" {name}" in command.help.split("Example")[1]


def test_the_summaries_of_the_help_are_those_of_the_commands():
    context = click.Context(main, info_name="amos")
    said = {name: main.get_command(context, name) for name in COMMANDS}
    begins = {name: (command.help or "").split("\n\n")[0] for name, command in said.items() if command}
    differing = [
        name for name, entry in COMMANDS.items() if not begins[name].startswith(entry.summary.rstrip("."))
    ]
    assert differing == []


@pytest.mark.parametrize("words", [("frobnicate",), ("list", "--frob"), ("--frob",), ("show",)])
def test_a_word_that_is_no_command_or_option_is_exit_2_with_advice(amos, words):
    told = amos(*words)
    assert told.code == 2
    assert told.err.startswith("amos: ")
    assert "\n  next: Run `amos" in told.err
    assert "Traceback" not in told.err


def test_a_usage_error_with_json_is_one_object_and_one_line(amos):
    told = amos("list", "--frob", "--json")
    assert told.code == 2
    assert set(told.object["error"]) == {"code", "message", "path", "advice", "retryable"}
    assert told.object["error"]["code"] == "usage"
    assert told.err.startswith("amos: ")


@pytest.mark.parametrize(
    "words",
    [
        ("list",),
        ("show", "atm_aaaaaa"),
        ("why", "atm_aaaaaa"),
        ("sql", "SELECT 1"),
        ("verify",),
        ("packet", "tea"),
        ("search", "tea"),
        ("report", "ingest"),
        ("export", "jsonl"),
    ],
)
def test_without_a_store_every_reading_command_says_how_to_make_one(amos, words):
    told = amos(*words)
    assert told.code == 2
    assert "there is no store at amos-store" in told.err
    assert "amos ingest PATH" in told.err


def test_a_workspace_that_a_store_does_not_have_is_named(household):
    told = household("--workspace", "zz", "list")
    assert (told.code, "nothing of tenant 'default' and workspace 'zz'" in told.err) == (2, True)


def test_the_store_is_found_through_the_environment(amos, household_store, monkeypatch):
    monkeypatch.setenv("AMOS_STORE", str(household_store))
    assert amos("list", "--json").end["rows"] >= 1


def test_another_workspace_is_another_shard(household):
    told = household("--workspace", "elsewhere", "list")
    assert told.code == 2
    assert "elsewhere" in told.err


def test_a_failure_nobody_foresaw_is_short_and_the_traceback_needs_v(amos, monkeypatch):
    def explode(*_: object, **__: object) -> None:
        raise RuntimeError("the \x1b[31mcat sat on it")

    monkeypatch.setattr("amos.cli.invocation.Invocation.open_store", explode)
    told = amos("list")
    assert told.code == 1
    assert "RuntimeError" in told.err
    assert "Traceback" not in told.err
    assert "\x1b" not in told.err
    assert "Traceback" in amos("-v", "list").err


def test_ctrl_c_is_exit_130(amos, monkeypatch):
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("amos.cli.invocation.Invocation.open_store", interrupt)
    told = amos("list")
    assert told.code == 130
    assert "interrupted" in told.err


@pytest.mark.parametrize(
    "words",
    [
        "export jsonl",
        "list sources",
        "search barn",
        "packet barn",
        "sql 'FROM range(5000)'",
        "report ingest",
        "",
    ],
)
def test_a_reader_that_has_enough_is_no_failure(household_store, words):
    amos = f"{sys.executable} -c 'from amos.cli import main; main()'"
    command = f"set -o pipefail; {amos} -q -s {household_store} {words or '--help'} | head -n 1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("\n") == 1


def test_a_reader_that_left_does_not_change_what_was_found(household_store, tmp_path):
    damaged = Path(shutil.copytree(household_store, tmp_path / "store"))
    connection = sqlite3.connect(damaged / "default/default/shard.sqlite")
    with connection:
        connection.execute("UPDATE commits SET actor = 'stranger'")
    connection.close()
    amos = f"{sys.executable} -c 'from amos.cli import main; main()'"
    command = f"set -o pipefail; {amos} -s {damaged} verify | true"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (5, "")


def test_version_and_completion_are_clicks_own(amos):
    assert amos("--version").out.startswith("amos, version ")
    script = "from amos.cli import main; main(prog_name='amos')"
    environment = {
        **os.environ,
        "_AMOS_COMPLETE": "bash_complete",
        "COMP_WORDS": "amos pac",
        "COMP_CWORD": "1",
    }
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environment
    )
    assert done.stdout.split() == ["plain,packet", "plain,packets"]


@pytest.mark.parametrize(
    ("words", "advice"),
    [
        (("ingest", "-q", "x"), "Global options stand before the command: `amos -q ingest …`."),
        (
            ("ingest", "x", "--store", "mem"),
            "Global options stand before the command: `amos --store ingest …`.",
        ),
        (("report", "ingest", "-v"), "Global options stand before the command: `amos -v report ingest …`."),
        (("ingest", "--sideways", "x"), "Run `amos ingest --help`."),
        (("--sideways", "ingest"), "Run `amos --help`."),
    ],
)
def test_an_option_in_the_wrong_place_is_shown_its_place(words, advice):
    told = call(*words)
    assert told.code == 2
    assert told.err.splitlines()[-1] == f"  next: {advice}"
