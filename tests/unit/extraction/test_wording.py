"""Properties, values and statements as they are kept."""

import pytest

from amos.extraction.wording import clean_property, clean_value, kind_of_value, phone_property, statement_of


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Favorite Color", "favourite colour"),
        ("current  address", "address"),
        ("currently spare ticket", "spare ticket"),
        ("job", "occupation"),
        ("hometown", "home city"),
        ("e-mail address", "email"),
        ("pen\u200bcase", "pencase"),
    ],
)
def test_properties_are_folded_to_one_spelling(text, kept):
    assert clean_property(text) == kept


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("“Halcyon”", "Halcyon"),
        ("  a green  van. ", "a green van"),
        ("the Elder (old town)", "the Elder (old town)"),
        ("-4 degrees", "-4 degrees"),
        ("O negative,", "O negative"),
        ("🟩🟦", "🟩🟦"),
    ],
)
def test_values_keep_their_case_and_lose_their_edges(text, kept):
    assert clean_value(text) == kept


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("112 cm", "quantity"),
        ("41,500", "number"),
        ("6 April 2031", "date"),
        ("2031-04-06", "date"),
        ("14:30", "time"),
        ("7 pm", "time"),
        ("Dr. Varga", "name"),
        ("yes", "boolean"),
        ("behind the piano", "text"),
        ("B12", "name"),
    ],
)
def test_values_have_a_kind(value, kind):
    assert kind_of_value(value) == kind


def test_a_number_of_five_digits_is_a_phone_number():
    assert phone_property("number", "555 0188") == "phone number"
    assert phone_property("number", "12") == "number"
    assert phone_property("phone", "a Fairphone") == "phone"


def test_statements_lose_blanks_and_marks_at_their_edges():
    assert statement_of(" - I keep  bees.\n") == "I keep bees"
