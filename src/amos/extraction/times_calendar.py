"""Place a described time on the local calendar of its source."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from typing import NamedTuple

from amos.extraction.times_days import Day
from amos.extraction.times_parse import Expression

DAY_START_HOUR = 4  # a local day of a person ends here
_WEEK = 7
_DECEMBER = 12
_NOON = 12
_SATURDAY = 5
_FARTHEST_YEAR = 2999
_NEAREST_YEAR = 1000
_PARTS = {
    "morning": (6, 12),
    "afternoon": (12, 18),
    "evening": (18, 24),
    "night": (18, 28),
    "tonight": (18, 28),
}
_POINTS = {"noon": (12, 0), "midnight": (24, 0)}


class Span(NamedTuple):
    """A half-open local interval and the finest unit it was stated in."""

    start: datetime
    end: datetime
    precision: str


def needs_event(expression: Expression) -> bool:
    """Tell whether the phrase means nothing without the time it was said at."""
    absolute = expression.day is not None and expression.day[0] in {"date", "month", "year"}
    return not absolute or (expression.last is not None and needs_event(expression.last))


def local_span(expression: Expression, today: datetime, *, is_past: bool) -> Span | None:
    """Return the local interval of `expression`, said at local time `today`; None when absurd.

    A bare weekday, date without year, month or day of the month is the next one on or after
    the event day; the latest one on or before it where `is_past`.  "next" and "last" with a
    weekday are the first strictly after and before; with other periods the neighbouring
    calendar period.  Weeks start on Monday.
    """
    if expression.day is None:
        return None
    try:
        span = _day_span(expression.day, today, is_past=is_past)
        if span is None or not _NEAREST_YEAR <= span.start.year <= span.end.year <= _FARTHEST_YEAR:
            return None
        return _within_day(span, expression)
    except (ValueError, OverflowError):
        return None


def _within_day(span: Span, expression: Expression) -> Span | None:
    """Narrow a day to a clock time or a part of the day."""
    if expression.clock is None and expression.part is None:
        return span
    if span.precision != "day":
        return None
    point = expression.clock or _POINTS.get(expression.part or "")
    if point is not None:
        # an afternoon or evening hour may be named without its half
        is_late = (
            expression.part in {"afternoon", "evening", "night", "tonight"} and expression.clock is not None
        )
        hour = point[0] + 12 if is_late and 0 < point[0] < _NOON else point[0]
        start = span.start + timedelta(hours=hour, minutes=point[1])
        return Span(start, start + timedelta(minutes=1), "minute")
    first, last = _PARTS[expression.part or ""]
    return Span(span.start + timedelta(hours=first), span.start + timedelta(hours=last), "hour")


def _day_span(day: Day, today: datetime, *, is_past: bool) -> Span | None:
    kind, first, second, third = day
    if kind in {"date", "month", "year"}:
        return _stated(kind, first, second, third)
    if kind in {"minutes", "hours"}:
        return _moment(today, kind, first)
    if kind in {"days", "weeks", "months", "years", "weekends"}:
        return _shifted(today.date(), kind, first)
    if kind.startswith("stretch_"):
        return _stretch(today.date(), kind.removeprefix("stretch_"), first)
    return _recurring_span(day, today.date(), is_past=is_past)


def _stated(kind: str, year: int, month: int, day: int) -> Span:
    if kind == "date":
        return _of_day(date(year, month, day))
    return _of_month(year, month) if kind == "month" else _of_year(year)


def _recurring_span(day: Day, today: date, *, is_past: bool) -> Span | None:
    """Return the occurrence, near `today`, of a day or month that comes round again."""
    kind, first, second, third = day
    which = second if third else None
    if kind == "week_day":
        return _of_day(_monday(today) + timedelta(days=_WEEK * first + second))
    if kind == "weekday":
        return _of_day(_near_weekday(today, first, which=which, is_past=is_past))
    if kind == "month_day":
        return _near_date(today, first, second, is_past=is_past)
    if kind == "day_of_month":
        return _near_day_of_month(today, first, is_past=is_past)
    if kind == "month_of_year":
        return _near_month(today, first, which=which, is_past=is_past)
    return None


def _moment(now: datetime, kind: str, count: int) -> Span:
    step = timedelta(minutes=1) if kind == "minutes" else timedelta(hours=1)
    start = (now + count * step).replace(second=0, microsecond=0)
    start = start.replace(minute=0) if kind == "hours" else start
    return Span(start, start + step, kind[:-1])


def _shifted(today: date, kind: str, count: int) -> Span:
    if kind == "days":
        return _of_day(today + timedelta(days=count))
    if kind == "weeks":
        return _of_week(_monday(today) + timedelta(days=_WEEK * count))
    if kind == "weekends":
        saturday = _monday(today) + timedelta(days=_SATURDAY + _WEEK * count)
        return Span(_midnight(saturday), _midnight(saturday + timedelta(days=2)), "day")
    if kind == "months":
        months = today.year * 12 + today.month - 1 + count
        return _of_month(months // 12, months % 12 + 1)
    return _of_year(today.year + count)


def _stretch(today: date, kind: str, count: int) -> Span:
    """Return the days from today to `count` units ahead, or from that far back to today."""
    months = count * {"months": 1, "years": 12}.get(kind, 0)
    far = today + timedelta(days=count * {"days": 1, "weeks": _WEEK}.get(kind, 0))
    if months:
        number = today.year * 12 + today.month - 1 + months
        last_day = (_of_month(number // 12, number % 12 + 1).end - timedelta(days=1)).day
        far = date(number // 12, number % 12 + 1, min(today.day, last_day))
    first, last = sorted((today, far))
    return Span(_midnight(first), _midnight(last + timedelta(days=1)), kind.removesuffix("s"))


def _near_weekday(today: date, weekday: int, *, which: int | None, is_past: bool) -> date:
    ahead = (weekday - today.weekday()) % _WEEK
    if which == 1:
        return today + timedelta(days=ahead or _WEEK)
    behind = (today.weekday() - weekday) % _WEEK
    if which == -1:
        return today - timedelta(days=behind or _WEEK)
    return today - timedelta(days=behind) if is_past and which is None else today + timedelta(days=ahead)


def _near_date(today: date, month: int, day: int, *, is_past: bool) -> Span | None:
    """Return the next (or latest) year's `month` and `day`; 29 February waits for its year."""
    step = -1 if is_past else 1
    for year in range(today.year, today.year + 9 * step, step):
        try:
            found = date(year, month, day)
        except ValueError:
            continue
        if (found <= today) if is_past else (found >= today):
            return _of_day(found)
    return None


def _near_day_of_month(today: date, day: int, *, is_past: bool) -> Span | None:
    """Return the next (or latest) month that has such a `day`."""
    first = today.year * 12 + today.month - 1
    step = -1 if is_past else 1
    for months in range(first, first + 3 * step, step):
        try:
            found = date(months // 12, months % 12 + 1, day)
        except ValueError:
            continue
        if (found <= today) if is_past else (found >= today):
            return _of_day(found)
    return None


def _near_month(today: date, month: int, *, which: int | None, is_past: bool) -> Span:
    year = today.year
    if which is None:
        later = month < today.month and not is_past
        earlier = month > today.month and is_past
        return _of_month(year + later - earlier, month)
    if which == 1:
        return _of_month(year + (month <= today.month), month)
    return _of_month(year - (month >= today.month) if which else year, month)


def _monday(day: date) -> date:
    return day - timedelta(days=day.weekday())


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time())


def _of_day(day: date) -> Span:
    return Span(_midnight(day), _midnight(day + timedelta(days=1)), "day")


def _of_week(monday: date) -> Span:
    return Span(_midnight(monday), _midnight(monday + timedelta(days=_WEEK)), "week")


def _of_month(year: int, month: int) -> Span:
    following = date(year + month // _DECEMBER, month % _DECEMBER + 1, 1)
    return Span(_midnight(date(year, month, 1)), _midnight(following), "month")


def _of_year(year: int) -> Span:
    return Span(_midnight(date(year, 1, 1)), _midnight(date(year + 1, 1, 1)), "year")
