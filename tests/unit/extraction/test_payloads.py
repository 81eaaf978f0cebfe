"""Typed fields beyond subject, property and value."""

import json

import pytest

from amos.extraction.payloads import steps_of
from claims_read import claims_of, only_claim


def payload(text, **settings):
    """Return the payload of the single claim of a text."""
    return json.loads(only_claim(text, **settings)["payload"])


def test_a_promise_names_recipient_and_due_time():
    assert payload("I'll send the minutes to Noor by Friday.") == {
        "commitment_status": "open",
        "description": "send the minutes to Noor by Friday",
        "due": "by Friday",
        "recipient": "Noor",
    }


def test_a_habit_keeps_its_frequency_and_its_sentence():
    assert payload("I drink fennel tea every morning.") == {
        "claim": "I drink fennel tea every morning",
        "frequency": "every morning",
    }


def test_a_preference_says_what_it_is_preferred_over():
    assert payload("I prefer rye bread to toast.") == {"over": "toast", "strength": "stated"}


def test_an_outcome_keeps_what_it_was_for():
    outcome = claims_of("Last time the sage balm worked well for my elbow.")[0]
    assert json.loads(outcome["payload"])["purpose"] == "my elbow"


def test_a_statement_without_a_property_is_its_own_claim():
    claim = only_claim("Drawer seven holds the spare keys.")
    assert (claim["property"], claim["value"]) == (None, None)
    assert json.loads(claim["payload"]) == {"claim": "Drawer seven holds the spare keys"}


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("1. cut 2. wait 3. go", ["cut", "wait", "go"]),
        ("fill it, then boil, and pour", ["fill it", "boil", "pour"]),
        ("1) a 1.5 l pan 2) water", ["a 1.5 l pan", "water"]),
    ],
)
def test_steps_are_split_at_numbers_or_commas(text, steps):
    assert steps_of(text) == steps


@pytest.mark.parametrize(
    ("text", "strength"),
    [
        ("I absolutely love rye bread.", "strong"),
        ("I strongly prefer window seats.", "strong"),
        ("I slightly prefer tabs.", "mild"),
        ("I like rye bread.", "stated"),
    ],
)
def test_a_taste_keeps_how_strong_it_was_said_to_be(text, strength):
    assert payload(text)["strength"] == strength


def test_a_promise_keeps_on_what_it_falls_due():
    assert payload("I'll call Bram once the parcel arrives.")["due"] == "once the parcel arrives"


def test_neither_denies_both():
    claims = claims_of("I eat neither squid nor eel.")
    assert [(claim["value"], claim["polarity"]) for claim in claims] == [
        ("squid", "negative"),
        ("eel", "negative"),
    ]
