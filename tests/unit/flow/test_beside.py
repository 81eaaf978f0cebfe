"""Snapshots and holds stand under events; the other rows beside the memory under sums."""

import sqlite3

import pytest

import amos.api
from amos.flow.repair import repair_shard
from amos.journal.store import Shard
from amos.journal.verify import verify_shard
from households import HOUSEHOLD, write_lines

OTHER = "x'00112233445566778899aabbccddeeff'"
CATALOG = "default/default/shard.sqlite"


@pytest.fixture
def root(tmp_path):
    root = tmp_path / "store"
    with amos.api.Store.create(root) as store:
        store.ingest(write_lines(tmp_path / "notes.jsonl", *HOUSEHOLD))
        store.snapshot()
        store.hold(atom(store), reason="case_7")
    return root


def atom(store):
    return store.list().rows[0]["atom_id"]


def execute(root, sql):
    with sqlite3.connect(root / CATALOG) as connection:
        connection.execute(sql)
    connection.close()


def kinds(root):
    with Shard.open(root, read_only=True) as shard:
        return {problem.kind for problem in verify_shard(shard).problems}


def repair(root):
    with Shard.open_as_is(root) as shard:
        return repair_shard(shard, None, is_dry=False, progress=None)


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM snapshots",
        "UPDATE snapshots SET created_us = created_us + 1",
        "UPDATE snapshots SET state_digest = 'f'",
        "UPDATE snapshots SET content = '{}'",
    ],
)
def test_a_snapshot_that_its_event_does_not_tell_is_named_and_registered_again(root, sql):
    execute(root, sql)
    execute(root, "DELETE FROM meta WHERE name = 'tally_snapshots'")
    assert kinds(root) <= {"snapshot_changed", "snapshot_missing"} != set()
    assert repair(root)["ok"]


@pytest.mark.parametrize(
    ("sql", "kind"),
    [
        ("DELETE FROM holds", "hold_missing"),
        ("UPDATE holds SET ref = 'atm_aaaa'", "hold_changed"),
        ("UPDATE holds SET kind = 'all'", "hold_changed"),
        ("UPDATE holds SET reason = 'none'", "hold_changed"),
        ("UPDATE holds SET placed_us = placed_us - 1", "hold_changed"),
        ("UPDATE holds SET released_us = placed_us + 1", "hold_changed"),
        (f"INSERT INTO holds SELECT {OTHER}, kind, ref, reason, placed_us, NULL FROM holds", "hold_changed"),
    ],
)  # fmt: skip
def test_a_hold_that_no_event_tells_is_named(root, sql, kind):
    execute(root, sql)
    execute(root, "DELETE FROM meta WHERE name = 'tally_holds'")
    assert kinds(root) == {kind}


def test_a_lost_hold_can_be_ended_and_placed_again(root):
    with amos.api.Store.open(root) as store:
        (held,) = store.holds()
    execute(root, "DELETE FROM holds")
    left = repair(root)["left"]
    assert [one["kind"] for one in left] == ["hold_missing"]
    assert "amos hold release" in left[0]["why"]
    with amos.api.Store.open(root) as store:
        assert store.release(held["hold_id"])["hold_id"] == held["hold_id"]
        with pytest.raises(amos.api.EngineError):
            store.release(held["hold_id"])
        store.hold(atom(store), reason="case_7")
    assert kinds(root) == set()


def test_sums_are_taken_anew_by_a_repair_that_says_so(root):
    execute(root, "UPDATE runs SET kind = 'import'")
    assert kinds(root) == {"run_changed"}
    told = repair(root)
    assert told["ok"]
    assert [one["where"] for one in told["repaired"] if one["kind"] == "counter"] == ["table runs"]


def test_a_store_without_sums_gets_them_when_it_is_written(root):
    execute(root, "DELETE FROM meta WHERE name LIKE 'tally_%'")
    assert kinds(root) == set()
    with amos.api.Store.open(root) as store:
        store.ingest(write_lines(root.parent / "again.jsonl", *HOUSEHOLD))
    assert kinds(root) == set()
    execute(root, "DELETE FROM runs WHERE rowid = 1")
    assert kinds(root) == {"run_changed"}


@pytest.mark.parametrize("reason", ["", "my neighbour Anna sued", "x" * 65])
def test_the_reason_of_a_hold_is_a_code(root, reason):
    with amos.api.Store.open(root) as store, pytest.raises(amos.api.EngineError, match="short code"):
        store.hold(reason=reason)


def test_what_a_hold_protects_cannot_be_guessed_from_its_event(root):
    with Shard.open(root, read_only=True) as shard, shard.pin() as snapshot:
        said = [text for text in snapshot.table("events")["payload"].to_pylist() if '"hold"' in text]
    assert len(said) == 1
    assert "atm_" not in said[0]
    assert "case_7" not in said[0]
