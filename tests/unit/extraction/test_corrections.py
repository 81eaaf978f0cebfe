"""Corrections and replacements, promises, and words as they are typed."""

import pytest

from amos.schemas.vocabulary import Cue
from claims_read import claims_of, note_of, only_claim


def standing(text):
    """Return property and value of the claims that are neither vetoed nor former."""
    return [
        (claim["property"], claim["value"])
        for claim in claims_of(text)
        if claim["veto"] is None and not claim["cues"] & Cue.FORMER
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("My tutor used to be Abe, it's Kell these days", [("tutor", "Kell")]),
        ("My kettle isn't a Brevia, it's a Norda.", [("kettle", "a Norda")]),
        ("No wait, I said my goat is 7 but she's 8", [("age", "8")]),
        ("My flat number was 12 but it's 14 now", [("flat number", "14")]),
        ("My bank changed from Norda to Sill last spring", [("bank", "Sill")]),
        ("We renamed the project to Kestrel", [("name", "Kestrel")]),
        ("From now on call me Wil, not Willem", [("preferred name", "Wil")]),
        ("Claire is no longer my tutor; it's Ravi now", [("tutor", "Ravi")]),
        ("I moved from Metz to Bergen", [("home city", "Bergen")]),
    ],
)
def test_the_new_value_stands(text, expected):
    assert standing(text) == expected


@pytest.mark.parametrize("text", ["no wait, 19", "make that Thursday", "sorry, I meant 5 not 4"])
def test_an_elliptical_correction_claims_nothing(text):
    assert note_of(text)


def test_a_replacement_is_a_correction():
    claims = claims_of("My tutor used to be Abe, it's Kell these days")
    assert [bool(claim["cues"] & Cue.CORRECTION) for claim in claims] == [False, True]


def test_it_is_with_nothing_before_replaces_nothing():
    assert claims_of("My kettle is a Brevia, it's a good one.")[0]["value"] == "a Brevia"
    assert len(claims_of("My kettle is a Brevia, it's a good one.")) == 1


def test_a_taste_turned_round_withdraws_the_first():
    assert standing("I don't like tea, I love it!") == []


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("I promised Ola that I'd bring the ladder on Sunday.", "bring the ladder on Sunday"),
        ("I promised to feed the goat", "feed the goat"),
        ("I told Bram I'd fix the gate by Friday", "fix the gate by Friday"),
        ("I've promised my aunt I will visit on Sunday", "visit on Sunday"),
    ],
)
def test_promises_are_commitments(text, value):
    claim = only_claim(text)
    assert (claim["type"], claim["value"], claim["modality"]) == ("commitment", value, "asserted")


@pytest.mark.parametrize(
    "text", ["I told Bram to feed the goat", "I told Bram I'd love to help", "I'd bring the ladder"]
)
def test_what_others_should_do_is_no_promise(text):
    assert not [claim for claim in claims_of(text) if claim["type"] == "commitment"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("im vegan", ("diet", "vegan")),
        ("btw im from Cork", ("place of origin", "Cork")),
        ("ive got two goats", ("possession", "two goats")),
        ("dont like aniseed", ("preference", "aniseed")),
        ("i cant eat gluten", ("eat", "gluten")),
        ("i wanna learn welsh", ("goal", "learn welsh")),
        ("u can call me Wil", ("preferred name", "Wil")),
        ("im 1.84m tall", ("height", "1.84m")),
    ],
)
def test_words_as_they_are_typed(text, expected):
    claim = only_claim(text)
    assert (claim["property"], claim["value"]) == expected


def test_a_fused_word_is_cited_byte_for_byte():
    claim = only_claim("né, im vegan")
    assert "né, im vegan".encode()[claim["start"] : claim["end"]] == b"im vegan"


def test_german_im_is_no_i_am():
    assert [claim["value"] for claim in claims_of("Mein Rad ist im Keller")] == ["im Keller"]


def test_two_claims_without_a_mark_between_are_two():
    text = "my phone is a norda 8 my watch is a lumo and my bag is grey"
    assert standing(text) == [("phone", "a norda 8"), ("watch", "a lumo"), ("bag", "grey")]


def test_an_age_belongs_to_who_is_that_old():
    claim = only_claim("My niece is 12")
    assert (claim["subject"], claim["property"], claim["value"]) == ("user's niece", "age", "12")
