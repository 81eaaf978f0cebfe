"""Cut UTF-8 messages into tokens with byte spans, word numbers and flags; one pass, no strings.

The functions are plain Python over anything that can be indexed: lists and `bytes` when they
run uncompiled, NumPy arrays when `kernels.compiled` has compiled them.  All arithmetic stays
within int64, so both ways give the same numbers.
"""

from __future__ import annotations

from typing import Any

Ints = Any
"""A list of int or a NumPy array; `bytes` where bytes are read."""

WORD, NUMBER, CAPITAL, PUNCT, HARD, SOFT = 1, 2, 4, 8, 16, 32
QUOTED, CODE, PASTED, EMOJI, FOREIGN, CUT = 64, 128, 256, 512, 1024, 2048
LINE, RULE, STEP, DIGITS, COMMA, ASK, COLON = 4096, 8192, 16384, 32768, 65536, 131072, 262144
TAIL = 524288
"""Token flags.  FOREIGN: a script without grammar.  LINE: a line end.  RULE: a line of dashes.
STEP: the number of an enumerated step.  TAIL: an ending split from its word ('s, 'll)."""

OTHER, LETTER, DIGIT, HIGH, SPACE, NEWLINE, SIGN, ERASED = range(8)
"""Kinds of bytes; SIGN may open a word or number ($ # @ + ~)."""

HASH_START, HASH_STEP, HASH_MASK = 2166136261, 16777619, 0xFFFFFFFF
LONGEST_WORD = 24
LONGEST_TAG = 160
WRAPPED_LINE = 48
"""A line at least this long that goes on in lower case was wrapped, it did not end."""


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
        return int(d[i])
    return 0


def fold_hash(d: Ints, s: int, e: int) -> int:
    """Return the 32-bit FNV-1a hash of the folded bytes s..e: lower case, straight apostrophe."""
    h = HASH_START
    i = s
    while i < e:
        c = int(d[i])
        if 65 <= c <= 90:
            c += 32
        elif (
            c == 0xE2
            and i + 2 < e
            and int(d[i + 1]) == 0x80
            and (int(d[i + 2]) == 0x99 or int(d[i + 2]) == 0x98)
        ):
            c = 39
            i += 2
        elif c == 0xC3 and i + 1 < e and 0x80 <= int(d[i + 1]) <= 0x9E and int(d[i + 1]) != 0x97:
            h = ((h ^ c) * HASH_STEP) & HASH_MASK
            i += 1
            c = int(d[i]) + 32
        h = ((h ^ c) * HASH_STEP) & HASH_MASK
        i += 1
    return h


def is_same_word(d: Ints, s: int, e: int, pool: Ints, o: int, length: int) -> bool:
    """Tell whether the folded bytes s..e equal the `length` bytes of `pool` at `o`."""
    i = s
    k = 0
    while i < e:
        c = int(d[i])
        if 65 <= c <= 90:
            c += 32
        elif (
            c == 0xE2
            and i + 2 < e
            and int(d[i + 1]) == 0x80
            and (int(d[i + 2]) == 0x99 or int(d[i + 2]) == 0x98)
        ):
            c = 39
            i += 2
        elif k > 0 and int(d[i - 1]) == 0xC3 and 0x80 <= c <= 0x9E and c != 0x97:
            c += 32
        if k >= length or int(pool[o + k]) != c:
            return False
        i += 1
        k += 1
    return k == length


def word_number(d: Ints, s: int, e: int, slots: Ints, starts: Ints, pool: Ints) -> int:
    """Return the lexicon number of the folded bytes s..e, 0 when unknown.

    slots: open-addressing table of word numbers, a power of two long, mostly empty (0).
    Bytes are compared on every hit: the hash is public, so an input may forge it.
    """
    if e - s > LONGEST_WORD:
        return 0
    mask = len(slots) - 1
    place = fold_hash(d, s, e) & mask
    for _ in range(64):
        word = int(slots[place])
        if word == 0:
            return 0
        o = int(starts[word])
        if is_same_word(d, s, e, pool, o, int(starts[word + 1]) - o):
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


def letters_from(d: Ints, i: int, b: int, kind: Ints) -> int:
    """Return how many ASCII letters follow at `i`, at most 4."""
    count = 0
    while count < 4 and i + count < b and int(kind[int(d[i + count])]) == LETTER:
        count += 1
    return count


def apostrophe_joins(d: Ints, s: int, i: int, b: int, kind: Ints) -> int:
    """Return the length of an apostrophe that stays inside the word s..i, else 0.

    n't and longer endings (o'clock) stay; short endings ('s, 'm, 'll) become their own token.
    """
    width = is_apostrophe(d, i, b)
    if width == 0 or i == s:
        return 0
    count = letters_from(d, i + width, b, kind)
    if count == 0:
        return 0
    is_negation = (int(d[i - 1]) | 32) == 110 and (int(d[i + width]) | 32) == 116 and count == 1
    if is_negation or count > 2:
        return width
    return 0


def symbol_joins(d: Ints, s: int, i: int, b: int, kind: Ints) -> bool:
    """Tell whether the punctuation at `i` belongs to the word or number that began at `s`."""
    c = int(d[i])
    k = int(kind[at(d, i + 1, b)]) if i + 1 < b else SPACE
    if c == 45 or c == 38 or c == 47:  # - & /
        return k == LETTER or k == DIGIT or k == HIGH
    before = int(kind[int(d[i - 1])])
    if before == DIGIT and (c == 44 or c == 58 or c == 46):
        return k == DIGIT
    if c == 46:
        return k == LETTER and (i - s <= 3 or int(d[i + 1]) >= 97) and before == LETTER
    if c == 37:
        return before == DIGIT
    return c == 43 and (before == LETTER or (i - s >= 2 and int(d[i - 1]) == 43))


def high_joins(d: Ints, i: int, b: int) -> bool:
    """Tell whether the non-ASCII character at `i` is part of a word (letter, currency, degree)."""
    c = int(d[i])
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


def scan_word(d: Ints, s: int, b: int, kind: Ints) -> tuple[int, int]:
    """Return (end, flags) of the word, number, address or link that begins at `s`."""
    i = s
    flags = 0
    c = int(d[s])
    if 65 <= c <= 90 or (c == 0xC3 and 0x80 <= at(d, s + 1, b) <= 0x9E):
        flags |= CAPITAL
    if int(kind[c]) == SIGN:
        i += 1
    while i < b:
        c = int(d[i])
        k = int(kind[c])
        if k == LETTER:
            flags |= WORD
            i += 1
        elif k == DIGIT:
            flags |= DIGITS
            i += 1
        elif k == HIGH:
            if not high_joins(d, i, b):
                width = apostrophe_joins(d, s, i, b, kind)
                if width == 0:
                    break
                i += width
                continue
            flags |= WORD
            if is_foreign(c, at(d, i + 1, b)):
                flags |= FOREIGN
            i = min(i + char_bytes(c), b)
        elif is_link(d, i, b, kind):
            return link_end(d, s, i, b, kind), NUMBER
        elif c == 39:
            width = apostrophe_joins(d, s, i, b, kind)
            if width == 0:
                break
            i += width
        elif i > s and symbol_joins(d, s, i, b, kind):
            i += 1
        else:
            break
    if flags & WORD == 0:
        flags |= NUMBER
    return max(i, s + 1), flags


def is_link(d: Ints, i: int, b: int, kind: Ints) -> bool:
    """Tell whether `i` is the :// of a link or the @ of a mail address."""
    if int(d[i]) == 58:
        return at(d, i + 1, b) == 47 and at(d, i + 2, b) == 47
    return int(d[i]) == 64 and i + 1 < b and int(kind[int(d[i + 1])]) == LETTER


def link_end(d: Ints, s: int, i: int, b: int, kind: Ints) -> int:
    """Return the end of a link or address: the next blank, less closing punctuation."""
    while i < b and int(kind[int(d[i])]) != SPACE and int(kind[int(d[i])]) != NEWLINE:
        i += 1
    while i > s + 1 and int(d[i - 1]) in (33, 34, 39, 41, 44, 46, 58, 59, 62, 63):
        i -= 1
    return i


def scan_emoji(d: Ints, i: int, b: int) -> int:
    """Return the end of a run of pictographs, joiners and variation selectors at `i`."""
    while i < b:
        c = int(d[i])
        following = at(d, i + 1, b)
        is_picture = c == 0xF0 and following == 0x9F
        is_symbol = c == 0xE2 and following not in (0x80, 0x82)
        is_joiner = c == 0xE2 and following == 0x80 and at(d, i + 2, b) == 0x8D
        is_selector = c == 0xEF and following == 0xB8
        if not (is_picture or is_symbol or is_joiner or is_selector):
            break
        i = min(i + char_bytes(c), b)
    return i


def find_byte(d: Ints, i: int, b: int, wanted: int, limit: int) -> int:
    """Return the first place of byte `wanted` in i..b before byte `limit`, else -1."""
    while i < b:
        c = int(d[i])
        if c == wanted:
            return i
        if c == limit:
            return -1
        i += 1
    return -1


def find_fence(d: Ints, i: int, b: int) -> int:
    """Return the end of the next ``` at or after `i`, or `b`: an open fence runs to the end."""
    while i + 2 < b:
        if int(d[i]) == 96 and int(d[i + 1]) == 96 and int(d[i + 2]) == 96:
            return i + 3
        i += 1
    return b


def find_closing_quote(d: Ints, i: int, b: int, kind: Ints) -> int:
    """Return the place of the single quote that closes one opened before `i`, on its line, else -1."""
    while i < b:
        c = int(d[i])
        if c == 10:
            return -1
        if c == 39 and int(kind[int(d[i - 1])]) not in (SPACE, NEWLINE):
            k = int(kind[int(d[i + 1])]) if i + 1 < b else SPACE
            if k not in (LETTER, DIGIT, HIGH):
                return i
        i += 1
    return -1


def tag_end(d: Ints, i: int, b: int, kind: Ints) -> int:
    """Return the end of a markup tag or comment at `i`, else -1; looks LONGEST_TAG bytes ahead."""
    k = int(kind[at(d, i + 1, b)]) if i + 1 < b else SPACE
    if k != LETTER and at(d, i + 1, b) not in (47, 33):
        return -1
    found = find_byte(d, i + 1, min(b, i + LONGEST_TAG), 62, 10)
    return found + 1 if found >= 0 else -1


def tag_name(d: Ints, i: int, e: int, kind: Ints) -> int:
    """Return the hash of the tag name at `i` inside a tag that ends at `e`."""
    j = i
    while j < e and int(kind[int(d[j])]) in (LETTER, DIGIT):
        j += 1
    return fold_hash(d, i, j)


def tagged_ranges(
    d: Ints, a: int, b: int, kind: Ints, names: Ints, opened: Ints, first: Ints, end: Ints
) -> int:
    """Write the byte ranges between matching markup tags, outermost only; return their number.

    names, opened: stack of 32 open tags.  first, end: room for (b - a) / 7 + 1 ranges.
    """
    depth = 0
    count = 0
    i = a
    while i < b:
        if int(d[i]) != 60:
            i += 1
            continue
        e = tag_end(d, i, b, kind)
        if e < 0:
            i += 1
            continue
        is_closing = int(d[i + 1]) == 47
        name = tag_name(d, i + 2 if is_closing else i + 1, e, kind)
        if not is_closing and depth < 32:
            names[depth] = name
            opened[depth] = i
            depth += 1
        elif is_closing:
            level = depth - 1
            while level >= 0 and int(names[level]) != name:
                level -= 1
            if level >= 0:
                depth = level
                while count > 0 and int(first[count - 1]) >= int(opened[level]):
                    count -= 1
                first[count] = opened[level]
                end[count] = e
                count += 1
        i = e
    return count


def scan_mark(d: Ints, i: int, b: int) -> tuple[int, int]:
    """Return (end, flags) of the ASCII punctuation at `i`; runs of one mark are one token."""
    c = int(d[i])
    j = i + 1
    if c in (33, 42, 45, 46, 61, 63, 95):
        while j < b and (int(d[j]) == c or (c in (33, 63) and int(d[j]) in (33, 63))):
            j += 1
    if c in (33, 46, 59):
        return j, PUNCT | HARD | (ASK if c == 33 and int(d[j - 1]) == 63 else 0)
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
    c = int(d[i])
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


def is_step(d: Ints, s: int, e: int, b: int, kind: Ints) -> int:
    """Return the number of an enumerated step written s..e and followed by . or ), else 0."""
    if e - s > 2 or at(d, e, b) not in (46, 41):
        return 0
    k = int(kind[int(d[e + 1])]) if e + 1 < b else OTHER
    if k != SPACE and k != LETTER:
        return 0
    value = 0
    for i in range(s, e):
        if int(kind[int(d[i])]) != DIGIT:
            return 0
        value = value * 10 + int(d[i]) - 48
    return value


def is_wrapped(d: Ints, i: int, b: int, line_start: int) -> bool:
    """Tell whether the line end at `i` only wraps a sentence."""
    return i - line_start >= WRAPPED_LINE and 97 <= at(d, i + 1, b) <= 122


QUOTE_END, IS_OPEN, LINE_QUOTE, NO_DOUBLE, NO_SINGLE, NO_TICK, LAST_STEP, LINE_START, BLOCK = range(9)
"""Places in the state of one message: where the quotation ends; inside paired quotes; on a quoted
line; up to where no closing mark exists; the last step number; start of the line; tagged range."""
STATE_SIZE = 9


def put(tok: Ints, n: int, s: int, e: int, word: int, flags: int) -> int:
    """Write token `n` and return the number of tokens."""
    ts, te, ti, tf = tok
    ts[n] = s
    te[n] = e
    ti[n] = word
    tf[n] = flags
    return n + 1


def line_end(d: Ints, i: int, b: int) -> int:
    """Return the place of the next line end at or after `i`, else `b`."""
    while i < b and int(d[i]) != 10:
        i += 1
    return i


def read_newline(d: Ints, i: int, b: int, tok: Ints, n: int, state: Ints, flags: int) -> int:
    """Take a line end: a hard break, unless the line was only wrapped; return the token count."""
    is_wrap = is_wrapped(d, i, b, int(state[LINE_START])) and flags & PASTED == 0
    if at(d, i + 1, b) == 10:
        state[IS_OPEN] = 0
    state[LINE_QUOTE] = 0
    state[LINE_START] = i + 1
    if is_wrap:
        return n
    return put(tok, n, i, i + 1, 0, PUNCT | HARD | LINE | flags)


def read_code(d: Ints, i: int, b: int, tok: Ints, n: int, state: Ints, work: Ints) -> tuple[int, int]:
    """Take a code fence or inline code at `i`; return (next byte, token count)."""
    if at(d, i + 1, b) == 96 and at(d, i + 2, b) == 96:
        e = find_fence(d, i + 3, b)
        work[0] += e - i
        return e, put(tok, n, i, e, 0, CODE | HARD | PUNCT)
    if i < int(state[NO_TICK]):
        return i + 1, n
    e = find_byte(d, i + 1, b, 96, 10)
    if e < 0:
        state[NO_TICK] = line_end(d, i, b)
        work[0] += int(state[NO_TICK]) - i
        return i + 1, n
    work[0] += e - i
    return e + 1, put(tok, n, i, e + 1, 0, CODE)


def open_quote(d: Ints, i: int, b: int, kind: Ints, state: Ints, work: Ints) -> None:
    """Note where the quotation that the mark at `i` opens ends, if it does."""
    if i < int(state[QUOTE_END]):
        return
    if int(d[i]) == 34:
        if i < int(state[NO_DOUBLE]):
            return
        e = find_byte(d, i + 1, b, 34, 0)
        if e < 0:
            state[NO_DOUBLE] = b
    else:
        if i < int(state[NO_SINGLE]) or (i > 0 and int(kind[int(d[i - 1])]) == LETTER):
            return
        e = find_closing_quote(d, i + 1, b, kind)
        if e < 0:
            state[NO_SINGLE] = line_end(d, i, b)
    state[QUOTE_END] = max(e, int(state[QUOTE_END]))
    work[0] += (e if e > 0 else b) - i


def read_symbol(d: Ints, i: int, b: int, tok: Ints, n: int, state: Ints, flags: int) -> tuple[int, int]:
    """Take a non-ASCII character that is no letter: pictograph, quote mark, dash, wide blank."""
    if int(d[i]) == 0xC2 and at(d, i + 1, b) == 0xA0:
        return i + 2, n
    e = scan_emoji(d, i, b)
    if e > i:
        return e, put(tok, n, i, e, 0, EMOJI | flags)
    e, mark, change = scan_high_mark(d, i, b)
    if change != 0:
        state[IS_OPEN] = 1 if change > 0 else 0
        flags |= QUOTED
    return e, put(tok, n, i, e, 0, mark | flags)


def read_word(
    d: Ints, i: int, b: int, lex: Ints, tok: Ints, n: int, state: Ints, flags: int, work: Ints
) -> tuple[int, int]:
    """Take a word, a number or the number of an enumerated step; return (next byte, token count)."""
    kind, slots, starts, pool = lex
    ts, te, ti, tf = tok
    e, mark = scan_word(d, i, b, kind)
    work[0] += e - i
    step = is_step(d, i, e, b, kind) if mark & NUMBER != 0 else 0
    if step > 0:
        is_first = n == 0 or int(tf[n - 1]) & LINE != 0
        is_next = step == int(state[LAST_STEP]) + 1 and step > 1
        if is_first or is_next or int(tf[n - 1]) & COLON != 0:
            if is_first and n > 1 and (int(tf[n - 2]) & COLON != 0 or is_next):
                tf[n - 1] = PUNCT | LINE  # the steps of one list stay one sentence
            state[LAST_STEP] = step
            return e + 1, put(tok, n, i, e + 1, 0, PUNCT | STEP | flags)
    return e, put(tok, n, i, e, word_number(d, i, e, slots, starts, pool), mark | flags)


def read_mark(d: Ints, i: int, b: int, lex: Ints, tok: Ints, n: int, flags: int) -> tuple[int, int]:
    """Take ASCII punctuation; emphasis stars vanish, a hyphen inside words is no break."""
    kind, slots, starts, pool = lex
    ts, te, ti, tf = tok
    e, mark = scan_mark(d, i, b)
    is_first = n == 0 or int(tf[n - 1]) & LINE != 0
    if mark & RULE != 0 and not is_first:
        mark = PUNCT | SOFT
    if mark & RULE == 0 and int(d[i]) == 42:
        return e, n
    if int(d[i]) == 45 and e - i == 1 and not is_first and int(kind[int(d[i - 1])]) != SPACE:
        mark = PUNCT
    return e, put(tok, n, i, e, word_number(d, i, e, slots, starts, pool), mark | flags)


def read_rest(
    d: Ints, i: int, b: int, lex: Ints, tok: Ints, n: int, state: Ints, flags: int, work: Ints
) -> tuple[int, int]:
    """Take whatever else stands at `i`: erased bytes, an ending, a symbol, a word or a mark."""
    kind, slots, starts, pool = lex
    ts, te, ti, tf = tok
    k = int(kind[int(d[i])])
    if k == ERASED:
        e = i + 1
        while e < b and int(d[e]) == 0x1A:
            e += 1
        return e, put(tok, n, i, e, 0, CUT | flags)
    width = is_apostrophe(d, i, b)
    if width > 0 and n > 0 and int(te[n - 1]) == i:
        letters = letters_from(d, i + width, b, kind)
        if letters > 0:
            e = i + width + letters
            return e, put(tok, n, i, e, word_number(d, i, e, slots, starts, pool), WORD | TAIL | flags)
    if k == HIGH and not high_joins(d, i, b):
        return read_symbol(d, i, b, tok, n, state, flags)
    following = int(kind[int(d[i + 1])]) if i + 1 < b else SPACE
    if k == LETTER or k == DIGIT or k == HIGH or (k == SIGN and (following == DIGIT or following == LETTER)):
        return read_word(d, i, b, lex, tok, n, state, flags, work)
    return read_mark(d, i, b, lex, tok, n, flags)


def context_flags(i: int, first: Ints, end: Ints, ranges: int, state: Ints) -> int:
    """Return the flags that the place of byte `i` gives: tagged, quoted line, inside quotes."""
    while int(state[BLOCK]) < ranges and i >= int(end[int(state[BLOCK])]):
        state[BLOCK] += 1
    flags = 0
    if int(state[BLOCK]) < ranges and i >= int(first[int(state[BLOCK])]):
        flags |= PASTED
    if int(state[LINE_QUOTE]) != 0:
        flags |= PASTED | QUOTED
    if i <= int(state[QUOTE_END]) or int(state[IS_OPEN]) != 0:
        flags |= QUOTED
    return flags


def tokenise(d: Ints, a: int, b: int, lex: Ints, tok: Ints, spare: Ints, state: Ints, work: Ints) -> int:
    """Write the tokens of the message d[a:b] and return their number, at most b - a.

    lex: (byte kinds, word slots, word starts, word bytes).  tok: (first byte, byte after, word
    number, flags), absolute bytes.  spare: four scratch arrays of at least (b - a) / 7 + 33.
    state: STATE_SIZE numbers.  work[0] counts the bytes looked at.
    """
    kind, slots, starts, pool = lex
    ts, te, ti, tf = tok
    names, opened, first, end = spare
    for place in range(STATE_SIZE):
        state[place] = -1
    state[IS_OPEN] = 0
    state[LINE_QUOTE] = 0
    state[LAST_STEP] = 0
    state[LINE_START] = a
    state[BLOCK] = 0
    ranges = tagged_ranges(d, a, b, kind, names, opened, first, end)
    n = 0
    i = a
    while i < b:
        work[0] += 1
        c = int(d[i])
        k = int(kind[c])
        if k == SPACE:
            i += 1
            continue
        if c == 34 or c == 39:
            open_quote(d, i, b, kind, state, work)
        flags = context_flags(i, first, end, ranges, state)
        if k == NEWLINE:
            n = read_newline(d, i, b, tok, n, state, flags)
            i += 1
        elif c == 96:
            i, n = read_code(d, i, b, tok, n, state, work)
        elif c == 62 and (n == 0 or int(tf[n - 1]) & LINE != 0):
            state[LINE_QUOTE] = 1
            i += 1
        elif c == 60 and tag_end(d, i, b, kind) > 0:
            e = tag_end(d, i, b, kind)
            n = put(tok, n, i, e, 0, PUNCT | HARD | CODE)
            i = e
        else:
            i, n = read_rest(d, i, b, lex, tok, n, state, flags, work)
    return n
