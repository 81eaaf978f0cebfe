"""Where a value ends without a mark: before "not ...", an afterthought, a relative clause."""

from __future__ import annotations

import re

from amos.extraction.lists import second_inside
from amos.patterns import pattern_of

_NOT = pattern_of(r"\s+(?:and |but |,\s*)?not\s+(?=\S)")
_INSTEAD = pattern_of(r"\s+(?:instead of|in place of|rather than)\s.*$", re.IGNORECASE)
_REPLACEABLE = frozenset(
    ("own", "name", "renaming", "home", "work", "workplace", "third", "habit", "correction")
)
"""Families whose value may be told from what it replaces: "call me Addie | instead of Adelaide"."""
_FELT = frozenset(("preference", "avoidance", "passion"))
_HOW_MUCH = pattern_of(
    r"\s(?:(?:that|so|very|too|this) much|a lot|a bit|a little|(?:the )?most|best|more)$", re.IGNORECASE
)
"""What says how much a thing is liked behind it: "the hat | that much"."""
_DEGREE = frozenset(
    "or if why certainly clearly simply still just probably absolutely really always often maybe perhaps "
    "sometimes usually do does did is are am was were be been could would should will can may might".split()
)
_SMALL = frozenset("the a an to of in on at for from by with and".split())
_BESIDE = pattern_of(
    r"\s+(?:with|alone|together|near|close to|next to|for now|right|just|depuis|seit|desde)\s?.*$"
)
"""What is said of a home beyond the town: with whom, near what, since when."""
_RELATIVE = pattern_of(r"\s+(?:that|which|who|whom|whose)\s+\w")
_RELATIVE_FAMILIES = frozenset(
    ("own", "possession", "habit", "third", "home", "work", "workplace", "birth", "name")
)
_PLACES = pattern_of(
    r"(?:address|addresses|street|location|place|home|office|house|house number|flat|room|seat|where|spot"
    r"|route|order|schedule|hours|motto|saying|slogan|greeting|signature|sign-off|subject line)$"
)
_MOST_ITEM_WORDS = 4
_ARTICLES = ("the ", "a ", "an ")
_AFTERTHOUGHT = pattern_of(r"\s+(?:now|then|again|too|actually|though|anyway)$", re.IGNORECASE)
_ONE_ITEM = pattern_of(r"[^,]*\S(?:,\s*(?:and|or|&)\s|\s(?:and|or|&|plus)\s)", re.IGNORECASE)


def trim_value(value: str, property_name: str, family: str) -> str:
    """Return a cleaned value without what no longer belongs to it; the value itself where all does."""
    if family in ("possession", "counted", "acquired"):
        pair = second_inside(value)
        value = value if pair is None else value[: pair[0]]
    if family == "possession":
        value = value.removeprefix("a ").removeprefix("an ")
    if " not " in value:
        value = _before_not(value)
    if " of " in value or " than " in value:
        value = _INSTEAD.sub("", value) if family in _REPLACEABLE else value
    if family in _FELT:
        value = _HOW_MUCH.sub("", value)
    if "," in value and family != "instruction":
        value = _first_part(value, property_name)
    if property_name == "home city":
        found = _BESIDE.search(value)
        value = value[: found.start()] if found is not None else value
        value = value.removeprefix("in ") or value
    if (" wh" in value or " that " in value) and family in _RELATIVE_FAMILIES:
        found = _RELATIVE.search(value)
        if found is not None and found.start() > 0:
            value = value[: found.start()]
    return value


def denied_from(text: str) -> int:
    """Return where a statement's "not ..." begins that denies what stands before it, -1 when none does.

    Both hold a number or share a word: "leaves from platform 9 | not platform 4".
    """
    found = _NOT.search(text)
    if found is None:
        return -1
    before, after = text[: found.start()].casefold().split(), text[found.end() :].casefold().split()
    tail = before[-3:]
    has_numbers = any(map(str.isdigit, "".join(tail))) and any(map(str.isdigit, "".join(after[:3])))
    return found.start() if has_numbers or set(tail) & (set(after[:3]) - _SMALL) else -1


def _before_not(value: str) -> str:
    """Return "9" of "9 not 4": what is denied is no part of the value; "clearly not ready" stays."""
    found = _NOT.search(value)
    if found is None:
        return value
    before = value[: found.start()]
    last = before.rsplit(" ", 1)[-1].casefold()
    return value if last in _DEGREE or last.endswith("ly") or not before else before


def _first_part(value: str, property_name: str) -> str:
    """Return the part up to the first comma unless the parts form a list, an address or an apposition."""
    parts = [part.strip() for part in value.split(",")]
    if len(parts) < 2 or not parts[0] or _PLACES.search(property_name) or _is_number_mark(value):
        return value
    is_short = all(0 < len(part.split()) <= _MOST_ITEM_WORDS for part in parts)
    is_list = len(parts) > 2 or _ONE_ITEM.search(value) is not None or property_name.endswith("s")
    is_of_names = all(part[0].isupper() for part in parts if part)
    is_apposition = parts[1].casefold().startswith(_ARTICLES)
    if is_short and (is_list or is_of_names or is_apposition):
        return value
    return _AFTERTHOUGHT.sub("", parts[0])


def _is_number_mark(value: str) -> bool:
    """Tell whether each comma stands inside a number ("41,500", "62,5")."""
    return all(
        0 < place < len(value) - 1 and value[place - 1].isdigit() and value[place + 1].isdigit()
        for place, char in enumerate(value)
        if char == ","
    )
