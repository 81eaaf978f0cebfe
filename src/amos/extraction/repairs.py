"""What speakers put right while they speak: "at 3, no wait, at 4" states 4."""

from __future__ import annotations

import re
from typing import NamedTuple

from amos.extraction.lists import is_item
from amos.patterns import pattern_of

REACH = 200
"""Bytes from the start of a value within which its repair must stand."""
_FIRM = (
    r"(?:(?:oh |ah |er |um )?(?:no,? (?:wait|sorry)|wait,? no|sorry,? no|no,? i mean)|or rather|scratch that"
    r"|strike that|correction|i should say)"
)
_LOOSE = r"(?:i mean|i meant|(?:no,? )?make (?:that|it)|sorry|wait|rather|no(?=[,:]))"
_REPAIR = pattern_of(
    rf"(?P<said>(?:(?:Dr|Mr|Mrs|Ms|St|Prof)\.\s)?[^.!?;\n–—]{{1,80}}?)\s?(?:[.!,;…]|\.\.\.|\s[–—-])\s{{0,2}}"
    rf"(?:(?P<firm>{_FIRM})|{_LOOSE})\s?[,:–—-]?\s{{1,2}}"
    r"(?P<its>(?:it's|it is|that's) )?(?P<meant>(?:(?:Dr|Mr|Mrs|Ms|St|Prof)\.\s)?[^.!?;,\n]{1,60}?)"
    r"(?=\s{0,2}(?:[.!?;,\n]|$))",
    re.IGNORECASE,
)
_ARTICLE = pattern_of(r"(?:the|my|our|his|her)\s+(?=\S)", re.IGNORECASE)
_LEAD = pattern_of(r"(?:at|on|in|by|from|for)\s+", re.IGNORECASE)


class Repair(NamedTuple):
    """said, meant: the two values as (start, end) in the text."""

    said: tuple[int, int]
    meant: tuple[int, int]


def find_repair(text: str) -> Repair | None:
    """Return the repair of the value that `text` begins with, None when it stands.

    What is meant must be a thing of the same make as what was said; after words that also say other
    things ("I mean", "no,") only a number or a name.
    """
    found = _REPAIR.match(text)
    if found is None:
        return None
    said, meant = found["said"].strip(), found["meant"].strip()
    is_firm = found["firm"] is not None or found["its"] is not None
    if not said or not is_item(_ARTICLE.sub("", meant)) or not _are_alike(said, meant, is_firm=is_firm):
        return None
    return Repair(found.span("said"), found.span("meant"))


def _are_alike(said: str, meant: str, *, is_firm: bool) -> bool:
    first, second = (_make(_LEAD.sub("", text, count=1)) for text in (said, meant))
    return first == second and (is_firm or first != "text")


def _make(text: str) -> str:
    if text[:1].isdigit():
        return "number"
    return "name" if text[:1].isupper() else "text"
