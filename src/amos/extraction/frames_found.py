"""What a frame is: a range of a text that is not the author's own statement, and why."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from enum import IntEnum
from typing import NamedTuple

from amos.patterns import pattern_of

BEFORE = r"(?:\A|[.!?:;,\n(\"“„>*–—-]\s{0,3})"
"""What stands before a request or a heading: a start, or a mark that ends what came before."""
_BLANK_LINE = pattern_of(r"\n[ \t]*\n")
SENTENCE_END = pattern_of(
    r"(?<!\bDr)(?<!\bMr)(?<!\bMs)(?<!\bSt)(?<!\bMrs)(?<!\bProf)[.!?…]+[\"'”)]*(?=\s|\Z)|\n+"
)
_FLAT = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "\u00a0": " ", "\t": " "})


OPENINGS = ':\n"“„«'
"""Marks behind which somebody else's text begins."""


class Kind(IntEnum):
    """Why the claims of a range do not stand."""

    PASTED = 1  # somebody's text, given to be worked on, or a speaker's line
    PLAYED = 2  # fiction, a game, an example
    ROLED = 3  # said to an assistant that plays somebody: perhaps in earnest
    JOKED = 4  # called a joke in the same message
    MOCKED = 5  # a like with an eye-roll
    WITHDRAWN = 6  # called untrue in the same message
    UNWANTED = 7  # asked to be forgotten
    DOUBTED = 8  # left open, or not meant, in the same breath


class Frame(NamedTuple):
    """A half-open range in code points; `voice`: the speaker's name where one is given."""

    start: int
    end: int
    kind: Kind
    voice: str = ""


class Rule(NamedTuple):
    """A search of flat text, and what a text must hold for it: a stem in any case, or a mark as it is.

    `needs_opening`: and one of OPENINGS, behind which a text begins.
    """

    find: Callable[[str], Iterator[Frame]]
    stems: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    needs_opening: bool = False

    def may_find(self, text: str, lowered: str) -> bool:
        """Tell whether the search can find anything in `text`, were it to hold an opening."""
        return holds_any(lowered, self.stems) or holds_any(text, self.marks)


def holds_any(text: str, parts: Iterable[str]) -> bool:
    """Tell whether one of `parts` stands in `text`."""
    for part in parts:  # noqa: SIM110 - asked of every text by every rule, and `any` costs twice as much
        if part in text:
            return True
    return False


def flat(text: str) -> str:
    """Return `text` with plain apostrophes and spaces, character by character."""
    return text.translate(_FLAT)


def words_after(text: str, at: int) -> tuple[int, bool]:
    """Return where the first words after `at` begin, and whether that is on a later line."""
    start = at
    while start < len(text) and text[start].isspace():
        start += 1
    return start, "\n" in text[max(at - 1, 0) : start]


def paragraph_end(text: str, at: int) -> int:
    """Return the offset of the first blank line after `at`, or the end."""
    found = _BLANK_LINE.search(text, at)
    return found.start() if found else len(text)


def successive(
    pattern: re.Pattern[str], text: str, end_of: Callable[[str, re.Match[str]], int]
) -> Iterator[tuple[re.Match[str], int]]:
    """Yield each match with the end of its range; the search goes on behind that, so it stays linear."""
    at = 0
    while (match := pattern.search(text, at)) is not None:
        end = max(end_of(text, match), match.end())
        yield match, end
        at = end + (match.start() == end)
