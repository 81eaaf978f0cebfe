"""Writers in several processes: versions follow one another, nothing is lost."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from amos.journal.store import Shard
from amos.journal.verify import verify_shard
from committed_rows import new_shard

pytestmark = pytest.mark.crash

TESTS = str(Path(__file__).parents[1])
WRITER = """
import sys
from pathlib import Path
from amos.journal.store import HeadMoved, Shard
from committed_rows import commit, number_id, story
import pyarrow as pa
start, moved = int(sys.argv[2]), 0
shared = pa.array([number_id("sources", 10_000)], pa.binary(16))
with Shard.open(Path(sys.argv[1])) as shard:
    for number in range(start, start + 50):
        base = shard.head
        while True:
            try:
                commit(shard, story(number, 1), base=base, reads={("sources", "source_id"): shared})
                break
            except HeadMoved:
                moved, base = moved + 1, shard.head
print(moved)
"""
READER = """
import sys
from pathlib import Path
from amos.journal.store import Shard
with Shard.open(Path(sys.argv[1]), read_only=True) as shard:
    seen = 0
    while seen < 100:
        with shard.pin() as snapshot:
            versions = snapshot.table("sources", ["graph_version"])["graph_version"].to_pylist()
            assert versions == list(range(1, snapshot.version + 1)), versions
            assert snapshot.counts()["atoms"] == snapshot.version
            assert snapshot.version >= seen
            seen = snapshot.version
"""


def started(code, *arguments):
    known = {"PYTHONPATH": TESTS, "PATH": os.environ.get("PATH", "")}
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.Popen(command, env=known, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_two_writers_and_a_reader_agree_on_every_version(tmp_path):
    new_shard(tmp_path).close()
    root = tmp_path / "store"
    running = [started(WRITER, root, 0), started(WRITER, root, 1000), started(READER, root)]
    outcomes = [one.communicate(timeout=60) for one in running]
    assert [one.returncode for one in running] == [0, 0, 0], outcomes
    with Shard.open(root) as shard, shard.pin() as snapshot:
        assert [entry.graph_version for entry in shard.records().commits] == list(range(1, 101))
        keys = snapshot.table("sources", ["delivery_key"])["delivery_key"].to_pylist()
        assert sorted(keys) == sorted(
            f"m{number}" for start in (0, 1000) for number in range(start, start + 50)
        )
        assert verify_shard(shard).problems == []
