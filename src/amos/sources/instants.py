"""Read a record's own clock: an instant, its zone, and the text where that says more."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from email.utils import parsedate_to_datetime
from importlib import resources
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from amos.clock import EPOCH, to_us
from amos.errors import UsageError

LOWEST_US = to_us(datetime(1900, 1, 1, tzinfo=UTC))
HIGHEST_US = to_us(datetime(2100, 1, 1, tzinfo=UTC))
_HIGHEST_SECONDS = HIGHEST_US // 1_000_000 + 1
_DAY_SECONDS = 86_400
_SHORTEST = len("2026-01-31T12:34:56Z")
_LONGEST = len("2026-01-31T12:34:56.123456Z")
_OFFSET = re.compile(r"([+-])(\d\d):?(\d\d)", re.ASCII)
_EPOCH_TEXT = re.compile(r"\d{9,10}(?:\.\d+)?", re.ASCII)
_CLOCK_ON_DAY = re.compile(
    r"(\d{1,2}):(\d\d)\s*([ap])\.?m\.?,?\s+(?:on\s+)?(\d{1,2})\s+([A-Za-z]+),?\s+(\d{4})",
    re.ASCII | re.IGNORECASE,
)
_SLASHED = re.compile(
    r"(\d{4})/(\d{1,2})/(\d{1,2})(?:\s*\([A-Za-z]+\))?(?:\s+(\d{1,2}):(\d\d)(?::(\d\d))?)?", re.ASCII
)
_MONTHS = {
    name: number
    for number, name in enumerate(
        ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), start=1
    )
}
_LONGEST_TEXT = 64


class Instant(NamedTuple):
    """When something was said, as far as the record tells.

    us: microseconds since 1970 UTC, None when unknown or absurd.  text: as written, None where
    the canonical form says the same.  zone: "Z", an offset such as "-07:00", or a zone name.
    """

    us: int | None = None
    text: str | None = None
    zone: str | None = None
    is_zone_assumed: bool = False
    is_invalid: bool = False


UNKNOWN = Instant()


class DefaultZone(NamedTuple):
    """The zone of times that name none."""

    name: str
    zone: tzinfo
    is_assumed: bool


ASSUMED_UTC = DefaultZone("Z", UTC, True)


def default_zone(name: str | None) -> DefaultZone:
    """Return the zone called `name` (IANA name, offset, "Z"); UTC, assumed, when None.

    Raises UsageError when there is no such zone.
    """
    if name is None:
        return ASSUMED_UTC
    if name.upper() in {"Z", "UTC"}:
        return DefaultZone("Z", UTC, False)
    offset = _OFFSET.fullmatch(name)
    if offset:
        sign = -1 if offset[1] == "-" else 1
        delta = sign * timedelta(hours=int(offset[2]), minutes=int(offset[3]))
        if abs(delta) < timedelta(days=1):
            return DefaultZone(offset_text(delta), timezone(delta), False)
    return DefaultZone(name, _named_zone(name), False)


def _named_zone(name: str) -> ZoneInfo:
    # The tzdata package, not the machine's own tables: the same input must give the same instant.
    parts = name.split("/")
    if all(re.fullmatch(r"[A-Za-z0-9_+-]+", part) for part in parts):
        table = resources.files("tzdata").joinpath("zoneinfo", *parts)
        if table.is_file():
            with table.open("rb") as stream:
                return ZoneInfo.from_file(stream, key=name)
    raise UsageError(
        f"no time zone is called {name!r}",
        path=name,
        advice="Give an IANA name such as Europe/Brussels, or an offset such as +02:00.",
    )


def read_instant(value: Any, zone: DefaultZone = ASSUMED_UTC) -> Instant:
    """Return the instant that `value` (text, or seconds since 1970) names.

    None and blank text are unknown; what cannot be read or lies outside 1900 to 2099
    (a number: before 1970) is kept as text and marked invalid.
    """
    if isinstance(value, str):
        return _from_text(value, zone)
    if value is None:
        return UNKNOWN
    if isinstance(value, bool) or not isinstance(value, int | float):
        return Instant(text=str(value)[:_LONGEST_TEXT], is_invalid=True)
    return _from_seconds(value, _number_text(value))


def _number_text(value: float) -> str:
    try:
        return str(value)
    except ValueError:  # more digits than Python writes out
        return f"a number of {value.bit_length() if isinstance(value, int) else 0} bits"


def _from_seconds(seconds: float, written: str) -> Instant:
    # compared before it is multiplied: huge numbers overflow, and no comparison holds for NaN
    us = round(seconds * 1_000_000) if 0 < seconds < _HIGHEST_SECONDS else 0
    if not 0 < us < HIGHEST_US:
        return Instant(text=written[:_LONGEST_TEXT], is_invalid=True)
    return Instant(us=us, zone="Z")


def _from_text(text: str, zone: DefaultZone) -> Instant:
    if text[-1:] == "Z" and _is_canonical(text):
        try:
            since = datetime.fromisoformat(text) - EPOCH
        except ValueError:
            return Instant(text=text, is_invalid=True)
        us = (since.days * _DAY_SECONDS + since.seconds) * 1_000_000 + since.microseconds
        if LOWEST_US <= us < HIGHEST_US:
            return Instant(us, None, "Z")
        return Instant(text=text, is_invalid=True)
    written = text.strip()
    if not written:
        return UNKNOWN
    if _EPOCH_TEXT.fullmatch(written):
        return _from_seconds(float(written), written)
    moment = _moment(written) if len(written) <= _LONGEST_TEXT else None
    return _placed(moment, text, zone)


def _is_canonical(text: str) -> bool:
    """Tell whether `text` has the shape of RFC 3339 in UTC, to the microsecond at most."""
    return _SHORTEST <= len(text) <= _LONGEST and text[10] == "T" and text[13] == text[16] == ":"


def _placed(moment: datetime | None, text: str, zone: DefaultZone) -> Instant:
    if moment is None:
        return Instant(text=text[:_LONGEST_TEXT], is_invalid=True)
    own = moment.tzinfo is not None
    try:
        us = to_us(moment if own else moment.replace(tzinfo=zone.zone))
    except OverflowError:
        us = HIGHEST_US
    if not LOWEST_US <= us < HIGHEST_US:
        return Instant(text=text, is_invalid=True)
    if not own:
        return Instant(us, text, zone.name, zone.is_assumed)
    offset = moment.utcoffset() or timedelta()
    return Instant(us, text, "Z" if text.rstrip()[-1] in "Zz" else offset_text(offset))


def _moment(text: str) -> datetime | None:
    for read in _GRAMMARS:
        try:
            moment = read(text)
        except (ValueError, OverflowError, TypeError):
            continue
        if moment is not None:
            return moment
    return None


def _iso(text: str) -> datetime:
    body = text[:-4] + "Z" if text.endswith(" UTC") else text
    return datetime.fromisoformat(body)


def _clock_on_day(text: str) -> datetime | None:
    """Read "1:56 pm on 8 May, 2023"."""
    found = _CLOCK_ON_DAY.fullmatch(text)
    if not found:
        return None
    hour, minute, half, day, month, year = found.groups()
    return datetime(  # noqa: DTZ001 - the zone is the caller's
        int(year),
        _MONTHS.get(month[:3].lower(), 0),
        int(day),
        int(hour) % 12 + (12 if half in "pP" else 0),
        int(minute),
    )


def _slashed(text: str) -> datetime | None:
    """Read "2023/05/20 (Sat) 02:21"."""
    found = _SLASHED.fullmatch(text)
    if not found:
        return None
    year, month, day, hour, minute, second = (int(part or 0) for part in found.groups())
    return datetime(year, month, day, hour, minute, second)  # noqa: DTZ001


_GRAMMARS: tuple[Callable[[str], datetime | None], ...] = (
    _iso,
    _clock_on_day,
    _slashed,
    parsedate_to_datetime,
)


def offset_text(offset: timedelta) -> str:
    """Return `offset` as RFC 3339 writes it, to the minute."""
    minutes = round(offset.total_seconds() / 60)
    sign = "-" if minutes < 0 else "+"
    return f"{sign}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}"
