"""Ingest against the floor of its own parts, its growth, its memory, and a peer that writes memories.

`AMOS_BENCH_MESSAGES` sets the size (20,000 by default); `AMOS_BENCH_ATMEM` names the Python of an
environment that holds the peer `atmem`.  Figures go to `tests/benchmarks/results`.
"""

from __future__ import annotations

import os
import statistics
from pathlib import Path

import pytest

from benchmarks.measure import run_measured
from benchmarks.recording import Figure, record_figure
from benchmarks.workload import write_messages

pytestmark = [pytest.mark.benchmark, pytest.mark.usefixtures("warm")]

MESSAGES = int(os.environ.get("AMOS_BENCH_MESSAGES", "20000"))
PEER = os.environ.get("AMOS_BENCH_ATMEM")

INGEST = """
import json, sys, time
from amos.api import Store
from pathlib import Path
runs = []
for folder in sys.argv[2:]:
    with Store.create(folder) as store:
        began, cpu = time.perf_counter(), time.process_time()
        receipt = store.ingest([Path(sys.argv[1])], format="messages")
        runs.append({
            "wall": time.perf_counter() - began, "cpu": time.process_time() - cpu,
            "without_index": receipt["seconds"], "read": receipt["records_read"],
            "sources": receipt["sources"], "atoms": receipt["atoms_written"],
        })
print(json.dumps(runs))
"""
"""Ingests the file into each of some new stores, one after another in one process."""

FLOOR = """
import hashlib, json, sys, time
import pyarrow as pa
codec = pa.Codec("zstd", compression_level=1)
began, cpu = time.perf_counter(), time.process_time()
chunk, count = [], 0
with open(sys.argv[1], "rb") as lines:
    for line in lines:
        hashlib.sha256(json.loads(line)["text"].encode()).digest()
        chunk.append(line)
        count += 1
        if len(chunk) == 8192:
            codec.compress(b"".join(chunk))
            chunk = []
print(json.dumps({"wall": time.perf_counter() - began, "cpu": time.process_time() - cpu, "read": count}))
"""

COMMITS = """
import json, sys, time
from amos.api import Store
from pathlib import Path
folder, size, rounds = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
lines = (folder / "all.jsonl").read_text().splitlines(keepends=True)
took = []
with Store.create(folder / f"store-{size}") as store:
    for number in range(rounds):
        part = folder / f"part-{size}-{number}.jsonl"
        part.write_text("".join(lines[number * size : (number + 1) * size]))
        began = time.perf_counter()
        store.ingest([part], format="messages")
        took.append(time.perf_counter() - began)
print(json.dumps({"seconds": took}))
"""

PEER_CODE = """
import json, sys, tempfile, time
from atmem import Memory
lines = [json.loads(line) for line in open(sys.argv[1])]
memory = Memory(tempfile.mkdtemp() + "/peer.db")
began = time.perf_counter()
for line in lines:
    memory.capture("user", line["role"], line["text"], session_id=line["conversation"], turn_id=line["turn"])
print(json.dumps({"wall": time.perf_counter() - began, "read": len(lines)}))
"""


@pytest.fixture(scope="module")
def warm(tmp_path_factory):
    """Compile every kernel once, so that no figure holds a compiler."""
    folder = tmp_path_factory.mktemp("warm")
    run_measured(INGEST, str(write_messages(folder / "m.jsonl", 40_000)), str(folder / "store"))
    return folder


def ingested(folder: Path, count: int, name: str):
    """Ingest `count` generated messages in a process of its own; return how long that took there."""
    path = write_messages(folder / f"{name}.jsonl", count)
    return run_measured(INGEST, str(path), str(folder / name)).printed[0]["without_index"]


def test_ingest_against_the_floor(tmp_path):
    path = write_messages(tmp_path / "messages.jsonl", MESSAGES)
    floors, costs = [], []
    for number in range(3):
        costs.append(run_measured(INGEST, str(path), *(str(tmp_path / f"{n}-{number}") for n in (1, 2))))
        floors.append(run_measured(FLOOR, str(path)).printed["wall"])
        assert all(run["read"] == MESSAGES == sum(run["sources"].values()) for run in costs[-1].printed)
    in_fresh, in_used = zip(*(cost.printed for cost in costs), strict=True)
    record_rate("ingest_end_to_end", "first ingest of a process", in_fresh, floors)
    record_rate("ingest_in_a_used_process", "second ingest of the process, into a new store", in_used, floors)
    record_figure(
        "ingest_memory",
        Figure(
            work=f"peak memory of a process that ingests {MESSAGES:,} messages, twice",
            value=max(cost.peak_bytes for cost in costs) / 1e6,
            unit="MB",
            goal="at most 600",
        ),
    )
    assert max(cost.peak_bytes for cost in costs) < 600e6


def record_rate(name, which, runs, floors):
    """Record the middle one of some ingests, and its ratio to the floor that ran beside it."""
    ratios = [floor / run["without_index"] for floor, run in zip(floors, runs, strict=True)]
    rate = MESSAGES / statistics.median(run["without_index"] for run in runs)
    record_figure(
        name,
        Figure(
            work=f"ingest {MESSAGES:,} messages, parse to durable commit; {which}",
            value=rate,
            unit="messages/s",
            goal="at least 10,000, and 0.2 of the floor",
            cpu_seconds=statistics.median(run["cpu"] for run in runs),
            peer="json + SHA-256 + zstd-1 over the same lines",
            peer_value=MESSAGES / statistics.median(floors),
            ratio=statistics.median(ratios),
        ),
    )


def test_twice_the_messages_take_twice_the_time(tmp_path):
    once = [ingested(tmp_path, MESSAGES, f"once-{n}") for n in range(3)]
    twice = [ingested(tmp_path, 2 * MESSAGES, f"twice-{n}") for n in range(3)]
    growth = min(twice) / min(once)
    record_figure(
        "ingest_growth",
        Figure(work=f"time for {2 * MESSAGES:,} to {MESSAGES:,} messages", value=growth, unit="x", goal="2"),
    )
    assert growth < 2.6


@pytest.mark.parametrize(("size", "rounds"), [(1, 200), (64, 60)])
def test_small_commits_in_one_process(tmp_path, size, rounds):
    write_messages(tmp_path / "all.jsonl", size * rounds)
    cost = run_measured(COMMITS, str(tmp_path), str(size), str(rounds))
    middle = statistics.median(cost.printed["seconds"][5:])
    unit, value = ("ms", middle * 1000) if size == 1 else ("messages/s", size / middle)
    record_figure(
        f"ingest_by_{size}",
        Figure(
            work=f"ingest call of {size} message(s), file to durable commit, median",
            value=value,
            unit=unit,
            goal="at most 10" if size == 1 else "at least 3,000",
        ),
    )


def test_a_long_message_is_linear(tmp_path):
    times = []
    for size in (250_000, 500_000, 1_000_000):
        text = "My kettle colour is 44. " * (size // 24)
        path = tmp_path / f"long-{size}.jsonl"
        path.write_text('{"id":"m","text":"' + text + '"}\n')
        times.append(run_measured(INGEST, str(path), str(tmp_path / f"s{size}")).printed[0]["without_index"])
    record_figure(
        "ingest_long_message",
        Figure(
            work="one message of 1 MB full of claims",
            value=times[2],
            unit="s",
            goal="linear",
            ratio=times[2] / times[1],
        ),
    )
    assert times[2] / times[1] < 3


@pytest.mark.skipif(PEER is None, reason="AMOS_BENCH_ATMEM names no Python that holds the peer")
def test_against_a_peer_that_writes_memories(tmp_path):
    our_rate = MESSAGES / ingested(tmp_path, MESSAGES, "ours")
    sample = write_messages(tmp_path / "sample.jsonl", 1_000)
    peer = run_measured(PEER_CODE, str(sample), python=PEER)
    peer_rate = peer.printed["read"] / peer.printed["wall"]
    record_figure(
        "ingest_against_atmem",
        Figure(
            work="messages captured, decided and stored",
            value=our_rate,
            unit="messages/s",
            goal="at least 100 times the peer",
            peer="atmem capture, 1,000 messages",
            peer_value=peer_rate,
            ratio=our_rate / peer_rate,
        ),
    )
    assert our_rate > peer_rate
