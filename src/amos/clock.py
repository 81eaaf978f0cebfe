"""The only place that asks the machine for the time; stages receive it as `now`."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def utc_now() -> datetime:
    """Return the current instant in UTC."""
    return datetime.now(UTC)


def to_us(instant: datetime) -> int:
    """Return microseconds since 1970-01-01 UTC of an aware `instant`."""
    return (instant - EPOCH) // _MICROSECOND


def from_us(microseconds: int) -> datetime:
    """Return the UTC instant `microseconds` after 1970-01-01."""
    return EPOCH + timedelta(microseconds=microseconds)


def as_text(microseconds: int | None) -> str | None:
    """Return RFC 3339 UTC text with microseconds, or None."""
    if microseconds is None:
        return None
    return from_us(microseconds).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
