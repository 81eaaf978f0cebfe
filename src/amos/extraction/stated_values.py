"""The value that a match states: cleaned, cut where it ends, with its recurrence and the rest of a list."""

from __future__ import annotations

import re
from typing import NamedTuple

from amos.extraction.grammar import Meaning
from amos.extraction.lexicon import CUES
from amos.extraction.lists import (
    REACH,
    Items,
    bracketed_end,
    items_after,
    left_out_of,
    second_after,
    second_inside,
)
from amos.extraction.matches import Match, Origin
from amos.extraction.repairs import find_repair
from amos.extraction.timing import LASTING
from amos.extraction.trimming import trim_value
from amos.extraction.wording import clean_value, without_time_lead
from amos.kernels import rows as layout
from amos.kernels.features import BY, DATE, EVERY, FROM, NO_TIME, NOW
from amos.kernels.match import TAIL_CAPTURE, VALUE
from amos.patterns import pattern_of

_TRIMMED = frozenset(("none", "habit", "preference", "goal", "commitment"))
"""Shapes whose value is a thing that is said, not a whole statement."""
_JOINED = {"none": (EVERY,), "preference": (EVERY, DATE, BY)}
"""Kinds of time expressions that belong to the value: "free | every Friday", "working | on Sundays"."""
_ARTICLES = frozenset(("the", "a", "an", "my", "our"))
_CLOSED_BY = {
    "'": pattern_of(r"(?:^|\s)'[^']*$"),
    '"': pattern_of(r'(?:^|\s)"[^"]*$'),
    "”": pattern_of(r"(?:^|\s)“[^”]*$"),
    "’": pattern_of(r"(?:^|\s)‘[^’]*$"),
}
_UNFINISHED = frozenset(("due", "scheduled", "planned", "booked", "set", "fixed", "starting", "ending"))
"""Values that say nothing without the time that follows."""
_LIST_MARKS = (b",", b" but not ", b" though not ", b" nor ")
_LIST_STARTS = (b",", b"(", b" (")
_NO_ITEMS = Items((), ())
_NO_REACH = 8
"""Bytes behind a value within which a bare "no," takes it back: "is 7, no, 8"."""
_CORRECTION = CUES["correction"]
_UNIT = pattern_of(r"\s?[%‰°€£$¥](?:\s?[CFK](?![^\W_]))?")
"""A unit that is no word, behind a number."""
_MINUTES = pattern_of(r"(?:(?:at|around|about) )?\d{1,2}:\d\d(?::\d\d)?")
_PER = pattern_of(r"(?: ?[a-z]{1,7})?(?: ?/ ?| per )(?:\d+ ?)?[a-z]{1,6}(?!\w)", re.IGNORECASE)
"""A rate behind a number of minutes and seconds."""
_WEEKLY = pattern_of(
    r"(?:from|between) (?:mon|tues|wednes|thurs|fri|satur|sun)days? (?:to|until|till|through|and) "
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?",
    re.IGNORECASE,
)
"""A range of weekdays without a date comes round every week."""


class Stated(NamedTuple):
    """value: as kept.  is_time: it is a time expression.  kind: of the claim's time expression.

    end: the byte after a value that runs on past its match, 0 when it does not.
    is_denied: the value itself began with "not".
    """

    value: str
    is_time: bool
    kind: int
    end: int
    is_denied: bool = False


def stated_value(match: Match, meaning: Meaning, origin: Origin, property_name: str) -> Stated:
    """Return the value that the match states for `property_name`."""
    span = match.capture_span(VALUE)
    repaired = _repaired(span, meaning, origin)
    if repaired is not None:
        return repaired
    rate = _rate(match, span, origin)
    if rate is not None:
        return rate
    value, is_time = _value_text(match, span, origin)
    kind = _kind_of_time(match)
    if meaning.shape not in _TRIMMED or is_time:
        return Stated(value, is_time, kind, 0)
    is_plain = meaning.shape == "none"
    is_denied = is_plain and value[:4].casefold() == "not "
    if is_denied:
        value = value[4:]  # "is certainly not | shy"
    whole = value
    value = trim_value(value, property_name, meaning.family)
    if meaning.lead:
        value = f"{meaning.lead} {value}"
    if match.kind != NO_TIME:
        is_negative_habit = meaning.shape == "habit" and match.is_negated != meaning.is_negative
        is_unfinished = is_plain and value.casefold() in _UNFINISHED
        if is_unfinished or kind in _JOINED.get("preference" if is_negative_habit else meaning.shape, ()):
            value = _with_time(value, match, origin)
    is_cut = not whole.startswith(value) or whole[len(value) :].strip(" ,") != ""
    if (
        meaning.arity != "single"
        or span is None
        or is_cut
        or not origin.content.startswith(_LIST_STARTS, span[1])
    ):
        return Stated(value, is_time, kind, 0, is_denied)
    whole, end = _whole_list(span, origin)
    return Stated(whole or value, is_time, kind, end, is_denied)


def _kind_of_time(match: Match) -> int:
    """Return the kind of the claim's time expression by its words: "these days" bounds nothing."""
    if match.kind == FROM and _WEEKLY.fullmatch(match.text(layout.ROW_WHEN)):
        return EVERY
    if match.kind == NOW and match.text(layout.ROW_WHEN).casefold() in LASTING:
        return NO_TIME
    return match.kind


def _repaired(span: tuple[int, int] | None, meaning: Meaning, origin: Origin) -> Stated | None:
    """Return the value that takes the place of the one at `span` in the same breath, None where it stands."""
    if span is None or meaning.shape not in _TRIMMED:
        return None
    if not origin.cues & _CORRECTION and origin.content.find(b" no, ", span[1], span[1] + _NO_REACH) < 0:
        return None
    text = origin.content[span[0] : span[0] + REACH].decode(errors="ignore")
    repair = find_repair(text)
    if repair is None:
        return None
    start, end = repair.meant
    value = clean_value(text[start:end])
    return Stated(value, is_time=False, kind=NO_TIME, end=span[0] + len(text[:end].encode()))


def _rate(match: Match, span: tuple[int, int] | None, origin: Origin) -> Stated | None:
    """Return the value that reads like a time of day and is so much per something: "5:30 | min/km"."""
    if span is None or _MINUTES.fullmatch(match.capture(VALUE)) is None:
        return None
    unit = _PER.match(origin.content[span[1] : span[1] + REACH].decode(errors="ignore"))
    if unit is None:
        return None
    value, end = clean_value(match.capture(VALUE) + unit.group()), span[1] + len(unit.group().encode())
    when = match.span(layout.ROW_WHEN)
    is_own = when is not None and when[0] < end and span[0] < when[1]
    return Stated(value, is_time=False, kind=NO_TIME if is_own else _kind_of_time(match), end=end)


def owned_pair(match: Match, origin: Origin) -> tuple[int, Items]:
    """Return where the text begins that holds the second of two counted things, and its place there."""
    span = match.capture_span(VALUE)
    if span is None:
        return 0, _NO_ITEMS
    inside = second_inside(match.capture(VALUE))
    if inside is not None:
        return span[0], Items((_in_bytes(match.capture(VALUE), inside[1]),), ())
    text = origin.content[span[1] : span[1] + REACH].decode(errors="ignore")
    after = second_after(text)
    return span[1], _NO_ITEMS if after is None else Items((_in_bytes(text, after),), ())


def further_items(match: Match, origin: Origin) -> tuple[int, Items]:
    """Return the byte after the value and the items of the list that goes on there, as byte spans."""
    span = match.capture_span(VALUE)
    if span is None or not origin.content.startswith((*_LIST_MARKS, b" but "), span[1]):
        return 0, _NO_ITEMS
    text = origin.content[span[1] : span[1] + REACH].decode(errors="ignore")
    found = items_after(text)
    if found == _NO_ITEMS:
        found = left_out_of(match.capture(VALUE), text)
    return span[1], Items(*(tuple(_in_bytes(text, item) for item in items) for items in found))


def _in_bytes(text: str, span: tuple[int, int]) -> tuple[int, int]:
    if text.isascii():
        return span
    start = len(text[: span[0]].encode())
    return start, start + len(text[slice(*span)].encode())


def _whole_list(span: tuple[int, int], origin: Origin) -> tuple[str, int]:
    """Return the whole of a list that the match cut at its first comma or bracket, and the byte after it."""
    text = origin.content[span[1] : span[1] + REACH].decode(errors="ignore")
    length = bracketed_end(text)
    if length == 0:
        more = items_after(text).more
        length = more[-1][1] if more else 0
    if length == 0:
        return "", 0
    end = span[1] + len(text[:length].encode())
    return clean_value(origin.content[span[0] : end].decode()), end


def _value_text(match: Match, span: tuple[int, int] | None, origin: Origin) -> tuple[str, bool]:
    """Return the cleaned value and whether it is itself a time expression.

    A second piece that follows the value ("when the summary comes | first") is joined to it.
    """
    if span is None:
        return "", False
    text = match.capture(VALUE)
    if text[-1:].isdigit() and not origin.content.startswith(b".", span[1]):
        unit = _UNIT.match(origin.content[span[1] : span[1] + 8].decode(errors="ignore"))
        text += unit.group() if unit is not None else ""
    when = match.span(layout.ROW_WHEN)
    is_time = when is not None and when[0] <= span[0] and span[1] <= when[1]
    if is_time:
        return clean_value(without_time_lead(text)), True
    if when is not None and when[0] >= span[1] and text.rsplit(" ", 1)[-1].casefold() in _ARTICLES:
        text = match.to_clause_end(span[0], REACH)  # "the | 7:42 | train": the time is part of a name
    if "'" in text or '"' in text or "“" in text or "‘" in text:
        text += closing_mark(text, origin.content[span[1] : span[1] + 3])
    tail = match.capture_span(TAIL_CAPTURE)
    if tail is not None and tail[0] >= span[1]:
        return f"{clean_value(text)} {clean_value(match.capture(TAIL_CAPTURE))}", False
    return clean_value(text), False


def closing_mark(text: str, following: bytes) -> str:
    """Return the mark that closes a quotation opened inside `text`, empty when none follows."""
    mark = following.decode(errors="ignore")[:1]
    return mark if mark in _CLOSED_BY and _CLOSED_BY[mark].search(text) is not None else ""


def _with_time(value: str, match: Match, origin: Origin) -> str:
    """Return the value with the time expression that follows it directly: "free | every Friday"."""
    span, when = match.capture_span(VALUE), match.span(layout.ROW_WHEN)
    if span is None or when is None or when[0] < span[1] or origin.content[span[1] : when[0]].strip():
        return value
    return f"{value} {clean_value(match.text(layout.ROW_WHEN))}"
