"""Broken-off, stammered and pointing words of a talk are no memory; whole ones of the same shape are."""

import pytest

from claims_read import claims_of


def kept(text):
    """Return the values or words that a text leaves, without those that are vetoed."""
    return [claim["value"] or claim["pattern"] for claim in claims_of(text) if claim["veto"] is None]


@pytest.mark.parametrize(
    "text",
    [
        "I like uh the green buttons",
        "I love the the green buttons",
        "I love the green {disfmarker} buttons",
        "I hate this thing.",
        "I've been reading her stuff.",
        "I'm hoping to get it on the big screen.",
        "I've been playing ever since.",
        "I appreciate having you here, I like your work.",
        "The next question goes to Ola.",
        "The department is reported to have 200 desks.",
        "The forecast that we received last July was wrong.",
        "We've got five more minutes.",
        "I'm passionate about creating a safe, quiet place.",
        "My mother is in charge.",
    ],
)
def test_fragments_are_kept_out(text):
    assert kept(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I like the green buttons.", ["the green buttons"]),
        ("I've been reading old maps.", ["reading old maps"]),
        ("I'm hoping to write for the big screen.", ["write for the big screen"]),
        ("I've been rowing.", ["rowing"]),
        ("I like it when you answer briefly.", ["you answer briefly"]),
        ("(My locker is B12.)", ["B12"]),
        ("We received the kiln last July.", ["happened.did"]),
        ("My mother is in Ghent.", ["in Ghent"]),
    ],
)
def test_whole_statements_of_the_same_shape_stay(text, expected):
    assert kept(text) == expected


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("Well , I 'm a nurse .", ["nurse"]),
        ("I do n't eat meat .", ["meat"]),
        ("My sister 's name is Ursula .", ["Ursula"]),
        ("He said 'we 're off' and left", []),
    ],
)
def test_endings_that_a_blank_parts_from_their_word_are_read(text, values):
    assert kept(text) == values
