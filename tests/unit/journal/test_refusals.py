"""Conflict answers, compare-and-swap, and the queue of refused commands."""

import json
from datetime import timedelta

import pyarrow as pa
import pytest

from amos.errors import BusyError, CapacityError
from amos.identity import id_text
from amos.journal.refusals import IdempotencyConflict, LeaseLost, VersionConflict, event_of_conflict
from amos.journal.store import HeadMoved, Idempotency
from amos.journal.verify import verify_shard
from committed_rows import NOW, commit, new_shard, number_id, story

FIELDS = {"target_ref", "expected_version", "actual_version", "conflicting_event_id", "recommended_action"}


@pytest.fixture
def shard(tmp_path):
    with new_shard(tmp_path) as opened:
        yield opened


def event_of(shard, version, event_type):
    with shard.pin() as snapshot:
        rows = snapshot.table("events", ["event_id", "event_type", "graph_version"]).to_pylist()
    (found,) = [
        row["event_id"] for row in rows if (row["graph_version"], row["event_type"]) == (version, event_type)
    ]
    return id_text("events", found)


def operations(shard):
    return [entry.operation for entry in shard.records().commits]


def refused_events(shard):
    with shard.pin() as snapshot:
        rows = snapshot.table("events", ["event_type", "payload", "target_refs", "actor"]).to_pylist()
    return [row for row in rows if row["event_type"] == "command_rejected"]


def answer(refusal):
    record = refusal.value.as_record()["conflict"]
    assert set(record) == FIELDS
    return record


def test_a_row_is_replaced_only_where_it_has_the_version_expected(shard):
    commit(shard, story(0, 1))
    source = ("sources", number_id("sources", 0))
    assert commit(shard, story(0, 1, source_version=2), expected={source: 1}) == 2
    with pytest.raises(VersionConflict) as refused:
        commit(shard, story(0, 1, source_version=3), expected={source: 1})
    assert answer(refused) == {
        "target_ref": id_text(*source),
        "expected_version": 1,
        "actual_version": 2,
        "conflicting_event_id": event_of(shard, 2, "evidence_captured"),
        "recommended_action": "refresh",
    }
    assert operations(shard) == ["ingest", "ingest", "command_rejected"]


def test_zero_expects_that_there_is_none(shard):
    atom = ("atoms", number_id("atoms", 0))
    assert commit(shard, story(0, 1), expected={atom: 0}) == 1
    with pytest.raises(VersionConflict):
        commit(shard, story(0, 1, source_version=2), expected={atom: 0})
    with pytest.raises(VersionConflict) as refused:
        commit(shard, story(1, 1), expected={("atoms", number_id("atoms", 9)): 2})
    assert answer(refused)["recommended_action"] == "review"
    assert answer(refused)["conflicting_event_id"] is None


def test_an_exclusive_block_compares_too(shard):
    commit(shard, story(0, 1))
    terms = {"operation": "edit", "actor": "t", "run_id": bytes(16), "now": NOW}
    expected = {("atoms", number_id("atoms", 0)): 4}
    with shard.exclusive() as writer, pytest.raises(VersionConflict):
        writer.commit(story(1, 1), expected=expected, **terms)
    assert shard.head == 1


def test_a_decision_overtaken_says_by_which_event(shard):
    commit(shard, story(0, 1))
    with pytest.raises(HeadMoved) as refused:
        commit(
            shard,
            story(1, 1),
            base=0,
            reads={("atoms", "atom_id"): pa.array([number_id("atoms", 0)], pa.binary(16))},
        )
    assert answer(refused) == {
        "target_ref": id_text("atoms", number_id("atoms", 0)),
        "expected_version": 0,
        "actual_version": 1,
        "conflicting_event_id": event_of(shard, 1, "atom_committed"),
        "recommended_action": "retry",
    }
    assert shard.conflicts() == []


def test_a_key_for_another_command_names_the_first_commit(shard):
    commit(shard, story(0, 1), idempotency=Idempotency("k", b"p" * 32))
    with pytest.raises(IdempotencyConflict) as refused:
        commit(shard, story(1, 1), idempotency=Idempotency("k", b"q" * 32))
    found = answer(refused)
    assert (found["actual_version"], found["recommended_action"]) == (1, "review")
    assert found["conflicting_event_id"] == event_of(shard, 1, "evidence_captured")


def test_refused_commands_queue_in_order_without_content(shard):
    commit(shard, story(0, 1))
    for version in (5, 6):
        with pytest.raises(VersionConflict):
            commit(shard, story(1, 1), expected={("atoms", number_id("atoms", 0)): version})
    assert [(entry.expected, entry.actual, entry.recommended_action) for entry in shard.conflicts()] == [
        ("5", "1", "refresh"),
        ("6", "1", "refresh"),
    ]


def test_a_rejected_correction_is_journaled_with_a_code_and_no_content(shard):
    commit(shard, story(0, 1))
    atom = ("atoms", number_id("atoms", 0))
    with pytest.raises(VersionConflict) as refused:
        commit(shard, story(0, 1, source_version=2), expected={atom: 7})
    (event,) = refused_events(shard)
    assert json.loads(event["payload"]) == {
        "actual": 1,
        "command": "ingest",
        "conflicting_event": answer(refused)["conflicting_event_id"],
        "expected": 7,
        "operation": "command_rejected",
        "reason": "expected_version_conflict",
    }
    assert event["target_refs"] == [atom[1]]
    assert verify_shard(shard, is_deep=True).ok


def test_the_queue_names_the_event_that_brought_the_row(shard):
    commit(shard, story(0, 1))
    atom, source = ("atoms", number_id("atoms", 0)), ("sources", number_id("sources", 0))
    for target in (atom, source):
        with pytest.raises(VersionConflict):
            commit(shard, story(1, 1), expected={target: 7})
    stale = shard.take_lease("compact", now=NOW, lasts_seconds=0)
    shard.take_lease("compact", now=NOW)
    with pytest.raises(LeaseLost):
        commit(shard, story(1, 1), lease=stale)
    with shard.pin() as snapshot:
        found = [event_of_conflict(snapshot, entry) for entry in shard.conflicts()]
    assert [one and id_text("events", one) for one in found] == [
        event_of(shard, 1, "atom_committed"),
        event_of(shard, 1, "evidence_captured"),
        None,
    ]


def test_a_refusal_that_cannot_be_journaled_is_still_told(shard, monkeypatch, caplog):
    commit(shard, story(0, 1))
    monkeypatch.setattr(shard._care, "add_conflict", full)
    with pytest.raises(VersionConflict):
        commit(shard, story(1, 1), expected={("atoms", number_id("atoms", 0)): 7})
    assert "a refusal could not be journaled" in caplog.text
    assert operations(shard) == ["ingest"]


def full(_):
    raise CapacityError("the disk is full")


def test_a_job_is_held_by_one_and_taken_over_when_its_time_is_over(shard):
    first = shard.take_lease("compact", now=NOW, lasts_seconds=30)
    with pytest.raises(BusyError) as refused:
        shard.take_lease("compact", now=NOW + timedelta(seconds=12))
    assert refused.value.code == "lease_held"
    assert "for 12 s" in refused.value.message
    assert "ends in 18 s" in refused.value.advice
    kept = shard.renew_lease(first, now=NOW + timedelta(seconds=20), lasts_seconds=30)
    second = shard.take_lease("compact", now=NOW + timedelta(seconds=51))
    assert (first.epoch, kept.epoch, second.epoch) == (1, 1, 2)
    with pytest.raises(LeaseLost):
        shard.renew_lease(kept, now=NOW + timedelta(seconds=52))
    shard.release_lease(kept, now=NOW + timedelta(seconds=52))
    assert shard.leases() == [second]


def test_a_lease_run_out_but_not_taken_over_still_commits(shard):
    lease = shard.take_lease("compact", now=NOW, lasts_seconds=0)
    assert commit(shard, story(0, 1), lease=lease, now=NOW + timedelta(hours=1)) == 1


def test_a_stale_epoch_is_refused_at_commit_and_queued(shard):
    stale = shard.take_lease("compact", now=NOW, lasts_seconds=0)
    fresh = shard.take_lease("compact", now=NOW)
    with pytest.raises(LeaseLost) as refused:
        commit(shard, story(0, 1), lease=stale)
    assert (answer(refused)["expected_version"], answer(refused)["actual_version"]) == (1, 2)
    assert [entry.target_ref for entry in shard.conflicts()] == ["lease:compact"]
    assert commit(shard, story(0, 1), lease=fresh) == 2


def test_a_released_job_is_free_and_its_epoch_grows_on(shard):
    first = shard.take_lease("compact", now=NOW)
    shard.release_lease(first, now=NOW)
    assert shard.take_lease("compact", now=NOW).epoch == 2
    assert shard.take_lease("snapshot", now=NOW).epoch == 1
