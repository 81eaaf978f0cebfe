"""Dates and times of day in one written form; what is not stated is not filled in."""

from __future__ import annotations

import re
from datetime import date

from amos.schemas.calendar import MONTHS, ORDINALS, WEEKDAYS

LONGEST_DATE = 60  # characters
_ISO = re.compile(r"(\d{4})[-/](\d{1,2})[-/](\d{1,2})")
_ISO_MONTH = re.compile(r"(\d{4})-(\d{1,2})")
_DOTTED = re.compile(r"(\d{1,2})\. ?(\d{1,2})\. ?(\d{4})")
_SLASHED = re.compile(r"(\d{1,2})/(\d{1,2})/(\d{4})")
_EAST_ASIAN = re.compile(
    r"(?:([0-9]{4}|[〇零一二三四五六七八九]{4})年)?([0-9]{1,2}|[一二三四五六七八九十]{1,3})月(?:([0-9]{1,2}|[一二三四五六七八九十]{1,3})[日号號])?"
)
_DIGITS = {digit: value for value, digit in enumerate("〇一二三四五六七八九")} | {"零": 0}
_DAY = re.compile(r"(\d{1,2})(?:st|nd|rd|th|er|\.|º|ª)?")
_YEAR = re.compile(r"\d{4}")
_FILLERS = frozenset({"the", "of", "on", "den", "der", "am", "de", "del", "le", "el", "du", "in", "at"})
_CLOCK = re.compile(r"(?:at |um |à )?(\d{1,2})(?:[:.h]([0-5]\d)(?::([0-5]\d))?)? ?(am|pm|uhr)?")
_HALVES = re.compile(r"\b([ap])\.? ?m\b\.?")
_NAMED_TIMES = {
    "noon": "12:00",
    "midday": "12:00",
    "midnight": "00:00",
    "mittag": "12:00",
    "mitternacht": "00:00",
    "midi": "12:00",
    "minuit": "00:00",
}
_LAST_HOUR = 23
_NOON = 12
_LEAP_YEAR = 2000


def read_date(folded: str) -> str | None:
    """Return `YYYY-MM-DD`, `YYYY-MM` or `--MM-DD` (no year stated) of folded text, or None.

    06/04/2031 can be read in two ways and is no date; 25/12/2031 is one.
    """
    if len(folded) > LONGEST_DATE:
        return None
    for pattern, order in ((_ISO, (1, 2, 3)), (_DOTTED, (3, 2, 1)), (_SLASHED, (3, 2, 1))):
        match = pattern.fullmatch(folded)
        if match is not None:
            year, month, day = (int(match.group(place)) for place in order)
            return _slashed(year, month, day) if pattern is _SLASHED else _day(year, month, day)
    month_only = _ISO_MONTH.fullmatch(folded)
    if month_only is not None:
        return _month(int(month_only.group(1)), int(month_only.group(2)))
    eastern = _EAST_ASIAN.fullmatch(folded)
    return _eastern(*eastern.groups()) if eastern else _spelled(folded)


def _slashed(year: int, month: int, day: int) -> str | None:
    if month > _NOON:
        month, day = day, month
    elif day <= _NOON and day != month:
        return None
    return _day(year, month, day)


def _day(year: int | None, month: int, day: int) -> str | None:
    try:
        found = date(_LEAP_YEAR if year is None else year, month, day)
    except ValueError:
        return None
    return found.isoformat() if year is not None else f"--{month:02}-{day:02}"


def _month(year: int, month: int) -> str | None:
    return f"{year:04}-{month:02}" if 1 <= month <= _NOON else None


def _eastern(year: str | None, month: str, day: str | None) -> str | None:
    stated = None if year is None else int("".join(str(_DIGITS.get(digit, digit)) for digit in year))
    if day is None:
        return _month(stated, _counted(month)) if stated is not None else None
    return _day(stated, _counted(month), _counted(day))


def _counted(numeral: str) -> int:
    """Return the value of up to two digits, Western or Chinese with the sign for ten."""
    if numeral.isascii():
        return int(numeral)
    if "十" not in numeral:
        return int("".join(str(_DIGITS[digit]) for digit in numeral))
    tens, _, ones = numeral.partition("十")
    return 10 * _DIGITS.get(tens, 1) + _DIGITS.get(ones, 0)


def _spelled(folded: str) -> str | None:
    """Read a date whose month is a word, in any order of its parts."""
    words = [
        word for word in folded.replace(",", " ").split() if word not in _FILLERS and word not in WEEKDAYS
    ]
    months = [MONTHS[word.rstrip(".")] for word in words if word.rstrip(".") in MONTHS]
    numbers = [word for word in words if word.rstrip(".") not in MONTHS]
    years = [int(word) for word in numbers if _YEAR.fullmatch(word)]
    days = [_day_number(word) for word in numbers if not _YEAR.fullmatch(word)]
    if len(months) != 1 or len(years) > 1 or len(days) > 1 or None in days:
        return None
    if days:
        return _day(years[0] if years else None, months[0], days[0] or 0)
    return _month(years[0], months[0]) if years else None


def _day_number(word: str) -> int | None:
    match = _DAY.fullmatch(word)
    return int(match.group(1)) if match else ORDINALS.get(word)


def read_time(folded: str) -> str | None:
    """Return `HH:MM` (or `HH:MM:SS`) of folded text, or None; a bare number is no time."""
    if folded in _NAMED_TIMES:
        return _NAMED_TIMES[folded]
    text = _HALVES.sub(r"\1m", folded)
    match = _CLOCK.fullmatch(text) if len(text) <= LONGEST_DATE else None
    if match is None:
        return None
    hour, minute, second, half = int(match.group(1)), match.group(2), match.group(3), match.group(4)
    is_dotted = "." in match.group() and half is None
    if (minute is None and half is None) or is_dotted:
        return None
    if half in {"am", "pm"}:
        if not 1 <= hour <= _NOON:
            return None
        hour = hour % _NOON + (_NOON if half == "pm" else 0)
    if hour > _LAST_HOUR:
        return None
    return f"{hour:02}:{minute or '00'}" + (f":{second}" if second else "")
