import pytest

from amos.extraction.screen_numbers import find_numbers, has_luhn_digit, is_card


def found(text):
    return [text[hit.start : hit.end] for hit in find_numbers(text)]


def test_the_check_digit_is_verified():
    assert has_luhn_digit("4242424242424242")
    assert not has_luhn_digit("4242424242424241")


@pytest.mark.parametrize(
    "text",
    [
        "6011 1111 1111 1117",
        "3056-930902-5904",
        "2223003122003222",
        "4 2 4 2 4 2 4 2 4 2 4 2 4 2 4 2",
        "3530 1113 3330 0000",
    ],
)
def test_cards_of_all_networks_are_found_with_any_separator(text):
    assert found(f"pay with {text}, ok?") == [text]


@pytest.mark.parametrize(
    "text",
    [
        "4242 4242 4242 4241",
        "1234 5678 9012 3452",
        "order no 4242 4242 4242 4242",
        "IMEI 378282246310005",
        "0000 0000 0000 0000",
        "0042-4242",
        "4242.4242.4242.4242",
        "a4242424242424242",
    ],
)
def test_other_long_numbers_stay(text):
    assert found(text) == []


def test_a_card_beside_an_order_number_counts_when_called_a_card():
    assert found("order 7, card 4242 4242 4242 4242") == ["4242 4242 4242 4242"]


def test_a_maestro_number_needs_the_word_card():
    assert is_card("6759649826438453", has_card_word=True)
    assert not is_card("6759649826438453")


@pytest.mark.parametrize("text", ["DE89 3704 0044 0532 0130 00", "CH9300762011623852957", "no9386011117947"])
def test_ibans_pass_by_their_country_length_and_check_digits(text):
    assert found(f"({text})") == [text]


@pytest.mark.parametrize(
    "text",
    [
        "DE88 3704 0044 0532 0130 00",
        "DE89 3704 0044 0532 0130 000",
        "ZZ89 3704 0044 0532 0130 00",
        "AB12 CD34",
    ],
)
def test_near_misses_of_ibans_stay(text):
    assert found(text) == []
