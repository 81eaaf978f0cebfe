"""An edit that its format marks becomes a source of its own, which revises the stored one."""

import json

import pytest

from laws import scratch

CREATED = "2026-03-01T08:00:00Z"


def export(path, text, updated=CREATED):
    """Write a one-message export in which the message was last changed at `updated`."""
    message = {
        "uuid": "m-1",
        "sender": "human",
        "text": text,
        "content": [{"type": "text", "text": text}],
        "created_at": CREATED,
        "updated_at": updated,
    }
    talk = {"uuid": "c-1", "name": "Shelf", "created_at": CREATED, "updated_at": updated}
    path.write_text(json.dumps([{**talk, "chat_messages": [message]}]))
    return path


def rows(store, table):
    """Return the current rows of `table`."""
    with store.shard.pin() as snapshot:
        return snapshot.current(table).to_pylist()


def test_an_edit_revises_what_was_stored_and_its_claim_takes_over():
    with scratch() as (folder, store):
        store.ingest([export(folder / "a.json", "My locker is B12.")])
        edited = export(folder / "b.json", "My locker is C40.", updated="2026-03-02T08:00:00Z")
        receipt = store.ingest([edited])
        assert receipt["sources"]["new"] == 1
        first, second = sorted(rows(store, "sources"), key=lambda row: row["event_time"])
        assert second["revises"] == first["source_id"]
        values = {row["payload"]: row["intervals"] for row in rows(store, "atoms")}
        assert len(values) == 2
        again = store.ingest([edited])
        assert again["sources"]["linked"] == 1
        assert again["graph_version"] == receipt["graph_version"]


def test_an_older_export_that_comes_late_is_no_edit():
    with scratch() as (folder, store):
        newer = export(folder / "b.json", "My locker is C40.", updated="2026-03-02T08:00:00Z")
        store.ingest([newer])
        receipt = store.ingest([export(folder / "a.json", "My locker is B12.")])
        assert receipt["sources"]["rejected"] == 1
        assert receipt["reasons"] == {"delivery_conflict": 1}


@pytest.mark.parametrize("updated", [CREATED, "2026-03-05T08:00:00Z"])
def test_a_replay_is_no_edit(updated):
    with scratch() as (folder, store):
        path = export(folder / "a.json", "My locker is B12.", updated=updated)
        store.ingest([path])
        assert store.ingest([path])["sources"]["linked"] == 1
