"""Six programs start on a store that does not exist yet: one makes it, all of them store what they read."""

import os
import subprocess
import sys

import pytest

from amos.api import Store
from remembered import EVERYTHING, Remembered, told
from strategies import write_lines

pytestmark = pytest.mark.crash

MAKERS = 6
ROUNDS = 4
MAKER = """
import sys
from amos.cli import main
import amos.api, amos.flow.ingest, amos.flow.rules
print("ready", flush=True)
sys.stdin.readline()
main(["-s", sys.argv[1], "ingest", sys.argv[2], "--from", "messages", "--json"])
"""


def started(root, path):
    known = {"PATH": os.environ.get("PATH", ""), "PYTHONPATH": os.environ.get("PYTHONPATH", "")}
    return subprocess.Popen(
        [sys.executable, "-c", MAKER, str(root), str(path)],
        env=known,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("turn", range(ROUNDS))
def test_six_programs_make_one_store_and_each_is_heard(tmp_path, turn):
    root = tmp_path / "store"
    lines = [
        told(f"m{number}", f"My shelf in aisle {number} is number {number + turn}.")
        for number in range(MAKERS)
    ]
    paths = [write_lines(tmp_path / f"{number}.jsonl", [line]) for number, line in enumerate(lines)]
    running = [started(root, path) for path in paths]
    assert [one.stdout.readline() for one in running] == ["ready\n"] * MAKERS
    for one in running:
        one.stdin.write("\n")
        one.stdin.flush()
    outcomes = [one.communicate(timeout=120) for one in running]
    assert [one.returncode for one in running] == [0] * MAKERS, outcomes
    with Store.open(root, read_only=True) as store:
        assert len(Remembered(tmp_path, store).listed(state="active", limit=EVERYTHING.limit)) == MAKERS
        assert store.verify().problems == []
