"""Every `amos` command shown in the README and the pages runs as shown."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from households import Told, call

TOP = Path(__file__).parents[2]
PAGES = [TOP / "README.md", *sorted((TOP / "docs").rglob("*.md"))]
CONSOLE = re.compile(r"^```console\n(.*?)^```", re.M | re.S)
REFERENCES = {
    "LAST_ATOM": re.compile(r"\batm_[a-z2-7]{6,26}\b"),
    "LAST_CASE": re.compile(r"\bcan_[a-z2-7]{6,26}\b"),
    "LAST_PACKET": re.compile(r"\bpkt_[a-z2-7]{6,26}\b"),
    "LAST_RUN": re.compile(r"\brun_[a-z2-7]{6,26}\b"),
}


def shown_commands(page: Path) -> list[list[str]]:
    """Return the words of each `$ amos …` line in the console blocks of a page."""
    blocks = CONSOLE.findall(page.read_text(encoding="utf-8"))
    lines = [line for block in blocks for line in block.splitlines() if line.startswith("$ ")]
    return [shlex.split(line[2:]) for line in lines]


def pages_with_commands() -> list[Path]:
    return [page for page in PAGES if shown_commands(page)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with the sample story, an export and a file of messages, as a reader would have."""
    shutil.copytree(TOP / "data", tmp_path / "data")
    samples = tmp_path / "data" / "samples"
    shutil.make_archive(str(tmp_path / "my-export"), "zip", samples / "chatgpt")
    lines = (samples / "messages" / "kitchen-notes.jsonl").read_text(encoding="utf-8").splitlines()
    (tmp_path / "my-messages.jsonl").write_text("\n".join(lines[:6]) + "\n", encoding="utf-8")
    (tmp_path / "secret.txt").write_text("a goose in the orchard\n", encoding="utf-8")
    return tmp_path


def run(words: list[str]) -> Told:
    """Run a command as a reader of a page would, in a process of its own."""
    command = [sys.executable, "-c", "from amos.cli import main; main()", *words[1:]]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return Told(done.returncode, done.stdout, done.stderr)


def test_the_pages_show_commands():
    assert len(pages_with_commands()) >= 5
    assert all(words[0] == "amos" for page in PAGES for words in shown_commands(page))


@pytest.mark.parametrize("page", pages_with_commands(), ids=lambda page: page.stem)
def test_commands_of_a_page_run_in_order(page, folder, monkeypatch):
    monkeypatch.chdir(folder)
    for name in [name for name in os.environ if name.startswith("AMOS_")]:
        monkeypatch.delenv(name)
    # the first page that anybody reads in processes of its own, which takes its time
    carry_out = run if page.name == "README.md" else lambda words: call(*words[1:])
    if page.stem in {
        "ask",
        "entities",
        "forget",
        "move",
        "outcomes",
        "review",
        "verify",
    }:  # these start from a store
        assert carry_out(["amos", "ingest", "my-export.zip"]).code == 0
    if page.stem == "reprocess":
        assert carry_out(["amos", "ingest", "my-export.zip", "--extractor", "rules@1"]).code == 0
    last: dict[str, str] = {}
    for shown in shown_commands(page):
        unknown = [word for word in shown if word in REFERENCES and word not in last]
        assert unknown == [], f"{page.name}: nothing printed {unknown} before {shown}"
        words = [last.get(word, word) for word in shown]
        done = carry_out(words)
        assert done.code == 0, f"{shlex.join(words)}\n{done.out}\n{done.err}"
        for name, pattern in REFERENCES.items():
            printed = pattern.findall(done.out)
            if printed:
                last[name] = printed[0]


def test_every_command_has_its_help_and_its_entry_on_the_reference_page():
    import click

    from amos.cli import main

    page = (TOP / "docs" / "reference" / "commands.md").read_text(encoding="utf-8")
    context = click.Context(main, info_name="amos")
    commands = {name: main.get_command(context, name) for name in main.list_commands(context)}
    assert [name for name, command in commands.items() if not (command and command.help)] == []
    assert [name for name in commands if f"## amos {name}\n" not in page] == []
