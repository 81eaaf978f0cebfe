"""Exceptions and conditions stay with what they limit; two things at two times are two claims."""

import json

import pytest

from claims_read import claims_of, only_claim


@pytest.mark.parametrize(
    ("text", "value", "limit"),
    [
        ("I love all cheese except blue cheese.", "all cheese except blue cheese", "except blue cheese"),
        ("I prefer trains unless it snows.", "trains unless it snows", "unless it snows"),
    ],
)
def test_a_taste_keeps_its_exception(text, value, limit):
    claim = only_claim(text)
    assert claim["value"] == value
    assert json.loads(claim["payload"])["limit"] == limit
    assert claim["end"] == len(text) - 1


def test_a_promise_names_its_recipient_and_on_what_it_falls_due():
    claim = only_claim("I will email Dana when the invoice arrives.")
    payload = json.loads(claim["payload"])
    assert (payload["recipient"], payload["due"]) == ("Dana", "when the invoice arrives")


def test_a_mere_when_i_can_is_no_due_date():
    assert claims_of("I'll call you when I can.") == []


def test_two_things_at_two_times_are_two_claims():
    values = [claim["value"] for claim in claims_of("I like tea in the morning and water at night.")]
    assert values == ["tea in the morning", "water at night"]


def test_one_thing_made_of_two_stays_one():
    assert only_claim("I like rum and raisin ice cream.")["value"] == "rum and raisin ice cream"
