"""What a time expression does to a claim: its class, its interval, and what is kept of the words."""

from __future__ import annotations

import re
from typing import NamedTuple

from amos.extraction.grammar import Meaning
from amos.extraction.times import Resolved
from amos.kernels.features import BY, DATE, EVERY, FROM, NEXT, NO_TIME, NOW, PAST, UNTIL
from amos.patterns import pattern_of
from amos.schemas.vocabulary import MemoryClass

DUE_KINDS = frozenset({BY, NEXT, DATE, UNTIL, NOW})
DATED_KINDS = frozenset({PAST, DATE, NOW})
_SHORT_LIVED = frozenset({UNTIL, NEXT, NOW})
_APPOINTMENT = pattern_of(
    r"\b(?:appointment|meeting|flight|exam|interview|delivery|call|party|visit|shift|check-?up|viewing|trip"
    r"|train|deadline|dinner|lunch|session|surgery|concert|game|match|holiday|vacation|presentation|demo)\b"
)
_WEEKDAY = pattern_of(r"(?:on\s+)?(?:mon|tues|wednes|thurs|fri|satur|sun)day", re.IGNORECASE)
LASTING = frozenset(("these days", "nowadays", "lately"))
"""Words for now that say what holds for good."""
_BOUNDED_TYPES = frozenset({"belief", "preference"})


class Timed(NamedTuple):
    """memory_class; the interval in UTC microseconds or None; precision or None."""

    memory_class: str
    valid_from: int | None
    valid_until: int | None
    precision: str | None


def class_of(meaning: Meaning, kind: int, text: str, property_name: str, *, is_value: bool) -> str:
    """Return the memory class of a claim whose clause holds a time expression of `kind`.

    `is_value`: the expression is the value itself ("my exam is next Friday").
    """
    if kind == EVERY and meaning.memory_class == MemoryClass.TEMPORARY_STATE and meaning.family == "own":
        return MemoryClass.DURABLE_FACT.value  # what comes round again does not pass
    is_plain = meaning.memory_class == MemoryClass.DURABLE_FACT and meaning.type in _BOUNDED_TYPES
    if kind == NO_TIME or not is_plain or meaning.shape in ("habit", "statement"):
        return meaning.memory_class
    if kind in _SHORT_LIVED and not (is_value and kind == UNTIL):
        return MemoryClass.TEMPORARY_STATE
    if is_value and _WEEKDAY.fullmatch(text) and _APPOINTMENT.search(property_name):
        return MemoryClass.TEMPORARY_STATE
    return meaning.memory_class


def is_appointment(value: str) -> bool:
    """Tell whether what somebody has is an appointment: it passes, and without a time it is nothing."""
    return _APPOINTMENT.search(value) is not None


def interval_of(memory_class: str, meaning: Meaning, kind: int, resolved: Resolved) -> Timed:
    """Return class, interval and precision: what the words bound and nothing more.

    A property that holds since or from some moment, without an end, is no passing state.
    """
    if kind == NO_TIME:
        return Timed(memory_class, None, None, None)
    start, end, precision = resolved.start_us, resolved.end_us, resolved.precision
    if kind == FROM and meaning.family == "own" and start is not None and end is None:
        memory_class = MemoryClass.DURABLE_FACT.value
    if memory_class == MemoryClass.EPISODE:
        return Timed(memory_class, start, end, precision)
    if memory_class == MemoryClass.TEMPORARY_STATE:
        return Timed(memory_class, start if kind == FROM else None, end, precision)
    return _lasting(memory_class, meaning, kind, resolved)


def _lasting(memory_class: str, meaning: Meaning, kind: int, resolved: Resolved) -> Timed:
    start, end = None, None
    if kind == FROM:
        start, end = resolved.start_us, resolved.end_us
    elif meaning.when == "from" and kind in (DATE, PAST):
        start = resolved.start_us
    elif kind == UNTIL:
        end = resolved.end_us
    return Timed(memory_class, start, end, None if kind == EVERY else resolved.precision)
