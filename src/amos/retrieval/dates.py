"""Dates in a question, and how close an event lies to them."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import date

import numpy as np
import numpy.typing as npt

from amos.retrieval.rows import UNKNOWN_US, Array

I64 = npt.NDArray[np.int64]
MILLION = 1_000_000

_MONTHS = "january february march april may june july august september october november december".split()
_NAMES = "|".join([*_MONTHS, *(name[:3] for name in _MONTHS if name != "may"), "sept"])
_WRITTEN = re.compile(
    rf"(?:\b(\d{{1,2}})(?:st|nd|rd|th)?(?: of)?,? )?\b({_NAMES})\b\.?"
    r"(?:,? (\d{1,2})(?:st|nd|rd|th)?\b(?!\d))?(?:,? ((?:19|20)\d\d)\b)?"
)
_NUMERIC = re.compile(r"\b((?:19|20)\d\d)-(\d\d)(?:-(\d\d))?\b")
_YEAR = re.compile(r"(?<![\d-])(?:19|20)\d\d(?![\d-])")
_DATE_WORD = re.compile(rf"(?:{_NAMES})|\d{{1,2}}(?:st|nd|rd|th)?|(?:19|20)\d\d")
_DAY_US = 86_400_000_000
_REACH = 60
"""Days beyond which an exact date is no longer felt."""
_NEXT_MONTH = 400_000
_SAME_YEAR = 300_000
_FADED = np.array([round(MILLION * math.exp(-gap / 7)) for gap in range(_REACH + 1)] + [0], np.int64)


@dataclass(frozen=True)
class AskedDate:
    """One date of a question; what it does not say is None."""

    year: int | None
    month: int | None
    day: int | None


def asked_dates(question: str) -> tuple[AskedDate, ...]:
    """Return the dates that a question names, in the order written, bare years last."""
    low = question.lower()
    found = []
    for match in _NUMERIC.finditer(low):
        year, month, day = (int(part) if part else None for part in match.groups())
        if month and month <= len(_MONTHS):
            found.append(AskedDate(year, month, day))
    for match in _WRITTEN.finditer(low):
        before, name, after, year_text = match.groups()
        day_text = before or after
        is_month = name in _MONTHS and name not in {"may", "march"}
        if not (is_month or day_text or year_text or _follows_preposition(low, match.start(2))):
            continue
        day = int(day_text) if day_text and 1 <= int(day_text) <= 31 else None
        found.append(AskedDate(int(year_text) if year_text else None, _number(name), day))
    named = {one.year for one in found}
    years = [int(text) for text in _YEAR.findall(low)]
    found += [AskedDate(year, None, None) for year in years if year not in named]
    return tuple(dict.fromkeys(found))


def is_date_word(token: str) -> bool:
    """Return whether a word of a question that names a date may be part of it: a month, a day or a year."""
    return _DATE_WORD.fullmatch(token.lower()) is not None


def _number(name: str) -> int:
    return next(number for number, month in enumerate(_MONTHS, 1) if month[:3] == name[:3])


def _follows_preposition(text: str, at: int) -> bool:
    return text[:at].endswith(("in ", "since ", "until ", "by ", "of "))


def date_closeness(event_us: Array, asked: tuple[AskedDate, ...]) -> I64:
    """Return per event how close it lies to the nearest asked date, in millionths.

    event_us: microseconds since 1970; unknown ones are close to nothing.  An exact day and the next are 1
    and fade with exp(-days / 7); a month is 1, the month after it 0.4; a year alone 0.3.
    """
    best = np.zeros(len(event_us), np.int64)
    if not asked or not len(event_us):
        return best
    known = event_us != UNKNOWN_US
    days = np.where(known, event_us, 0) // _DAY_US
    months = days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)
    years, month = months // 12 + 1970, months % 12 + 1
    for one in asked:
        best = np.maximum(best, _close_to(one, days, years, month))
    return np.where(known, best, 0)


def _close_to(one: AskedDate, days: I64, years: I64, month: I64) -> I64:
    same_year = np.ones(len(days), bool) if one.year is None else years == one.year
    if one.month is None:
        return np.where(same_year, _SAME_YEAR, 0)
    if one.day is None:
        after = (month - one.month) % 12 == 1
        close = np.where(month == one.month, MILLION, np.where(after, _NEXT_MONTH, 0))
        return np.where(same_year, close, 0)
    best = np.zeros(len(days), np.int64)
    for year in np.unique(years) if one.year is None else [one.year]:
        try:
            wanted = (date(int(year), one.month, one.day) - date(1970, 1, 1)).days
        except ValueError:  # no such day
            continue
        gap = days - wanted
        faded = _FADED[np.minimum(np.abs(gap), _REACH + 1)]
        best = np.maximum(best, np.where((gap == 0) | (gap == 1), MILLION, faded))
    return best
