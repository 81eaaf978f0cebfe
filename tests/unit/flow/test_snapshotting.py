"""A registered state is one that follows from its events; history below it can be dropped, and only there."""

import hashlib

import pytest

from amos.errors import BusyError, InputError, IntegrityError, UsageError
from amos.flow.compacting import compact_shard
from amos.flow.snapshotting import take_snapshot
from amos.journal.refusals import LeaseLost
from amos.journal.store import EventRows
from amos.journal.verify import verify_shard
from amos.schemas.catalog import HoldEntry
from committed_rows import NOW, RUN, commit, new_shard, rows_of, story


def state_digest(snapshot):
    """Return a digest of the current rows; the rows of these tests are too bare for the real one."""
    found = hashlib.sha256()
    for name in ("sources", "candidates", "decisions", "atoms"):
        found.update(repr(snapshot.current(name).drop(["salt"]).to_pylist()).encode())
    return found.hexdigest()


WHO = {"actor": "tester", "run_id": RUN, "now": NOW}


@pytest.fixture
def shard(tmp_path):
    """A shard in which the first three atoms and decisions got later versions."""
    with new_shard(tmp_path) as shard:
        for number in range(4):
            commit(shard, story(number * 3, 3))
        for version in (2, 3):
            commit(shard, again(shard, "atoms", version, "atom_updated"))
        commit(shard, again(shard, "decisions", 2, "candidate_decided"))
        yield shard


def again(shard, table, version, event):
    """Return the first three rows of a table with a later version."""
    with shard.pin() as snapshot:
        rows = snapshot.table(table).slice(0, 3)
    names = [field.name for field in rows_of(table, 0).schema]
    columns = {name: rows[name].to_pylist() for name in names} | {"version": [version] * 3}
    return [EventRows(event, table, rows_of(table, 3, **columns))]


def current(shard):
    with shard.pin() as snapshot:
        return {name: snapshot.current(name).to_pylist() for name in snapshot.counts() if name != "events"}


def deep(shard):
    return verify_shard(shard, is_deep=True, digest=state_digest)


def test_a_state_is_registered_once_and_stands_in_one_segment_per_table(shard):
    before, head = current(shard), shard.head
    record = take_snapshot(shard, digest=state_digest, **WHO)
    assert (record["graph_version"], record["is_new"]) == (head, True)
    assert current(shard) == before
    with shard.pin(head) as snapshot:
        assert state_digest(snapshot) == record["state_digest"]
        assert record["rows"] == {name: count for name, count in snapshot.counts().items() if count}
    assert take_snapshot(shard, digest=state_digest, **WHO) | {"is_new": True} == {
        name: value for name, value in record.items() if name != "state_digest"
    }
    assert deep(shard).problems == []
    tables = [entry.table for entry in shard.records().segments]
    assert len(tables) == len(set(tables))


def test_no_digest_of_what_may_be_erased_stands_in_clear(shard):
    record = take_snapshot(shard, digest=state_digest, **WHO)
    (entry,) = shard.snapshots()
    with shard.pin() as snapshot:
        payload = snapshot.table("events")["payload"].to_pylist()[-1]
    assert record["state_digest"] not in entry.state_digest + payload
    assert entry.state_digest in payload


def test_a_damaged_store_registers_nothing(shard):
    with shard._catalog.writing("damage"):
        shard._catalog.rows("UPDATE commits SET link = zeroblob(32) WHERE graph_version = 2")
    with pytest.raises(IntegrityError, match="not registered"):
        take_snapshot(shard, digest=state_digest, **WHO)
    assert shard.snapshots() == []


def test_a_changed_snapshot_row_is_found(shard):
    take_snapshot(shard, digest=state_digest, **WHO)
    with shard._catalog.writing("damage"):
        shard._catalog.rows("UPDATE snapshots SET state_digest = 'x'")
    assert [one.kind for one in deep(shard).problems] == ["snapshot_changed"]


def test_dropped_versions_leave_commitments_and_the_state(shard):
    version = take_snapshot(shard, digest=state_digest, **WHO)["graph_version"]
    commit(shard, again(shard, "atoms", 4, "atom_updated"))
    before = current(shard)
    planned = shard.drop_history(is_dry=True, operation="drop", **WHO)
    assert planned.rows == {"decisions": 3, "atoms": 6}
    assert current(shard) == before
    done = shard.drop_history(operation="drop", **WHO)
    assert (done.rows, done.below) == (planned.rows, version)
    assert current(shard) == before
    with shard.pin() as snapshot:
        assert snapshot.counts()["atoms"] == 12 + 9 - 6
        keys = snapshot.table("atoms", ["atom_id"])["atom_id"].unique()
        found = snapshot.lookup("atoms", "atom_id", keys)
        assert found.equals(snapshot.table("atoms"))
    assert len(shard.erased_rows()) == 9
    assert deep(shard).problems == []
    assert shard.drop_history(operation="drop", **WHO).rows == {}


def test_versions_below_the_snapshot_are_beyond_retention(shard):
    version = take_snapshot(shard, digest=state_digest, **WHO)["graph_version"]
    with shard.pin(version) as snapshot:
        before = snapshot.current("atoms").to_pylist()
    shard.pin(version - 1).close()
    shard.drop_history(operation="drop", **WHO)
    with shard.pin(version) as snapshot:
        assert snapshot.current("atoms").to_pylist() == before
    with pytest.raises(UsageError, match="beyond retention") as told:
        shard.pin(version - 1)
    assert told.value.code == "beyond_retention"
    shard.pin(0).close()


def test_a_retention_that_no_event_tells_of_is_found(shard):
    take_snapshot(shard, digest=state_digest, **WHO)
    shard.drop_history(operation="drop", **WHO)
    with shard._catalog.writing("damage"):
        shard._care.retain_from(1)
    assert [one.kind for one in deep(shard).problems] == ["catalog_changed"]


def test_history_is_dropped_below_a_snapshot_alone(shard):
    with pytest.raises(UsageError, match="no verified snapshot"):
        compact_shard(shard, now=NOW, dropping=("tester", RUN))


def test_a_hold_keeps_history(shard):
    take_snapshot(shard, digest=state_digest, **WHO)
    hold = HoldEntry(bytes(16), "all", "all", "inquiry", 0, None)
    with shard._catalog.writing("hold"):
        shard._care.put_hold(hold)
    with pytest.raises(InputError, match="1 hold protects"):
        compact_shard(shard, now=NOW, dropping=("tester", RUN))
    with shard._catalog.writing("hold"):
        shard._care.put_hold(hold._replace(released_us=1))
    assert compact_shard(shard, now=NOW, dropping=("tester", RUN))["dropped"]["rows"]


def test_a_state_that_another_process_registers_is_not_checked_twice(shard):
    lease = shard.take_lease("snapshot", now=WHO["now"])
    with shard._catalog.writing("test"):
        shard._leases._put(lease._replace(holder="process 1 on elsewhere"))
    with pytest.raises(BusyError, match="process 1 on elsewhere has been working on 'snapshot'"):
        take_snapshot(shard, digest=state_digest, **WHO)
    assert shard.snapshots() == []


def test_a_state_whose_check_was_overtaken_is_not_registered(shard):
    def digest(snapshot):
        with shard._catalog.writing("test"):
            shard._leases._put(shard.leases()[0]._replace(epoch=9))
        return state_digest(snapshot)

    with pytest.raises(LeaseLost):
        take_snapshot(shard, digest=digest, **WHO)
    assert shard.snapshots() == []
