"""Values that count: amounts that begin like places, rates that begin like hours, what "all" leaves out."""

import pytest

from proposed import claims_in, written_in


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        ("My budget is between 400 and 500.", "User's budget is between 400 and 500."),
        ("My rent is between 900 and 1000 euros.", "User's rent is between 900 and 1000 euros."),
        ("My budget is under $400.", "User's budget is under $400."),
        ("My wifi speed is above 300 Mbps.", "User's wifi speed is above 300 Mbps."),
        ("My sister's budget is under 400 euros.", "User's sister's budget is under 400 euros."),
        ("My commute is around 40 minutes a day.", "User's commute is around 40 minutes a day."),
    ],
)
def test_an_amount_is_the_value_of_what_it_measures(text, statement):
    (claim,) = written_in(text)
    assert claim["statement"] == statement


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        ("My office is between the bank and the bakery.",
         "User's office's location is between the bank and the bakery."),
        ("My desk is under the window.", "User's desk's location is under the window."),
        ("My shift is between 5 and 6 pm.", "User's shift's time is between 5 and 6 pm."),
        ("My shift is around 6.", "User's shift's time is around 6."),
    ],
)  # fmt: skip
def test_places_and_hours_stay_what_they_are(text, statement):
    (claim,) = written_in(text)
    assert claim["statement"] == statement


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("My pace is 5:30 min/km.", "5:30 min/km"),
        ("My marathon pace is around 5:30 min/km.", "around 5:30 min/km"),
        ("My pace is 5:30 per km.", "5:30 per km"),
        ("My rowing split is 2:05 / 500 m.", "2:05 / 500 m"),
    ],
)
def test_minutes_per_something_are_no_time_of_day(text, value):
    (claim,) = written_in(text)
    assert (claim["value"], claim["memory_class"]) == (value, "durable_fact")


def test_a_time_of_day_keeps_its_form():
    (claim,) = written_in("My alarm is 5:30.")
    assert claim["value"] == "05:30"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("I like all fruit but bananas.", ["User likes all fruit.", "User avoids bananas."]),
        ("I eat all meat but pork and beef.",
         ["User eats all meat.", "User does not eat pork.", "User does not eat beef."]),
        ("I love every colour but grey.", ["User likes every colour.", "User avoids grey."]),
        ("I eat everything but olives.", ["User does not eat olives."]),
    ],
)  # fmt: skip
def test_what_all_leaves_out_is_denied(text, said):
    assert [line["statement"] for line in written_in(text)] == said


@pytest.mark.parametrize(
    "text",
    [
        "I like all cheese but it is expensive.",
        "I like all dogs but I prefer cats.",
        "I like fruit but bananas.",
    ],
)
def test_a_clause_behind_but_leaves_nothing_out(text):
    assert not any(claim["polarity"] == "negative" for claim in claims_in(text))
