"""What verification costs, phase by phase; best of several runs, warm."""

from __future__ import annotations

import os
import time

import numba  # noqa: F401 - large commits use compiled loops once it is loaded
import pytest

from amos.journal.chain_check import ChainCheck
from amos.journal.events import FIRST_LINK, Circumstances, chain_events, event_blob, event_body
from amos.journal.journal_export import journal_lines
from amos.journal.promises import Stated, promised_by_table
from amos.journal.rows import unpack_blobs
from amos.journal.store import Shard
from amos.journal.verify import verify_shard
from amos.schemas.catalog import CommitEntry, HotEntry
from benchmarks.measure import run_measured
from benchmarks.recording import Figure, record_figure
from committed_rows import commit, new_shard, story

pytestmark = pytest.mark.benchmark

RUNS = 4
COMMITS = 40_000
TABLES = ("sources", "candidates", "decisions", "atoms", "edges")
PAGE = 4_096
CODE = """
import sys
from pathlib import Path
from amos.journal.store import Shard
from amos.journal.verify import verify_shard
with Shard.open(Path(sys.argv[1]), read_only=True) as shard:
    report = verify_shard(shard)
assert report.ok, report.problems
"""


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    folder = tmp_path_factory.mktemp("verify")
    with new_shard(folder) as shard:
        for number in range(24):
            commit(shard, story(number * 8192, 8192, width=400))
        shard.compact(now=shard_now(), most=1)
    return folder / "store"


def shard_now():
    from committed_rows import NOW

    return NOW


def record(name, work, value, unit, goal, cpu=None):
    record_figure(name, Figure(work=work, value=round(value, 2), unit=unit, goal=goal, cpu_seconds=cpu))


def test_the_deep_check_by_phase(root):
    best: dict[str, tuple[int, float]] = {}
    with Shard.open(root, read_only=True) as shard:
        for _ in range(RUNS):
            report = verify_shard(shard, is_deep=True)
            assert report.ok
            for name, phase in report.phases.items():
                if name not in best or phase.seconds < best[name][1]:
                    best[name] = phase.done, phase.seconds
    rates = {name: done / max(seconds, 1e-9) / 1e6 for name, (done, seconds) in best.items()}
    record("verify_files", "verify: hash segment files", rates["files"] / 1e3, "GB/s", "≥ 1 GB/s")
    record("verify_rows", "verify --deep: recompute sealed rows", rates["rows"], "M rows/s", "")
    record("verify_spans", "verify --deep: derive spans again", rates["spans"], "M spans/s", "≥ 0.5 M/s")
    record("verify_replay", "verify --deep: replay the state", rates["replay"], "M rows/s", "≥ 0.2 M/s")
    record("verify_references", "verify --deep: follow references", rates["references"], "M rows/s", "")
    assert rates["replay"] > 0.1


def test_links_of_a_long_chain():
    pages = chain_pages()
    seconds, busy = [], []
    for _ in range(RUNS):
        chain = ChainCheck()
        began, used = time.perf_counter(), time.process_time()
        for commits, events in pages:
            payloads = Stated(events.column("payload"))
            assert list(chain.check(commits, events, payloads)) == []
            promised_by_table(events, 1, payloads)
        seconds.append(time.perf_counter() - began)
        busy.append(time.process_time() - used)
    rate = COMMITS * len(TABLES) / min(busy) / 1e6
    work = "verify: recompute events and follow their links, per CPU second"
    record("verify_links", work, rate, "M events/s", "≥ 1 M/s", cpu=round(min(busy), 3))
    assert rate > 0.2


def chain_pages():
    """Return (commits, events) of a long history of small commits, page by page."""
    link, commits, blobs = FIRST_LINK, [], []
    for version in range(1, COMMITS + 1):
        run = f"{version // 50:032x}"
        bodies = [
            event_body("evidence_captured", "ingest", table, bytes(32), 1 + version % 7) for table in TABLES
        ]
        shared = Circumstances(
            actor="ana",
            authorization=f'{{"principal":"ana","run":"{run}","shard":"default/default"}}',
            expected=f'{{"graph_version":{version - 1}}}',
            idempotency_key=None,
            occurred_us=version,
            accepted_us=version,
            version=version,
        )
        rows, link = chain_events(bodies, [os.urandom(16) for _ in bodies], shared, link)
        blobs.append(HotEntry(version, "events", len(rows), event_blob(rows)))
        commits.append(CommitEntry(version, "ingest", "ana", bytes.fromhex(run), version, 0, len(rows), link))
    return [
        (commits[start : start + PAGE], unpack_blobs("events", blobs[start : start + PAGE]))
        for start in range(0, COMMITS, PAGE)
    ]


def test_memory_of_the_fast_check_stays_flat(root, tmp_path):
    with new_shard(tmp_path) as shard:
        commit(shard, story(0, 8192, width=400))
    small = run_measured(CODE, str(tmp_path / "store")).peak_bytes
    large = run_measured(CODE, str(root)).peak_bytes
    work = "verify: peak memory at 786,432 rows above that at 32,768 rows"
    record("verify_memory", work, (large - small) / 1e6, "MB", "flat")
    assert large - small < 150e6


def test_an_exported_journal(root):
    with Shard.open(root, read_only=True) as shard:
        began = time.perf_counter()
        count = sum(1 for _ in journal_lines(shard))
        seconds = time.perf_counter() - began
    record("journal_export", "export journal: lines", count / seconds, "lines/s", "")
