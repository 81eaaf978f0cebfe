"""Compaction changes files, and nothing that can be asked."""

import itertools
import shutil
import socket
from datetime import timedelta

import pyarrow as pa
import pytest

import amos
from amos.errors import BusyError, CapacityError
from amos.journal.refusals import LeaseLost
from amos.journal.store import Shard
from amos.journal.verify import verify_shard
from amos.storage.commit_log import CommitLog
from committed_rows import NOW, commit, new_shard, story

TABLES = ("sources", "candidates", "decisions", "atoms", "events")


@pytest.fixture(scope="module")
def grown(tmp_path_factory):
    """A store of many small segments, with hot rows behind them."""
    folder = tmp_path_factory.mktemp("grown")
    with new_shard(folder) as shard:
        for number in range(24):
            commit(shard, story(number * 3, 3))
            shard._log.seal_all()
            shard._refresh()
        commit(shard, story(100, 2))
    return folder / "store"


@pytest.fixture
def shard(grown, tmp_path):
    with Shard.open(shutil.copytree(grown, tmp_path / "store")) as shard:
        yield shard


def state(shard):
    """Return all rows at every third graph version and at the newest, and all look-ups of atoms."""
    found = {}
    for version in {*range(0, shard.head, 3), shard.head}:
        with shard.pin(version) as snapshot:
            found[version] = {name: snapshot.table(name).to_pylist() for name in TABLES}
    with shard.pin() as snapshot:
        keys = snapshot.table("atoms", ["atom_id"]).column(0).unique()
        found["looked up"] = snapshot.lookup("atoms", "atom_id", keys).to_pylist()
        found["at some places"] = snapshot.lookup("atoms", "atom_id", keys.slice(5, 3)).to_pylist()
    return found


def test_nothing_that_can_be_asked_changes(shard):
    before = state(shard)
    done = shard.compact(now=NOW)
    assert max(done.after.values()) <= 10
    assert sum(merge.segments for merge in done.merges) > 50
    assert state(shard) == before
    assert [one.kind for one in verify_shard(shard).problems if one.kind != "span_without_source"] == []
    assert shard.compact(now=NOW).merges == []


def test_one_segment_per_table_when_asked_for(shard, tmp_path):
    before = state(shard)
    assert set(shard.compact(now=NOW, most=1).after.values()) == {1}
    assert state(shard) == before
    shard.close()
    with Shard.open(tmp_path / "store") as again:
        assert state(again) == before


def test_a_dry_run_says_what_would_happen(shard):
    files = sorted(path.name for path in shard.folder.rglob("*.parquet"))
    planned = shard.compact(now=NOW, is_dry=True)
    assert planned.before == planned.after
    assert planned.merges
    assert {merge.written_bytes for merge in planned.merges} == {0}
    assert sorted(path.name for path in shard.folder.rglob("*.parquet")) == files


def test_a_pinned_reader_keeps_the_files_it_began_with(shard, tmp_path):
    with Shard.open(tmp_path / "store", read_only=True) as reader, reader.pin() as early:
        before = early.table("atoms").to_pylist()
        assert shard.compact(now=NOW).removed_files == 0
        assert early.table("atoms").to_pylist() == before
        with reader.pin() as late:
            assert late.table("atoms").to_pylist() == before
    replaced = [entry.file for entry in shard.garbage()]
    assert all((shard.folder / file).exists() for file in replaced)
    assert shard.orphans() == {}
    later = NOW.replace(year=NOW.year + 1)
    assert sorted(shard.collect_garbage(now=later)) == sorted(replaced)
    assert not any((shard.folder / file).exists() for file in replaced)


def test_erasing_after_a_compaction_rewrites_the_merged_segments(shard):
    shard.compact(now=NOW, most=1)
    with shard.pin() as snapshot:
        rows = snapshot.table("atoms")
    doomed = {"atoms": rows.take(pa.array([0, len(rows) // 2, len(rows) - 1]))}
    terms = {"operation": "forget", "actor": "tester", "run_id": bytes(16), "now": NOW}
    shard.erase((), doomed=doomed, request="{}", base=shard.head, reads={}, **terms)
    with shard.pin() as snapshot:
        assert snapshot.table("atoms").num_rows == len(rows) - 3
    assert shard.purge().is_done
    assert "rows_missing" not in {one.kind for one in verify_shard(shard).problems}


def test_pages_of_sealed_rows_go_back_to_the_disk(shard, tmp_path):
    commit(shard, story(200, 3, width=400_000))
    catalog = shard.folder / "shard.sqlite"
    with Shard.open(tmp_path / "store", read_only=True) as reader, reader.pin() as snapshot:
        shard.compact(now=NOW)
        snapshot.table("atoms")
    shard.compact(now=NOW)
    assert catalog.stat().st_size < 300_000
    assert [one.kind for one in verify_shard(shard).problems if one.kind != "span_without_source"] == []


def test_opening_for_writing_removes_files_that_nobody_holds(shard, tmp_path):
    shard.compact(now=NOW.replace(year=2020))
    replaced = [shard.folder / entry.file for entry in shard.garbage()]
    shard.close()
    with amos.open(tmp_path / "store", read_only=True), amos.open(tmp_path / "store", read_only=True):
        assert all(path.exists() for path in replaced)
    with amos.open(tmp_path / "store"):  # the grace is over long ago
        assert not any(path.exists() for path in replaced)


def other_process(shard, job, *, pid):
    """Let the process `pid` of this machine hold a job."""
    lease = shard.take_lease(job, now=NOW)
    held = lease._replace(holder=f"process {pid} on {socket.gethostname()}")
    with shard._catalog.writing("test"):
        shard._leases._put(held)
    return held


def test_a_merge_at_work_elsewhere_is_named_and_not_done_twice(shard):
    other_process(shard, "compaction", pid=1)
    with pytest.raises(BusyError, match=r"process 1 on .* has been working on 'compaction'") as refused:
        shard.compact(now=NOW, most=1)
    assert refused.value.code == "lease_held"
    assert shard.compact(now=NOW, most=1, is_dry=True).merges


def test_a_run_goes_on_while_another_process_merges(shard, monkeypatch):
    other_process(shard, "compaction", pid=1)
    monkeypatch.setattr(shard._house, "is_crowded", lambda **_: True)
    shard.tidy(now=NOW)


def test_the_merge_of_a_dead_process_is_taken_over_at_once(shard):
    other_process(shard, "compaction", pid=2**22 + 5)
    assert shard.compact(now=NOW, most=1).merges
    (lease,) = shard.leases()
    assert (lease.job, lease.epoch) == ("compaction", 2)


def test_a_merge_that_was_overtaken_names_no_file(shard, monkeypatch):
    merged = CommitLog.merged

    def overtaken(log, run):
        made = merged(log, run)
        with shard._catalog.writing("test"):
            shard._leases._put(shard.leases()[0]._replace(epoch=9))
        return made

    monkeypatch.setattr(CommitLog, "merged", overtaken)
    shard._log.seal_all()
    before = shard._catalog.segments()
    with pytest.raises(LeaseLost):
        shard.compact(now=NOW, most=1)
    assert shard._catalog.segments() == before
    assert shard.orphans() == {}


def test_a_long_merge_keeps_its_lease(shard, monkeypatch):
    ticks = itertools.count(0, 40)
    monkeypatch.setattr("amos.journal.leasing.time.monotonic", lambda: next(ticks))
    seen = []
    shard.compact(now=NOW, most=1, progress=lambda *_: seen.append(shard.leases()[0].expires_us))
    assert seen == sorted(set(seen))
    assert seen[-1] > seen[0]


def test_a_job_that_was_given_back_is_free_whatever_the_clock_says(shard):
    shard.release_lease(shard.take_lease("audit", now=NOW), now=NOW)
    assert shard.take_lease("audit", now=NOW - timedelta(days=400)).epoch == 2


def test_a_lease_that_could_not_be_given_back_holds_up_no_work_of_its_own_process(shard, monkeypatch, caplog):
    with monkeypatch.context() as full:
        full.setattr(shard._leases, "release", _full)
        assert shard.compact(now=NOW, most=3).merges
    assert "a lease could not be given back" in caplog.text
    assert shard.compact(now=NOW, most=1).merges


def _full(*_, **__):
    raise CapacityError("the disk is full")
