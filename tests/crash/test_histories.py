"""Histories that several programs record while an ingest runs are those of one register, step by step."""

import json
import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from amos.api import Store
from amos.journal.verify import verify_shard
from committed_rows import number_id
from remembered import told
from strategies import write_lines

pytestmark = pytest.mark.crash

TESTS = str(Path(__file__).parents[1])
WRITER = """
import json, sys, time
from pathlib import Path
from amos.journal.refusals import VersionConflict
from amos.journal.store import Shard
from committed_rows import commit, number_id, story
import pyarrow as pa
number, rounds, done = int(sys.argv[2]), int(sys.argv[3]), []
register = pa.array([number_id("sources", 0)], pa.binary(16))
key = ("sources", number_id("sources", 0))
with Shard.open(Path(sys.argv[1])) as shard:
    while len([one for one in done if one["won"]]) < rounds:
        began = time.monotonic_ns()
        with shard.pin() as snapshot:
            rows = snapshot.lookup("sources", "source_id", register, ["revision"])["revision"].to_pylist()
            seen, base = max(rows, default=0), snapshot.version
        own = story(1_000 * (number + 1) + len(done), 1)
        swap = story(0, 1, source_version=seen + 1)[:1]
        try:
            version = commit(shard, [*own, *swap], base=base, expected={key: seen})
            done.append({"won": True, "wrote": seen + 1, "version": version})
        except VersionConflict as refusal:
            told = refusal.conflict
            done.append({"won": False, "expected": seen, "actual": told.actual_version, "version": base})
        done[-1] |= {"writer": number, "own": own[0].rows["delivery_key"][0].as_py()}
        done[-1] |= {"began": began, "ended": time.monotonic_ns()}
print(json.dumps(done))
"""
READER = """
import json, sys, time
from pathlib import Path
from amos.journal.store import Shard
from amos.journal.verify import verify_shard
from committed_rows import number_id
import pyarrow as pa
register, seen = pa.array([number_id("sources", 0)], pa.binary(16)), []
with Shard.open(Path(sys.argv[1]), read_only=True) as shard:
    while not seen or seen[-1]["value"] < int(sys.argv[2]):
        began = time.monotonic_ns()
        with shard.pin() as snapshot:
            rows = snapshot.lookup("sources", "source_id", register, ["revision"])["revision"].to_pylist()
            assert sorted(rows) == list(range(1, len(rows) + 1)), rows
            keys = snapshot.table("sources", ["delivery_key"]).num_rows
            seen.append({"value": len(rows), "version": snapshot.version, "rows": keys})
        seen[-1] |= {"began": began, "ended": time.monotonic_ns()}
print(json.dumps(seen))
"""
INGEST = """
import sys
from amos.api import Store
with Store.open(sys.argv[1]) as store:
    for path in sys.argv[2:]:
        store.ingest(path, format="messages")
"""


def started(code, *arguments):
    known = {"PYTHONPATH": TESTS, "PATH": os.environ.get("PATH", "")}
    if "PYTHONPATH" in os.environ:
        known["PYTHONPATH"] += os.pathsep + os.environ["PYTHONPATH"]
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.Popen(command, env=known, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def answers(running):
    try:
        outcomes = [one.communicate(timeout=240) for one in running]
    finally:
        for one in running:
            one.kill()
    assert [one.returncode for one in running] == [0] * len(running), [err for _, err in outcomes]
    return [json.loads(out) if out.strip() else [] for out, _ in outcomes]


@pytest.mark.parametrize(("writers", "rounds"), [(2, 12), (8, 3)])
def test_recorded_histories_are_linearizable_while_an_ingest_runs(tmp_path, writers, rounds):
    root, total = tmp_path / "store", writers * rounds
    Store.create(root).close()
    parts = [
        write_lines(tmp_path / f"{n}.jsonl", [told(f"i{n}-{m}", f"My bay {n}{m} is {m}.") for m in range(40)])
        for n in range(4)
    ]
    running = [started(WRITER, root, number, rounds) for number in range(writers)]
    running += [started(READER, root, total), started(INGEST, root, *parts)]
    *histories, reads, _ = answers(running)
    done = [one for history in histories for one in history]
    won = sorted((one for one in done if one["won"]), key=lambda one: one["wrote"])
    assert_one_register(won, total)
    assert_real_time(won, reads)
    for refused in (one for one in done if not one["won"]):
        assert refused["actual"] > refused["expected"]
    assert_stored_once(root, won, [one["own"] for one in done if not one["won"]])


def assert_one_register(won, total):
    """Every acknowledged swap took its own value, and values grew with the versions of the graph."""
    assert [one["wrote"] for one in won] == list(range(1, total + 1))
    versions = [one["version"] for one in won]
    assert versions == sorted(set(versions))


def assert_real_time(won, reads):
    """What ended before something began is seen by it: there is an order that fits the clocks."""
    for early, late in pairwise(won):
        assert late["ended"] > early["began"]
    for read in reads:
        written = [one["wrote"] for one in won if one["ended"] < read["began"]]
        begun = [one["wrote"] for one in won if one["began"] < read["ended"]]
        assert max(written, default=0) <= read["value"] <= max(begun, default=0)
    for early, late in pairwise(reads):
        assert all(early[name] <= late[name] for name in ("value", "version", "rows"))


def assert_stored_once(root, won, refused):
    """Acknowledged rows are there once, refused ones not at all, and the journal has no gap."""
    with Store.open(root, read_only=True) as store, store.shard.pin() as snapshot:
        rows = snapshot.table("sources", ["source_id", "delivery_key", "graph_version"]).to_pylist()
        register = number_id("sources", 0)
        placed = {one["version"]: one["own"] for one in won}
        own = [row for row in rows if row["delivery_key"] in placed.values() and row["source_id"] != register]
        assert sorted((row["graph_version"], row["delivery_key"]) for row in own) == sorted(placed.items())
        assert not {row["delivery_key"] for row in rows} & set(refused)
        assert len([row for row in rows if row["delivery_key"].rpartition("/")[2].startswith("i")]) == 160
        versions = [entry.graph_version for entry in store.shard.records().commits]
        assert versions == list(range(1, store.shard.head + 1))
        assert len(store.shard.conflicts()) == len(refused)
        # the register is a message that nobody decides on; nothing else may be wrong
        assert {one.kind for one in verify_shard(store.shard).problems} == {"source_undecided"}
