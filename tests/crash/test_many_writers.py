"""Twelve programs write at one moment: twelve claims, one unbroken journal, nothing lost in silence."""

import json
import os
import subprocess
import sys

import pytest

from amos.api import Store
from remembered import EVERYTHING, Remembered, told
from strategies import write_lines

pytestmark = pytest.mark.crash

WRITERS = 12
WRITER = """
import json, sys, time
from pathlib import Path
from amos.api import Store
import amos.flow.ingest, amos.flow.rules
with Store.open(sys.argv[1]) as store:
    print("ready", flush=True)
    sys.stdin.readline()
    receipt = store.ingest([sys.argv[2]], format="messages")
print(json.dumps([receipt["sources"], receipt["decisions"]]))
"""


def started(root, path):
    known = {"PATH": os.environ.get("PATH", ""), "PYTHONPATH": os.environ.get("PYTHONPATH", "")}
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(root), str(path)],
        env=known,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_twelve_writers_leave_twelve_claims_and_one_unbroken_journal(tmp_path):
    root = tmp_path / "store"
    Store.create(root).close()
    lines = [
        told(f"w{number}", f"My bay in hall {number} is number {number * 7}.") for number in range(WRITERS)
    ]
    paths = [write_lines(tmp_path / f"{number}.jsonl", [line]) for number, line in enumerate(lines)]
    running = [started(root, path) for path in paths]
    assert [one.stdout.readline() for one in running] == ["ready\n"] * WRITERS
    for one in running:
        one.stdin.write("\n")
        one.stdin.flush()
    outcomes = [one.communicate(timeout=120) for one in running]
    assert [one.returncode for one in running] == [0] * WRITERS, outcomes
    told_of = [json.loads(out) for out, _ in outcomes]
    assert [(sources["new"], decisions["commit"]) for sources, decisions in told_of] == [(1, 1)] * WRITERS
    with Store.open(root, read_only=True) as store:
        memory = Remembered(tmp_path, store)
        assert len(memory.listed(state="active", limit=EVERYTHING.limit)) == WRITERS
        assert [entry.graph_version for entry in store.shard.records().commits] == list(range(1, WRITERS + 1))
        assert store.verify().problems == []


def test_the_same_line_from_twelve_writers_is_stored_once(tmp_path):
    root = tmp_path / "store"
    Store.create(root).close()
    path = write_lines(tmp_path / "one.jsonl", [told("same", "My bay is number 9.")])
    running = [started(root, path) for _ in range(WRITERS)]
    outcomes = [one.communicate("\n", timeout=120) for one in running]
    assert [one.returncode for one in running] == [0] * WRITERS, outcomes
    sources = [json.loads(out.splitlines()[-1])[0] for out, _ in outcomes]
    assert sum(one["new"] for one in sources) == 1
    assert sum(one["linked"] for one in sources) == WRITERS - 1
    with Store.open(root, read_only=True) as store:
        assert len(Remembered(tmp_path, store).listed()) == 1
        assert store.verify().problems == []
