"""Broken-off, stammered and pointing words of a talk are no memory; whole ones of the same shape are."""

import pytest

from amos.schemas.vocabulary import Cue
from claims_read import claims_of, only_claim


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
        "We are making sure that our crew has the right boots.",
        "Ten points go when we use delta.",
        "Well , the index is in a LISP - like form .",
        "Oh , good , I love the formali",
        "I like the pens.",
        "I love the colour and texture.",
        "I painted that harbour last year.",
        "My main interest is in old maps.",
        "Our next questions are from Ola Berg.",
        "I stopped within the hour.",
        "Our aims not have too much buttons.",
        "Our rent scheme is very significant.",
        "My goal was to swim across the bay.",
        "I want to highlight the work of the crew.",
        "The schools are required, under the Lower Education (Wales) Act, to close.",
        "I'm Dr.",
        "I'm a terrible person.",
        "Having them around brings me joy.",
        "We've been doing much better than the others.",
        "The reserves are a measure.",
        "I usually play CS:GO.",
        "I don't have anything beyond the first page.",
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
        ("Well , the index is in the attic .", ["world.the_is"]),
        ("I love the ocean.", ["the ocean"]),
        ("I prefer the pens.", ["the pens"]),
        ("I love the smell of rain.", ["the smell of rain"]),
        ("I want to learn Finnish.", ["learn Finnish"]),
        ("I have 3 cats and 2 dogs.", ["3 cats", "2 dogs"]),
        ("We have two sons and a daughter.", ["two sons", "daughter"]),
        ("I have a red whisk and a pan.", ["red whisk", "pan"]),
        ("I also use a board to plan, see goals and mark wins.", ["a board to plan"]),
        ("From now on call me Addie instead of Adelaide.", ["Addie"]),
        ("Please note that the shed has two doors.", ["remember.that"]),
        ("I love rye bread so much.", ["rye bread"]),
        ("Dancing makes me happy.", ["passion.makes"]),
        ("Yesterday I gave my coat to the hostel I run.", ["happened.did"]),
        ("I've started learning the viola.", ["learning the viola"]),
        ("We had a blast last week, had the whole beach to us.", ["happened.did"]),
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


def test_what_leaves_open_which_is_uncertain():
    cues = only_claim("My gate is A or B.")["cues"]
    assert cues & int(Cue.HEDGED)
    assert not only_claim("My gate is B.")["cues"] & int(Cue.HEDGED)


def test_a_bare_no_takes_back_what_was_just_said():
    assert kept("My locker is 7, no, 8.") == ["8"]
