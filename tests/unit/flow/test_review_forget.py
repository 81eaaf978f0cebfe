"""Requests to forget: nothing goes by itself, a person sees the reach, approval forgets for good."""

import json

import pytest

from amos.errors import BusyError, InputError, UsageError
from amos.flow.review_cases import QueueFilter
from forgotten import traces_of
from households import call
from laws import digest_of
from remembered import remembered, told

ASKS = QueueFilter(kinds=("forget",))
HOME = told("m1", "I live in Ghent.", 1)
BOAT = told("m2", "My boat is Petrel.", 2, turn=1)
FORGET_HOME = told("m9", "Forget that I live in Ghent.", 9, turn=8)


def asked(memory):
    (row,) = memory.store.review(ASKS).rows
    return row["ref"]


def reached(memory):
    return [one["statement"] for one in memory.store.show_review(asked(memory))["reaches"]]


def test_ingest_forgets_nothing_and_leaves_the_request_to_a_person():
    with remembered(HOME, BOAT, FORGET_HOME) as memory:
        assert memory.said() == ["User's boat is Petrel.", "User's home city is Ghent."]
        (row,) = memory.store.review(ASKS).rows
        assert row["statement"] == "Asks to forget “that I live in Ghent”."
        assert row["reasons"] == ["forget_requested"]
        assert row["days_left"] == 30
        assert memory.rows("tombstones") == []


def test_the_words_of_the_request_claim_nothing():
    with remembered(FORGET_HOME) as memory:
        assert memory.said("all") == []
        assert ("m9", "ignore", "request_not_memory") in memory.decided()


def test_a_case_shows_what_it_would_reach_and_the_words_that_ask():
    with remembered(HOME, BOAT, FORGET_HOME) as memory:
        case = memory.store.show_review(asked(memory))
        (home,) = [row for row in memory.listed() if row["statement"] == "User's home city is Ghent."]
        assert case["asks"] == ["that I live in Ghent"]
        assert [(one["ref"], one["state"], one["why"]) for one in case["reaches"]] == [
            (home["atom_id"], "active", "same_claim")
        ]
        start, end = case["evidence"]["spans"][0]
        assert case["evidence"]["text"].encode()[start:end] == b"that I live in Ghent"


def test_approval_forgets_with_its_ledger_and_no_file_keeps_the_word():
    with remembered(HOME, BOAT, FORGET_HOME) as memory:
        report = memory.store.decide("approve", asked(memory), note="as asked")
        forgot = report["items"][0]["forgot"]
        assert forgot["status"] == "purged"
        assert forgot["removed"]["atoms"] == 1
        assert memory.said("all") == ["User's boat is Petrel."]
        (entry,) = memory.store.shard.erasures()
        assert json.loads(entry.request)["reason"] == "author_request"
        assert memory.store.verify(deep=True).ok
        assert traces_of(memory.folder / "store", "Ghent") == []


def test_what_was_forgotten_so_does_not_come_back():
    with remembered(HOME, BOAT, FORGET_HOME) as memory:
        memory.store.decide("approve", asked(memory))
        memory.hear(told("m12", "I live in Ghent.", 12, turn=11))
        assert memory.said() == ["User's boat is Petrel."]


def test_a_reviewer_may_let_it_come_back():
    with remembered(HOME, BOAT, FORGET_HOME) as memory:
        memory.store.decide("approve", asked(memory), recreation="allow_if_new_evidence")
        memory.hear(told("m12", "I live in Ghent.", 12, turn=11, ts="2127-05-12T07:45:00Z"))
        assert "User's home city is Ghent." in memory.said()


@pytest.mark.parametrize("verdict", ["reject", "defer"])
def test_rejecting_or_deferring_leaves_everything(verdict):
    with remembered(HOME, BOAT, FORGET_HOME) as memory:
        ref = asked(memory)
        end = {"until_us": 4_000_000_000_000_000} if verdict == "defer" else {}
        memory.store.decide(verdict, ref, **end)
        assert memory.said() == ["User's boat is Petrel.", "User's home city is Ghent."]
        assert len(memory.store.review(ASKS).rows) == (verdict == "defer")
        assert memory.store.shard.erasures() == []


def test_a_dry_run_counts_and_changes_nothing():
    with remembered(HOME, FORGET_HOME) as memory:
        before = digest_of(memory.store)
        report = memory.store.decide("approve", asked(memory), dry_run=True)
        assert report["items"][0]["forgot"]["removed"]["atoms"] == 1
        assert digest_of(memory.store) == before
        assert len(memory.store.review(ASKS).rows) == 1


@pytest.mark.parametrize("is_decided", [False, True])
def test_hearing_a_request_again_adds_nothing(is_decided):
    with remembered(HOME, BOAT, FORGET_HOME) as memory:
        if is_decided:
            memory.store.decide("approve", asked(memory))
        before = digest_of(memory.store)
        receipt = memory.hear(FORGET_HOME)
        assert receipt["sources"]["linked"] == 1
        assert digest_of(memory.store) == before


def test_a_decision_that_is_repeated_forgets_nothing_more():
    with remembered(HOME, BOAT, FORGET_HOME) as memory:
        ref = asked(memory)
        memory.store.decide("approve", ref)
        again = memory.store.decide("approve", ref)
        assert (again["decided"], again["replayed"]) == (0, 1)


def test_order_and_size_of_batches_make_no_difference():
    lines = [HOME, BOAT, FORGET_HOME]
    with remembered(*lines) as once, remembered() as parts:
        for one in reversed(lines):
            parts.hear(one)
        assert digest_of(once.store) == digest_of(parts.store)


def test_held_claims_are_reached_by_their_words():
    lines = (told("m1", "My salary is 41,500 a year."), BOAT)
    with remembered(*lines, told("m9", "Please delete what I said about my salary.", 9, turn=8)) as memory:
        assert reached(memory) == ["User's salary is 41,500 a year."]
        memory.store.decide("approve", asked(memory))
        assert [outcome for _, outcome, _ in memory.decided()].count("quarantine") == 0
        assert memory.said() == ["User's boat is Petrel."]


@pytest.mark.parametrize(
    "other",
    [
        told("m1", "I live in Ghent.", conversation="b", author="Omar"),
        told("m1", "I live in Ghent.", scope={"project": "barn"}),
        told("m1", "My sister lives in Ghent."),
        told("m1", "I live in Ghent.", role="assistant"),
    ],
)
def test_what_others_said_and_what_belongs_elsewhere_is_not_reached(other):
    with remembered(other, BOAT, FORGET_HOME) as memory:
        assert reached(memory) == []


def test_what_is_said_afterwards_is_not_reached():
    late = told("m10", "I live in Ghent.", 10, turn=9)
    with remembered(BOAT, FORGET_HOME, late) as memory:
        assert reached(memory) == []


def test_what_was_told_again_afterwards_stays_and_is_said():
    late = told("m10", "I live in Ghent.", 10, turn=9)
    with remembered(HOME, FORGET_HOME, late) as memory:
        case = memory.store.show_review(asked(memory))
        assert case["reaches"] == []
        assert [(one["statement"], one["why"]) for one in case["stays"]] == [
            ("User's home city is Ghent.", "told_again_since")
        ]


def test_what_the_same_message_said_before_is_reached_and_the_rest_of_it_stays():
    with remembered(told("m1", "My dog is called Rex. My boat is Petrel. Forget my dog's name.")) as memory:
        assert reached(memory) == ["User's dog's name is Rex."]
        memory.store.decide("approve", asked(memory))
        assert memory.said() == ["User's boat is Petrel."]


def test_a_request_that_reaches_nothing_is_simply_closed():
    with remembered(BOAT, FORGET_HOME) as memory:
        report = memory.store.decide("approve", asked(memory))
        assert report["items"][0]["forgot"] is None
        assert memory.store.review(ASKS).rows == []
        assert memory.said() == ["User's boat is Petrel."]


def test_no_filter_sweeps_requests_up_unless_it_asks_for_them():
    with remembered(HOME, FORGET_HOME) as memory:
        assert memory.store.decide("approve", wanted=QueueFilter())["items"] == []
        assert memory.said() == ["User's home city is Ghent."]
        told_of = memory.store.decide("approve", wanted=ASKS)
        assert told_of["decided"] == 1
        assert memory.said() == []


def test_several_requests_are_forgotten_one_by_one_and_what_cannot_be_is_told():
    lines = (HOME, BOAT, FORGET_HOME, told("m10", "Forget my boat.", 10, turn=9))
    with remembered(*lines) as memory:
        (boat,) = [row for row in memory.listed() if "boat" in row["statement"]]
        memory.store.hold(boat["atom_id"], reason="court_order")
        report = memory.store.decide("approve", wanted=ASKS)
        assert (report["decided"], report["refused"]) == (1, 1)
        assert memory.said() == ["User's boat is Petrel."]


def test_a_legal_hold_stands_against_it():
    with remembered(HOME, FORGET_HOME) as memory:
        (home,) = memory.listed()
        memory.store.hold(home["atom_id"], reason="court_order")
        with pytest.raises(InputError):
            memory.store.decide("approve", asked(memory))
        assert memory.said() == ["User's home city is Ghent."]
        assert len(memory.store.review(ASKS).rows) == 1


def test_a_reach_that_changed_since_is_looked_at_again():
    with remembered(HOME, FORGET_HOME) as memory:
        ref = asked(memory)
        memory.hear(told("m4", "I live in Ghent.", 4, turn=3))
        with pytest.raises(BusyError, match="changed since"):
            memory.store.decide("approve", ref)
        memory.store.decide("approve", ref, seen=memory.store.shard.head)
        assert memory.said() == []


def test_a_request_has_no_wording_to_edit():
    with remembered(HOME, FORGET_HOME) as memory, pytest.raises((UsageError, InputError)):
        memory.store.decide("edit", asked(memory), value="Bruges")


def test_a_secret_in_a_request_is_cut_and_the_request_waits():
    with remembered(told("m1", "Forget that my wifi password is Otter!9931.")) as memory:
        (row,) = memory.store.review(ASKS).rows
        assert row["reasons"] == ["forget_requested", "secret_material_detected"]
        assert "Otter" not in memory.rows("sources")[0]["content"]


def test_nothing_is_read_of_a_message_that_is_withheld():
    lines = (HOME, told("m2", "My boat is Petrel and I live in Ghent.", 2, turn=1))
    with remembered(*lines) as memory:
        (home,) = [row for row in memory.listed() if "Ghent" in row["statement"]]
        memory.store.forget(home["atom_id"], recreation="require_review")
        memory.hear(told("m9", "I live in Ghent. Forget that I live in Ghent.", 9, turn=8))
        assert memory.store.review(ASKS).rows == []


def test_the_command_line_shows_the_reach_and_forgets(tmp_path):
    from strategies import write_lines

    talk = write_lines(tmp_path / "talk.jsonl", [HOME, BOAT, FORGET_HOME])
    assert call("-q", "-s", tmp_path / "mem", "ingest", talk, "--from", "messages").code == 0

    def own(*words):
        return call("-s", tmp_path / "mem", *words)

    (row,) = own("review", "list", "--kind", "forget", "--json").rows
    shown = own("review", "show", row["ref"]).out
    assert "Approving it forgets, for good:" in shown
    assert "User's home city is Ghent. (active, same_claim)" in shown
    done = own("review", "decide", "approve", row["ref"])
    assert "1 atoms" in done.out
    assert "Ghent" not in own("list").out
