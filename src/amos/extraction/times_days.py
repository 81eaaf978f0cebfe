"""Read the day or period of a time expression: "tomorrow", "3 weeks ago", "next May", "the 14th"."""

from __future__ import annotations

import re

from amos.extraction.times_words import UNITS, plain_word
from amos.patterns import pattern_of
from amos.schemas.calendar import MONTHS, NUMBERS, ORDINALS, WEEKDAYS

Day = tuple[str, int, int, int]
"""(kind, three numbers); the kinds are the branches of `times_calendar.local_span`."""

FILLERS = frozenset(
    {"on", "in", "at", "the", "of", "early", "mid", "late", "around", "about", "only", "just"}
)
FILLERS |= {"back", "during", "for"}
"""Words that change nothing about which day is meant."""

_MOST_DIGITS = 4
_LAST_DAY = 31
_ORDINAL = pattern_of(r"\d{1,2}(?:st|nd|rd|th|er|\.|º|ª)")
_TIMES = {"last": -1, "this": 0, "next": 1}
_STRETCHED = frozenset({"day", "week", "month", "year"})
_COUNTED = _STRETCHED | {"minute", "hour"}


def read_day(words: list[str]) -> Day | None:
    """Return the day or period that `words` name once clock and part of day are gone, or None."""
    for read in (_named_day, _counted, _calendar_period, _weekday, _month_or_day):
        day = read(words)
        if day is not None:
            return day
    return None


def _content(words: list[str]) -> list[str]:
    return [word for word in words if plain_word(word) not in FILLERS]


def _named_day(words: list[str]) -> Day | None:
    offsets = {"today": 0, "yesterday": -1, "tomorrow": 1, "now": 0}
    content = [plain for plain in map(plain_word, _content(words)) if plain != "this"]
    if len(content) == 1 and content[0] in offsets:
        return ("days", offsets[content[0]], 0, 0)
    return None


def _counted(words: list[str]) -> Day | None:
    """Read "3 days ago", "in two weeks", "the next 3 days"; the unit is the precision."""
    content = [word for word in words if plain_word(word) not in FILLERS - {"in"}]
    sign = -1 if content[-1:] == ["ago"] else 1 if content[-1:] == ["ahead"] else 0
    content = content[:-1] if sign else content
    if not sign and content[:1] and plain_word(content[0]) == "in":
        sign = 1
    content = [word for word in content if plain_word(word) != "in"]
    stretch = _TIMES.get(plain_word(content[0]), 0) if content and not sign else 0
    content = content[1:] if stretch else content
    if not (sign or stretch) or len(content) != 2:
        return None
    count, unit = _number(content[0]), UNITS.get(content[1])
    if count is None or unit not in _COUNTED or (stretch and unit not in _STRETCHED):
        return None
    return (f"stretch_{unit}s" if stretch else f"{unit}s", (sign or stretch) * count, 0, 0)


def _number(word: str) -> int | None:
    if word.isdecimal():
        return int(word) if len(word) <= _MOST_DIGITS else None
    return NUMBERS.get(word)


def _calendar_period(words: list[str]) -> Day | None:
    """Read "next week", "last month", "this year", "the weekend", "the week after next"."""
    content = _content(words)
    units = [UNITS[word] for word in content if word in UNITS]
    others = [plain_word(word) for word in content if word not in UNITS]
    days = [WEEKDAYS[word] for word in others if word in WEEKDAYS]
    if len(units) != 1 or units[0] in {"minute", "hour", "day"}:
        return None
    unit = units[0]
    times = [word for word in others if word in _TIMES]
    rest = [word for word in others if word not in _TIMES and word not in WEEKDAYS]
    if days and unit == "week" and len(times) == 1 and not rest:
        return ("week_day", _TIMES[times[0]], days[0], 0)
    if days:
        return None
    steps = {("after", "next"): 2, ("before", "last"): -2}
    step = steps.get((rest[0], times[0])) if len(rest) == 1 and len(times) == 1 else None
    if step is None and not rest and len(times) <= 1:
        step = _TIMES[times[0]] if times else 0
    return (f"{unit}s", step, 0, 0) if step is not None else None


def _weekday(words: list[str]) -> Day | None:
    content = _content(words)
    days = [WEEKDAYS[word] for word in content if word in WEEKDAYS]
    others = [plain_word(word) for word in content if word not in WEEKDAYS]
    if len(days) != 1 or len(others) > 1:
        return None
    if not others:
        return ("weekday", days[0], 0, 0)
    which = {"next": 1, "last": -1, "this": 0}.get(others[0])
    return None if which is None else ("weekday", days[0], which, 1)


def _month_or_day(words: list[str]) -> Day | None:
    """Read "6 april 2031", "march", "next may", "2031", "the 14th", with an optional weekday in front."""
    content = [
        word for word in _content(words) if word not in WEEKDAYS and plain_word(word) not in {"of", "the"}
    ]
    months = [MONTHS[word.rstrip(".")] for word in content if word.rstrip(".") in MONTHS]
    others = [word for word in content if word.rstrip(".") not in MONTHS]
    times = [_TIMES[plain_word(word)] for word in others if plain_word(word) in _TIMES]
    numbers = [_day_or_year(word) for word in others if plain_word(word) not in _TIMES]
    if None in numbers or len(months) > 1 or len(times) > 1 or len(numbers) > 2:
        return None
    years = [number for number in numbers if number is not None and number > _LAST_DAY]
    days = [number for number in numbers if number is not None and number <= _LAST_DAY]
    if len(years) > 1 or len(days) > 1 or (times and (days or years)):
        return None
    is_ordinal = any(_ORDINAL.fullmatch(word) or word in ORDINALS for word in others) or not {
        "the",
        "on",
    }.isdisjoint(map(plain_word, words))
    return _assembled(months, days, years, times, is_ordinal=is_ordinal)


def _assembled(
    months: list[int], days: list[int], years: list[int], times: list[int], *, is_ordinal: bool
) -> Day | None:
    if months and days:
        return ("date", years[0], months[0], days[0]) if years else ("month_day", months[0], days[0], 0)
    if months:
        return (
            ("month", years[0], months[0], 0)
            if years
            else ("month_of_year", months[0], *((times[0], 1) if times else (0, 0)))
        )
    if years:
        return None if days or times else ("year", years[0], 0, 0)
    return ("day_of_month", days[0], 0, 0) if days and is_ordinal else None


def _day_or_year(word: str) -> int | None:
    if word in ORDINALS:
        return ORDINALS[word]
    match = re.fullmatch(r"(\d{1,2})(?:st|nd|rd|th|er|\.|º|ª)?|(\d{4})", word)
    if match is None:
        return None
    number = int(match.group(1) or match.group(2))
    is_year = match.group(2) is not None
    return number if (number > _LAST_DAY) == is_year and number else None
