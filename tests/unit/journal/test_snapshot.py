import numpy as np
import pyarrow as pa
import pytest

from amos.errors import UsageError
from amos.journal.ledger import ColumnCache
from amos.journal.snapshot import latest_rows
from amos.schemas.state import TABLES
from amos.storage import segments
from committed_rows import NOW, EventRows, commit, new_shard, number_id, rows_of, story


@pytest.fixture
def shard(tmp_path):
    with new_shard(tmp_path) as one:
        yield one


def atom_version(number, version):
    atoms = rows_of("atoms", 1, atom_id=[number_id("atoms", number)], version=[version])
    return [EventRows("atom_updated", "atoms", atoms)]


def atom_ids(*numbers):
    return pa.array([number_id("atoms", number) for number in numbers], pa.binary(16))


def test_an_earlier_version_shows_the_state_of_then(shard):
    commit(shard, story(0, 2))
    commit(shard, atom_version(0, 2))
    commit(shard, story(2, 1))
    with shard.pin(1) as then, shard.pin(2) as later:
        assert then.current("atoms")["version"].to_pylist() == [1, 1]
        assert then.lookup("atoms", "atom_id", atom_ids(0, 2)).num_rows == 1
        assert later.counts()["atoms"] == 3
        assert later.counts()["sources"] == 2
    with pytest.raises(UsageError, match="no graph version 9"):
        shard.pin(9)


def test_an_earlier_version_inside_a_sealed_segment_is_cut_by_row(shard):
    for number in range(3):
        commit(shard, story(number, 1))
    shard._log.seal_blobs = 0
    commit(shard, story(3, 1))
    with shard.pin(2) as then:
        assert then.table("sources", ["delivery_key"])["delivery_key"].to_pylist() == ["m0", "m1"]
        assert then.lookup("atoms", "atom_id", atom_ids(0, 2), ["atom_id"]).num_rows == 1
        assert then.counts()["decisions"] == 2


def test_since_gives_only_newer_rows(shard):
    for number in range(4):
        commit(shard, story(number, 1))
    with shard.pin() as snapshot:
        assert snapshot.table("sources", ["graph_version"], since=2)["graph_version"].to_pylist() == [3, 4]


def test_current_takes_the_highest_version_per_id(shard):
    commit(shard, story(0, 3))
    commit(shard, atom_version(1, 2))
    commit(shard, atom_version(1, 3))
    with shard.pin() as snapshot:
        rows = snapshot.current("atoms", ["atom_id", "version", "graph_version"])
    assert rows["atom_id"].to_pylist() == [number_id("atoms", number) for number in (0, 2, 1)]
    assert rows["version"].to_pylist() == [1, 1, 3]
    assert rows["graph_version"].to_pylist() == [1, 1, 3]


@pytest.mark.parametrize("at", [None, 2, 5])
def test_the_newest_rows_come_group_by_group_as_current_gives_them(shard, monkeypatch, at):
    monkeypatch.setattr(segments, "GROUP_ROWS", 3)
    commit(shard, story(0, 8))
    commit(shard, atom_version(1, 3))
    commit(shard, atom_version(6, 2))
    shard.compact(now=NOW, most=1)
    commit(shard, atom_version(1, 2))  # older than what stands, although it came later
    commit(shard, atom_version(6, 2))
    commit(shard, story(2, 3, source_version=2))
    commit(shard, story(20, 5))
    with shard.pin(at) as snapshot:
        for table in TABLES:
            parts = list(snapshot.newest(table))
            whole = snapshot.current(table)
            assert pa.concat_tables([whole.schema.empty_table(), *parts]).equals(whole), table
        assert next(snapshot.newest("atoms", ["payload"])).column_names == ["payload"]


def test_latest_rows_follow_versions_not_places():
    found = latest_rows(pa.chunked_array([["a", "b", "a", "b", "a"]]), pa.chunked_array([[1, 2, 3, 2, 2]]))
    assert found.tolist() == [2, 3]


def test_lookup_returns_every_version_in_order_of_commit(shard):
    commit(shard, story(0, 2))
    commit(shard, atom_version(0, 2))
    with shard.pin() as snapshot:
        rows = snapshot.lookup("atoms", "atom_id", atom_ids(0, 9), ["version"])
        assert rows.column_names == ["version"]
        assert rows["version"].to_pylist() == [1, 2]
        raw = np.array([number_id("atoms", 0)], "S16")
        assert snapshot.lookup("atoms", "atom_id", raw).num_rows == 2


def test_lookup_by_a_column_that_may_be_null(shard):
    commit(shard, story(0, 2))
    bare = rows_of("decisions", 1, decision_id=[number_id("decisions", 7)])
    commit(shard, [EventRows("candidate_decided", "decisions", bare)])
    with shard.pin() as snapshot:
        wanted = pa.array([number_id("candidates", 1), None], pa.binary(16))
        found = snapshot.lookup("decisions", "candidate_id", wanted, ["decision_id"])
    assert found["decision_id"].to_pylist() == [number_id("decisions", 1)]


def test_ids_that_share_half_their_bytes_are_told_apart(shard):
    twins = [b"8 equal " + tail for tail in (b"_first__", b"_second_")]
    commit(shard, [EventRows("atom_committed", "atoms", rows_of("atoms", 2, atom_id=twins))])
    with shard.pin() as snapshot:
        found = snapshot.lookup("atoms", "atom_id", pa.array(twins[1:], pa.binary(16)))
        assert found["atom_id"].to_pylist() == twins[1:]
        assert snapshot.find("atoms", twins[0], twins[0])["atom_id"].to_pylist() == twins[:1]


def test_find_returns_current_rows_in_a_range(shard):
    commit(shard, story(0, 4))
    commit(shard, atom_version(2, 2))
    low = number_id("atoms", 2)
    with shard.pin() as snapshot:
        assert snapshot.find("atoms", low, low)["version"].to_pylist() == [2]
        assert snapshot.find("atoms", bytes(16), b"\xff" * 16).num_rows == 4


def test_many_commits_and_row_groups_answer_like_one(shard, monkeypatch):
    monkeypatch.setattr(segments, "GROUP_ROWS", 3)
    shard._log.seal_blobs = 30
    for number in range(0, 40, 2):
        commit(shard, story(number, 2))
    shard._reading.cache = ColumnCache(limit_bytes=200)
    wanted = [0, 3, 4, 19, 38, 39]
    with shard.pin() as snapshot:
        found = snapshot.lookup(
            "sources", "source_id", pa.array([number_id("sources", n) for n in wanted], pa.binary(16))
        )
        assert found["delivery_key"].to_pylist() == [f"m{number}" for number in wanted]
        assert snapshot.table("sources")["delivery_key"].to_pylist() == [f"m{number}" for number in range(40)]


def test_unknown_tables_and_columns_are_named(shard):
    with shard.pin() as snapshot:
        with pytest.raises(UsageError, match="no table 'moods'"):
            snapshot.table("moods")
        with pytest.raises(UsageError, match="no column 'mood'"):
            snapshot.table("atoms", ["mood"])


def test_columns_come_in_the_order_asked_for(shard):
    commit(shard, story(0, 1))
    with shard.pin() as snapshot:
        names = ["version", "atom_id"]
        assert snapshot.table("atoms", names).column_names == names
        assert snapshot.current("atoms", names).column_names == names
        assert snapshot.current("atoms", ["payload"]).column_names == ["payload"]


def test_the_cache_stays_within_its_bytes():
    cache = ColumnCache(limit_bytes=100)
    column = pa.chunked_array([list(range(10))])
    for number in range(5):
        cache.put(("f", number, "c"), column)
    assert cache.get(("f", 0, "c")) is None
    assert cache.get(("f", 4, "c")) is column
