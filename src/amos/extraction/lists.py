"""Further items of a list whose first item a match holds: "hiking | , rowing and chess but not darts"."""

from __future__ import annotations

import re
from typing import NamedTuple

from amos.patterns import pattern_of

REACH = 200
"""Bytes after a value within which its list must end."""
_ITEM = r"[^\W\d_][\w'’-]*(?:\s[^\W\d_][\w'’-]*){0,3}"
_LIST = pattern_of(rf"(?P<inner>(?:,\s?{_ITEM})*),?\s(?:and|or|&|plus)\s(?P<last>{_ITEM}?)")
_COUNT = (
    r"(?:an?|another|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\d{1,3}|several|some)"
)
_PAIR = pattern_of(
    rf"(?P<first>[^,.;:]{{2,60}}?),?\s(?:and|plus|&)\s(?P<second>{_COUNT}\s{_ITEM})", re.IGNORECASE
)
_AFTER = pattern_of(rf",?\s(?:and|plus|&)\s(?P<second>{_COUNT}\s{_ITEM}?)", re.IGNORECASE)
_NOR = pattern_of(rf"\snor\s(?P<second>{_ITEM}?)")
_BUT_NOT = pattern_of(rf",?\s(?:but|though)\snot\s(?:really\s|so\smuch\s)?(?P<item>{_ITEM}?)")
_BUT = pattern_of(rf",?\sbut\s(?P<item>{_ITEM}?)(?:\s(?:and|or)\s(?P<last>{_ITEM}?))?")
_END = r"(?=\s*(?:[.!?;:)\n]|$|,?\s(?:but|because|so|since|though|although)\s))"
_INNER = pattern_of(rf",\s?({_ITEM})")
_LIST_TO_END = pattern_of(_LIST.pattern + _END, re.IGNORECASE)
_AFTER_TO_END = pattern_of(_AFTER.pattern + _END, re.IGNORECASE)
_NOR_TO_END = pattern_of(_NOR.pattern + _END, re.IGNORECASE)
_BUT_NOT_TO_END = pattern_of(_BUT_NOT.pattern + _END, re.IGNORECASE)
_BUT_TO_END = pattern_of(_BUT.pattern + _END, re.IGNORECASE)
_ALL = frozenset(("everything", "anything", "everybody", "everyone", "anybody", "anyone"))
_ALL_OF = frozenset((*_ALL, "all", "every", "any"))
_BRACKETED = pattern_of(r"\s?\([^()\n]{1,16}\)(?:(?:,\s|,?\sand\s)[^\W\d_][\w'’-]*\s?\([^()\n]{1,16}\))+")
_NO_ITEM = frozenset(
    "i i'm i've my our we you your he she it it's they his her their this that these those there the who "
    "which is are was were am be been has have had do does did don't doesn't can can't will won't would "
    "should could may might must like likes love loves hate hates want need think know get got go goes "
    "not no never then so also please if when while because but".split()
)


class Items(NamedTuple):
    """Places of further items in the text after a value, as (start, end), and of what is left out of it."""

    more: tuple[tuple[int, int], ...]
    but_not: tuple[tuple[int, int], ...]


def items_after(text: str) -> Items:
    """Return the items of the list that `text` goes on with, none where it goes on otherwise."""
    more: list[tuple[int, int]] = []
    neither = _NOR_TO_END.match(text)
    if neither is not None:
        return Items((neither.span("second"),) if is_item(neither["second"]) else (), ())
    found = _LIST_TO_END.match(text)
    end = 0
    if found is not None and found.group("inner"):
        more = [item.span(1) for item in _INNER.finditer(found.group("inner"))]
        more.append(found.span("last"))
        end = found.end()
        if not all(is_item(text[slice(*span)]) for span in more):
            return Items((), ())
    left_out = _BUT_NOT_TO_END.match(text, end)
    if left_out is None or not is_item(left_out.group("item")):
        return Items(tuple(more), ())
    return Items(tuple(more), (left_out.span("item"),))


def is_all(value: str) -> bool:
    """Tell whether a value is all there is, "everything", of which only an exception says something."""
    return value.casefold() in _ALL


def left_out_of(value: str, text: str) -> Items:
    """Return what the text behind a value leaves out of all that it takes in: "all fruit | but figs"."""
    found = _BUT_TO_END.match(text) if value.split(" ", 1)[0].casefold() in _ALL_OF else None
    if found is None or not all(is_item(item) for item in found.groups() if item is not None):
        return Items((), ())
    return Items((), tuple(found.span(name) for name in ("item", "last") if found[name] is not None))


def second_inside(value: str) -> tuple[int, tuple[int, int]] | None:
    """Return the end of one of two counted things, and the place of the other: "3 cats | and 2 dogs"."""
    found = _PAIR.fullmatch(value)
    if found is None or not is_item(found["second"]):
        return None
    return found.end("first"), found.span("second")


def second_after(text: str) -> tuple[int, int] | None:
    """Return where the second of two counted things stands in the text after the first."""
    found = _AFTER_TO_END.match(text)
    return None if found is None or not is_item(found["second"]) else found.span("second")


def is_item(text: str) -> bool:
    """Tell whether a piece is a thing; an article may open it only before a capital ("the Ugly").

    text: not empty.
    """
    words = text.split()
    if words[0] == "the" and len(words) > 1 and words[1][0].isupper():
        words = words[1:]
    return _NO_ITEM.isdisjoint(map(str.casefold, words))


def bracketed_end(text: str) -> int:
    """Return where the list ends that goes on after a bracket, 0 when none does: "Juno | (6) and Max (9)"."""
    found = _BRACKETED.match(text)
    return 0 if found is None else found.end()
