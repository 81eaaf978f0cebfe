"""Where values end, what joins them, and which lists make several claims."""

import pytest

from amos.extraction.lists import REACH, bracketed_end, items_after
from amos.extraction.trimming import denied_from, trim_value
from claims_read import claims_of, excerpt, only_claim


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("My ramp height is 1,4 m not 2", "1,4 m"),
        ("My shelf is B12 now, B11 was too damp", "B12"),
        ("My clock is a Lumo and it gains a minute a day", "a Lumo"),
        ("My kettle is a Norda that whistles", "a Norda"),
        ("My scooter is a Veloz, the grey one.", "a Veloz, the grey one"),
        ("My address is 9 Dock Row, Ulm", "9 Dock Row, Ulm"),
        ("My favourite hues are ochre, slate and rust.", "ochre, slate and rust"),
        ("My nieces are Ida (4) and Lou (7), my uncle is Sven", "Ida (4) and Lou (7)"),
        ("My goat is certainly not shy", "shy"),
        ('My maxim is "early is easy".', "early is easy"),
        ("I live in Sankt Pölten with two flatmates.", "Sankt Pölten"),
        ("I usually take the 6:15 bus.", "the 6:15 bus"),
        ("Always sign my mails with 'Yours, Ines'", "sign my mails with 'Yours, Ines'"),
    ],
)
def test_a_value_ends_where_it_ends(text, value):
    assert claims_of(text)[0]["value"] == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("My choir is on Mondays and Thursdays", "Mondays and Thursdays"),
        ("My class is every Friday at 19:30", "every Friday at 19:30"),
        ("My round is daily at 7:15", "daily at 7:15"),
        ("Our lease is 640 per month", "640 per month"),
        ("My desk is free every Tuesday", "free every Tuesday"),
    ],
)
def test_what_comes_round_again_is_kept_and_does_not_pass(text, value):
    claim = only_claim(text)
    assert (claim["value"], claim["memory_class"], claim["valid_until"]) == (value, "durable_fact", None)


def test_each_item_of_a_list_of_likes_is_a_claim_with_its_sign():
    text = "I like sledding, curling and card games but not darts"
    found = claims_of(text)
    assert [(claim["value"], claim["polarity"]) for claim in found] == [
        ("sledding", "positive"), ("curling", "positive"), ("card games", "positive"), ("darts", "negative"),
    ]  # fmt: skip
    assert [excerpt(text, claim)[-5:] for claim in found] == ["dding", "rling", "games", "darts"]


def test_bytes_of_list_items_are_those_of_the_source():
    text = "I like Öl, Käse und — no: Käse, Öl and Bücher"
    assert all(claim["value"] in excerpt(text, claim) for claim in claims_of(text))


@pytest.mark.parametrize(
    ("text", "items"),
    [
        (", rowing and chess.", ["rowing", "chess"]),
        (", it is cheap and fun", []),
        (", fresh air and Bo likes tea", []),
        (" and chess", []),
        (" but not chess", []),
        (", rowing and chess but not darts", ["rowing", "chess"]),
    ],
)
def test_items_after_a_value(text, items):
    assert [text[slice(*span)] for span in items_after(text).more] == items


def test_what_a_list_leaves_out_is_found():
    text = " but not darts"
    assert [text[slice(*span)] for span in items_after(text).but_not] == ["darts"]


def test_a_bracketed_list_goes_on_only_with_further_brackets():
    assert bracketed_end(" (6) and Max (9), my") == len(" (6) and Max (9)")
    assert bracketed_end(" (6) and so on") == 0


def test_a_list_without_end_is_no_list():
    assert items_after(", row" * REACH).more == ()


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("my train leaves from platform 9 not platform 4", 31),
        ("my train does not leave from platform 9", -1),
        ("the crate is not blue", -1),
    ],
)
def test_the_denied_end_of_a_statement(text, place):
    assert denied_from(text) == place


@pytest.mark.parametrize("value", ["really not ready", "41,500", "hot or not", "red, blue and green"])
def test_a_whole_value_stays(value):
    assert trim_value(value, "thing", "own") == value


def test_not_behind_an_adverb_denies():
    assert only_claim("My goat is certainly not shy")["polarity"] == "negative"
