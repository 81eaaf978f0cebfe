"""Forgetting end to end: what goes, what stays, what is said, and that no byte of it is left."""

import json
from dataclasses import replace

import pytest

from amos.api import Store
from amos.clock import as_text
from amos.errors import InputError, UsageError
from amos.flow.look import Wanted
from amos.flow.paging import PageRequest
from amos.identity import conversation_identity, id_text, source_identity
from amos.views.forgotten import forget_lines
from forgotten import confirmed, guesses, traces_of

SECRET = "I live in Zanzibar."
TALK = [
    {"id": "a", "conversation": "one", "text": SECRET, "ts": "2026-03-01T08:00:00Z"},
    {"id": "b", "conversation": "one", "text": "My locker is B12.", "ts": "2026-03-02T08:00:00Z"},
    {
        "id": "c",
        "conversation": "two",
        "role": "tool",
        "text": "found: i live in ZANZIBAR (1 hit)",
        "ts": "2026-03-03T08:00:00Z",
    },
    {"id": "d", "conversation": "two", "text": "My locker is B12.", "ts": "2026-03-04T08:00:00Z"},
    {
        "id": "e",
        "conversation": "three",
        "text": "My favourite colour is teal. I live in Zanzibar",
        "ts": "2026-03-05T08:00:00Z",
        "note": "he said: i live in zanzibar",
    },
]


def write(path, lines):
    rows = [{"role": "user", **line} for line in lines]
    path.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def store(tmp_path):
    with Store.create(tmp_path / "store") as store:
        store.ingest([write(tmp_path / "talk.jsonl", TALK)], format="messages")
        (tmp_path / "talk.jsonl").unlink()
        yield store


def atom(store, word):
    """Return the reference of the claim whose payload holds `word`."""
    with store.shard.pin() as snapshot:
        rows = snapshot.current("atoms").to_pylist()
    return next(id_text("atoms", row["atom_id"]) for row in rows if word in row["payload"])


def source(store, key):
    with store.shard.pin() as snapshot:
        rows = snapshot.current("sources").to_pylist()
    return next(row for row in rows if row["delivery_key"].endswith(f"/{key}"))


def ref(store, key):
    return id_text("sources", source(store, key)["source_id"])


def statements(store):
    return sorted(row["statement"] for row in store.list().rows)


def test_a_forgotten_claim_leaves_no_byte_and_no_digest(store, tmp_path):
    with store.shard.pin() as snapshot:
        payloads = snapshot.table("candidates")["payload"].to_pylist()
    store.packet("where do I live", record=True)
    store.shard.purge()
    report = store.forget(atom(store, "Zanzibar"))
    assert report["status"] == "purged"
    assert report["revised"] == 3
    zanzibar = [payload for payload in payloads if "anzibar" in payload]
    tries = guesses("I live in Zanzibar", zanzibar) | guesses(SECRET, zanzibar)
    assert traces_of(tmp_path / "store", "Zanzibar") == []
    assert confirmed(tmp_path / "store", tries) == []
    assert store.verify().problems == []
    store.close()
    assert traces_of(tmp_path / "store", "Zanzibar") == []


def test_the_scan_finds_what_is_there(store, tmp_path):
    assert traces_of(tmp_path / "store", "Zanzibar") != []
    with store.shard.pin() as snapshot:
        content = source(store, "a")["content"]
        assert snapshot.version == 1
    assert confirmed(tmp_path / "store", guesses(content, [])) != []


def test_no_way_of_reading_shows_what_was_forgotten(store):
    gone = atom(store, "Zanzibar")
    store.forget(gone)
    assert store.search("Zanzibar").rows == []
    assert "anzibar" not in repr(store.packet("where do I live"))
    for kind in ("atoms", "sources", "conversations", "candidates", "decisions"):
        from amos.flow.look import Wanted

        assert "anzibar" not in json.dumps(store.list(Wanted(kind=kind, state="all")).rows).lower()
    assert store.show(gone)["found"] is False
    with pytest.raises(UsageError, match="nothing is stored"):
        store.why(gone)
    tables = ["sources", "atoms", "candidates", "entities", "lineage", "decisions"]
    for table in tables:
        assert "anzibar" not in str(store.sql(f"SELECT * FROM {table}").to_pylist()).lower()
    assert "anzibar" not in json.dumps(list(store.export()), default=str).lower()
    assert "anzibar" not in json.dumps(store.report_ingest(), default=str).lower()


def test_a_stored_index_does_not_bring_it_back(store, tmp_path, monkeypatch):
    monkeypatch.setattr("amos.retrieval.store.REFRESH_ROWS", 1)
    from amos.flow.recall import refresh

    refresh(store.shard, at_least=1)
    assert store.search("Zanzibar").rows != []
    with store.shard.pin():  # a reader keeps the purge waiting, so the old index still stands
        report = store.forget(atom(store, "Zanzibar"), wait_seconds=0)
        assert report["status"] == "pending"
        assert list((store.shard.folder / "derived").rglob("base.idx")) != []
        assert store.search("Zanzibar").rows == []
    assert store.shard.purge().is_done
    assert traces_of(tmp_path / "store", "Zanzibar") == []


def test_cut_words_keep_their_places_and_neighbours_keep_their_evidence(store):
    before = source(store, "e")
    store.forget(atom(store, "Zanzibar"))
    after = source(store, "e")
    assert len(after["content"].encode()) == len(before["content"].encode())
    assert after["content"].startswith("My favourite colour is teal. \x1a")
    assert (after["revision"], after["delivery_digest"]) == (2, before["delivery_digest"])
    assert "zanzibar" not in after["extra"]
    why = store.why(atom(store, "teal"))
    assert why["evidence"][0]["excerpt"].startswith("My favourite colour is teal")


def test_what_has_other_support_is_decided_again(store):
    report = store.forget(ref(store, "b"))
    assert report["removed"]["sources"] == 1
    assert "atoms" not in report["removed"]
    with store.shard.pin() as snapshot:
        rows = [row for row in snapshot.table("atoms").to_pylist() if "B12" in row["payload"]]
    assert [(row["evidence_count"], row["source_id"]) for row in rows] == [
        (1, source(store, "d")["source_id"])
    ]
    assert store.verify().problems == []


@pytest.mark.parametrize(
    "message",
    [
        {"id": "x", "text": "I LIVE in  Zanzibar!"},
        {"id": "x", "text": "recall: “I live in Zanzibar”", "role": "tool"},
        {"id": "a", "text": SECRET},
        {"id": "x", "text": "Hello again. I live in ｚａｎｚｉｂａｒ. My pass is red."},
    ],
)
def test_it_does_not_come_back(store, tmp_path, message):
    claim = atom(store, "Zanzibar")
    store.forget(claim)
    again = {"conversation": "late", "ts": "2027-01-01T08:00:00Z", **message}
    store.ingest([write(tmp_path / "late.jsonl", [again])], format="messages")
    (tmp_path / "late.jsonl").unlink()
    assert store.show(claim)["found"] is False
    assert traces_of(tmp_path / "store", "Zanzibar ｚａｎｚｉｂａｒ") == []
    assert store.verify().problems == []


def test_a_whole_conversation_goes_with_its_row_and_does_not_return(store, tmp_path):
    talk = id_text("conversations", source(store, "e")["conversation_id"])
    report = store.forget(conversation=talk)
    assert report["removed"]["conversations"] == 1
    assert traces_of(tmp_path / "store", "favourite teal") == []
    again = store.ingest([write(tmp_path / "late.jsonl", TALK)], format="messages")
    assert again["sources"] == {"new": 0, "linked": 4, "rejected": 1, "unreadable": 0}
    assert store.show(talk)["found"] is False


def test_a_time_range_is_half_open_and_leaves_the_rest(store):
    store.forget(since="2026-03-02", until="2026-03-04T08:00:00Z")
    with store.shard.pin() as snapshot:
        keys = snapshot.current("sources")["delivery_key"].to_pylist()
    assert sorted(keys) == ["one/a", "three/e", "two/d"]


def test_a_run_is_forgotten_by_its_id(store, tmp_path):
    more = [{"id": "z", "conversation": "four", "text": "My diet is vegan."}]
    store.ingest([write(tmp_path / "more.jsonl", more)], format="messages")
    run = id_text("runs", store.shard.runs()[-1].run_id)
    store.forget(run=run)
    assert "The user's diet is vegan." not in statements(store)
    assert store.verify().problems == []


def test_a_scope_means_rows_of_exactly_that_value(tmp_path):
    lines = [
        {"id": "1", "conversation": "x", "text": "I like lemon cake.", "scope": {"user": "u1"}},
        {"id": "2", "conversation": "y", "text": "I like plum cake.", "scope": {"user": "u2"}},
        {"id": "3", "conversation": "z", "text": "I like rye bread."},
    ]
    with Store.create(tmp_path / "store") as store:
        store.ingest([write(tmp_path / "talk.jsonl", lines)], format="messages")
        with store.shard.pin() as snapshot:
            before = {row["source_id"]: row for row in snapshot.table("sources").to_pylist()}
        report = store.forget(scope={"user": "u1"})
        assert report["removed"]["sources"] == 1
        with store.shard.pin() as snapshot:
            after = {row["source_id"]: row for row in snapshot.table("sources").to_pylist()}
        assert len(after) == 2
        assert all(before[one] == row for one, row in after.items())


def test_a_selection_of_everything_must_be_asked_for(store):
    with pytest.raises(UsageError, match="all 5 sources"):
        store.forget(since="2020-01-01")
    report = store.forget(since="2020-01-01", is_all=True)
    assert report["removed"]["sources"] == 5
    with store.shard.pin() as snapshot:
        counts = snapshot.counts()
    assert {name for name, count in counts.items() if count} == {"events", "tombstones"}
    assert store.verify().problems == []


@pytest.mark.parametrize(
    ("refs", "options", "message"),
    [
        ((), {}, "nothing is named"),
        (("src_aaaaaa",), {}, "nothing is called"),
        (("evt_aaaaaa",), {}, "nothing is called|cannot be forgotten"),
        ((), {"subject": "Nobody"}, "no subject is called"),
        ((), {"since": "soon"}, "no date"),
        ((), {"since": "2026-01-01", "recreation": "perhaps"}, "no recreation policy"),
        ((), {"since": "2026-01-01", "expires": "2001-01-01"}, "not in the future"),
        ((), {"since": "2026-01-01", "reason": "because of Anna's call"}, "short code"),
        ((), {"subject": "user", "since": "2026-01-01"}, "cannot be combined"),
    ],
)
def test_a_request_that_makes_no_sense_changes_nothing(store, refs, options, message):
    with pytest.raises(UsageError, match=message):
        store.forget(*refs, **options)
    assert store.shard.head == 1


def test_a_dry_run_lists_what_goes_and_changes_nothing(store):
    report = store.forget(atom(store, "Zanzibar"), dry_run=True)
    fates = {(row["table"], row["fate"]) for row in report["goes"]}
    assert {("atoms", "removed"), ("sources", "revised")} <= fates
    assert report["goes_total"] == len(report["goes"])
    assert (report["status"], store.shard.head) == ("would_purge", 1)


def test_evidence_can_be_kept_and_that_is_said(store):
    report = store.forget(atom(store, "Zanzibar"), keep_evidence=True)
    assert source(store, "a")["content"] == SECRET
    assert any("--keep-evidence" in row["why"] for row in report["residual"])
    assert not [one for one in statements(store) if "Zanzibar" in one]
    assert store.verify().problems == []


def test_the_report_names_copies_made_before(store):
    from amos.schemas.catalog import CopyEntry

    copy = CopyEntry(b"c" * 16, "backup", 1_770_000_000_000_000, 1, "nightly.amos")
    store.shard.commit(
        [], base=1, reads={}, operation="backup", actor="tester", run_id=b"r" * 16, now=_now(),
        notices=[_notice()], also=lambda care, _: care.put_copy(copy),
    )  # fmt: skip
    report = store.forget(atom(store, "Zanzibar"))
    assert "backup nightly.amos" in [row["what"] for row in report["residual"]]


def _now():
    from amos.clock import utc_now

    return utc_now()


def _notice():
    from amos.journal.events import EventNotice

    return EventNotice("snapshot_registered", {"copy": True})


def test_a_hold_refuses_deletion_which_is_journaled_without_content(store):
    held = store.hold(ref(store, "a"), reason="case_7")
    with pytest.raises(InputError, match=held["hold_id"]) as refusal:
        store.forget(atom(store, "Zanzibar"))
    assert refusal.value.code == "retention_policy_denied"
    with store.shard.pin() as snapshot:
        event = snapshot.table("events").to_pylist()[-1]
    assert event["event_type"] == "command_rejected"
    assert "anzibar" not in event["payload"]
    assert store.verify().problems == []
    store.release(held["hold_id"])
    assert store.forget(atom(store, "Zanzibar"))["status"] == "purged"


@pytest.mark.parametrize("kind", ["claim", "source", "conversation"])
def test_what_is_held_can_be_hidden(store, tmp_path, kind):
    store.hold(reason="audit")
    wanted = {
        "claim": [atom(store, "Zanzibar")],
        "source": [ref(store, "e"), ref(store, "a"), ref(store, "c")],
        "conversation": [
            id_text("conversations", source(store, key)["conversation_id"]) for key in ("a", "c", "e")
        ],
    }[kind]
    claim = atom(store, "Zanzibar")
    report = store.forget(*wanted, suppress=True)
    assert report["status"] == "suppressed"
    assert not [one for one in statements(store) if "Zanzibar" in one]
    assert store.search("Zanzibar").rows == []
    assert "anzibar" not in repr(store.packet("where do I live"))
    assert store.show(claim)["found"] is False
    with pytest.raises(UsageError, match="nothing is stored"):
        store.why(claim)
    for table in ("sources", "atoms", "candidates", "entities"):
        assert "anzibar" not in str(store.sql(f"SELECT * FROM {table}").to_pylist()).lower()
    assert "anzibar" not in json.dumps(list(store.export()), default=str).lower()
    assert store.verify().problems == []
    assert traces_of(tmp_path / "store", "Zanzibar") != []


def test_versions_that_would_show_what_is_hidden_are_refused_by_name(store):
    before = store.shard.head
    page = Wanted(kind="sources", page=PageRequest(limit=1))
    cursor = store.list(page).cursor
    then = as_text(store.shard.records().commits[-1].accepted_us)
    hidden = store.forget(atom(store, "Zanzibar"), suppress=True)["graph_version"]
    asks = [
        lambda when: store.list(**when),
        lambda when: store.search("Zanzibar", **when),
        lambda when: store.packet("where do I live", **when),
        lambda when: store.show(ref(store, "a"), **when),
        lambda when: store.sql("SELECT * FROM atoms", **when),
    ]
    for ask in asks:
        with pytest.raises(UsageError, match=f"hidden by graph version {hidden}") as refusal:
            ask({"at_version": before})
        assert refusal.value.code == "beyond_suppression"
        assert "anzibar" not in str(ask({"at_version": hidden}))
    with pytest.raises(UsageError, match="cannot be shown"):
        store.list(known_at=then)
    rest = store.list(replace(page, page=PageRequest(limit=100, cursor=cursor)))
    assert "anzibar" not in str(rest)


def test_a_store_that_lost_its_key_can_be_read_but_not_written(store, tmp_path):
    store.forget(atom(store, "Zanzibar"))
    store.close()
    (tmp_path / "store/default/default/keys.sqlite").unlink()
    with pytest.raises(Exception, match=r"keys\.sqlite") as refusal:
        Store.open(tmp_path / "store")
    assert "read" in refusal.value.advice
    with Store.open(tmp_path / "store", read_only=True) as reader:
        assert "My locker is B12." in repr(reader.packet("locker"))


def test_keys_made_of_texts_tell_nothing_of_a_forgotten_one(tmp_path):
    """Formats without ids chain digests of texts: later keys would confirm a guess about an earlier text."""
    from amos.sources.keys import chain_key, chain_seed

    lines = [{"text": SECRET}, {"text": "My locker is B12."}, {"text": "My diet is vegan."}]
    keys, last = [], chain_seed(None, None, None, None)
    for line in lines:
        last = chain_key(last, "user", line["text"])
        keys.append(last)
    with Store.create(tmp_path / "store") as store:
        store.ingest([write(tmp_path / "log.jsonl", lines)], format="messages")
        folder = tmp_path / "store"
        tries = {bytes.fromhex(key) for key in keys} | {source_identity("messages", key, 0) for key in keys}
        tries |= {conversation_identity("messages", key) for key in keys}
        assert confirmed(folder, tries) != []
        with store.shard.pin() as snapshot:
            rows = snapshot.current("sources").to_pylist()
        first = next(row for row in rows if row["content"] == SECRET)
        store.forget(id_text("sources", first["source_id"]))
        assert confirmed(folder, tries) == []
        assert store.verify().problems == []
        assert len(store.list().rows) == 2
        # a longer log of the same talk goes on where the stored one ends, under keys as silent
        more = [*lines, {"text": "My pass is blue."}]
        receipt = store.ingest([write(tmp_path / "log.jsonl", more)], format="messages")
        assert receipt["sources"] == {"new": 1, "linked": 2, "rejected": 1, "unreadable": 0}
        tries.add(bytes.fromhex(chain_key(last, "user", "My pass is blue.")))
        assert confirmed(folder, tries) == []
        with store.shard.pin() as snapshot:
            assert snapshot.current("conversations").num_rows == 1
            assert set(snapshot.current("sources")["conversation_id"].to_pylist()) == set(
                snapshot.current("conversations")["conversation_id"].to_pylist()
            )
        assert store.verify().problems == []


def test_a_preview_states_each_claim_and_prints_no_payload(store):
    report = store.forget(atom(store, "teal"), dry_run=True)
    texts = [row["text"] for row in report["goes"] if row["table"] == "atoms" and row["fate"] == "removed"]
    assert texts == ["User's favourite colour is teal."]
    assert not [line for line in forget_lines(report) if "{" in line]


def test_a_selection_without_messages_is_not_called_gone(store):
    report = store.forget(since="2031-01-01T00:00:00Z")
    lines = list(forget_lines(report))
    assert len(lines) == 1
    assert lines[0].startswith("Nothing that is stored fits: nothing was forgotten.")


def test_the_sentence_in_which_a_claim_was_printed_does_not_bring_it_back(store, tmp_path):
    claim = atom(store, "Zanzibar")
    (said,) = [one for one in statements(store) if "Zanzibar" in one]
    echo = [{"id": "echo", "role": "tool", "text": f"memory: {said.upper()} (1 of 3)"}]
    path = tmp_path / "echo.jsonl"
    path.write_text("\n".join(map(json.dumps, echo)))
    store.ingest(path, format="messages")
    entity = {"type": "entity", "name": "user", "entityType": "person", "observations": [said]}
    store.forget(claim)
    assert traces_of(tmp_path / "store", "Zanzibar") == []  # an echo that was stored before goes too
    echo[0]["id"] = "again"
    path.write_text("\n".join(map(json.dumps, echo)))
    store.ingest(path, format="messages")
    (tmp_path / "mcp.jsonl").write_text(json.dumps(entity))
    store.ingest(tmp_path / "mcp.jsonl", format="mcp-memory")
    assert traces_of(tmp_path / "store", "Zanzibar") == []
    assert "locker is B12" in str(store.list().rows)


def told_again(store, tmp_path, *texts, role="assistant"):
    """Store what somebody tells the user."""
    lines = [
        {"id": f"told-{number}", "conversation": "told", "role": role, "text": text}
        for number, text in enumerate(texts)
    ]
    path = tmp_path / "told.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    store.ingest(path, format="messages")


YOU = ["You live in Zanzibar, noted.", "Got it: your home city is Zanzibar!", "Do you live in Zanzibar?"]


@pytest.mark.parametrize("is_before", [True, False])
def test_what_an_agent_tells_the_author_goes_and_stays_away(store, tmp_path, is_before):
    claim = atom(store, "Zanzibar")
    if is_before:
        told_again(store, tmp_path, *YOU)
        assert store.forget(claim, dry_run=True)["revised"] == 3 + len(YOU)
    report = store.forget(claim)
    assert report["still_said_total"] == 0
    told_again(store, tmp_path, *YOU)
    (tmp_path / "told.jsonl").unlink()
    assert traces_of(tmp_path / "store", "Zanzibar") == []
    assert "anzibar" not in repr(store.packet("where do I live"))
    assert store.verify().problems == []


def test_what_a_user_tells_another_is_no_repetition(store, tmp_path):
    told_again(store, tmp_path, "You live in Zanzibar, noted.", role="user")
    report = store.forget(atom(store, "Zanzibar"))
    assert report["revised"] == 3
    assert [row["text"] for row in report["still_said"]] == ["You live in Zanzibar, noted."]


def test_messages_that_still_hold_the_value_are_listed_and_gone_says_no_more(store, tmp_path):
    told_again(store, tmp_path, "ZANZIBAR has fine beaches.", "Zanzibaris sail.", "You live in Zanzibar!")
    claim = atom(store, "Zanzibar")
    preview, report = store.forget(claim, dry_run=True), store.forget(claim)
    for told in (preview, report):
        assert told["still_said_total"] == 1
        assert told["still_said"] == [
            {"ref": ref(store, "told-0"), "text": "ZANZIBAR has fine beaches.", "value": "Zanzibar"}
        ]
        lines = "\n".join(forget_lines(told))
        assert "1 other message still holds “Zanzibar”" in lines
        assert "no file of the store holds it" not in lines
    assert any("still holds “Zanzibar”" in row["what"] for row in report["residual"])
    assert store.forget(ref(store, "told-0"))["status"] == "purged"
    assert store.forget(atom(store, "teal"))["still_said"] == []
