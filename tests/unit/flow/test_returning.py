"""A ban with an end: noted once when it is over, cited by what comes back, shown in lists and reports."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from amos.api import Store
from amos.errors import UsageError
from amos.extraction.registry import find_extractor
from amos.flow.look import Wanted
from amos.identity import id_text
from laws import digest_of
from rereading import Partial, ingest_with, read_again

MONTH = timedelta(days=30)
TALK = [
    {"id": "a", "text": "I live in Zanzibar."},
    {"id": "b", "text": "My locker is B12."},
    {"id": "c", "text": "Nothing but rain again today."},
]
EXPIRED = "tombstone_expired"


@pytest.fixture
def later(monkeypatch):
    """Return a function that moves the clock of every store on."""
    moved = [timedelta()]
    for module in ("amos.api", "amos.flow.looking", "rereading"):
        monkeypatch.setattr(f"{module}.utc_now", lambda: datetime.now(UTC) + moved[0])

    def move(by):
        moved[0] += by

    return move


def write(path, lines):
    rows = [{"role": "user", "conversation": "talk", **line} for line in lines]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


@pytest.fixture
def store(tmp_path):
    with Store.create(tmp_path / "store") as store:
        store.ingest([write(tmp_path / "talk.jsonl", TALK)], format="messages")
        yield store


def read(store, folder, *lines, name="more"):
    return store.ingest([write(folder / f"{name}.jsonl", lines)], format="messages")


def atom(store, word):
    with store.shard.pin() as snapshot:
        rows = snapshot.current("atoms").to_pylist()
    return next(id_text("atoms", row["atom_id"]) for row in rows if word in row["payload"])


def source(store, key):
    with store.shard.pin() as snapshot:
        rows = snapshot.current("sources").to_pylist()
    return next(id_text("sources", row["source_id"]) for row in rows if row["delivery_key"].endswith(key))


def until(days=10):
    return (datetime.now(UTC) + timedelta(days=days)).isoformat()


def reasons(store, word):
    """Return the reasons of the current decisions on claims that hold `word`."""
    with store.shard.pin() as snapshot:
        held = snapshot.current("candidates", ["candidate_id", "payload"]).to_pylist()
        decided = snapshot.current("decisions", ["candidate_id", "reasons"]).to_pylist()
    wanted = {row["candidate_id"] for row in held if word in row["payload"]}
    return [row["reasons"] for row in decided if row["candidate_id"] in wanted]


def tombstones(store):
    return store.list(Wanted(kind="tombstones", state="all")).rows


def events(store):
    with store.shard.pin() as snapshot:
        return snapshot.table("events")["event_type"].to_pylist().count(EXPIRED)


def test_before_its_end_a_ban_holds_and_nothing_is_noted(store, tmp_path, later):
    store.forget(atom(store, "Zanzibar"), expires=until())
    later(timedelta(days=9))
    again = read(store, tmp_path, {"id": "d", "text": "I live in Zanzibar."})
    assert again["tombstones_expired"] == 0
    assert (reasons(store, "Zanzibar"), events(store)) == ([], 0)
    assert {row["state"] for row in tombstones(store)} == {"active"}


def test_a_claim_that_returns_after_the_end_cites_it(store, tmp_path, later):
    store.forget(atom(store, "Zanzibar"), expires=until())
    count = len(tombstones(store))
    later(MONTH)
    back, other = {"id": "d", "text": "I live in Zanzibar."}, {"id": "e", "text": "I like mint tea."}
    assert read(store, tmp_path, back, other)["tombstones_expired"] == count
    ((first, second),) = reasons(store, "Zanzibar")
    assert (first != EXPIRED, second) == (True, EXPIRED)
    assert EXPIRED not in reasons(store, "tea")[0]
    assert events(store) == 1
    assert store.verify(deep=True).problems == []


def test_a_delivery_that_returns_cites_the_end_in_each_decision(store, tmp_path, later):
    store.forget(source(store, "/b"), source(store, "/c"), expires=until())
    later(MONTH)
    assert read(store, tmp_path, *TALK, name="talk")["sources"]["new"] == 2
    assert [found[-1] for found in reasons(store, "B12")] == [EXPIRED]
    with store.shard.pin() as snapshot:
        rows = snapshot.current("decisions", ["candidate_id", "outcome", "reasons"]).to_pylist()
    bare = [row for row in rows if row["candidate_id"] is None and EXPIRED in row["reasons"]]
    assert [(row["outcome"], row["reasons"][-1]) for row in bare] == [("ignore", EXPIRED)]


def test_the_citation_stays_when_a_late_source_re_decides_the_claim(store, tmp_path, later):
    store.forget(atom(store, "B12"), expires=until())
    later(MONTH)
    read(store, tmp_path, {"id": "d", "text": "My locker is B12.", "ts": "2026-03-04T08:00:00Z"})
    (before,) = reasons(store, "B12")
    read(store, tmp_path, {"id": "e", "text": "My locker is C40.", "ts": "2026-03-02T08:00:00Z"}, name="late")
    (after,) = reasons(store, "B12")
    assert before[0] != after[0]
    assert (before[1:], after[1:]) == ([EXPIRED], [EXPIRED])
    assert EXPIRED not in reasons(store, "C40")[0]


def test_another_reading_of_what_returned_cites_the_end_as_well(store, tmp_path, later):
    store.forget(atom(store, "B12"), expires=until())
    later(MONTH)
    path = write(tmp_path / "more.jsonl", [{"id": "d", "text": "My locker is B12."}])
    ingest_with(store, [path], Partial())
    read_again(store, find_extractor())
    standing = [found for found in reasons(store, "B12") if found[0] != "superseded_by_extractor"]
    assert [found[1:] for found in standing] == [[EXPIRED]]
    assert store.verify(deep=True).problems == []


def test_an_end_is_noted_once_and_only_by_who_writes(store, tmp_path, later):
    store.forget(atom(store, "Zanzibar"), expires=until())
    later(MONTH)
    before = (store.shard.head, digest_of(store))
    read(store, tmp_path, TALK[1], name="talk")  # nothing new: nothing is written
    assert (store.shard.head, digest_of(store)) == before
    assert {(row["state"], row["is_noted"]) for row in tombstones(store)} == {("expired", False)}
    for number in range(2):
        read(store, tmp_path, {"id": f"n{number}", "text": f"My bike code is {number}."}, name=f"n{number}")
    assert {(row["state"], row["is_noted"]) for row in tombstones(store)} == {("expired", True)}
    assert (events(store), {row["version"] for row in tombstones(store)}) == (1, {2})


def test_batches_do_not_change_what_an_end_leaves(tmp_path, later):
    more = [
        {"id": "d", "turn": 7, "text": "I live in Zanzibar."},
        {"id": "e", "turn": 8, "text": "My bike code is 12."},
    ]
    digests = set()
    for name, parts in {"one": [more], "two": [more[:1], more[1:]], "turned": [more[1:], more[:1]]}.items():
        with Store.create(tmp_path / name) as store:
            store.ingest([write(tmp_path / "talk.jsonl", TALK)], format="messages")
            store.forget(atom(store, "Zanzibar"), expires="2999-01-01")
            later(timedelta(days=400_000))
            for part in parts:
                read(store, tmp_path, *part)
            digests.add(digest_of(store))
            later(-timedelta(days=400_000))
    assert len(digests) == 1


def test_forgetting_again_after_the_end_bars_again(store, tmp_path, later):
    store.forget(atom(store, "Zanzibar"), expires=until())
    later(MONTH)
    read(store, tmp_path, {"id": "d", "text": "I live in Zanzibar."})
    report = store.forget(atom(store, "Zanzibar"))
    assert report["expired"] < len(tombstones(store))
    assert "active" in {row["state"] for row in tombstones(store)}
    read(store, tmp_path, {"id": "e", "text": "I live in Zanzibar."}, name="again")
    assert reasons(store, "Zanzibar") == []
    assert store.verify(deep=True).problems == []


def test_forgetting_notes_what_ended_and_says_so(store, later):
    store.forget(atom(store, "Zanzibar"), expires=until())
    ended = len(tombstones(store))
    later(MONTH)
    preview = store.forget(atom(store, "B12"), dry_run=True)
    assert (preview["expired"], events(store)) == (ended, 0)
    report = store.forget(atom(store, "B12"))
    assert (report["expired"], events(store)) == (ended, 1)
    assert any(f"{ended} expired tombstones" in row["what"] for row in report["residual"])


def test_a_ban_that_ended_and_is_renewed_has_one_row_per_version(store, later):
    ref = atom(store, "B12")
    store.forget(ref, suppress=True, expires=until())
    later(MONTH)
    report = store.forget(ref, expires=until(100))
    states = [(row["state"], row["version"]) for row in tombstones(store)]
    assert states.count(("expired", 2)) == report["expired"] == 1
    assert ("active", 2) in states
    assert store.verify(deep=True).problems == []


def test_the_list_tells_terms_and_never_what_is_barred(store):
    store.forget(atom(store, "Zanzibar"), expires="2999-01-01", recreation="require_review", reason="asked")
    rows = tombstones(store)
    assert {row["bars"] for row in rows} == {"claim", "text"}
    assert {(row["recreation"], row["reason"]) for row in rows} == {("require_review", "asked")}
    assert {row["expires_at"][:10] for row in rows} == {"2999-01-01"}
    assert "digest" not in rows[0]
    assert store.show(rows[0]["tombstone_id"])["item"] == {"table": "tombstones", **rows[0]}


def test_a_narrowed_scope_is_told_of_no_tombstone(store, tmp_path):
    store.forget(atom(store, "Zanzibar"))
    ref = tombstones(store)[0]["tombstone_id"]
    with Store.open(tmp_path / "store", scope={"project": "north"}, read_only=True) as narrow:
        with pytest.raises(UsageError, match="whole shard"):
            tombstones(narrow)
        with pytest.raises(UsageError, match="whole shard"):
            narrow.show(ref)
