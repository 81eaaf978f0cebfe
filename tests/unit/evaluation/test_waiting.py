"""The age of a review queue."""

from datetime import timedelta

from amos.clock import utc_now
from amos.evaluation.waiting import waiting_report
from amos.flow.sight import Sight
from remembered import remembered, told


def aged(memory, days):
    """Return the report as it will be in so many days."""
    with memory.store.shard.pin() as snapshot:
        sight = Sight(snapshot=snapshot, now=utc_now() + timedelta(days=days))
        return waiting_report(sight, tenant="north")


def test_what_waits_is_counted_by_reason_with_its_age():
    lines = (told("m1", "My salary is 41,500 a year."), told("m2", "My visa status is pending."))
    with remembered(*lines, told("m3", "My locker is 12.")) as memory:
        queue = aged(memory, 10)
    assert queue["waiting"] == 2
    assert 9.9 < queue["median_days"] <= queue["oldest_days"] < 10.1
    assert queue["past_deadline"] == 0
    assert set(queue["by"]["reason"]) == {"sensitive_content"}
    assert queue["by"]["tenant"]["north"]["waiting"] == 2
    assert queue["by"]["privacy_class"]["sensitive"]["waiting"] == 2
    assert queue["by"]["channel"]["trusted_user"]["waiting"] == 2


def test_after_the_deadline_of_the_policy_it_is_late():
    with remembered(told("m1", "My visa status is pending.")) as memory:
        assert aged(memory, 29)["past_deadline"] == 0
        assert aged(memory, 31)["past_deadline"] == 1


def test_an_empty_store_has_an_empty_queue():
    with remembered() as memory:
        queue = aged(memory, 0)
    assert (queue["waiting"], queue["oldest_days"], queue["by"]["reason"]) == (0, None, {})
