import errno
import hashlib
import threading
from datetime import timedelta

import pyarrow as pa
import pytest

from amos.errors import CapacityError, SchemaError, UsageError
from amos.journal.events import EventRows
from amos.journal.refusals import IdempotencyConflict
from amos.journal.store import LOOKUPS, HeadMoved, Idempotency, Shard
from amos.journal.verify import verify_shard
from amos.schemas.state import TABLES
from amos.storage import files
from committed_rows import NOW, RUN, commit, new_shard, number_id, rows_of, story


@pytest.fixture
def shard(tmp_path):
    with new_shard(tmp_path) as one:
        yield one


def reopened(shard):
    return Shard.open(shard.folder.parents[1])


def ids(*numbers, table="sources"):
    return pa.array([number_id(table, number) for number in numbers], pa.binary(16))


def test_a_new_shard_is_at_version_zero(shard):
    assert shard.head == 0
    with shard.pin() as snapshot:
        assert set(snapshot.counts().values()) == {0}
        assert snapshot.table("atoms").num_rows == 0
        assert snapshot.lookup("atoms", "atom_id", ids(1)).num_rows == 0


def test_versions_count_commits_from_one(shard):
    assert [commit(shard, story(number, 1)) for number in range(3)] == [1, 2, 3]
    assert shard.head == 3


def test_no_rows_make_no_commit(shard):
    commit(shard, story(0, 1))
    empty = [EventRows("atom_committed", "atoms", rows_of("atoms", 0))]
    assert commit(shard, []) == 1
    assert commit(shard, empty) == 1
    assert shard.head == 1


@pytest.mark.parametrize("width", [0, 1 << 19])
def test_committed_rows_come_back_as_they_were(shard, width):
    first, second = story(0, 2, width=width), story(2, 3, width=width)
    commit(shard, first)
    commit(shard, second)
    for one in (shard, reopened(shard)):
        with one.pin() as snapshot:
            for early, late in zip(first, second, strict=True):
                found = snapshot.table(early.table)
                expected = pa.concat_tables([early.rows, late.rows])
                assert found.select(expected.column_names).equals(expected)
                assert found["graph_version"].to_pylist() == [1, 1, 2, 2, 2]
                assert found["row_number"].to_pylist() == [0, 1, 0, 1, 2]
                assert len(set(found["salt"].to_pylist())) == 5


def test_rows_of_another_shape_are_refused_and_nothing_is_written(shard):
    rows = story(0, 1)
    narrow = rows[0]._replace(rows=rows[0].rows.drop_columns(["content"]))
    with pytest.raises(SchemaError, match="content"):
        commit(shard, [narrow])
    with pytest.raises(SchemaError, match="source_id is null"):
        commit(shard, [rows[0]._replace(rows=rows_of("sources", 2, source_id=[None, bytes(16)]))])
    with pytest.raises(SchemaError, match="no event type"):
        commit(shard, [rows[0]._replace(event_type="made_up")])
    with pytest.raises(SchemaError, match="'events'"):
        commit(shard, [rows[0]._replace(table="events")])
    assert shard.head == 0


def test_one_event_per_entry_names_table_and_rows(shard):
    commit(shard, story(0, 2))
    with shard.pin() as snapshot:
        events = snapshot.table("events").to_pylist()
    assert [event["event_type"] for event in events] == [
        "evidence_captured",
        "candidate_proposed",
        "candidate_decided",
        "atom_committed",
    ]
    assert events[0]["payload"] == '{"operation":"ingest","rows":2,"table":"sources"}'
    assert events[0]["occurred_at"] == NOW


def test_two_events_may_write_to_one_table(shard):
    updated = rows_of("atoms", 2, atom_id=[number_id("atoms", 0)] * 2, version=[2, 3])
    commit(shard, [*story(0, 3), EventRows("atom_updated", "atoms", updated)])
    with shard.pin() as snapshot:
        assert snapshot.table("atoms")["row_number"].to_pylist() == [0, 1, 2, 3, 4]
        assert snapshot.origin("atoms", 1, 2).event_type == "atom_committed"
        late = snapshot.origin("atoms", 1, 4)
        assert (late.event_type, late.row) == ("atom_updated", 1)
        assert snapshot.origin("atoms", 1, 5) is None
        assert snapshot.current("atoms")["version"].to_pylist() == [1, 1, 3]


def test_acceptance_never_goes_backwards(shard):
    commit(shard, story(0, 1))
    commit(shard, story(1, 1), now=NOW - timedelta(hours=1))
    with shard.pin() as snapshot:
        events = snapshot.table("events", ["occurred_at", "accepted_at"]).to_pylist()
    assert events[-1] == {"occurred_at": NOW - timedelta(hours=1), "accepted_at": NOW}
    assert [entry.skew_us for entry in shard.records().commits] == [0, 3_600_000_000]


def test_a_commit_on_a_moved_head_stands_when_nothing_it_read_changed(shard):
    commit(shard, story(0, 1))
    reads = {("sources", "source_id"): ids(5)}
    assert commit(shard, story(5, 1), base=0, reads=reads) == 2


@pytest.mark.parametrize("width", [0, 1 << 20])
def test_a_commit_whose_reads_changed_is_refused_whole(shard, width):
    commit(shard, story(0, 1))
    files = sorted(shard.folder.rglob("*.parquet"))
    with pytest.raises(HeadMoved) as caught:
        commit(shard, story(1, 1, width=width), base=0, reads={("sources", "source_id"): ids(0, 7)})
    assert (caught.value.table, caught.value.expected, caught.value.actual) == ("sources", 0, 1)
    assert caught.value.keys.to_pylist() == [number_id("sources", 0)]
    assert caught.value.is_retryable
    assert shard.head == 1
    assert sorted(shard.folder.rglob("*.parquet")) == files


def test_a_large_commit_on_a_moved_head_takes_the_next_version(shard):
    other = reopened(shard)
    commit(other, story(0, 1))
    assert commit(shard, story(1, 1, width=1 << 20), base=0) == 2
    with reopened(shard).pin() as snapshot:
        assert snapshot.table("sources")["graph_version"].to_pylist() == [1, 2]
    assert [entry.file.split("/")[2][:4] for entry in shard.records().segments] == ["2-2-"]
    assert verify_shard(shard).problems == []


def test_a_base_from_the_future_is_refused(shard):
    with pytest.raises(UsageError, match="version 4"):
        commit(shard, story(0, 1), base=4)


def test_a_writer_sees_what_others_committed(shard):
    other = reopened(shard)
    commit(shard, story(0, 1))
    commit(other, story(1, 1))
    with shard.pin() as snapshot:
        assert snapshot.lookup("sources", "source_id", ids(0, 1)).num_rows == 2


def test_an_exclusive_writer_reads_its_own_commits(shard):
    commit(shard, story(0, 1))
    with shard.exclusive() as writer:
        assert writer.snapshot.version == 1
        version = writer.commit(
            story(1, 1, width=1 << 20), operation="ingest", actor="tester", run_id=RUN, now=NOW
        )
        assert version == 2
        assert writer.snapshot.lookup("sources", "source_id", ids(0, 1)).num_rows == 2
        assert reopened(shard).head == 1
    assert shard.head == 2
    assert verify_shard(reopened(shard)).problems == []


def failing_block(shard):
    with shard.exclusive() as writer:
        writer.commit(story(1, 1, width=1 << 20), operation="ingest", actor="t", run_id=RUN, now=NOW)
        assert writer.snapshot.lookup("sources", "source_id", ids(1)).num_rows == 1
        raise RuntimeError("changed my mind")


def test_an_exclusive_block_that_fails_leaves_nothing(shard):
    commit(shard, story(0, 1))
    with pytest.raises(RuntimeError, match="changed my mind"):
        failing_block(shard)
    with shard.pin() as snapshot:
        assert snapshot.version == 1
        assert snapshot.lookup("sources", "source_id", ids(0, 1)).num_rows == 1
    assert list(shard.folder.rglob("*.parquet")) == []
    assert commit(shard, story(2, 1)) == 2


def test_a_repeated_command_returns_its_first_version(shard):
    promise = Idempotency("k1", b"p" * 32, b"target")
    assert commit(shard, story(0, 1), idempotency=promise) == 1
    commit(shard, story(1, 1))
    assert commit(shard, story(0, 1), idempotency=promise) == 1
    assert shard.head == 2


def test_a_key_used_for_something_else_is_refused_and_queued(shard):
    commit(shard, story(0, 1), idempotency=Idempotency("k1", b"p" * 32))
    with pytest.raises(IdempotencyConflict) as caught:
        commit(shard, story(1, 1), idempotency=Idempotency("k1", b"q" * 32))
    assert (caught.value.exit_code, caught.value.code) == (6, "idempotency_conflict")
    assert not caught.value.is_retryable
    assert [(entry.conflicting_version, entry.target_ref) for entry in shard.conflicts()] == [(1, "ingest")]
    commit(shard, story(1, 1), idempotency=Idempotency("k1", b"q" * 32, b"other target"))
    operations = [entry.operation for entry in shard.records().commits]
    assert operations == ["ingest", "command_rejected", "ingest"]


def test_texts_are_kept_once_by_digest(shard):
    digest = hashlib.sha256(b"be kind").digest()
    commit(shard, story(0, 1), texts={digest: ("policy", "be kind")})
    commit(shard, story(1, 1), texts={digest: ("policy", "be kind")})
    assert shard.text(digest) == ("policy", "be kind")
    assert shard.texts() == [(digest, "policy", "be kind")]
    assert shard.text(b"e" * 32) is None


def test_a_text_under_a_foreign_digest_is_refused_with_its_commit(shard):
    with pytest.raises(UsageError, match="digest"):
        commit(shard, story(0, 1), texts={b"d" * 32: ("policy", "be kind")})
    assert (shard.head, shard.texts()) == (0, [])


def test_receipts_stand_outside_the_chain(shard):
    shard.record_run(RUN, "ingest", NOW, NOW, {"records_read": 3})
    assert shard.head == 0
    assert [(run.kind, run.receipt) for run in shard.runs()] == [("ingest", '{"records_read":3}')]


def test_the_hot_tail_is_sealed_when_it_grows_too_long(shard):
    shard._log.seal_blobs = 20
    for number in range(9):
        commit(shard, story(number, 1, width=(1 << 20) if number == 2 else 0))
    records = shard.records()
    assert len(records.hot) <= 20
    assert {entry.table for entry in records.segments} == {
        "sources",
        "candidates",
        "decisions",
        "atoms",
        "events",
    }
    for one in (shard, reopened(shard)):
        with one.pin() as snapshot:
            assert snapshot.table("sources")["graph_version"].to_pylist() == list(range(1, 10))
            assert snapshot.lookup("sources", "source_id", ids(*range(9))).num_rows == 9
        assert verify_shard(one).problems == []


def test_a_reader_follows_a_seal_by_somebody_else(shard):
    reader = reopened(shard)
    commit(shard, story(0, 2))
    with reader.pin() as early:
        assert early.lookup("atoms", "atom_id", ids(0, table="atoms")).num_rows == 1
        shard._log.seal_blobs = 0
        commit(shard, story(2, 2))
        assert early.table("atoms").num_rows == 2
        with reader.pin() as late:
            found = late.lookup("atoms", "atom_id", ids(0, 3, table="atoms"))
    assert found["atom_id"].to_pylist() == [number_id("atoms", 0), number_id("atoms", 3)]


def test_writers_in_threads_lose_nothing(shard):
    def write(start):
        for number in range(start, start + 5):
            commit(shard, story(number, 1), base=0)

    threads = [threading.Thread(target=write, args=(start,)) for start in (0, 10, 20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with shard.pin() as snapshot:
        assert snapshot.version == 15
        assert snapshot.counts()["sources"] == 15


def test_every_lookup_names_an_id_column():
    assert all(TABLES[table].field(column).type == pa.binary(16) for table, column in LOOKUPS)


def test_a_full_catalog_keeps_the_old_state_and_says_so(shard):
    commit(shard, story(0, 1))
    pages = shard._catalog.rows("PRAGMA page_count")[0][0]
    shard._catalog.rows(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(CapacityError) as caught:
        commit(shard, story(1, 900))
    assert caught.value.exit_code == 7
    assert shard.head == 1
    shard._catalog.rows("PRAGMA max_page_count = 1000000")
    assert commit(shard, story(1, 900)) == 2
    assert verify_shard(shard).problems == []


def test_a_disk_without_room_for_a_segment_keeps_the_old_state(shard, monkeypatch):
    def fail(*_args):
        raise OSError(errno.ENOSPC, "no space")

    commit(shard, story(0, 1))
    monkeypatch.setattr(files, "write_synced", fail)
    with pytest.raises(CapacityError, match="no space left"):
        commit(shard, story(1, 1, width=1 << 20))
    monkeypatch.undo()
    assert commit(shard, story(1, 1, width=1 << 20)) == 2
    assert verify_shard(shard).problems == []
