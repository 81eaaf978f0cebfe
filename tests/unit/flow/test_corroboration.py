"""Where nothing else decides, the value with more independent sources stands; copies and quotes are none."""

from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from laws import digest_of, references
from remembered import remembered, told

LONG = "My locker is 12, the one in the corridor of the second floor, right beside the lift that never works."


def untimed(identifier, text, talk, **fields):
    """Return a line without a time, in a talk of its own."""
    line = told(identifier, text, conversation=talk, **fields)
    del line["ts"]
    return line


def locker(number, value, talk=None):
    return untimed(f"m{number}", f"My locker is {value}.", talk or f"talk-{number}")


def standing(memory):
    """Return the values that stand, with their health."""
    return sorted((row["value"], row["health"]) for row in memory.listed(state="active"))


def open_disputes(memory):
    return [row for row in memory.rows("disputes") if row["status"] == "open"]


def test_two_against_one_settle_a_dispute():
    with remembered(locker(1, 12), locker(2, 40)) as memory:
        assert [health for _, health in standing(memory)] == ["contradicted", "contradicted"]
        memory.hear(locker(3, 40))
        assert standing(memory) == [("40", "healthy")]
        assert open_disputes(memory) == []
        memory.hear(locker(4, 12))
        assert [value for value, _ in standing(memory)] == ["12", "40"]
        assert len(open_disputes(memory)) == 1


def test_what_gave_way_is_a_predecessor_of_what_stands_and_what_never_stood_says_why():
    with remembered(locker(1, 12), locker(2, 40), locker(3, 40)) as memory:
        (stands,) = memory.listed(state="active")
        (gone,) = [row for row in memory.listed(state="all") if row["value"] == "12"] or [None]
        if gone is None:  # 12 comes last in the order of talks
            assert ("m1", "ignore", "less_corroborated") in memory.decided()
        else:
            (row,) = memory.store.why(gone["atom_id"])["lineage"]
            assert row["successor_id"] == stands["atom_id"]


@pytest.mark.parametrize("order", list(permutations(range(4))))
def test_a_copy_counts_for_nothing_whenever_it_arrives(order):
    lines = [untimed("m1", LONG, "one"), untimed("m2", LONG, "two"), locker(3, 40), locker(4, 40)]
    with remembered() as memory:
        for place in order:
            memory.hear(lines[place])
        assert standing(memory) == [("40", "healthy")]


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_the_order_of_arrival_does_not_matter(order):
    lines = [locker(1, 12), locker(2, 40), locker(3, 40)]
    with remembered() as memory:
        for place in order:
            memory.hear(lines[place])
        one_by_one = digest_of(memory.store)
    with remembered(*lines) as memory:
        assert digest_of(memory.store) == one_by_one


def test_copies_of_one_text_are_one_source():
    copies = [untimed("m1", LONG, "one"), untimed("m2", LONG, "two")]
    with remembered(*copies, locker(3, 40)) as memory:
        assert [health for _, health in standing(memory)] == ["contradicted", "contradicted"]


def test_more_sources_outweigh_no_later_word():
    with remembered(told("m1", "My locker is 12.", 1), told("m2", "My locker is 12.", 2)) as memory:
        memory.hear(told("m3", "My locker is 40.", 3, conversation="other"))
        assert standing(memory) == [("40", "healthy")]


LINES = st.lists(st.sampled_from(["12", "40", "7"]), min_size=2, max_size=6)


@settings(max_examples=8, deadline=None)
@given(LINES, st.randoms(use_true_random=False))
def test_any_order_and_size_of_batches_gives_one_state(values, random):
    lines = [locker(number, value) for number, value in enumerate(values)]
    shuffled = random.sample(lines, len(lines))
    with remembered(*lines) as memory:
        whole = digest_of(memory.store)
        counts = {value: values.count(value) for value in values}
        most = max(counts.values())
        if list(counts.values()).count(most) == 1 and len(counts) == 2:
            assert [value for value, _ in standing(memory)] == [max(counts, key=counts.get)]
    with remembered() as memory:
        for line in shuffled:
            memory.hear(line)
        assert digest_of(memory.store) == whole
        assert memory.store.verify(deep=True).problems == []
        assert references(memory.store) == []
