"""What speakers put right in the same breath takes the place of what they said."""

import pytest

from amos.extraction.repairs import find_repair
from claims_read import claims_of, excerpt, only_claim


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("My meeting is at 3, no wait, at 4.", "at 4"),
        ("My meeting is at 3. No, at 4.", "at 4"),
        ("My usual order is soup, or rather the stew.", "the stew"),
        ("I live in Graz, I mean Linz.", "Linz"),
        ("My dentist is Dr. Abel... no wait, Dr. Abend.", "Dr. Abend"),
        ("I work at Umbra - wait no - Kettle.", "Kettle"),
        ("My pin board is cork. No, it's felt.", "felt"),
    ],
)
def test_the_repair_is_what_is_stated(text, value):
    claim = only_claim(text)
    assert claim["value"] == value
    assert excerpt(text, claim).endswith(value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("I like tea, I mean really.", "tea"),
        ("My usual order is soup. Make it hot.", "soup"),
        ("I live in Graz. No parking there.", "Graz"),
    ],
)
def test_words_that_repair_nothing_leave_the_value(text, value):
    assert claims_of(text)[0]["value"] == value


def test_a_text_without_a_mark_holds_no_repair():
    assert find_repair("soup and bread, every day") is None
