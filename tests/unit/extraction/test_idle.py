"""Idle talk, irony and remarks give no memory; what is definite does."""

import pytest

from amos.extraction.idle import is_idle_statement, is_soon
from claims_read import claims_of


def vetoes(text):
    return [claim["veto"] for claim in claims_of(text)]


@pytest.mark.parametrize(
    "text",
    [
        "The jug is the tricky part, the lid is the easy part",
        "The best chair in the hall is the one by the stove",
        "Patience pays off",
        "My lips are sealed",
        "I keep my word most days",
        "My passphrase is much too long",
        "My talk is in five",
        "I like the third option more",
        "My favourite is the grey one",
        "My build is broken",
        "I live in hope of snow",
        "I work as fast as I can",
        "My age is a secret",
        "My favourite fish is none of your business",
        "My name is mud.",
    ],
)
def test_idle_claims_are_kept_out(text):
    assert all(veto == "low_value" for veto in vetoes(text))


@pytest.mark.parametrize(
    "text",
    [
        "The bakery closes at six.",
        "Drawer seven holds the spare keys.",
        "The spare key is with Bo",
        "The rent is due on the ninth",
        "Invoices go to the shared inbox.",
        "The hall light is amber",
        "My bus is the 27B.",
    ],
)
def test_definite_claims_are_kept(text):
    assert vetoes(text) == [None]


@pytest.mark.parametrize(
    "text",
    [
        "I simply adore being woken up by drills",
        "I just love getting parking tickets",
        "I enjoy being ignored",
    ],
)
def test_who_likes_what_nobody_likes_means_the_contrary(text):
    assert set(vetoes(text)) <= {"suspected_irony"}


def test_a_dislike_of_the_same_is_meant():
    assert vetoes("I hate parking tickets") == [None]
    assert vetoes("I don't like being woken up") == [None]


@pytest.mark.parametrize(
    "text", ["I want to cancel order 4411", "I want to return these boots", "I want to fix the menu"]
)
def test_orders_are_no_goals(text):
    assert vetoes(text) == ["request_not_memory"]


def test_a_wish_for_oneself_is_a_goal():
    assert vetoes("I want to learn Welsh") == [None]


@pytest.mark.parametrize(
    ("text", "expected"), [("in five", True), ("in a minute", True), ("in May", False), ("on 5 May", False)]
)
def test_a_delay_without_unit_is_soon(text, expected):
    assert is_soon(text) is expected


def test_a_statement_about_what_stands_there_is_idle():
    assert is_idle_statement("email below", "from HR", "The email below is from HR")
    assert not is_idle_statement("lamp", "from Ulm", "The lamp is from Ulm")


@pytest.mark.parametrize(
    ("text", "veto"),
    [
        ("I absolutely adore being ghosted.", "suspected_irony"),
        ("My favourite pastime: waiting for the bus in the rain", "suspected_irony"),
        ("I love being married.", None),
        ("My favourite pastime: knitting", None),
    ],
)
def test_what_nobody_likes_is_said_in_irony(text, veto):
    assert vetoes(text) == [veto]
