"""Requests to delete that are refused stand in the journal: what was asked by code, why, and no content."""

import json

import pytest

import amos.api
from amos.errors import EngineError, InputError, UsageError
from households import HOUSEHOLD, line, write_lines


@pytest.fixture
def store(tmp_path):
    with amos.api.Store.create(tmp_path / "store") as store:
        store.ingest(write_lines(tmp_path / "notes.jsonl", *HOUSEHOLD))
        yield store


def rejected(store):
    with store.shard.pin() as snapshot:
        rows = snapshot.table("events", ["event_type", "payload", "actor"]).to_pylist()
    found = [json.loads(row["payload"]) for row in rows if row["event_type"] == "command_rejected"]
    return [(one["command"], one["reason"]) for one in found]


def test_a_request_that_would_take_everything_is_journaled(store):
    with pytest.raises(UsageError, match="matches all"):
        store.forget(since="2000-01-01")
    assert rejected(store) == [("forget", "selection_too_wide")]
    assert store.verify().ok


def test_a_request_about_a_name_that_several_share_is_journaled_without_the_name(store, tmp_path):
    twins = [
        line(f"twin {place}", "My sister is called Anna.", 20, author=f"writer {place}") for place in (1, 2)
    ]
    store.ingest(write_lines(tmp_path / "twins.jsonl", *twins))
    with store.shard.pin() as snapshot:
        names = snapshot.current("entities", ["name"])["name"].to_pylist()
    name = next(one for one in names if names.count(one) > 1)
    with pytest.raises(UsageError, match="subjects are called"):
        store.forget(subject=name, suppress=True)
    assert rejected(store) == [("suppress", "selection_ambiguous")]


def test_history_under_a_hold_stays_and_the_wish_to_drop_it_is_journaled(store):
    store.snapshot()
    store.hold(reason="audit")
    with pytest.raises(InputError):
        store.compact(drop_history=True, dry_run=True)
    assert rejected(store) == []
    with pytest.raises(InputError):
        store.compact(drop_history=True)
    assert rejected(store) == [("drop history", "legal_hold")]


@pytest.mark.parametrize("terms", [{"subject": "Nobody"}, {"recreation": "perhaps"}, {}])
def test_a_request_about_nothing_leaves_no_trace(store, terms):
    before = store.shard.head
    with pytest.raises(EngineError):
        store.forget(**terms)
    assert store.shard.head == before


def test_a_preview_leaves_no_trace(store):
    with pytest.raises(UsageError):
        store.forget(since="2000-01-01", dry_run=True)
    assert rejected(store) == []
