"""Which claims are about one thing: arity, scope, conditions; and conflict only where periods meet."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from laws import digest_of
from remembered import remembered, told


def say(number, text, day=1, talk="talk", **fields):
    return told(f"m{number}", text, day, conversation=talk, turn=number, **fields)


def states(*lines):
    """Return (value, health, periods in days) of every claim, by value."""
    with remembered(*lines) as memory:
        return sorted(
            (row["value"], row["health"], [tuple(_day(one[edge]) for edge in ("from", "until"))
                                           for one in row["intervals"]])
            for row in memory.listed()
        )  # fmt: skip


def _day(moment):
    return None if moment is None else moment[:10]


def reasons(*lines):
    """Return the first reason of the decision on each message, in order."""
    with remembered(*lines) as memory:
        return [reason for _, _, reason in memory.decided()]


def test_a_single_valued_property_has_one_value_at_a_time():
    assert reasons(say(1, "My desk is 5."), say(2, "My desk is 9.", 2)) == [
        "new_fact_for_slot",
        "contradicts_current_value",
    ]


def test_equal_values_of_it_are_one_claim():
    assert reasons(say(1, "My desk is 5."), say(2, "My desk is 5.", 2))[1] == "duplicate_of_active_record"


def test_a_property_that_holds_many_values_keeps_them_all():
    assert [one[:2] for one in states(say(1, "I like tea."), say(2, "I like coffee.", 2))] == [
        ("coffee", "healthy"),
        ("tea", "healthy"),
    ]


def test_denying_one_of_many_values_ends_that_one_alone():
    with remembered(
        say(1, "I like tea."), say(2, "I like coffee."), say(3, "I don't like tea.", 2)
    ) as memory:
        assert memory.said() == ["User avoids tea.", "User likes coffee."]


@pytest.mark.parametrize("scope", ["project", "task", "tool_environment"])
def test_a_single_value_is_one_in_each_scope(scope):
    lines = [say(number, f"My desk is {number}.", number, scope={scope: f"s{number}"}) for number in (1, 2)]
    assert [health for _, health, _ in states(*lines)] == ["healthy", "healthy"]
    assert set(reasons(*lines)) == {"new_fact_for_slot"}


def test_what_is_wanted_at_one_time_of_day_says_nothing_of_another():
    lines = [
        say(1, "It is evening, so please suggest something without sugar."),
        say(2, "It is morning, so please suggest something with sugar.", talk="other"),
    ]
    assert set(reasons(*lines)) == {"new_fact_for_slot"}


def test_within_one_time_of_day_the_later_wish_stands():
    lines = [
        say(1, "It is evening, so please suggest something without sugar."),
        say(2, "It is evening, so please suggest something with sugar."),
    ]
    assert reasons(*lines)[1] == "contradicts_current_value"


def test_periods_that_only_touch_are_no_conflict():
    assert states(
        say(1, "My desk is 5 from 3 June 2026 until 9 June 2026."),
        say(2, "My desk is 9 from 10 June 2026 until 12 June 2026.", talk="other"),
    ) == [
        ("5", "healthy", [("2026-06-03", "2026-06-10")]),
        ("9", "healthy", [("2026-06-10", "2026-06-13")]),
    ]


def test_what_was_over_does_not_touch_what_holds():
    lines = [say(1, "I live in Ghent."), say(2, "I lived in Brno from 2010 until 2015.", 2)]
    assert states(*lines) == [
        ("Brno", "healthy", [("2010-01-01", "2016-01-01")]),
        ("Ghent", "healthy", [("2026-05-01", None)]),
    ]


def test_a_later_word_on_an_overlapping_period_cuts_the_earlier_one():
    lines = [
        say(1, "I lived in Brno from 2010 until 2015."),
        say(2, "I lived in Ghent from 2012 until 2019.", 2),
    ]
    assert states(*lines) == [
        ("Brno", "healthy", [("2010-01-01", "2012-01-01")]),
        ("Ghent", "healthy", [("2012-01-01", "2020-01-01")]),
    ]


YEARS = (
    st.tuples(st.integers(2001, 2009), st.integers(2001, 2009))
    .map(sorted)
    .filter(lambda two: two[0] < two[1])
)


@settings(max_examples=12, deadline=None)
@given(YEARS, YEARS)
def test_two_periods_are_disputed_where_they_overlap_and_nowhere_else(one, other):
    lines = [
        say(1, f"I lived in Brno from {one[0]} until {one[1]}.", talk="one"),
        say(2, f"I lived in Ghent from {other[0]} until {other[1]}.", talk="two"),
    ]
    is_overlap = one[0] <= other[1] and other[0] <= one[1]
    with remembered(*lines) as memory:
        healths = {row["health"] for row in memory.listed()}
        whole = digest_of(memory.store)
    assert healths == ({"contradicted"} if is_overlap else {"healthy"})
    with remembered(lines[1]) as memory:
        memory.hear(lines[0])
        assert digest_of(memory.store) == whole


@pytest.mark.parametrize(
    ("fixed", "free"),
    [
        ("I'm not vegetarian any more.", "My diet is no longer vegetarian."),
        ("I took up chess last year.", "My hobby is chess."),
        ("I'm allergic to nuts.", "My allergy is nuts."),
        ("I'm married.", "My marital status is single."),
    ],
)
def test_a_property_has_one_arity_whatever_wording_tells_it(fixed, free):
    """Two wordings of one claim share its history, so that their order of arrival decides nothing."""
    lines = say(1, fixed, 9), say(2, free, 3)
    digests = set()
    for order in (lines, lines[::-1]):
        with remembered() as memory:
            for one in order:
                memory.hear(one)
            digests.add(digest_of(memory.store))
            told_of = [json.loads(row["payload"]) for row in memory.rows("candidates")]
            arities = {(one.get("property"), one["arity"]) for one in told_of}
            assert len(arities) == len(dict(arities))
    with remembered(*lines) as memory:
        digests.add(digest_of(memory.store))
    assert len(digests) == 1
