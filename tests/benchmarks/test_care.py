"""What a growing store costs: writing, merging, asking and forgetting.

`AMOS_BENCH_ATOMS` sets the rows of the merged table (200,000 by default, 1,000,000 for the figures of the
page); `AMOS_BENCH_FORGET` the messages of the store in which one user of a thousand is forgotten.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import time

import numba  # noqa: F401 - large commits use compiled loops once it is loaded
import numpy as np
import pyarrow as pa
import pytest

from amos.api import Store
from amos.journal.store import EventRows
from benchmarks.measure import run_measured
from benchmarks.recording import Figure, record_figure
from benchmarks.workload import write_messages
from committed_rows import NOW, commit, new_shard, rows_of, story

pytestmark = pytest.mark.benchmark

ATOMS = int(os.environ.get("AMOS_BENCH_ATOMS", "200000"))
FORGET = int(os.environ.get("AMOS_BENCH_FORGET", "20000"))


def many_atoms(count, *, seed=1):
    """Return `count` atoms with ids of their own and payloads that differ."""
    few = rows_of("atoms", 1)
    draw = np.random.default_rng(seed)
    ids = pa.FixedSizeBinaryArray.from_buffers(
        pa.binary(16), count, [None, pa.py_buffer(draw.bytes(16 * count))]
    )
    numbers = draw.integers(0, 10**9, count).tolist()
    payloads = pa.array([f'{{"property":"shelf","value":"{number}"}}' for number in numbers])
    columns = {"atom_id": ids, "payload": payloads}
    arrays = [columns.get(name, pa.repeat(few.column(name)[0], count)) for name in few.schema.names]
    return pa.Table.from_arrays(arrays, schema=few.schema)


def atom_event(count, seed):
    return [EventRows("atom_committed", "atoms", many_atoms(count, seed=seed))]


def test_a_large_commit_seals_many_atoms_a_second(tmp_path):
    with new_shard(tmp_path) as shard:
        commit(shard, atom_event(20_000, 0))
        rates, busy = [], []
        for number in range(1, 4):
            rows = atom_event(100_000, number)
            began, worked = time.perf_counter(), time.process_time()
            commit(shard, rows)
            rates.append(100_000 / (time.perf_counter() - began))
            busy.append(time.process_time() - worked)
    record_figure(
        "care_sealed_write",
        Figure(
            work="atoms committed 100,000 at a time, hashed, sealed, durable",
            value=statistics.median(rates),
            unit="atoms/s",
            goal="at least 300,000",
            cpu_seconds=statistics.median(busy),
        ),
    )


def test_a_hundred_segments_become_one(tmp_path):
    with new_shard(tmp_path) as shard:
        for number in range(100):
            commit(shard, atom_event(ATOMS // 100, number))
            shard._log.seal_all()
            shard._refresh()
        began, busy = time.perf_counter(), time.process_time()
        done = shard.compact(now=NOW, most=1)
        wall, cpu = time.perf_counter() - began, time.process_time() - busy
        assert done.after["atoms"] == 1
    record_figure(
        "care_compaction",
        Figure(
            work=f"100 segments with {ATOMS:,} atoms merged into one, read back and compared",
            value=wall,
            unit="s",
            goal="at most 10 for 1,000,000",
            cpu_seconds=cpu,
        ),
    )
    record_figure(
        "care_compaction_memory",
        Figure(
            work="peak memory of the process that did it",
            value=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6,
            unit="MB",
            goal="at most 1,500",
        ),
    )


def test_each_byte_is_written_a_few_times_over_a_long_ingest(tmp_path):
    first = merged = 0
    with new_shard(tmp_path) as shard:
        for number in range(300):
            commit(shard, atom_event(4_096, number))
            live = [entry for entry in shard.records().segments if entry.table == "atoms"]
            first += live[-1].byte_count
            if len(live) > 32:
                merged += sum(one.written_bytes for one in shard.compact(now=NOW).merges)
    record_figure(
        "care_write_amplification",
        Figure(
            work="bytes written for each byte of segments, over 300 commits of 4,096 atoms",
            value=(first + merged) / first,
            unit="x",
            goal="below 4",
        ),
    )
    assert (first + merged) / first < 4


def ask(shard, keys):
    """Return the milliseconds of a look-up of `keys` and of counting a column, median of several."""
    looked, counted = [], []
    for _ in range(9):
        with shard.pin() as snapshot:
            began = time.perf_counter()
            assert snapshot.lookup("atoms", "atom_id", keys).num_rows == len(keys)
            looked.append((time.perf_counter() - began) * 1e3)
            began = time.perf_counter()
            snapshot.table("atoms", ["type"]).column(0).value_counts()
            counted.append((time.perf_counter() - began) * 1e3)
    return statistics.median(looked), statistics.median(counted)


def test_asking_costs_the_same_after_one_commit_and_after_a_thousand(tmp_path):
    parts = [many_atoms(64, seed=number) for number in range(1000)]
    keys = pa.concat_tables(parts).column("atom_id").combine_chunks().take(list(range(0, 64_000, 640)))
    took = {}
    for name, batches in (("one", [pa.concat_tables(parts).combine_chunks()]), ("many", parts)):
        (tmp_path / name).mkdir()
        with new_shard(tmp_path / name) as shard:
            for rows in batches:
                commit(shard, [EventRows("atom_committed", "atoms", rows)])
                shard.tidy(now=NOW, is_running=True)
            took[name] = ask(shard, keys)
    for place, work in enumerate(("100 look-ups among 64,000 atoms", "count of 64,000 atoms by type")):
        one, many = took["one"][place], took["many"][place]
        record_figure(
            f"care_growth_{'lookup' if place == 0 else 'count'}",
            Figure(
                work=f"{work}, after 1,000 commits against after one ({one:.2f} ms)",
                value=many / one,
                unit="x",
                goal="at most 2",
            ),
        )


FORGETTING = """
import json, sys, time
from pathlib import Path
from amos.api import Store
with Store.open(sys.argv[1]) as store:
    with store.shard.pin() as snapshot:
        rows = sum(snapshot.counts().values())
    began = time.perf_counter()
    report = store.forget(scope={"user": "u7"})
    print(json.dumps({"wall": time.perf_counter() - began, "rows": rows, "removed": report["removed"],
                      "status": report["status"]}))
"""


def test_forgetting_one_user_of_a_thousand(tmp_path):
    path = write_messages(tmp_path / "m.jsonl", FORGET)
    lines = path.read_text(encoding="utf-8").splitlines()
    with path.open("w", encoding="utf-8") as out:
        for number, line in enumerate(lines):
            user = f"u{number // 40 % 1000}"
            out.write(json.dumps(json.loads(line) | {"scope": {"user": user}}) + "\n")
    with Store.create(tmp_path / "store") as store:
        store.ingest([path], format="messages")
    cost = run_measured(FORGETTING, str(tmp_path / "store"))
    assert cost.printed["status"] == "purged"
    assert cost.printed["removed"]["sources"] == 40 * max(FORGET // 40_000, 1)
    record_figure(
        "care_forget",
        Figure(
            work=f"forget one user of 1,000 in a store of {cost.printed['rows']:,} rows, until purged",
            value=cost.printed["wall"],
            unit="s",
            goal="at most 30 for 1,000,000 rows",
            cpu_seconds=cost.cpu_seconds,
        ),
    )


def test_a_single_atom_commit(tmp_path):
    took, busy = [], []
    with new_shard(tmp_path) as shard:
        for number in range(300):
            rows = [event for event in story(number, 1) if event.table == "atoms"]
            began, worked = time.perf_counter(), time.process_time()
            commit(shard, rows)
            took.append((time.perf_counter() - began) * 1e3)
            busy.append(time.process_time() - worked)
    record_figure(
        "care_single_atom",
        Figure(work="one atom committed, durable, median of 300", value=statistics.median(took), unit="ms",
               goal="at most 6", cpu_seconds=statistics.median(busy)),
    )  # fmt: skip
