"""What a time expression does to a claim."""

import pytest

from claims_read import only_claim


@pytest.mark.parametrize(
    ("text", "memory_class"),
    [
        ("My desk is free until June.", "temporary_state"),
        ("My exam is tomorrow.", "temporary_state"),
        ("My meeting is on Friday.", "temporary_state"),
        ("My bin day is Friday.", "durable_fact"),
        ("My regatta is on 6 April 2031.", "durable_fact"),
        ("My yoga class is every Monday.", "durable_fact"),
        ("My wrist is sore.", "temporary_state"),
        ("I drink fennel tea every morning.", "durable_fact"),
        ("I repotted the ferns yesterday.", "episode"),
    ],
)
def test_the_class_follows_the_words_of_the_clause(text, memory_class):
    assert only_claim(text)["memory_class"] == memory_class


def test_a_move_in_a_year_holds_from_then_on():
    claim = only_claim("I moved to Bergen in 2019.")
    assert (claim["valid_from"].year, claim["valid_until"]) == (2019, None)


def test_a_day_in_the_property_says_nothing_of_the_claim():
    claim = only_claim("My Monday evening class is pottery.")
    assert (claim["memory_class"], claim["time_text"]) == ("durable_fact", None)


def test_a_report_of_a_state_after_a_happening_is_an_episode():
    claims = only_claim("I called the clinic and my ferret is fine.")
    assert (claims["memory_class"], claims["value"]) == ("episode", "fine")
