"""Rows that a commit takes out of a shard: gone from every file, still verifiable, purged when unread."""

import subprocess
import sys

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from amos.journal.store import HeadMoved, Shard
from amos.journal.verify import verify_shard
from committed_rows import NOW, RUN, commit, new_shard, story

TERMS = {"operation": "forget", "actor": "tester", "run_id": RUN, "now": NOW}


def doomed_of(shard, table, count):
    """Return the first `count` stored rows of a table."""
    with shard.pin() as snapshot:
        return {table: snapshot.table(table).slice(0, count)}


def erase(shard, doomed, rows=(), **terms):
    return shard.erase(rows, doomed=doomed, request="{}", base=shard.head, reads={}, **TERMS, **terms)


@pytest.fixture
def shard(tmp_path):
    with new_shard(tmp_path) as shard:
        for first in (0, 10, 20):
            commit(shard, story(first, 10))
        yield shard


def ids(shard, table, column):
    with shard.pin() as snapshot:
        return snapshot.table(table, [column]).column(column).to_pylist()


def test_erased_rows_are_gone_and_the_rest_verifies(shard):
    doomed = doomed_of(shard, "atoms", 7)
    gone = doomed["atoms"].column("atom_id").to_pylist()
    before = ids(shard, "atoms", "atom_id")
    version = erase(shard, doomed)
    assert version == 4
    assert ids(shard, "atoms", "atom_id") == [one for one in before if one not in gone]
    with shard.pin() as snapshot:
        assert len(snapshot.lookup("atoms", "atom_id", pa.array(gone, pa.binary(16)))) == 0
        kept = before[9]
        assert len(snapshot.lookup("atoms", "atom_id", pa.array([kept], pa.binary(16)))) == before.count(kept)
        event = snapshot.table("events", since=3).to_pylist()[-1]
    assert (event["event_type"], sorted(event["target_refs"])) == ("erased", sorted(gone))
    report = verify_shard(shard)
    assert [str(one) for one in report.problems if one.kind != "span_without_source"] == []
    assert report.checked["erased"] == 7


def test_a_snapshot_pinned_before_still_reads_what_it_read(shard):
    with shard.pin() as early:
        before = early.table("atoms").num_rows
        first = early.table("atoms", ["atom_id"]).column("atom_id")[0].as_py()
        erase(shard, doomed_of(shard, "atoms", 5))
        assert early.table("atoms").num_rows == before
        assert len(early.lookup("atoms", "atom_id", pa.array([first], pa.binary(16)))) > 0
        assert not shard.purge(wait_seconds=0).is_done
    assert shard.purge(wait_seconds=0).is_done
    assert shard.garbage() == []
    assert [entry.status for entry in shard.erasures()] == ["purged"]


def test_a_reader_in_another_process_is_named(shard, tmp_path):
    erase(shard, doomed_of(shard, "sources", 1))
    code = (
        "import sys; from amos.journal.store import Shard; from pathlib import Path\n"
        "pin = Shard.open(Path(sys.argv[1]), read_only=True).pin()\n"
        "print('held', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "store")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as reader:
        assert reader.stdout.readline() == "held\n"
        assert shard.purge(wait_seconds=0) == (False, (reader.pid,))
        reader.stdin.close()
    assert shard.purge().is_done


def test_the_files_of_erased_rows_are_removed(shard):
    erase(shard, doomed_of(shard, "sources", 3))
    replaced = [entry.file for entry in shard.garbage()]
    assert replaced
    assert shard.purge().is_done
    assert not [file for file in replaced if (shard.folder / file).exists()]
    assert shard.orphans() == {}


def test_opening_for_writing_finishes_a_purge(shard, tmp_path):
    erase(shard, doomed_of(shard, "sources", 3))
    shard.close()
    with Shard.open(tmp_path / "store") as again:
        assert [entry.status for entry in again.erasures()] == ["purged"]
        assert again.garbage() == []


def test_another_process_sees_rows_leave_and_positions_move(shard, tmp_path):
    with Shard.open(tmp_path / "store", read_only=True) as reader:
        last = ids(reader, "atoms", "atom_id")[-1]
        with reader.pin() as snapshot:
            assert len(snapshot.lookup("atoms", "atom_id", pa.array([last], pa.binary(16)))) > 0
        erase(shard, doomed_of(shard, "atoms", 5))
        commit(shard, story(30, 3))
        with reader.pin() as snapshot:
            found = snapshot.lookup("atoms", "atom_id", pa.array([last], pa.binary(16)))
            assert set(found.column("atom_id").to_pylist()) == {last}


def test_all_rows_of_a_commit_may_go_and_new_ones_come_in_the_same_step(shard):
    with shard.pin() as snapshot:
        rows = snapshot.table("atoms")
    doomed = {"atoms": rows.filter(pc.equal(rows.column("graph_version"), 2))}
    fresh = [event for event in story(40, 2) if event.table == "sources"]
    version = erase(shard, doomed, fresh)
    with shard.pin() as snapshot:
        assert set(snapshot.table("atoms", ["graph_version"]).column(0).to_pylist()) == {1, 3}
        assert snapshot.table("sources", since=version - 1).num_rows == 2
    assert "rows_missing" not in {one.kind for one in verify_shard(shard).problems}


def test_a_commitment_that_no_longer_fits_is_found(shard):
    erase(shard, doomed_of(shard, "atoms", 2))
    shard._catalog.rows("UPDATE erased_rows SET commitment = zeroblob(32) WHERE row_number = 0")
    assert "rows_changed" in {one.kind for one in verify_shard(shard).problems}
    shard._catalog.rows("DELETE FROM erased_rows")
    assert "rows_missing" in {one.kind for one in verify_shard(shard).problems}


def test_nothing_is_written_when_what_was_read_has_moved(shard):
    doomed = doomed_of(shard, "atoms", 2)
    with shard.pin() as snapshot:
        keys = snapshot.table("atoms", ["atom_id"]).column("atom_id")
    commit(shard, story(0, 10, source_version=2))
    with pytest.raises(HeadMoved):
        shard.erase((), doomed=doomed, request="{}", base=3, reads={("atoms", "atom_id"): keys}, **TERMS)
    assert shard.erased_rows() == []
    assert shard.orphans() == {}


def test_files_that_a_merge_replaced_before_go_with_the_purge(shard):
    shard._log.seal_all()
    commit(shard, story(30, 2))
    shard._log.seal_all()
    shard.compact(now=NOW, most=1)
    merged_away = [shard.folder / entry.file for entry in shard.garbage()]
    assert merged_away
    assert all(path.exists() for path in merged_away)
    erase(shard, doomed_of(shard, "atoms", 3))
    assert shard.purge(wait_seconds=0).is_done
    assert [path for path in merged_away if path.exists()] == []
    assert shard.garbage() == []
