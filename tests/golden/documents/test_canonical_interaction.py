"""The canonical interaction of "How Experience Enters Memory", with the five outcomes that it prints.

On day 90 Lia tells Aurora one message; the same delivery comes again; an envelope has no identity.
"""

import json

import pytest

from remembered import remembered
from strategies import write_lines

MESSAGE = "It is evening, so please suggest something without caffeine. Last time the mint tea worked well."
DAY_90 = {"id": "day-90", "conversation": "aurora", "author": "Lia", "ts": "2026-03-31T19:30:00+02:00"}


@pytest.fixture(scope="module")
def memory():
    with remembered({**DAY_90, "text": MESSAGE}) as told:
        yield told


def candidate(memory, **wanted):
    """Return the one printed candidate with these fields, and its cited words."""
    (found,) = [
        row
        for row in memory.listed("candidates")
        if all(row[name] == value for name, value in wanted.items())
    ]
    start, end = found["spans"][:2]
    return found, MESSAGE.encode()[start:end].decode()


def payload_of(memory, candidate_id):
    """Return the stored fields of a candidate."""
    rows = {row["candidate_id"]: row for row in memory.listed("candidates")}
    kept = {row["spans"][0]: row for row in memory.rows("candidates")}
    return json.loads(kept[rows[candidate_id]["spans"][0]]["payload"])


def test_candidate_1_a_scoped_constraint_is_committed(memory):
    found, words = candidate(memory, memory_class="temporary_state")
    assert found["outcome"] == "commit"
    assert "without caffeine" in words
    assert found["polarity"] == "negative"
    assert found["modality"] == "request"
    assert payload_of(memory, found["candidate_id"])["applicability"]["time_of_day"] == "evening"


def test_candidate_1_ends_with_its_evening(memory):
    (atom,) = [row for row in memory.listed() if row["memory_class"] == "temporary_state"]
    (interval,) = atom["intervals"]
    assert interval["from"] == "2026-03-31T17:30:00.000000Z"
    assert interval["until"] is not None


def test_candidate_2_an_outcome_of_an_unresolved_episode_is_committed(memory):
    found, words = candidate(memory, type="episode")
    assert found["outcome"] == "commit"
    assert words == "Last time the mint tea worked well"
    assert payload_of(memory, found["candidate_id"])["time"] == {"precision": "relative", "text": "Last time"}


def test_candidate_2_is_only_known_to_precede_the_message(memory):
    (atom,) = [row for row in memory.listed(state="all") if row["type"] == "episode"]
    assert atom["intervals"] == [{"from": None, "until": "2026-03-31T17:30:00.000000Z"}]


def test_candidate_3_a_preference_of_one_outcome_waits_for_a_review(memory):
    found, words = candidate(memory, memory_class="durable_fact")
    assert (found["outcome"], found["reasons"]) == ("quarantine", ["low_confidence"])
    assert (found["type"], found["value"], words) == ("preference", "mint tea", "mint tea")
    assert payload_of(memory, found["candidate_id"])["derivation"] == "generalised_from_one_outcome"
    assert all(
        row["type"] != "preference" or row["value"] != "mint tea" for row in memory.listed(state="all")
    )


def test_the_same_delivery_again_links_and_creates_no_evidence():
    with remembered({**DAY_90, "text": MESSAGE}) as memory:
        before = {
            name: memory.rows(name) for name in ("sources", "candidates", "decisions", "atoms", "events")
        }
        receipt = memory.hear({**DAY_90, "text": MESSAGE})
        assert receipt["sources"] == {"new": 0, "linked": 1, "rejected": 0, "unreadable": 0}
        assert sum(receipt["decisions"].values()) == 0
        assert {name: memory.rows(name) for name in before} == before


def test_the_same_delivery_key_with_other_words_is_rejected():
    with remembered({**DAY_90, "text": MESSAGE}) as memory:
        receipt = memory.hear({**DAY_90, "text": MESSAGE.replace("mint", "sage")})
        assert receipt["sources"]["rejected"] == 1
        assert ("day-90", "reject", "delivery_conflict") in memory.decided()
        assert all("sage" not in row["content"] for row in memory.rows("sources"))


SESSION_LINE = {
    "type": "user",
    "uuid": "u1",
    "sessionId": "s1",
    "timestamp": "2026-03-31T19:30:00.000Z",
    "message": {"role": "user", "content": "My hook is 7."},
}


def test_an_envelope_that_nothing_can_name_is_rejected_with_a_reason():
    nameless = {**SESSION_LINE, "message": {"role": "user", "content": "My locker is 12."}}
    del nameless["sessionId"]
    with remembered() as memory:
        path = write_lines(memory.folder / "session.jsonl", [SESSION_LINE, nameless])
        receipt = memory.read(path, format="claude-code")
        assert receipt["sources"] == {"new": 1, "linked": 0, "rejected": 0, "unreadable": 1}
        assert [one["code"] for one in receipt["errors"]] == ["missing_id"]
        assert memory.said() == ["User's hook is 7."]


@pytest.mark.parametrize("payload", [{"text": 7}, {"text": ["tea"]}])
def test_an_envelope_without_a_readable_payload_is_rejected_with_a_reason(payload):
    with remembered({**DAY_90, "text": "My locker is 12."}) as memory:
        receipt = memory.hear({"id": "day-91", **payload})
        assert receipt["sources"]["unreadable"] == 1
        assert [one["code"] for one in receipt["errors"]] == ["wrong_type"]
        assert len(memory.rows("sources")) == 1


def test_where_a_format_has_no_ids_a_digest_names_the_delivery_and_is_reported():
    nameless = {"text": "My locker is 12.", "ts": DAY_90["ts"]}
    with remembered(nameless) as memory:
        assert memory.receipts[0]["unstable_ids"] == 1
        again = memory.hear(nameless)
        assert again["sources"]["linked"] == 1
        assert len(memory.rows("sources")) == 1
