"""What commits, look-ups and verification cost; medians, in milliseconds, warm."""

from __future__ import annotations

import statistics
import time

import numba  # noqa: F401 - large commits use compiled loops once it is loaded
import pytest

from amos.journal.store import Shard
from amos.journal.verify import verify_shard
from benchmarks.recording import Figure, record_figure
from committed_rows import commit, new_shard, story

pytestmark = pytest.mark.benchmark


def milliseconds(act, times):
    """Return the median wall and CPU milliseconds of calling `act` with 0, 1, 2 …"""
    wall, cpu = [], []
    for number in range(times):
        began, busy = time.perf_counter(), time.process_time()
        act(number)
        wall.append((time.perf_counter() - began) * 1e3)
        cpu.append((time.process_time() - busy) * 1e3)
    return statistics.median(wall), statistics.median(cpu)


def record(name, work, goal, measured):
    wall, cpu = measured
    figure = Figure(work=work, value=round(wall, 2), unit="ms", goal=goal, cpu_seconds=round(cpu / 1e3, 5))
    record_figure(name, figure)
    return wall


def test_a_one_message_commit_is_quick_and_stays_so(tmp_path):
    rows = [story(number, 1) for number in range(1000)]
    with new_shard(tmp_path) as shard:
        early = milliseconds(lambda number: commit(shard, rows[number]), 200)
        for number in range(200, 800):
            commit(shard, rows[number])
        late = milliseconds(lambda number: commit(shard, rows[800 + number]), 200)
    record("store_small_commit", "one-message commit, 4 tables, durable", "≤ 6 ms", early)
    assert early[0] <= 10
    assert late[0] <= 2 * early[0] + 1


def test_a_batch_commits_within_a_quarter_second(tmp_path):
    batches = [story(number * 8192, 8192) for number in range(4)]
    with new_shard(tmp_path) as shard:
        commit(shard, batches.pop())  # compiles
        wall = record(
            "store_batch_commit",
            "commit of 8,192 messages, 32,768 rows in 4 tables, durable",
            "≤ 250 ms",
            milliseconds(lambda number: commit(shard, batches[number]), 3),
        )
    assert wall <= 500


def test_opening_and_verifying(tmp_path):
    with new_shard(tmp_path) as shard:
        for number in range(4):
            commit(shard, story(number * 8192, 8192))
    root = tmp_path / "store"

    def open_and_pin(_number):
        with Shard.open(root, read_only=True) as shard, shard.pin():
            pass

    wall = record("store_open", "open a shard and pin it", "≤ 10 ms", milliseconds(open_and_pin, 9))
    assert wall <= 20
    with Shard.open(root, read_only=True) as shard:
        record(
            "store_verify",
            "verify 131,072 rows and 65,536 spans",
            "spans 0.5 M/s",
            milliseconds(lambda _: verify_shard(shard), 3),
        )
