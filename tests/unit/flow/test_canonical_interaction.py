"""One message, three kinds of evidence: a request of this evening, an outcome, and no preference."""

import msgspec

from laws import scratch
from strategies import write_lines

TEXT = "It is evening, so please suggest something without caffeine. Last time the mint tea worked well."


def line(text, **fields):
    """Return the message as its line, said on a spring evening."""
    return {
        "id": "day-90",
        "conversation": "aurora",
        "turn": 0,
        "ts": "2026-03-31T19:30:00+02:00",
        "text": text,
        **fields,
    }


def decided(store):
    """Return (candidate, decision) pairs of the newest version."""
    with store.shard.pin() as snapshot:
        candidates = snapshot.current("candidates").to_pylist()
        decisions = {row["candidate_id"]: row for row in snapshot.current("decisions").to_pylist()}
    return [(row, decisions[row["candidate_id"]]) for row in candidates]


def test_the_request_and_the_outcome_commit_and_no_preference_does():
    with scratch() as (folder, store):
        path = write_lines(folder / "talk.jsonl", [line(TEXT)])
        store.ingest([path], format="messages")
        committed = [row for row, decision in decided(store) if decision["outcome"] == "commit"]
        constraint = next(row for row in committed if row["memory_class"] == "temporary_state")
        outcome = next(row for row in committed if row["type"] == "episode")
        assert constraint["polarity"] == "negative"
        assert "caffeine" in constraint["payload"]
        conditions = msgspec.json.decode(constraint["payload"])["applicability"]
        assert conditions["time_of_day"] == "evening"
        assert constraint["valid_until"] is not None
        start, end = constraint["spans"][:2]
        assert end <= TEXT.index(". ")
        assert "without caffeine" in TEXT[start:end]
        assert "mint tea" in outcome["payload"]
        assert msgspec.json.decode(outcome["payload"])["time"]["precision"] == "relative"
        durable = [row for row in committed if row["memory_class"] == "durable_fact"]
        assert not durable

        before = store.ingest([path], format="messages")
        assert before["sources"]["linked"] == 1
        assert sum(before["decisions"].values()) == 0


def test_the_morning_makes_another_scope_of_the_same_request():
    with scratch() as (folder, store):
        text = TEXT.replace("evening", "morning")
        store.ingest([write_lines(folder / "talk.jsonl", [line(text)])], format="messages")
        conditions = [
            msgspec.json.decode(row["payload"]).get("applicability", {}).get("time_of_day")
            for row, _ in decided(store)
        ]
        assert "morning" in conditions
        assert "evening" not in conditions


def test_without_the_word_without_nothing_is_avoided():
    with scratch() as (folder, store):
        text = TEXT.replace("without caffeine", "with caffeine")
        store.ingest([write_lines(folder / "talk.jsonl", [line(text)])], format="messages")
        avoided = [
            row
            for row, decision in decided(store)
            if "caffeine" in row["payload"]
            and row["polarity"] == "negative"
            and decision["outcome"] == "commit"
        ]
        assert not avoided
