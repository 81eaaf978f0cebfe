"""Read a text as a row of letters, one for the class of each word: so short patterns cover many wordings."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from amos.patterns import pattern_of

TOKEN = pattern_of(
    r"(?:n|l|d|s|m|t|qu|c|j)'(?=\w)|\w+(?:['-]\w+)*"
    r"|\.(?!\w)|[!?…\n;:,()–—\"“”«»„><\[\]]|(?<=\s)--?(?=\s)"
)
MARKS = {
    **dict.fromkeys(".!?…\n;><", "."),
    **dict.fromkeys((":", "–", "—", "-", "--"), ":"),
    **dict.fromkeys(",()[]", ","),
    **dict.fromkeys('"“”«»„', "'"),
}
OTHER = "x"
"""The letter of every word that no class names."""


class Lettered(NamedTuple):
    """letters: one per word or mark that counts.  spans: their ranges in the text, in code points."""

    letters: str
    spans: list[tuple[int, int]]

    def found(self, pattern: re.Pattern[str]) -> Iterator[tuple[int, int]]:
        """Yield the range of the text behind each match of `pattern` in the letters, which is not empty."""
        for match in pattern.finditer(self.letters):
            yield self.spans[match.start()][0], self.spans[match.end() - 1][1]


def classes(skipped: str, **words: str) -> dict[str, str]:
    """Return the letter of each word; those `skipped` have none and are passed over."""
    letter_of = {word: letter for letter, text in words.items() for word in text.split()}
    return letter_of | dict.fromkeys(skipped.split(), "")


def lettered(text: str, letter_of: Mapping[str, str]) -> Lettered:
    """Return `text` as letters, linear in its length; apostrophes must be plain.

    Marks have letters too: "." ends a sentence or line, ":" what leads to something, "," and
    "'" (a quotation mark) as they are.
    """
    lowered = text.lower()
    if len(lowered) != len(text):
        lowered = "".join(low if len(low := one.lower()) == 1 else one for one in text)
    letters: list[str] = []
    spans: list[tuple[int, int]] = []
    for match in TOKEN.finditer(lowered):
        token = match.group()
        letter = MARKS.get(token) or letter_of.get(token, OTHER)
        if letter:
            letters.append(letter)
            spans.append(match.span())
    return Lettered("".join(letters), spans)


def letters_only(text: str, letter_of: Mapping[str, str]) -> str:
    """Return the letters of `lettered` without their ranges, in half the time."""
    return "".join([letter for _, letter in letters_of_words(text, letter_of)])


def letters_of_words(text: str, letter_of: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return each word or mark of `text`, folded, with its letter; those passed over have none."""
    return [(token, MARKS.get(token) or letter_of.get(token, OTHER)) for token in TOKEN.findall(text.lower())]


def nth_word(text: str, start: int, end: int, number: int) -> tuple[int, int]:
    """Return the range of a word of `text[start:end]` as `letters_of_words` counts them."""
    found = next(itertools.islice(TOKEN.finditer(text[start:end].lower()), number, None))
    return start + found.start(), start + found.end()


def any_of(letter_of: Mapping[str, str], letters: str) -> str:
    """Return the pattern of every word with one of `letters`."""
    words = sorted(word for word, letter in letter_of.items() if letter and letter in letters)
    return f"(?:{'|'.join(map(_bounded, words))})"


def _bounded(word: str) -> str:
    """Return the pattern of a word, bounded where its edge is a plain letter: all engines agree there."""
    first, last = (r"\b" if edge.isascii() and edge.isalpha() else "" for edge in (word[0], word[-1]))
    return f"{first}{re.escape(word)}{last}"


def near(first: str, second: str) -> str:
    """Return a pattern that finds `first` and `second` in one sentence, in either order."""
    between = r"[^!?…\n]*?"
    return f"(?:{first}{between}{second}|{second}{between}{first})"
