from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amos.clock import to_us
from amos.extraction.times import Resolved, end_of_local_day, resolve_times

ZONE = "Europe/Helsinki"
SAID = datetime(2027, 5, 12, 17, 45, 30, tzinfo=ZoneInfo(ZONE))  # a Wednesday


WORDS = [
    "next", "last", "this", "in", "on", "the", "14th", "3", "99", "may", "friday", "week", "ago", "at",
    "5", "pm",
    "until", "from", "to", "2031", "and", "of",
]  # fmt: skip


def us(*parts, zone=ZONE):
    return to_us(datetime(*parts, tzinfo=ZoneInfo(zone)).astimezone(UTC))


def resolve(phrase, said=SAID, zone=ZONE, **options):
    (resolved,) = resolve_times([phrase], [None if said is None else to_us(said)], [zone], **options)
    assert resolved.text == phrase
    return resolved


def span(phrase, **options):
    """Return (first local day or moment, last) of a resolved phrase, as text."""
    resolved = resolve(phrase, **options)
    return local_text(resolved.start_us), local_text(resolved.end_us), resolved.precision


def local_text(edge):
    if edge is None:
        return None
    local = datetime.fromtimestamp(edge / 1e6, ZoneInfo(ZONE))
    return local.strftime("%Y-%m-%d" if (local.hour, local.minute) == (0, 0) else "%Y-%m-%d %H:%M")


@pytest.mark.parametrize(
    ("phrase", "start", "end", "precision"),
    [
        ("today", "2027-05-12", "2027-05-13", "day"),
        ("yesterday", "2027-05-11", "2027-05-12", "day"),
        ("the day after tomorrow", "2027-05-14", "2027-05-15", "day"),
        ("tonight", "2027-05-12 18:00", "2027-05-13 04:00", "hour"),
        ("this evening", "2027-05-12 18:00", "2027-05-13", "hour"),
        ("tomorrow morning", "2027-05-13 06:00", "2027-05-13 12:00", "hour"),
        ("next Friday", "2027-05-14", "2027-05-15", "day"),
        ("next Wednesday", "2027-05-19", "2027-05-20", "day"),
        ("last Wednesday", "2027-05-05", "2027-05-06", "day"),
        ("this Sunday", "2027-05-16", "2027-05-17", "day"),
        ("on Tuesday", "2027-05-18", "2027-05-19", "day"),
        ("Monday next week", "2027-05-17", "2027-05-18", "day"),
        ("next week", "2027-05-17", "2027-05-24", "week"),
        ("the week after next", "2027-05-24", "2027-05-31", "week"),
        ("last month", "2027-04-01", "2027-05-01", "month"),
        ("this year", "2027-01-01", "2028-01-01", "year"),
        ("this weekend", "2027-05-15", "2027-05-17", "day"),
        ("last weekend", "2027-05-08", "2027-05-10", "day"),
        ("in 9 days", "2027-05-21", "2027-05-22", "day"),
        ("in three weeks", "2027-05-31", "2027-06-07", "week"),
        ("four days ago", "2027-05-08", "2027-05-09", "day"),
        ("a fortnight ago", "2027-04-26", "2027-05-03", "week"),
        ("two hours ago", "2027-05-12 15:00", "2027-05-12 16:00", "hour"),
        ("in 40 minutes", "2027-05-12 18:25", "2027-05-12 18:26", "minute"),
        ("the next 3 days", "2027-05-12", "2027-05-16", "day"),
        ("the past two months", "2027-03-12", "2027-05-13", "month"),
        ("the 20th", "2027-05-20", "2027-05-21", "day"),
        ("on the 3rd", "2027-06-03", "2027-06-04", "day"),
        ("9 August 2033", "2033-08-09", "2033-08-10", "day"),
        ("August 9th, 2033", "2033-08-09", "2033-08-10", "day"),
        ("2033-08-09", "2033-08-09", "2033-08-10", "day"),
        ("30/11/2032", "2032-11-30", "2032-12-01", "day"),
        ("3 February", "2028-02-03", "2028-02-04", "day"),
        ("29 February", "2028-02-29", "2028-03-01", "day"),
        ("October", "2027-10-01", "2027-11-01", "month"),
        ("next March", "2028-03-01", "2028-04-01", "month"),
        ("in 2019", "2019-01-01", "2020-01-01", "year"),
        ("4pm", "2027-05-12 16:00", "2027-05-12 16:01", "minute"),
        ("at 12:30 a.m. tomorrow", "2027-05-13 00:30", "2027-05-13 00:31", "minute"),
        ("Friday at 09:15", "2027-05-14 09:15", "2027-05-14 09:16", "minute"),
        ("at 7 in the evening", "2027-05-12 19:00", "2027-05-12 19:01", "minute"),
        ("noon", "2027-05-12 12:00", "2027-05-12 12:01", "minute"),
        ("9:05 am on 2 June, 2025", "2025-06-02 09:05", "2025-06-02 09:06", "minute"),
        ("from Monday to Thursday", "2027-05-17", "2027-05-21", "day"),
        ("between 1 June and 4 June", "2027-06-01", "2027-06-05", "day"),
        (
            "Christmas",
            "2027-12-25",
            "2027-12-26",
            "day",
        ),
    ],
)
def test_english_phrases_resolve_on_the_sources_calendar(phrase, start, end, precision):
    assert span(phrase) == (start, end, precision)


@pytest.mark.parametrize(
    ("phrase", "start", "end"),
    [
        ("übermorgen", "2027-05-14", "2027-05-15"),
        ("nächsten Freitag", "2027-05-14", "2027-05-15"),
        ("letzte Woche", "2027-05-03", "2027-05-10"),
        ("vor 5 Tagen", "2027-05-07", "2027-05-08"),
        ("am 20.", "2027-05-20", "2027-05-21"),
        ("bis zum 20.", None, "2027-05-21"),
        ("ab Juli", "2027-07-01", None),
        ("9. August 2033", "2033-08-09", "2033-08-10"),
        ("um 14 Uhr", "2027-05-12 14:00", "2027-05-12 14:01"),
        ("demain", "2027-05-13", "2027-05-14"),
        ("vendredi prochain", "2027-05-14", "2027-05-15"),
        ("la semaine prochaine", "2027-05-17", "2027-05-24"),
        ("il y a deux jours", "2027-05-10", "2027-05-11"),
        ("jusqu'au 20", None, "2027-05-21"),
        ("à partir de juillet", "2027-07-01", None),
        ("9 août 2033", "2033-08-09", "2033-08-10"),
        ("mañana", "2027-05-13", "2027-05-14"),
        ("el viernes pasado", "2027-05-07", "2027-05-08"),
        ("la semana que viene", "2027-05-17", "2027-05-24"),
        ("hace 2 días", "2027-05-10", "2027-05-11"),
        ("hasta el 20", None, "2027-05-21"),
        ("desde julio", "2027-07-01", None),
        ("9 de agosto de 2033", "2033-08-09", "2033-08-10"),
    ],
)
def test_german_french_and_spanish_phrases_resolve(phrase, start, end):
    assert span(phrase)[:2] == (start, end)


@pytest.mark.parametrize(
    ("phrase", "start", "end"),
    [
        ("until the 20th", None, "2027-05-21"),
        ("by Friday", None, "2027-05-15"),
        ("until June", None, "2027-06-01"),
        ("until next week", None, "2027-05-17"),
        ("until the end of June", None, "2027-07-01"),
        ("until 4pm", None, "2027-05-12 16:00"),
        ("within 3 days", None, "2027-05-16"),
        ("before 1 June", None, "2027-06-01"),
        ("after Friday", "2027-05-15", None),
        ("from June", "2027-06-01", None),
        ("as of Monday", "2027-05-17", None),
        ("since 2021", "2021-01-01", None),
        ("since Friday", "2027-05-07", None),
        ("since June", "2026-06-01", None),
    ],
)
def test_prepositions_bound_one_side(phrase, start, end):
    assert span(phrase)[:2] == (start, end)


@pytest.mark.parametrize(
    "phrase", ["every Monday", "on Fridays", "daily", "jeden Montag", "cada lunes", "tous les lundis"]
)
def test_recurring_phrases_are_marked_and_stay_unresolved(phrase):
    assert resolve(phrase) == Resolved(phrase, None, None, "unresolved", True)


@pytest.mark.parametrize("phrase", ["last time", "a few weeks ago", "recently", "the other day"])
def test_vague_past_is_only_bounded_by_the_event(phrase):
    assert resolve(phrase) == Resolved(phrase, None, to_us(SAID), "relative", False)


def test_vague_future_starts_at_the_event():
    assert resolve("soon") == Resolved("soon", to_us(SAID), None, "relative", False)


@pytest.mark.parametrize(
    "phrase",
    [
        "", "next", "31 February", "the 45th", "99999999 days ago", "in 9000 years", "06/04/2031", "at 5",
        "25:99",
        "until further notice", "for a while", "next summer", "9999-99-99", "a" * 5_000, "tomorrow " * 9,
        "13pm",
        "\x1a\x1a\x1a", "0 March", "year 0",
    ],
)  # fmt: skip
def test_absurd_and_ambiguous_phrases_stay_unresolved(phrase):
    assert resolve(phrase) == Resolved(phrase, None, None, "unresolved", False)


def test_a_range_takes_the_year_that_its_end_names():
    assert span("from January to March 2024")[:2] == ("2024-01-01", "2024-04-01")


def test_a_range_stated_backwards_stays_backwards():
    found = resolve("from 9 June 2027 to 3 June 2027")
    assert found.start_us > found.end_us


@pytest.mark.parametrize(
    "phrase", ["yesterday", "next Friday", "the 14th", "3pm", "since May", "from Monday to Friday"]
)
def test_without_an_event_time_nothing_relative_is_invented(phrase):
    assert resolve(phrase, said=None) == Resolved(phrase, None, None, "unresolved", False)


def test_without_an_event_time_absolute_dates_still_resolve():
    resolved = resolve("9 August 2033", said=None)
    assert resolved.start_us == us(2033, 8, 9)


def test_without_an_event_time_the_last_time_stays_a_bare_constraint():
    assert resolve("last time", said=None) == Resolved("last time", None, None, "relative", False)


def test_the_local_day_decides_and_not_the_day_in_utc():
    late = datetime(2027, 5, 12, 22, 30, tzinfo=UTC)  # already the 13th in Helsinki
    assert span("yesterday", said=late) == ("2027-05-12", "2027-05-13", "day")


@pytest.mark.parametrize("zone", ["+03:00", "+0300", "UTC+3", "Europe/Helsinki"])
def test_offsets_and_zone_names_agree(zone):
    assert resolve("yesterday", zone=zone) == resolve("yesterday")


@pytest.mark.parametrize("zone", [None, "", "Mars/Base", "../../etc/passwd", "+99:99", "\x00"])
def test_unknown_zones_count_as_utc(zone):
    assert resolve("today", zone=zone) == resolve("today", zone="UTC")


def test_days_across_a_clock_change_have_their_real_length():
    spring = resolve("today", said=datetime(2027, 3, 28, 12, tzinfo=ZoneInfo(ZONE)))
    autumn = resolve("today", said=datetime(2027, 10, 31, 12, tzinfo=ZoneInfo(ZONE)))
    hours = [(found.end_us - found.start_us) // 3_600_000_000 for found in (spring, autumn)]
    assert hours == [23, 25]


def test_a_clause_in_the_past_looks_back():
    assert span("on Tuesday", is_past=[True]) == ("2027-05-11", "2027-05-12", "day")
    assert span("the 20th", is_past=[True]) == ("2027-04-20", "2027-04-21", "day")
    assert span("3 August", is_past=[True]) == ("2026-08-03", "2026-08-04", "day")
    assert span("in October", is_past=[True]) == ("2026-10-01", "2026-11-01", "month")


def test_a_full_instant_keeps_its_own_offset():
    assert resolve("2033-08-09T10:20:30+02:00").start_us == us(2033, 8, 9, 8, 20, zone="UTC")


def test_the_local_day_ends_at_four_in_the_morning():
    assert end_of_local_day(to_us(SAID), ZONE) == us(2027, 5, 13, 4)
    assert end_of_local_day(us(2027, 5, 13, 2), ZONE) == us(2027, 5, 14, 4)


@pytest.mark.parametrize("event_us", [-(2**63), 2**63 - 1])
def test_absurd_events_end_their_day_without_an_error(event_us):
    assert isinstance(end_of_local_day(event_us, ZONE), int)


@given(
    phrase=st.one_of(
        st.text(max_size=30),
        st.lists(
            st.sampled_from(WORDS),
            max_size=7,
        ).map(" ".join),
    ),
    event_us=st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1)),
    zone=st.sampled_from([None, "+05:30", "America/St_Johns", "Pacific/Apia"]),
    is_past=st.booleans(),
)
def test_any_phrase_gives_an_ordered_interval_or_none(phrase, event_us, zone, is_past):
    (found,) = resolve_times([phrase], [event_us], [zone], is_past=[is_past])
    if found.start_us is not None and found.end_us is not None:
        assert found.start_us < found.end_us
    if found.precision == "unresolved":
        assert (found.start_us, found.end_us) == (None, None)
