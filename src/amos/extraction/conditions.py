"""What follows a value and limits it: exceptions, conditions, a second pair of thing and time."""

from __future__ import annotations

import re
from typing import NamedTuple

from amos.extraction.lists import REACH, is_item
from amos.extraction.matches import Origin
from amos.patterns import pattern_of

_LIMIT = pattern_of(
    r",? (?:except(?:ing)?(?: for)?|apart from|aside from|other than|with the exception of|excluding|unless"
    r"|as long as|provided(?: that)?|but only|but not (?:when|if|on|in|at|before|after|during|for|with))"
    r" [^.!?;,\n]{2,80}?(?=\s{0,2}(?:[.!?;,\n]|$))",
    re.IGNORECASE,
)
_DUE = pattern_of(
    r",? (?:when|once|as soon as|after|before|if|until|by the time|the moment) (?!i can|possible|you can)"
    r"[^.!?;,\n]{3,80}?(?=\s{0,2}(?:[.!?;,\n]|$))",
    re.IGNORECASE,
)
_DUE_INSIDE = pattern_of(
    r"\s(?P<due>(?:when|once|as soon as|after|before|if|until|by the time|the moment) (?!i can|possible"
    r"|you can).{3,80})$",
    re.IGNORECASE,
)
_LIMITED = frozenset(("preference", "habit"))
_LIMIT_STARTS = (b" except", b", except", b" apart", b" aside", b" other than", b" with the exc", b" excl",
                 b" unless", b", unless", b" as long", b" provided", b" but only", b", but only", b" but not",
                 b", but not", b", apart", b", as long", b", provided")  # fmt: skip
_PART = (
    r"(?:in the (?:morning|afternoon|evening)s?|at (?:night|noon|lunch|dinner|breakfast|work|home|weekends)"
    r"|on (?:weekdays|weekends|(?:mon|tues|wednes|thurs|fri|satur|sun)days?)|in (?:spring|summer|autumn"
    r"|fall|winter)|(?:for|with|after|before) (?:breakfast|lunch|dinner|work|bed|meals))"
)
_PAIR = pattern_of(
    rf"\s(?P<first>{_PART}),?\s(?:and|but|or)\s(?P<item>[^\s.,;!?]+(?:\s[^\s.,;!?]+){{0,3}}?)"
    rf"\s(?P<second>{_PART})(?=\s{{0,2}}(?:[.!?;,\n]|$))",
    re.IGNORECASE,
)


class Pair(NamedTuple):
    """The second of two things at two times, as bytes after the first: its place, and that of its time."""

    item: tuple[int, int]
    time: tuple[int, int]


def limit_after(origin: Origin, shape: str, at: int) -> int:
    """Return the byte after the exception or condition that follows at byte `at`, `at` when none does.

    "all cheese | except blue cheese"; "return the drill | once he is back".
    """
    if shape in _LIMITED:
        if not origin.content.startswith(_LIMIT_STARTS, at):
            return at
        pattern = _LIMIT
    elif shape == "commitment":
        pattern = _DUE
    else:
        return at
    text = origin.content[at : at + REACH].decode(errors="ignore")
    found = pattern.match(text)
    return at if found is None else at + len(found.group().encode())


def due_inside(promise: str) -> str:
    """Return on what a promise falls due by its own words, else nothing: "call | once it is here"."""
    found = _DUE_INSIDE.search(promise)
    return "" if found is None else found["due"]


def has_condition(origin: Origin, at: int) -> bool:
    """Tell whether a condition follows at byte `at`: "I'll call | when the parcel comes"."""
    return limit_after(origin, "commitment", at) > at


def pair_after(origin: Origin, at: int) -> Pair | None:
    """Return the second pair of thing and time: "tea | in the morning and water at night"."""
    if not origin.content.startswith(
        (b" in ", b" at ", b" on ", b" for ", b" with ", b" after ", b" before "), at
    ):
        return None
    text = origin.content[at : at + REACH].decode(errors="ignore")
    found = _PAIR.match(text)
    if found is None or not is_item(found["item"]):
        return None

    def place(group: str) -> tuple[int, int]:
        start, end = found.span(group)
        return at + len(text[:start].encode()), at + len(text[:end].encode())

    return Pair(place("item"), place("second"))
