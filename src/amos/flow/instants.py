"""Instants that a caller writes: any offset, or a date alone, which begins at midnight UTC."""

from __future__ import annotations

from datetime import UTC, date, datetime, time

from amos.clock import to_us
from amos.errors import UsageError

_ADVICE = "Write a date such as 2026-03-31, or a time such as 2026-03-31T18:00:00+02:00."


def instant_us(text: str, name: str) -> int:
    """Return microseconds since 1970 UTC of an ISO 8601 date or time; without an offset it is UTC.

    name: the option, for the message.  Raises UsageError when the text is neither.
    """
    try:
        if len(text) == len("2026-03-31"):
            return to_us(datetime.combine(date.fromisoformat(text), time(), UTC))
        moment = datetime.fromisoformat(text)
    except ValueError as cause:
        raise UsageError(f"{name} {text!r} is no date or time", advice=_ADVICE) from cause
    return to_us(moment if moment.tzinfo else moment.replace(tzinfo=UTC))
