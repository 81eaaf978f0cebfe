"""What stands around a claim and leaves nothing of it: a clause above it, a break, a thing only seen."""

from __future__ import annotations

import re

from amos.extraction.grammar import Meaning
from amos.extraction.matches import Match, Origin
from amos.kernels.rows import ROW_START
from amos.patterns import pattern_of

_BROKEN_OFF = pattern_of(r":\w|\s*(?:\{|--|[—–-]\s*(?:\Z|\n))")
_SPACED_MARKS = (b" , ", b" . ", b" .\n", b"{")
"""Marks that stand apart in transcripts of speech."""
_CUT_IN_NAME = pattern_of(r"\s\([^()\n]{1,40}\)\s(?:[A-Z]|and\s[A-Z])")
"""How a name goes on behind a bracket: "under the Higher Education | (Wales) Act"."""
_CUT_IN_TRANSCRIPT = pattern_of(r" - \w|\s*\Z")
"""How a transcript goes on behind half a compound ("a LISP | - like form") or where a turn was broken off."""
_EMBEDDED = pattern_of(
    r"(?<![\w'’])(?:wh(?:en|ere)(?:ever)?|how|why|whether|so that|until|unless|than"
    r"|(?:mak(?:e|es|ing)|made|be|being) sure(?: that)?|ensur(?:e|es|ed|ing)(?: that)?)\s+$",
    re.IGNORECASE,
)
"""What makes a clause one that need not hold: "making sure that | our crew has boots"."""
_FIXED = frozenset(("home", "birth", "upbringing", "work", "workplace", "study", "name", "age"))
"""Families whose claims hold in such a clause too: "when I was born in Faro"."""
_SUBORDINATE = pattern_of(r"(?:that|which|what|how|why|where|times?|whether|whom)\s+$", re.IGNORECASE)
_SHOWN = pattern_of(r"the [a-z][a-z-]*(?:(?: [a-z-]+)? and [a-z-]+(?: [a-z-]+)?)?$")
_ONE_OF_A_KIND = frozenset(
    "ocean sea seaside beach coast sun sunshine sky moon stars rain snow wind fog heat cold dark darkness "
    "night morning evening weekend summer winter spring autumn fall holidays mountains hills countryside "
    "country city suburbs woods forest jungle desert outdoors wilderness nature water air theatre theater "
    "cinema opera ballet circus zoo gym library pub sauna internet radio news piano violin guitar cello "
    "drums flute trumpet accordion harp saxophone banjo organ military church police arts eighties nineties "
    "sixties seventies metric aisle window underground subway tube tram bus train metro".split()
)
"""What "the" names although nobody has spoken of it before: "I love the ocean"."""
_FIELDS = frozenset(
    "interest interests belief beliefs faith confidence trust experience expertise background training "
    "specialty speciality investment stake difficulty pride success role part degree focus emphasis "
    "concern concerns question questions point suggestion proposal argument".split()
)
"""Nouns that are "in" a subject or "on" a matter, not at a place."""
_MESSAGES = frozenset(
    "question questions message messages letter letters call calls email emails mail comment comments word "
    "words quote quotes idea ideas news report reports data figures number numbers feedback invitation "
    "request requests witness witnesses speaker speakers".split()
)
"""What comes from somebody rather than from somewhere."""

_CLOSED = (b".", b",", b"!", b"?", b";")
"""Marks right behind a claim with which nobody breaks off."""
_WORD_REACH, _TRANSCRIPT_REACH = 24, 300


def is_embedded(meaning: Meaning, match: Match, origin: Origin) -> bool:
    """Tell whether the claim's clause hangs on another that does not say that it holds."""
    before = _before(match, origin)
    if not before:
        return False
    if meaning.shape == "episode":
        return _SUBORDINATE.search(before) is not None
    return meaning.family not in _FIXED and _EMBEDDED.search(before) is not None


def is_broken_off(origin: Origin, end: int) -> bool:
    """Tell whether the speaker breaks off right behind the claim."""
    content = origin.content
    if content.startswith(_CLOSED, end):
        return False
    following = content[end : end + 48].decode(errors="ignore")
    if _BROKEN_OFF.match(following) or _CUT_IN_NAME.match(following):
        return True
    first = max(end - _TRANSCRIPT_REACH, 0)
    for mark in _SPACED_MARKS:
        if content.find(mark, first, end + 2) >= 0:
            return _CUT_IN_TRANSCRIPT.match(following) is not None
    return False


def _before(match: Match, origin: Origin) -> str:
    """Return the last words before the match."""
    start, _ = match.span(ROW_START) or (0, 0)
    return origin.content[max(start - _WORD_REACH, 0) : start].decode(errors="ignore") if start else ""


def has_no_place(property_name: str, thing: str) -> bool:
    """Tell whether a thing of the author's cannot have a place or origin of its own."""
    noun = thing.casefold().rsplit(" ", 1)[-1]
    return (property_name == "location" and noun in _FIELDS) or (
        property_name == "place of origin" and noun in _MESSAGES
    )


def is_shown(match: Match, words: list[str]) -> bool:
    """Tell whether "I like the ..." speaks of something both have before their eyes."""
    if match.text(ROW_START).casefold().find("prefer") >= 0:
        return False
    is_pair = "and" in words
    return _SHOWN.match(" ".join(words)) is not None and (is_pair or _ONE_OF_A_KIND.isdisjoint(words))
