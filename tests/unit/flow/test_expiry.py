"""What nobody decided on goes by itself at its deadline, at the end of a run that writes."""

from datetime import timedelta

import pytest

from amos.clock import utc_now
from amos.flow.due import may_have_expired
from amos.flow.review_cases import QueueFilter
from remembered import remembered, told

HELD = told("m1", "I think my locker is C40.", 1)
ASKS = told("m2", "Forget that I live in Ghent.", 2, turn=1)
NEXT = told("m3", "My boat is Petrel.", 3, turn=2)


@pytest.fixture
def later(monkeypatch):
    """Return the function that moves the clock of the queue on by days."""

    def move(days):
        moment = utc_now() + timedelta(days=days)
        monkeypatch.setattr("amos.flow.queue.utc_now", lambda: moment)

    return move


def outcomes(memory):
    return {key: (outcome, reason) for key, outcome, reason in memory.decided()}


def test_the_next_run_after_the_deadline_purges_what_waited(later):
    with remembered(HELD) as memory:
        later(31)
        memory.hear(NEXT)
        assert outcomes(memory)["m1"] == ("ignore", "quarantine_expired")
        assert len(memory.rows("candidates")) == 1
        assert memory.said() == ["User's boat is Petrel."]
        assert memory.store.verify(deep=True).ok


def test_before_the_deadline_everything_waits(later):
    with remembered(HELD) as memory:
        later(29)
        memory.hear(NEXT)
        assert outcomes(memory)["m1"] == ("quarantine", "uncertain")


def test_a_decision_of_a_person_also_looks(later):
    with remembered(HELD, ASKS) as memory:
        (row,) = memory.store.review(QueueFilter(kinds=("forget",))).rows
        later(31)
        memory.store.decide("reject", row["ref"])
        assert outcomes(memory)["m1"] == ("ignore", "quarantine_expired")


def test_a_request_to_forget_waits_until_somebody_decides(later):
    with remembered(ASKS) as memory:
        later(400)
        memory.hear(NEXT)
        assert len(memory.store.review(QueueFilter(kinds=("forget",))).rows) == 1


def test_one_looks_at_most_once_a_day(later):
    with remembered(HELD) as memory:
        later(31)
        memory.hear(NEXT)
        soon, next_day = utc_now() + timedelta(days=31.5), utc_now() + timedelta(days=32.1)
        assert not may_have_expired(memory.store.shard, soon, days=30)
        assert may_have_expired(memory.store.shard, next_day, days=30)


def test_a_young_store_is_never_searched():
    with remembered(HELD) as memory:
        assert not may_have_expired(memory.store.shard, utc_now() + timedelta(days=29), days=30)


def test_a_legal_hold_keeps_it_and_stops_no_run(later):
    with remembered(HELD) as memory:
        memory.store.hold(reason="case_1")
        later(31)
        memory.hear(NEXT)
        assert outcomes(memory)["m1"] == ("quarantine", "uncertain")
        assert memory.said() == ["User's boat is Petrel."]


def test_the_queue_says_what_happened_since_a_claim_was_held():
    with remembered(HELD, told("m4", "Her favourite snack is olives.", 4, turn=3)) as memory:
        assert [row["triggers"] for row in memory.store.review().rows] == [[], []]
        memory.hear(
            told("m5", "My locker is C40.", 5, turn=4), told("m6", "Dana likes rye bread.", 6, turn=5)
        )
        told_of = {row["statement"]: row["triggers"] for row in memory.store.review().rows}
        assert sorted(told_of.values()) == [["new_entity"], ["new_evidence"]]
        assert told_of["User's locker is C40."] == ["new_evidence"]
