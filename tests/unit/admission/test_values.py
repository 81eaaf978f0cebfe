from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amos.admission.values import NormalValue, fold_property, is_refinement, normalise_value
from amos.admission.values_numbers import read_number, write_number
from amos.admission.values_units import UNITS


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("9 August 2033", "2033-08-09"),
        ("August 9th, 2033", "9.8.2033"),
        ("the 9th of August 2033", "9 août 2033"),
        ("12 May", "五月十二日"),
        ("2033年8月9日", "2033-08-09"),
        ("Tuesday 9 August 2033", "2033/08/09"),
        ("4.45 pm", "16:45"),
        ("9am", "09:00"),
        ("noon", "12:00"),
        ("18,250", "18250"),
        ("18 250", "18'250"),
        ("18.250,50", "18250.5"),
        ("three", "3"),
        ("3 kg", "3000 g"),
        ("three kilos", "3 kilograms"),
        ("16 oz", "1 lb"),
        ("6 ft 2 in", "6'2\""),
        ("6 feet", "2 yards"),
        ("2.5 l", "2500 millilitres"),
        ("90 minutes", "1 h 30 min"),
        ("two weeks", "14 days"),
        ("1 year", "12 months"),
        ("25 °C", "77 °F"),
        ("36 km/h", "10 m/s"),
        ("€18.5k", "18,500 euros"),
        ("£40 per week", "40 GBP a week"),
        ("15 %", "15 percent"),
        ("555-0147", "(555) 0147"),
        ("+49 30 901820", "0049 30 901820"),
        ("Mira@Example.ORG", "mira@example.org"),
        ("https://Example.org:443/Path/", "HTTPS://example.org/Path"),
        ("v3.1.4", "version 3.1.4"),
        ("Grey", "gray."),
        ("the Green Folder", "green  folder"),
        ("a Škoda", "škoda"),
        ("‘Alder Inn’", "alder inn"),
        ("pen\u200bname", "penname"),
        ("ｆｕｌｌ ｗｉｄｔｈ", "full width"),
        ("Yes", "ja"),
        ("Straße", "STRASSE"),
        ("Zoe\u0301", "Zoé"),
    ],
)
def test_values_that_say_the_same_are_equal(one, other):
    assert normalise_value(one) == normalise_value(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("3 kg", "3 lb"),
        ("3 kg", "3"),
        ("Škoda", "Koda"),
        ("Škoda", "Skoda"),
        ("9 August 2033", "9 August"),
        ("06/04/2031", "6 April 2031"),
        ("06/04/2031", "2031-06-04"),
        ("1.5", "15"),
        ("1,5", "1,500"),
        ("1.234", "1,234"),
        ("$5", "5 USD"),
        ("5 pounds", "£5"),
        ("5 pounds", "5 lb"),
        ("2 pints", "1 quart"),
        ("100 Mb", "100 MB"),
        ("24H", "1D"),
        ("24H", "24 h"),
        ("30 days", "1 month"),
        ("+49 30 901820", "49 30 901820"),
        ("https://example.org/a", "https://example.org/A"),
        ("2.0.1", "2.0.10"),
        ("2.0.1", "201"),
        ("vegetarian", "not vegetarian"),
        ("3:30", "3.30"),
        ("O negative", "O positive"),
        ("x", ":)"),
    ],
)
def test_values_that_differ_stay_apart(one, other):
    assert normalise_value(one) != normalise_value(other)


def test_a_name_is_text_whatever_it_looks_like():
    assert normalise_value("Seven", "name") == NormalValue("text", "seven")
    assert normalise_value("May", "name") == normalise_value("may", "text")


def test_the_hinted_kind_is_tried_first():
    assert normalise_value("5550147", "phone") == NormalValue("phone", "5550147")
    assert normalise_value("5550147", "number") == NormalValue("number", "5550147")


def test_pounds_become_grams_without_rounding():
    assert normalise_value("5 lb") == NormalValue("quantity", "2267.96185 g")


# each unit in terms of others, as the SI brochure and NIST Handbook 44 define them
DEFINITIONS = [
    ("lb", "kg", Fraction("0.45359237")),
    ("oz", "lb", Fraction(1, 16)),
    ("stone", "lb", Fraction(14)),
    ("t", "kg", Fraction(1000)),
    ("mg", "g", Fraction(1, 1000)),
    ("in", "cm", Fraction("2.54")),
    ("ft", "in", Fraction(12)),
    ("yd", "ft", Fraction(3)),
    ("mi", "yd", Fraction(1760)),
    ("nmi", "m", Fraction(1852)),
    ("km", "mm", Fraction(10**6)),
    ("ml", "l", Fraction(1, 1000)),
    ("cl", "ml", Fraction(10)),
    ("m³", "l", Fraction(1000)),
    ("sqft", "m2", Fraction("0.3048") ** 2),
    ("acre", "sqft", Fraction(43_560)),
    ("ha", "m2", Fraction(10_000)),
    ("week", "h", Fraction(168)),
    ("day", "min", Fraction(1440)),
    ("year", "month", Fraction(12)),
    ("mph", "km/h", Fraction("1.609344")),
    ("knot", "km/h", Fraction("1.852")),
    ("kcal", "j", Fraction(4184)),
    ("kwh", "kj", Fraction(3600)),
    ("gib", "mib", Fraction(1024)),
    ("gb", "mb", Fraction(1000)),
]


@pytest.mark.parametrize(("unit", "other", "factor"), DEFINITIONS)
def test_factors_agree_with_their_published_definitions(unit, other, factor):
    assert UNITS[unit][0] == UNITS[other][0]
    assert UNITS[unit][1] == factor * UNITS[other][1]


@given(number=st.fractions(max_denominator=10_000))
def test_written_numbers_read_back_exactly(number):
    written = write_number(number)
    assert (
        ("/" in written and Fraction(written) == number)
        or read_number(written) == number
        or len(written) > 40
    )


@given(
    text=st.text(), kind=st.sampled_from(["text", "name", "number", "quantity", "date", "time", "boolean"])
)
def test_canonical_forms_are_stable_and_never_fail(text, kind):
    once = normalise_value(text, kind)
    assert once == normalise_value(text, kind)
    if once.kind == "text":
        assert normalise_value(once.canonical, "name") == once


@given(text=st.text(alphabet="abc XYZšé'-.\u200b", max_size=12))
def test_case_makes_no_difference_to_text(text):
    assert normalise_value(text.upper(), "name") == normalise_value(text.lower(), "name")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a three-legged stool", "a three-legged stool, the oak one"),
        ("Turku", "Turku, near the harbour"),
        ("green tea", "green tea with lemon"),
        ("4", "4 kg"),
        ("grey cat", "a small gray cat"),
        ("茶", "緑茶"),
    ],
)
def test_the_old_words_in_order_and_more_refine(old, new):
    assert is_refinement(old, new)
    assert not is_refinement(new, old)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("teal", "teal"),
        ("teal", "not teal"),
        ("teal", "teal or red"),
        ("green tea", "tea that is green"),
        ("", "anything"),
        ("1.5", "1.55 exactly"),
        ("cat", "caterpillar farm"),
    ],
)
def test_other_words_do_not_refine(old, new):
    assert not is_refinement(old, new)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Favorite Color", "favourite_colour"),
        ("the Wi-Fi network", "wifi network"),
        ("desk  height", "desk-height"),
    ],
)
def test_property_names_fold_to_one_form(one, other):
    assert fold_property(one) == fold_property(other)


def test_different_properties_stay_apart():
    assert fold_property("desk height") != fold_property("desk width")
