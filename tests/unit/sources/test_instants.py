"""Reading clocks: one instant whatever the offset, the text kept where it says more."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amos.clock import to_us
from amos.errors import UsageError
from amos.sources.instants import UNKNOWN, Instant, default_zone, read_instant

NOON = to_us(datetime(2025, 7, 25, 12, tzinfo=UTC))


@pytest.mark.parametrize(
    ("text", "zone"),
    [
        ("2025-07-25T12:00:00+00:00", "+00:00"),
        ("2025-07-25T05:00:00-07:00", "-07:00"),
        ("2025-07-25T17:45:00+0545", "+05:45"),
        ("2025-07-25 21:00:00.000+09:00", "+09:00"),
        ("2025-07-25 12:00Z", "Z"),
        ("Fri, 25 Jul 2025 14:00:00 +0200", "+02:00"),
    ],
)
def test_one_instant_at_any_offset_keeps_its_text_and_zone(text, zone):
    assert read_instant(text) == Instant(NOON, text, zone)


@pytest.mark.parametrize(
    "text", ["2025-07-25T12:00:00Z", "2025-07-25T12:00:00.000Z", "2025-07-25T12:00:00.000000Z"]
)
def test_canonical_text_is_not_kept_twice(text):
    assert read_instant(text) == Instant(NOON, None, "Z")


@pytest.mark.parametrize("value", [NOON / 1_000_000, NOON // 1_000_000, str(NOON // 1_000_000)])
def test_seconds_since_1970_are_an_instant(value):
    assert read_instant(value) == Instant(NOON, None, "Z")


def test_microseconds_of_float_seconds_are_exact():
    assert read_instant(1753444800.123457).us == NOON + 123_457


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1:56 pm on 8 May, 2023", datetime(2023, 5, 8, 13, 56, tzinfo=UTC)),
        ("12:05 am on 1 July, 2023", datetime(2023, 7, 1, 0, 5, tzinfo=UTC)),
        ("12:30 PM on 29 February, 2024", datetime(2024, 2, 29, 12, 30, tzinfo=UTC)),
        ("2023/05/20 (Sat) 02:21", datetime(2023, 5, 20, 2, 21, tzinfo=UTC)),
        ("2023/05/20", datetime(2023, 5, 20, tzinfo=UTC)),
        ("2023-05-20 02:21:07.5", datetime(2023, 5, 20, 2, 21, 7, 500_000, tzinfo=UTC)),
        ("2023-05-20", datetime(2023, 5, 20, tzinfo=UTC)),
    ],
)
def test_clocks_without_a_zone_are_utc_and_say_that_it_is_assumed(text, expected):
    assert read_instant(text) == Instant(to_us(expected), text, "Z", True)


def test_a_given_zone_applies_where_the_record_names_none():
    brussels = default_zone("Europe/Brussels")
    summer, winter = read_instant("2025-07-25 14:00", brussels), read_instant("2025-01-25 13:00", brussels)
    assert summer == Instant(NOON, "2025-07-25 14:00", "Europe/Brussels", False)
    assert winter.us == to_us(datetime(2025, 1, 25, 12, tzinfo=UTC))
    assert read_instant("2025-07-25T12:00:00Z", brussels).us == NOON


@pytest.mark.parametrize(("name", "text"), [("+02:00", "2025-07-25 14:00"), ("-0330", "2025-07-25 08:30")])
def test_an_offset_is_a_zone(name, text):
    assert read_instant(text, default_zone(name)).us == NOON


@pytest.mark.parametrize("name", ["Mars/Olympus", "", "../../etc/passwd", "+99:00", "Europe", "CETX"])
def test_an_unknown_zone_is_refused(name):
    with pytest.raises(UsageError):
        default_zone(name)


@pytest.mark.parametrize(
    "value",
    [
        "2104-01-01T00:00:00Z",
        "0001-01-01T00:00:00Z",
        "2025-13-41T00:00:00Z",
        "2025-02-30T10:00:00Z",
        "1753444800000",
        1753444800000,
        -5,
        0,
        float("nan"),
        float("inf"),
        "next Tuesday",
        "9999-12-31T23:59:59-23:59",
        "31:99 pm on 45 Brumaire, 2023",
        "x" * 5000,
        True,
        ["2025"],
    ],
)
def test_absurd_clocks_keep_a_text_and_give_no_instant(value):
    instant = read_instant(value)
    assert instant.us is None
    assert instant.is_invalid
    assert instant.text
    assert len(instant.text) <= 64


@pytest.mark.parametrize("value", [None, "", "  "])
def test_no_clock_is_unknown_and_nothing_is_wrong(value):
    assert read_instant(value) == UNKNOWN


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.text(max_size=30) | st.floats() | st.integers())
def test_any_value_gives_an_instant_in_range_or_none(value):
    us = read_instant(value).us
    assert us is None or to_us(datetime(1900, 1, 1, tzinfo=UTC)) <= us < to_us(
        datetime(2100, 1, 1, tzinfo=UTC)
    )


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.datetimes(datetime(1970, 1, 2), datetime(2099, 12, 30)), st.integers(-840, 840))  # noqa: DTZ001
def test_offsets_never_move_the_instant(moment, minutes):
    there = moment.replace(tzinfo=UTC).astimezone(timezone(timedelta(minutes=minutes)))
    assert read_instant(there.isoformat()).us == to_us(moment.replace(tzinfo=UTC))


def test_a_number_beyond_all_dates_is_no_time():
    for value in (10**400, 10**5_000, -(10**400), 1e308, "9" * 400):
        instant = read_instant(value)
        assert instant.us is None
        assert instant.is_invalid
        assert instant.text
