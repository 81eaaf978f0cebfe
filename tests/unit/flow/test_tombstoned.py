"""What was forgotten does not come in again: not as itself, not as an echo, not as another wording."""

import json
from datetime import UTC, datetime

import pytest

from amos.admission.tombstones import Forbidden, Terms
from amos.api import Store
from amos.clock import utc_now
from amos.flow.tombstoned import tombstone_rows
from amos.journal.store import EventRows
from amos.kernels.wordings import wording_of

AT = datetime(2026, 5, 4, 12, tzinfo=UTC)
ANYWHERE = (None,) * 5


def lines(folder, name, *messages):
    path = folder / name
    rows = [
        {"id": f"{name}-{number}", "role": "user", "conversation": name, **message}
        for number, message in enumerate(messages)
    ]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


@pytest.fixture
def store(tmp_path):
    with Store.create(tmp_path / "store") as store:
        yield store


def forbid(store, *, claims=(), sources=(), texts=(), recreation="forbid"):
    passages = [(tuple(wording_of(text).words), ANYWHERE) for text in texts]
    with store.shard.pin() as snapshot:
        rows = tombstone_rows(
            snapshot,
            Forbidden(claims, sources, passages),
            Terms(recreation, "asked", AT, None),
            store.shard.key,
        )
        base = snapshot.version
    event = EventRows("erasure_requested", "tombstones", rows)
    store.shard.commit(
        [event], operation="forget", actor="tester", run_id=bytes(16), now=utc_now(), base=base, reads={}
    )


def told(store, table, *columns):
    with store.shard.pin() as snapshot:
        rows = snapshot.current(table)
    return [tuple(row[name] for name in columns) for row in rows.to_pylist()]


def claim_of(store, folder, text):
    """Return the claim id of `text`, found in a store of the same key where it is then forgotten."""
    store.ingest([lines(folder, "probe", {"content": text})], format="messages")
    return told(store, "candidates", "claim_id")[-1][0]


def test_a_forgotten_delivery_stays_out_and_is_counted(store, tmp_path):
    path = lines(tmp_path, "talk", {"content": "I keep bees."}, {"content": "The hive is empty."})
    source = claim_and_source(store, path)
    forbid(store, sources=[source])
    with Store.open(tmp_path / "store") as again:
        receipt = again.ingest([lines(tmp_path, "talk", {"content": "I keep bees."})], format="messages")
    assert receipt["sources"]["linked"] == 1  # still stored here: a replay, nothing new
    assert receipt["records_read"] == sum(receipt["sources"].values())


def claim_and_source(store, path):
    store.ingest([path], format="messages")
    return told(store, "sources", "source_id")[0][0]


def test_a_forgotten_delivery_is_refused_where_it_is_not_stored(tmp_path):
    path = lines(tmp_path, "talk", {"content": "I keep bees."}, {"content": "The hive is empty."})
    with Store.create(tmp_path / "first") as first:
        source = claim_and_source(first, path)
        key = first.shard.key
    with Store.create(tmp_path / "store") as store:
        store.shard.key = key
        forbid(store, sources=[source])
        receipt = store.ingest([path], format="messages")
        assert receipt["sources"] == {"new": 1, "linked": 0, "rejected": 1, "unreadable": 0}
        assert receipt["reasons"]["tombstoned"] == 1
        assert [text for (text,) in told(store, "sources", "content")] == ["The hive is empty."]
        version = store.shard.head
        again = store.ingest([path], format="messages")
        assert (again["sources"]["linked"], again["sources"]["rejected"]) == (1, 1)
        assert store.shard.head == version


@pytest.mark.parametrize(
    "message",
    [
        {"content": "search results: 1) SHELF nine holds the   copper wire.", "role": "tool"},
        {"content": "As you said, “shelf nine holds the copper wire”, I noted it.", "role": "assistant"},
        {"content": "Look", "note": "shelf nine holds the copper wire"},
    ],
)
def test_an_echo_is_cut_before_the_first_write(store, tmp_path, message):
    forbid(store, texts=["Shelf nine holds the copper wire"])
    receipt = store.ingest([lines(tmp_path, "talk", message)], format="messages")
    ((content, extra, flags),) = told(store, "sources", "content", "extra", "flags")
    assert "copper" not in content.lower() + (extra or "")
    assert "\x1a" in content or "\\u001a" in extra
    assert told(store, "decisions", "outcome", "reasons") == [("reject", ["tombstoned"])]
    assert receipt["cuts"] == {"tombstone": 1}
    assert flags & 64


def test_a_forgotten_claim_in_other_words_is_cut_and_never_proposed(store, tmp_path):
    claim = claim_of(store, tmp_path, "I live in Ghent.")
    forbid(store, claims=[claim])
    message = {"content": "Hello! I live in  GHENT. I play the cello.", "id": "x"}
    store.ingest([lines(tmp_path, "later", message)], format="messages")
    content = told(store, "sources", "content")[-1][0]
    assert "GHENT" not in content
    assert "I play the cello." in content
    assert [one for (one,) in told(store, "candidates", "claim_id")].count(claim) == 1  # the probe's own


def test_with_review_a_return_waits_out_of_sight(store, tmp_path):
    forbid(store, texts=["I live in Ghent"], recreation="require_review")
    path = lines(tmp_path, "talk", {"content": "I live in Ghent."})
    store.ingest([path], format="messages")
    assert told(store, "candidates", "gate") == [("quarantine:tombstoned",)]
    assert told(store, "atoms", "atom_id") == []
    assert ("quarantine", ["tombstoned"]) in told(store, "decisions", "outcome", "reasons")
    assert store.search("Ghent").rows == []
    assert store.packet("where is home Ghent").items == []
    assert store.sql("SELECT content FROM sources").to_pylist() == [{"content": None}]


def test_new_evidence_may_tell_it_again(store, tmp_path):
    forbid(store, texts=["I live in Ghent"], recreation="allow_if_new_evidence")
    old = {"content": "I live in Ghent.", "ts": "2026-05-01T10:00:00Z"}
    new = {"content": "I live in Ghent.", "ts": "2026-05-09T10:00:00Z"}
    store.ingest([lines(tmp_path, "old", old)], format="messages")
    assert told(store, "atoms", "atom_id") == []
    store.ingest([lines(tmp_path, "new", new)], format="messages")
    assert len(told(store, "atoms", "atom_id")) == 1


def test_a_store_without_tombstones_reads_no_table_of_them(store, tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(
        "amos.journal.snapshot.Snapshot.current",
        lambda *words, **_: asked.append(words[1]) or pytest.fail("tombstones were read"),
    )
    store.ingest([lines(tmp_path, "talk", {"content": "I keep bees."})], format="messages")
    assert asked == []
