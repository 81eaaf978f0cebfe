"""Lines that a program wrote are nobody's own words; what stands around them is its author's."""

import pytest

from proposed import written_in

LOGS = [
    "2026-03-02T10:00:01Z INFO my locker is 12",
    "[2026-03-02 10:00:01,377] my locker is 12",
    "Mar  2 10:00:01 mill pump[12]: my locker is 12",
    "ERROR my locker is 12",
    "[WARN] my locker is 12",
    "Log from the boiler:\n12:01 my pressure is low\n12:02 my valve is shut",
    "Here is the console output\n[12:01:07] my locker is 12",
]


@pytest.mark.parametrize("text", LOGS)
def test_a_line_of_a_log_is_nobodys_own(text):
    assert written_in(text) == []


@pytest.mark.parametrize("text", LOGS)
def test_what_stands_around_a_log_is_its_authors(text):
    said = [line["statement"] for line in written_in(f"My boiler is a Vaillant.\n{text}\nMy badge is 7.")]
    assert said == ["User's boiler is a Vaillant.", "User's badge is 7."]


@pytest.mark.parametrize(
    "text",
    [
        "12:01 my locker is 12",
        "INFO: my locker is 12",
        "I keep a log of it. My locker is 12.",
        "At 10:00 I checked: my locker is 12",
        "The error is gone. My locker is 12.",
    ],
)
def test_a_time_or_a_word_alone_makes_no_log(text):
    assert [line["value"] for line in written_in(text)] == ["12"]
