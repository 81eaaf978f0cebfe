"""Words of a text without case, spacing, punctuation or Unicode form, and sums over runs of them.

Two texts that differ only in those have the same words.  Scripts written without spaces count
character by character.  A run's sum is a polynomial in a secret base: a cheap first look that
only whoever knows the base and the value of every word can compute.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

U64 = NDArray[np.uint64]
I64 = NDArray[np.int64]

_ASCII_WORD = re.compile(r"[0-9a-z]+")
_UNSPACED = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]"
    r"|[\U00020000-\U0003ffff]"
)


_MASK = (1 << 64) - 1


class Wording(NamedTuple):
    """The words of one text, and for each its first byte and the byte after it in UTF-8."""

    words: list[str]
    starts: list[int]
    ends: list[int]


def wording_of(text: str) -> Wording:
    """Return the words of `text` in order; linear in its length."""
    return _plain(text) if text.isascii() else _folded(text)


def _plain(text: str) -> Wording:
    found = [(match.group(), match.start(), match.end()) for match in _ASCII_WORD.finditer(text.lower())]
    words, starts, ends = zip(*found, strict=True) if found else ((), (), ())
    return Wording(list(words), list(starts), list(ends))


def _folded(text: str) -> Wording:
    words: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    is_open = False
    for char, start, end in _characters(text):
        kind = _kind(char)
        if kind == "skip":
            continue
        if kind == "word" and is_open:
            words[-1] += char
            ends[-1] = end
        elif kind in {"word", "sign"}:
            words.append(char)
            starts.append(start)
            ends.append(end)
        is_open = kind == "word"
    return Wording(words, starts, ends)


def _characters(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield the folded characters of `text` with the bytes of what they came from."""
    place = source = 0
    while place < len(text):
        after = place + 1
        while after < len(text) and unicodedata.combining(text[after]):
            after += 1
        cluster = text[place:after]
        size = len(cluster.encode())
        folded = unicodedata.normalize("NFKC", cluster).casefold()
        for char in unicodedata.normalize("NFKC", folded):
            yield char, source, source + size
        place, source = after, source + size


def _kind(char: str) -> str:
    """Return word, sign (a word of its own), skip (invisible or a mark without a base) or gap."""
    if char.isascii():
        return "word" if char.isalnum() else "gap"
    category = unicodedata.category(char)
    if category == "Cf":
        return "skip"
    if _UNSPACED.match(char):
        return "sign" if category[0] in "LNM" else "gap"
    return "word" if category[0] in "LNM" else "gap"


_LOWER = np.zeros(256, np.uint8)
for _char in b"0123456789abcdefghijklmnopqrstuvwxyz":
    _LOWER[_char] = _LOWER[ord(chr(_char).upper())] = _char


def word_value(word: str, base: int) -> int:
    """Return the 64-bit value of one word under a secret odd `base`."""
    total = 0
    for byte in reversed(word.encode("utf-8", "surrogatepass")):
        total = (total * base + byte) & _MASK
    return int(_mixed(np.array([total], np.uint64))[0])


def ascii_values(buffer: NDArray[np.uint8], offsets: I64, base: int) -> tuple[U64, I64]:
    """Return the values of all words of ASCII texts, end to end, and how many words each text has.

    buffer, offsets: the bytes of the texts, text i from offsets[i] to offsets[i + 1].  The words are those
    of `wording_of`, their values those of `word_value`.
    """
    low = _LOWER[buffer[offsets[0] : offsets[-1]]]
    edges = offsets - offsets[0]
    is_word = low != 0
    breaks = np.zeros(len(low) + 1, np.bool_)
    breaks[edges] = True
    before = np.concatenate([[False], is_word[:-1]]) & ~breaks[:-1]
    after = np.concatenate([is_word[1:], [False]]) & ~breaks[1:]
    starts = np.flatnonzero(is_word & ~before)
    ends = np.flatnonzero(is_word & ~after) + 1
    sums = prefix_sums(low.astype(np.uint64), base)
    with np.errstate(over="ignore"):
        totals = (sums.prefix[ends] - sums.prefix[starts]) * sums.inverse[starts]
    return _mixed(totals), np.diff(np.searchsorted(starts, edges))


def _mixed(values: U64) -> U64:
    """Spread the bits of sums, so that sums of sums say nothing about their parts' order by chance."""
    with np.errstate(over="ignore"):
        values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return values ^ (values >> np.uint64(31))


class Sums(NamedTuple):
    """Prefix sums over the values of many words, and the inverse powers that free a run of its place."""

    prefix: U64
    inverse: U64


def prefix_sums(values: U64, base: int) -> Sums:
    """Return what the sums of all runs of `values` come from.  base: odd, below 2**64."""
    count = len(values)
    with np.errstate(over="ignore"):
        powers = _powers(base, count)
        inverse = _powers(pow(base, -1, 1 << 64), count)
        prefix = np.zeros(count + 1, np.uint64)
        np.cumsum(values * powers, out=prefix[1:])
    return Sums(prefix, inverse)


def _powers(base: int, count: int) -> U64:
    powers = np.full(count, base, np.uint64)
    if count:
        powers[0] = 1
    return np.cumprod(powers, dtype=np.uint64)


def run_sums(sums: Sums, starts: I64, length: int) -> U64:
    """Return the sum of the run of `length` words from each of `starts`, wherever it stands."""
    with np.errstate(over="ignore"):
        return (sums.prefix[starts + length] - sums.prefix[starts]) * sums.inverse[starts]


def run_starts(lengths: Iterable[int], length: int) -> I64:
    """Return where runs of `length` words begin in texts of `lengths` words put end to end."""
    counts = np.fromiter(lengths, np.int64)
    first = np.cumsum(counts) - counts
    runs = np.maximum(counts - length + 1, 0)
    total = int(runs.sum())
    before = np.cumsum(runs) - runs
    return np.repeat(first - before, runs) + np.arange(total)
