"""Resolve time expressions against the clock and zone of the source that used them."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from amos.clock import from_us, to_us
from amos.extraction.times_calendar import DAY_START_HOUR, Span, local_span, needs_event
from amos.extraction.times_parse import Expression, read_phrase
from amos.patterns import pattern_of

TIMES_VERSION = 1
"""Raise when resolutions change for the same phrases."""

_OFFSET = pattern_of(r"(?:utc|gmt)?([+\-−])(\d{1,2}):?(\d{2})?", re.IGNORECASE)
_MOST_OFFSET_HOURS = 18
_EARLIEST_US = to_us(datetime(1000, 1, 2, tzinfo=UTC))
_LATEST_US = to_us(datetime(2999, 12, 30, tzinfo=UTC))
_INSTANT = pattern_of(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?(?:[Zz]|[+-]\d\d:?\d\d)")
_MINUTE_US = 60_000_000
_CLOCK_UNITS = ("minutes", "hours")


class Resolved(NamedTuple):
    """A time expression as an interval of UTC microseconds, half-open; None is unbounded or unknown.

    A range that is stated backwards stays backwards, so that admission can refuse it.

    precision: minute, hour, day, week, month, year, relative (before or after the event
    time, no more is said) or unresolved.
    """

    text: str
    start_us: int | None
    end_us: int | None
    precision: str
    is_recurring: bool


def resolve_times(
    phrases: Sequence[str],
    event_us: Sequence[int | None],
    zone: Sequence[str | None],
    *,
    is_past: Sequence[bool] | None = None,
) -> list[Resolved]:
    """Resolve each phrase against its event time and zone, in order; nothing is invented.

    zone: an offset such as `+02:00` or an IANA name; UTC where absent or unknown.
    is_past: the clause speaks of the past, so that bare days look back.
    "until" and "by" include a day that they name, and end where a longer period begins;
    "from" and "since" start with what they name.  Without event time only absolute dates
    resolve.  Absurd and unknown expressions stay unresolved.
    """
    pasts = is_past if is_past is not None else [False] * len(phrases)
    return [
        _resolve(phrase, us, where, was)
        for phrase, us, where, was in zip(phrases, event_us, zone, pasts, strict=True)
    ]


def end_of_local_day(event_us: int, zone: str | None) -> int:
    """Return the microsecond at which the day around `event_us` ends: 04:00 of the next local day.

    Times outside the years 1000 to 2999 count as the nearest one inside.
    """
    where = _zone(zone)
    local = from_us(min(max(event_us, _EARLIEST_US), _LATEST_US)).astimezone(where)
    following = local.date() + timedelta(days=1)
    end = datetime(following.year, following.month, following.day, DAY_START_HOUR, tzinfo=where)
    return to_us(end.astimezone(UTC))


def day_named(resolved: Resolved, zone: str | None) -> str | None:
    """Return the one local day that a resolved expression covers as an ISO date, None for anything else."""
    if resolved.precision != "day" or resolved.start_us is None or resolved.end_us is None:
        return None
    where = _zone(zone)
    first, after = (from_us(us).astimezone(where).date() for us in (resolved.start_us, resolved.end_us))
    return first.isoformat() if after - first == timedelta(days=1) else None


def _resolve(phrase: str, event_us: int | None, zone: str | None, is_past: bool) -> Resolved:
    if _INSTANT.fullmatch(phrase):
        return _instant(phrase)
    expression = read_phrase(phrase)
    if event_us is not None and not _EARLIEST_US <= event_us <= _LATEST_US:
        event_us = None
    if expression.side:
        before, after = (event_us, None) if expression.side < 0 else (None, event_us)
        return Resolved(phrase, after, before, "relative", False)
    if expression.day is None or (event_us is None and needs_event(expression)):
        return Resolved(phrase, None, None, "unresolved", expression.is_recurring)
    where = _zone(zone)
    local = from_us(event_us or 0).astimezone(where).replace(tzinfo=None)
    if expression.day[0] not in _CLOCK_UNITS:
        # one day, one answer: lets the cache serve a whole conversation
        local = local.replace(hour=0, minute=0, second=0, microsecond=0)
    return _resolve_locally(phrase, local, zone, is_past)


def _instant(phrase: str) -> Resolved:
    """Return the minute that a full ISO 8601 instant names, whatever the source's zone."""
    try:
        start = to_us(datetime.fromisoformat(phrase.upper()).astimezone(UTC)) // _MINUTE_US * _MINUTE_US
    except (ValueError, OverflowError):
        return Resolved(phrase, None, None, "unresolved", False)
    return Resolved(phrase, start, start + _MINUTE_US, "minute", False)


@functools.lru_cache(maxsize=65_536)
def _resolve_locally(phrase: str, local: datetime, zone: str | None, is_past: bool) -> Resolved:
    expression = read_phrase(phrase)
    looks_back = is_past or expression.bound == "since"
    span = local_span(expression, local, is_past=looks_back)
    if span is not None and expression.last is not None:
        last = local_span(expression.last, span.start, is_past=False)
        if last is not None and last.end <= span.start and needs_event(expression):
            # "from January to March 2024": the end alone says which year is meant
            span = local_span(expression, last.start, is_past=True) or span
        span = _until(span, last)
    if span is None:
        return Resolved(phrase, None, None, "unresolved", False)
    start, end = _bounded(span, expression)
    where = _zone(zone)
    return Resolved(phrase, _in_utc(start, where), _in_utc(end, where), span.precision, False)


def _until(first: Span, last: Span | None) -> Span | None:
    """Return the span from the start of `first` to the end of `last`, backwards if so stated."""
    return None if last is None else Span(first.start, last.end, last.precision)


def _bounded(span: Span, expression: Expression) -> tuple[datetime | None, datetime | None]:
    """Return start and end of what a phrase with its preposition covers."""
    bound = expression.bound
    is_period = span.precision in {"week", "month", "year"}
    if bound in {"until", "by"}:
        is_whole = expression.edge == "end" or (not is_period and span.precision != "minute")
        return None, span.end if is_whole else span.start
    if bound == "before":
        return None, span.start
    if bound == "after":
        return span.end, None
    if bound in {"from", "since"}:
        return (span.end if expression.edge == "end" else span.start), None
    return span.start, span.end


def _in_utc(local: datetime | None, zone: tzinfo) -> int | None:
    return None if local is None else to_us(local.replace(tzinfo=zone).astimezone(UTC))


@functools.lru_cache(maxsize=4_096)
def _zone(name: str | None) -> tzinfo:
    """Return the zone of an offset or IANA name; UTC where it names none."""
    if not name or name in {"Z", "z", "UTC"}:
        return UTC
    offset = _OFFSET.fullmatch(name.strip())
    if offset is not None:
        hours, minutes = int(offset.group(2)), int(offset.group(3) or 0)
        if hours > _MOST_OFFSET_HOURS:
            return UTC
        sign = 1 if offset.group(1) == "+" else -1
        return timezone(sign * timedelta(hours=hours, minutes=minutes))
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return UTC
