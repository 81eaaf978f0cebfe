"""Find what is larger than a word in UTF-8 bytes: quotations, code, markup tags, marks, step numbers."""

from __future__ import annotations

from amos.kernels.book import (
    CLAUSE_CUES,
    CLAUSE_START,
    OPEN_TAGS,
    STEPS_TAKEN,
    TAG_NAMES,
    TAG_STARTS,
    Ints,
    T,
)
from amos.kernels.words import (
    ASK,
    COLON,
    COMMA,
    DIGIT,
    HARD,
    HIGH,
    LETTER,
    NEWLINE,
    OTHER,
    PUNCT,
    RULE,
    SOFT,
    SPACE,
    at,
    char_bytes,
    fold_hash,
)

LONGEST_TAG = 160
WRAPPED_LINE = 48
"""A line at least this long that goes on in lower case was wrapped, it did not end."""


def find_byte(d: Ints, i: int, b: int, wanted: int, limit: int) -> int:
    """Return the first place of byte `wanted` in i..b before byte `limit`, else -1."""
    while i < b:
        c = d[i]
        if c == wanted:
            return i
        if c == limit:
            return -1
        i += 1
    return -1


def line_end(d: Ints, i: int, b: int) -> int:
    """Return the place of the next line end at or after `i`, else `b`."""
    while i < b and d[i] != 10:
        i += 1
    return i


def find_fence(d: Ints, i: int, b: int) -> int:
    """Return the end of the next ``` at or after `i`, or `b`: an open fence runs to the end."""
    while i + 2 < b:
        if d[i] == 96 and d[i + 1] == 96 and d[i + 2] == 96:
            return i + 3
        i += 1
    return b


def find_closing_quote(d: Ints, i: int, b: int, book: Ints) -> int:
    """Return the place of the single quote that closes one opened before `i`, on its line, else -1."""
    while i < b:
        c = d[i]
        if c == 10:
            return -1
        if c == 39 and book[d[i - 1]] not in (SPACE, NEWLINE):
            k = book[d[i + 1]] if i + 1 < b else SPACE
            if k not in (LETTER, DIGIT, HIGH):
                return i
        i += 1
    return -1


def tag_end(d: Ints, i: int, b: int, book: Ints) -> int:
    """Return the end of a markup tag or comment at `i`, else -1; looks LONGEST_TAG bytes ahead."""
    k = book[at(d, i + 1, b)] if i + 1 < b else SPACE
    if k != LETTER and at(d, i + 1, b) not in (47, 33):
        return -1
    found = find_byte(d, i + 1, min(b, i + LONGEST_TAG), 62, 10)
    return found + 1 if found >= 0 else -1


def tag_name(d: Ints, i: int, e: int, book: Ints) -> int:
    """Return the hash of the tag name at `i` inside a tag that ends at `e`."""
    j = i
    while j < e and book[d[j]] in (LETTER, DIGIT):
        j += 1
    return fold_hash(d, i, j)


def tagged_ranges(d: Ints, a: int, b: int, book: Ints, tok: Ints, frame: Ints) -> int:
    """Write the byte ranges between matching markup tags, outermost only; return their number.

    Range x stands in the last two fields of token x; at most (b - a) / 7 ranges exist.
    """
    depth = 0
    count = 0
    i = a
    while i < b:
        if d[i] != 60:
            i += 1
            continue
        e = tag_end(d, i, b, book)
        frame[STEPS_TAKEN] += max(e - i, 1)
        if e < 0:
            i += 1
            continue
        is_closing = d[i + 1] == 47
        name = tag_name(d, i + 2 if is_closing else i + 1, e, book)
        if not is_closing and depth < OPEN_TAGS:
            frame[TAG_NAMES + depth] = name
            frame[TAG_STARTS + depth] = i
            depth += 1
        elif is_closing:
            level = depth - 1
            while level >= 0 and frame[TAG_NAMES + level] != name:
                level -= 1
            if level >= 0:
                depth = level
                opened = frame[TAG_STARTS + level]
                while count > 0 and tok[(count - 1) * T + CLAUSE_START] >= opened:
                    count -= 1
                tok[count * T + CLAUSE_START] = opened
                tok[count * T + CLAUSE_CUES] = e
                count += 1
        i = e
    return count


def scan_mark(d: Ints, i: int, b: int) -> tuple[int, int]:
    """Return (end, flags) of the ASCII punctuation at `i`; runs of one mark are one token."""
    c = d[i]
    j = i + 1
    if c in (33, 42, 45, 46, 61, 63, 95):
        while j < b and (d[j] == c or (c in (33, 63) and d[j] in (33, 63))):
            j += 1
    if c in (33, 46, 59):
        return j, PUNCT | HARD | (ASK if c == 33 and d[j - 1] == 63 else 0)
    if c == 63:
        return j, PUNCT | HARD | ASK
    if c == 44:
        return j, PUNCT | SOFT | COMMA
    if c == 58:
        return j, PUNCT | SOFT | COLON
    if c in (40, 41, 91, 93, 123, 125, 124):
        return j, PUNCT | SOFT
    if c in (45, 61, 42):
        return j, PUNCT | (RULE if j - i >= 3 else SOFT if c == 45 else 0)
    return j, PUNCT


def scan_high_mark(d: Ints, i: int, b: int) -> tuple[int, int, int]:
    """Return (end, flags, quote change) of non-ASCII punctuation at `i`: +1 opens, -1 closes."""
    c = d[i]
    e = min(i + char_bytes(c), b)
    second = at(d, i + 1, b)
    third = at(d, i + 2, b)
    if c == 0xE2 and second == 0x80:
        if third == 0x9C or third == 0x9E:
            return e, PUNCT, 1
        if third == 0x9D:
            return e, PUNCT, -1
        if third == 0xA6:
            return e, PUNCT | HARD, 0
        return e, PUNCT | (SOFT if third in (0x93, 0x94) else 0), 0
    if c == 0xC2 and second in (0xAB, 0xBB):
        return e, PUNCT, 1 if second == 0xAB else -1
    if c == 0xE3 and second == 0x80:
        if third in (0x8C, 0x8E):
            return e, PUNCT, 1
        if third in (0x8D, 0x8F):
            return e, PUNCT, -1
        return e, PUNCT | (HARD if third == 0x82 else SOFT), 0
    if c == 0xEF and second == 0xBC:
        is_ask = third == 0x9F
        return e, PUNCT | (HARD if third in (0x81, 0x9F) else SOFT) | (ASK if is_ask else 0), 0
    return e, PUNCT, 0


def is_step(d: Ints, s: int, e: int, b: int, book: Ints) -> int:
    """Return the number of an enumerated step written s..e and followed by . or ), else 0."""
    if e - s > 2 or at(d, e, b) not in (46, 41):
        return 0
    k = book[d[e + 1]] if e + 1 < b else OTHER
    if k != SPACE and k != LETTER:
        return 0
    value = 0
    for i in range(s, e):
        if book[d[i]] != DIGIT:
            return 0
        value = value * 10 + d[i] - 48
    return value


def is_wrapped(d: Ints, i: int, b: int, line_start: int) -> bool:
    """Tell whether the line end at `i` only wraps a sentence."""
    return i - line_start >= WRAPPED_LINE and 97 <= at(d, i + 1, b) <= 122
