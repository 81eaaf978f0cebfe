"""What a text looks like beside its words: a question, a mere reply, a time, a number, a kind of thing.

A question asks for some of these marks; a text that carries one is more likely to answer it.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Sequence
from functools import cache
from importlib import resources

from amos.retrieval.language import FORM_OF, STOP_WORDS
from amos.retrieval.stemming import stem_of

MARKS_FILE = resources.files("amos.retrieval") / "marks.toml"
_LISTS = tomllib.loads(MARKS_FILE.read_text(encoding="utf-8"))

CUES: tuple[str, ...] = tuple(_LISTS["cues"])
"""Answer types: when, number, where, reason, feeling, name."""
KINDS: tuple[str, ...] = tuple(_LISTS["kinds"])
"""Kinds of things that a question may ask for by their common name."""

ENDS_AS_QUESTION = 1 << 0
HOLDS_QUESTION = 1 << 1
REPLIES = 1 << 2
_FIRST_CUE = 3
_FIRST_KIND = _FIRST_CUE + len(CUES)

_ASKED = tuple(re.compile(_LISTS["cues"][name]["asked"], re.IGNORECASE) for name in CUES)
_SAID = tuple(
    (cue_bit, re.compile(pattern))
    for cue_bit, pattern in (
        (1 << (_FIRST_CUE + number), _LISTS["cues"][name].get("pattern")) for number, name in enumerate(CUES)
    )
    if pattern
)
_REPLIES = frozenset(_LISTS["replies"].split())


def cue_bit(number: int) -> int:
    """Return the mark of one of CUES."""
    return 1 << (_FIRST_CUE + number)


def kind_bit(number: int) -> int:
    """Return the mark of one of KINDS."""
    return 1 << (_FIRST_KIND + number)


@cache
def _bits_of_stems() -> dict[str, int]:
    found: dict[str, int] = {}
    lists = [(cue_bit(n), _LISTS["cues"][name].get("said", "")) for n, name in enumerate(CUES)]
    lists += [(kind_bit(n), _LISTS["kinds"][name]["said"]) for n, name in enumerate(KINDS)]
    for bit, words in lists:
        for word in words.split():
            stem = word if word in STOP_WORDS else stem_of(word)
            found[stem] = found.get(stem, 0) | bit
    return found


@cache
def _asked_stems() -> dict[str, int]:
    found: dict[str, int] = {}
    for number, name in enumerate(KINDS):
        for word in _LISTS["kinds"][name]["asked"].split():
            stem = stem_of(word)
            found[stem] = found.get(stem, 0) | (1 << number)
    return found


def token_marks(low: str, terms: Iterable[str]) -> int:
    """Return the marks that one word brings; `terms` are its stems.  Function words count as they stand."""
    bits = _bits_of_stems()
    found = bits.get(low, 0) if low in STOP_WORDS or low in FORM_OF else 0
    for term in terms:
        found |= bits.get(term, 0)
    return found


def text_marks(text: str, tokens: Sequence[str]) -> int:
    """Return the marks that a text as a whole brings: what it is, and patterns of several words."""
    found = 0
    if "?" in text or "？" in text:
        found = HOLDS_QUESTION
        if text.rstrip().endswith(("?", "？")):
            found |= ENDS_AS_QUESTION
    if tokens and tokens[0].lower().split("'")[0].split("’")[0] in _REPLIES:
        found |= REPLIES
    for bit, pattern in _SAID:
        if pattern.search(text):
            found |= bit
    return found


def asked_cues(question: str) -> tuple[int, ...]:
    """Return which of CUES a question asks for."""
    return tuple(number for number, pattern in enumerate(_ASKED) if pattern.search(question))


def asked_kinds(terms: Iterable[str]) -> tuple[int, ...]:
    """Return which of KINDS the stems of a question ask for."""
    known, found = _asked_stems(), 0
    for term in terms:
        found |= known.get(term, 0)
    return tuple(number for number in range(len(KINDS)) if found >> number & 1)
