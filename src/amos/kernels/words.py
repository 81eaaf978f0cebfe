"""Bytes and words: kinds of bytes, folded hashes, look-up, where a word or number ends.

Plain Python over anything that can be indexed; all arithmetic stays within int64, so plain and
compiled runs give the same numbers.
"""

from __future__ import annotations

from amos.kernels.book import (
    SLOT_MASK,
    SLOTS,
    WORD_BYTES,
    WORD_STARTS,
    Ints,
)

WORD, NUMBER, CAPITAL, PUNCT, HARD, SOFT = 1, 2, 4, 8, 16, 32
QUOTED, CODE, PASTED, EMOJI, FOREIGN, CUT = 64, 128, 256, 512, 1024, 2048
LINE, RULE, STEP, DIGITS, COMMA, ASK, COLON = 4096, 8192, 16384, 32768, 65536, 131072, 262144
TAIL = 524288
"""Token flags.  FOREIGN: a script without grammar.  LINE: a line end.  RULE: a line of dashes.
STEP: the number of an enumerated step.  TAIL: an ending split from its word ('s, 'll)."""

OTHER, LETTER, DIGIT, HIGH, SPACE, NEWLINE, SIGN, ERASED = range(8)
"""Kinds of bytes; SIGN may open a word or number ($ # @ + ~)."""

HASH_START, HASH_STEP, HASH_MASK = 2166136261, 16777619, 0xFFFFFFFF
LONGEST_WORD, LONGEST_PROBE = 24, 64


def byte_kinds() -> list[int]:
    """Return the kind of each of the 256 bytes."""
    kinds = [OTHER] * 256
    for byte in range(256):
        char = chr(byte)
        if byte >= 128:
            kinds[byte] = HIGH
        elif char.isalpha() or char == "_":
            kinds[byte] = LETTER
        elif char.isdigit():
            kinds[byte] = DIGIT
        elif byte == 0x1A:
            kinds[byte] = ERASED
        elif byte == 10:
            kinds[byte] = NEWLINE
        elif byte <= 32 or byte == 127:
            kinds[byte] = SPACE
        elif char in "$#@+~":
            kinds[byte] = SIGN
    return kinds


def at(d: Ints, i: int, b: int) -> int:
    """Return byte `i` of the message that ends at `b`, 0 beyond it."""
    if i < b:
        return d[i]
    return 0


def fold_hash(d: Ints, s: int, e: int) -> int:
    """Return the 32-bit FNV-1a hash of the folded bytes s..e: lower case, straight apostrophe."""
    h = HASH_START
    i = s
    while i < e:
        c = d[i]
        if 65 <= c <= 90:
            c += 32
        elif c == 0xE2 and i + 2 < e and d[i + 1] == 0x80 and (d[i + 2] == 0x99 or d[i + 2] == 0x98):
            c = 39
            i += 2
        elif c == 0xC3 and i + 1 < e and 0x80 <= d[i + 1] <= 0x9E and d[i + 1] != 0x97:
            h = ((h ^ c) * HASH_STEP) & HASH_MASK
            i += 1
            c = d[i] + 32
        h = ((h ^ c) * HASH_STEP) & HASH_MASK
        i += 1
    return h


def is_same_word(d: Ints, s: int, e: int, book: Ints, o: int, length: int) -> bool:
    """Tell whether the folded bytes s..e equal the `length` bytes of the book at `o`."""
    i = s
    k = 0
    while i < e:
        c = d[i]
        if 65 <= c <= 90:
            c += 32
        elif c == 0xE2 and i + 2 < e and d[i + 1] == 0x80 and (d[i + 2] == 0x99 or d[i + 2] == 0x98):
            c = 39
            i += 2
        elif k > 0 and d[i - 1] == 0xC3 and 0x80 <= c <= 0x9E and c != 0x97:
            c += 32
        if k >= length or book[o + k] != c:
            return False
        i += 1
        k += 1
    return k == length


def word_number(d: Ints, s: int, e: int, book: Ints) -> int:
    """Return the lexicon number of the folded bytes s..e, 0 when unknown.

    Bytes are compared on every hit: the hash is public, so an input may forge it.
    """
    if e - s > LONGEST_WORD:
        return 0
    mask = book[SLOT_MASK]
    slots = book[SLOTS]
    place = fold_hash(d, s, e) & mask
    for _ in range(LONGEST_PROBE):
        word = book[slots + place]
        if word == 0:
            return 0
        o = book[book[WORD_STARTS] + word]
        if is_same_word(d, s, e, book, book[WORD_BYTES] + o, book[book[WORD_STARTS] + word + 1] - o):
            return word
        place = (place + 1) & mask
    return 0


def is_foreign(c: int, following: int) -> bool:
    """Tell whether a lead byte opens a letter of a script that no grammar reads."""
    if c == 0xE1:
        return not 0xB8 <= following <= 0xBB
    return 0xCE <= c <= 0xE0 or 0xE3 <= c <= 0xED or (c == 0xF0 and following != 0x9F)


def char_bytes(c: int) -> int:
    """Return the length of the character that the lead byte `c` opens."""
    if c >= 0xF0:
        return 4
    if c >= 0xE0:
        return 3
    if c >= 0xC0:
        return 2
    return 1


def is_apostrophe(d: Ints, i: int, b: int) -> int:
    """Return the length in bytes of an apostrophe at `i`, straight or curly, else 0."""
    if at(d, i, b) == 39:
        return 1
    if (
        at(d, i, b) == 0xE2
        and at(d, i + 1, b) == 0x80
        and (at(d, i + 2, b) == 0x99 or at(d, i + 2, b) == 0x98)
    ):
        return 3
    return 0


def letters_from(d: Ints, i: int, b: int, book: Ints) -> int:
    """Return how many ASCII letters follow at `i`, at most 4."""
    count = 0
    while count < 4 and i + count < b and book[d[i + count]] == LETTER:
        count += 1
    return count


def apostrophe_joins(d: Ints, s: int, i: int, b: int, book: Ints) -> int:
    """Return the length of an apostrophe that stays inside the word s..i, else 0.

    n't and longer endings (o'clock) stay; short endings ('s, 'm, 'll) become their own token.
    """
    width = is_apostrophe(d, i, b)
    if width == 0 or i == s:
        return 0
    count = letters_from(d, i + width, b, book)
    if count == 0:
        return 0
    is_negation = (d[i - 1] | 32) == 110 and (d[i + width] | 32) == 116 and count == 1
    if is_negation or count > 2:
        return width
    return 0


def symbol_joins(d: Ints, s: int, i: int, b: int, book: Ints) -> bool:
    """Tell whether the punctuation at `i` belongs to the word or number that began at `s`."""
    c = d[i]
    k = book[at(d, i + 1, b)] if i + 1 < b else SPACE
    if c == 45 or c == 38 or c == 47:  # - & /
        return k == LETTER or k == DIGIT or k == HIGH
    before = book[d[i - 1]]
    if before == DIGIT and (c == 44 or c == 58 or c == 46):
        return k == DIGIT
    if c == 46:
        return k == LETTER and (i - s <= 3 or d[i + 1] >= 97) and before == LETTER
    if c == 37:
        return before == DIGIT
    return c == 43 and (before == LETTER or (i - s >= 2 and d[i - 1] == 43))


def high_joins(d: Ints, i: int, b: int) -> bool:
    """Tell whether the non-ASCII character at `i` is part of a word (letter, currency, degree)."""
    c = d[i]
    following = at(d, i + 1, b)
    if c == 0xE2:
        return following == 0x82
    if c == 0xC2:
        return following not in (0xA0, 0xAB, 0xBB, 0xBF, 0xA1, 0xB7)
    if c == 0xE3:
        return following != 0x80 or at(d, i + 2, b) >= 0x92
    if c == 0xEF:
        return not (following == 0xBC and at(d, i + 2, b) <= 0x9F) and following != 0xB8
    return c != 0xF0 or following != 0x9F


def scan_word(d: Ints, s: int, b: int, book: Ints) -> tuple[int, int]:
    """Return (end, flags) of the word, number, address or link that begins at `s`."""
    i = s
    flags = 0
    c = d[s]
    if 65 <= c <= 90 or (c == 0xC3 and 0x80 <= at(d, s + 1, b) <= 0x9E):
        flags |= CAPITAL
    if book[c] == SIGN:
        i += 1
    while i < b:
        c = d[i]
        k = book[c]
        if k == LETTER:
            flags |= WORD
            i += 1
        elif k == DIGIT:
            flags |= DIGITS
            i += 1
        elif k == HIGH:
            if not high_joins(d, i, b):
                width = apostrophe_joins(d, s, i, b, book)
                if width == 0:
                    break
                i += width
                continue
            flags |= WORD
            if is_foreign(c, at(d, i + 1, b)):
                flags |= FOREIGN
            i = min(i + char_bytes(c), b)
        elif is_link(d, i, b, book):
            return link_end(d, s, i, b, book), NUMBER
        elif c == 39:
            width = apostrophe_joins(d, s, i, b, book)
            if width == 0:
                break
            i += width
        elif i > s and symbol_joins(d, s, i, b, book):
            i += 1
        else:
            break
    if flags & WORD == 0:
        flags |= NUMBER
    return max(i, s + 1), flags


def is_link(d: Ints, i: int, b: int, book: Ints) -> bool:
    """Tell whether `i` is the :// of a link or the @ of a mail address."""
    if d[i] == 58:
        return at(d, i + 1, b) == 47 and at(d, i + 2, b) == 47
    return d[i] == 64 and i + 1 < b and book[d[i + 1]] == LETTER


def link_end(d: Ints, s: int, i: int, b: int, book: Ints) -> int:
    """Return the end of a link or address: the next blank, less closing punctuation."""
    while i < b and book[d[i]] != SPACE and book[d[i]] != NEWLINE:
        i += 1
    while i > s + 1 and d[i - 1] in (33, 34, 39, 41, 44, 46, 58, 59, 62, 63):
        i -= 1
    return i


def scan_emoji(d: Ints, i: int, b: int) -> int:
    """Return the end of a run of pictographs, joiners and variation selectors at `i`."""
    while i < b:
        c = d[i]
        following = at(d, i + 1, b)
        is_picture = c == 0xF0 and following == 0x9F
        is_symbol = c == 0xE2 and following not in (0x80, 0x82)
        is_joiner = c == 0xE2 and following == 0x80 and at(d, i + 2, b) == 0x8D
        is_selector = c == 0xEF and following == 0xB8
        if not (is_picture or is_symbol or is_joiner or is_selector):
            break
        i = min(i + char_bytes(c), b)
    return i
