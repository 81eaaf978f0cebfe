"""What a delivery becomes: new, linked, refused; retained or not."""

import pytest

from laws import scratch
from strategies import write_lines


def line(**fields):
    """Return one line with an id and a time."""
    return {"id": "m1", "conversation": "c", "turn": 0, "ts": "2026-03-01T08:00:00Z", **fields}


def rows(store, table):
    """Return the current rows of `table`."""
    with store.shard.pin() as snapshot:
        return snapshot.current(table).to_pylist()


def test_another_text_under_a_taken_key_is_refused_once():
    with scratch() as (folder, store):
        store.ingest([write_lines(folder / "a.jsonl", [line(text="My locker is B12.")])], format="messages")
        other = write_lines(folder / "b.jsonl", [line(text="My locker is C40.")])
        refused = store.ingest([other], format="messages")
        assert refused["sources"] == {"new": 0, "linked": 0, "rejected": 1, "unreadable": 0}
        assert refused["reasons"] == {"delivery_conflict": 1}
        again = store.ingest([other], format="messages")
        assert again["sources"]["rejected"] == 1
        assert sum(again["decisions"].values()) == 0
        assert again["graph_version"] == refused["graph_version"]
        assert [row["content"] for row in rows(store, "sources")] == ["My locker is B12."]


def test_the_same_text_under_two_keys_is_two_occurrences_of_one_claim():
    with scratch() as (folder, store):
        lines = [
            line(text="The office cactus is named Bruno."),
            line(id="m2", turn=1, text="The office cactus is named Bruno."),
        ]
        receipt = store.ingest([write_lines(folder / "a.jsonl", lines)], format="messages")
        assert (receipt["decisions"]["commit"], receipt["decisions"]["link"]) == (1, 1)
        (atom,) = rows(store, "atoms")
        assert atom["evidence_count"] == 2


def test_what_may_not_be_kept_leaves_an_envelope_without_content():
    with scratch() as (folder, store):
        path = write_lines(folder / "a.jsonl", [line(text="My locker is B12.", retain=False)])
        receipt = store.ingest([path], format="messages")
        assert receipt["decisions"]["reject"] == 1
        assert receipt["reasons"] == {"unauthorized_scope": 1}
        (source,) = rows(store, "sources")
        assert set(source["content"]) == {"\x1a"}
        assert not rows(store, "atoms")


def test_a_source_of_another_purpose_is_kept_and_commits_nothing():
    with scratch() as (folder, store):
        path = write_lines(folder / "a.jsonl", [line(text="My locker is B12.", purposes=["support"])])
        receipt = store.ingest([path], format="messages")
        assert receipt["decisions"]["commit"] == 0
        assert receipt["reasons"] == {"unauthorized_scope": 1}


def test_a_secret_is_cut_before_the_first_write_and_its_neighbour_kept():
    secret = "tok_EXAMPLE_5d1c0f7be2a94e6688aa"
    text = f"Remember: the relay token is {secret} and lorries leave on Mondays."
    with scratch() as (folder, store):
        receipt = store.ingest([write_lines(folder / "a.jsonl", [line(text=text)])], format="messages")
        assert receipt["cut_bytes"] == len(secret)
        assert "secret_material_detected" in receipt["reasons"]
        files = [path for path in store.shard.folder.rglob("*") if path.is_file()]
        assert not [path for path in files if secret.encode() in path.read_bytes()]


@pytest.mark.parametrize("count", [1, 40])
def test_a_growing_log_of_one_talk_stores_each_message_once(count):
    turns = [
        {"role": "user" if turn % 2 == 0 else "assistant", "content": f"turn number {turn} of the talk"}
        for turn in range(count)
    ]
    lines = [{"messages": turns[: size + 1]} for size in range(count)]
    with scratch() as (folder, store):
        receipt = store.ingest([write_lines(folder / "log.jsonl", lines)], format="openai")
        assert receipt["records_read"] == count == sum(receipt["sources"].values())
        assert len(rows(store, "sources")) == count


def test_a_dry_run_changes_nothing_and_counts_the_same():
    with scratch() as (folder, store):
        path = write_lines(folder / "a.jsonl", [line(text="My locker is B12.")])
        dry = store.ingest([path], format="messages", dry_run=True)
        assert store.shard.head == 0
        real = store.ingest([path], format="messages")
        assert dry["decisions"] == real["decisions"]
        assert dry["sources"] == real["sources"]


def test_a_line_of_another_tenant_is_refused_and_nothing_of_it_is_kept():
    with scratch() as (folder, store):
        lines = [
            line(text="My locker is B12."),
            line(id="m2", text="My badge is Z9.", scope={"tenant": "elsewhere"}),
        ]
        receipt = store.ingest([write_lines(folder / "a.jsonl", lines)], format="messages")
        assert receipt["sources"] == {"new": 1, "linked": 0, "rejected": 1, "unreadable": 0}
        assert receipt["reasons"]["tenant_boundary"] == 1
        assert "Z9" not in str(rows(store, "sources"))


def test_the_policy_that_decided_is_kept_once():
    with scratch() as (folder, store):
        for number in range(2):
            text = f"My locker is B{number}."
            path = write_lines(folder / f"{number}.jsonl", [line(id=f"m{number}", text=text)])
            store.ingest([path], format="messages")
        ((_, kind, body),) = store.shard.texts()
        assert kind == "policy"
        assert 'name = "default"' in body
