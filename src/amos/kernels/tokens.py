"""Cut UTF-8 messages into tokens with byte spans, word numbers and flags; one pass, no strings."""

from __future__ import annotations

from amos.kernels.book import (
    BLOCK,
    CLAUSE_CUES,
    CLAUSE_START,
    END,
    FLAGS,
    IS_OPEN,
    LAST_STEP,
    LINE_QUOTE,
    LINE_START,
    NO_DOUBLE,
    NO_SINGLE,
    NO_TICK,
    QUOTE_END,
    START,
    STEPS_TAKEN,
    TERM,
    Ints,
    T,
)
from amos.kernels.scan import (
    find_byte,
    find_closing_quote,
    find_fence,
    is_step,
    is_wrapped,
    line_end,
    scan_high_mark,
    scan_mark,
    tag_end,
    tagged_ranges,
)
from amos.kernels.words import (
    CODE,
    COLON,
    CUT,
    DIGIT,
    EMOJI,
    ERASED,
    HARD,
    HIGH,
    LETTER,
    LINE,
    NEWLINE,
    NUMBER,
    PASTED,
    PUNCT,
    QUOTED,
    RULE,
    SIGN,
    SOFT,
    SPACE,
    STEP,
    TAIL,
    WORD,
    at,
    high_joins,
    is_apostrophe,
    letters_from,
    scan_emoji,
    scan_word,
    word_number,
)


def put(tok: Ints, n: int, s: int, e: int, word: int, flags: int) -> int:
    """Write token `n` and return the number of tokens."""
    tok[n * T + START] = s
    tok[n * T + END] = e
    tok[n * T + TERM] = word
    tok[n * T + FLAGS] = flags
    return n + 1


def read_newline(d: Ints, i: int, b: int, tok: Ints, n: int, frame: Ints, flags: int) -> int:
    """Take a line end: a hard break, unless the line was only wrapped; return the token count."""
    is_wrap = is_wrapped(d, i, b, frame[LINE_START]) and flags & PASTED == 0
    if at(d, i + 1, b) == 10:
        frame[IS_OPEN] = 0
    frame[LINE_QUOTE] = 0
    frame[LINE_START] = i + 1
    if is_wrap:
        return n
    return put(tok, n, i, i + 1, 0, PUNCT | HARD | LINE | flags)


def read_code(d: Ints, i: int, b: int, tok: Ints, n: int, frame: Ints) -> tuple[int, int]:
    """Take a code fence or inline code at `i`; return (next byte, token count)."""
    if at(d, i + 1, b) == 96 and at(d, i + 2, b) == 96:
        e = find_fence(d, i + 3, b)
        frame[STEPS_TAKEN] += e - i
        return e, put(tok, n, i, e, 0, CODE | HARD | PUNCT)
    if i < frame[NO_TICK]:
        return i + 1, n
    e = find_byte(d, i + 1, b, 96, 10)
    if e < 0:
        frame[NO_TICK] = line_end(d, i, b)
        frame[STEPS_TAKEN] += frame[NO_TICK] - i
        return i + 1, n
    frame[STEPS_TAKEN] += e - i
    return e + 1, put(tok, n, i, e + 1, 0, CODE)


def open_quote(d: Ints, i: int, b: int, book: Ints, frame: Ints) -> None:
    """Note where the quotation that the mark at `i` opens ends, if it does."""
    if i < frame[QUOTE_END]:
        return
    if d[i] == 34:
        if i < frame[NO_DOUBLE]:
            return
        e = find_byte(d, i + 1, b, 34, 0)
        if e < 0:
            frame[NO_DOUBLE] = b
    else:
        if i < frame[NO_SINGLE] or (i > 0 and book[d[i - 1]] == LETTER):
            return
        e = find_closing_quote(d, i + 1, b, book)
        if e < 0:
            frame[NO_SINGLE] = line_end(d, i, b)
    frame[QUOTE_END] = max(e, frame[QUOTE_END])
    frame[STEPS_TAKEN] += (e if e > 0 else b) - i


def read_symbol(d: Ints, i: int, b: int, tok: Ints, n: int, frame: Ints, flags: int) -> tuple[int, int]:
    """Take a non-ASCII character that is no letter: pictograph, quote mark, dash, wide blank."""
    if d[i] == 0xC2 and at(d, i + 1, b) == 0xA0:
        return i + 2, n
    e = scan_emoji(d, i, b)
    if e > i:
        return e, put(tok, n, i, e, 0, EMOJI | flags)
    e, mark, change = scan_high_mark(d, i, b)
    if change != 0:
        frame[IS_OPEN] = 1 if change > 0 else 0
        flags |= QUOTED
    return e, put(tok, n, i, e, 0, mark | flags)


def read_word(
    d: Ints, i: int, b: int, book: Ints, tok: Ints, n: int, frame: Ints, flags: int
) -> tuple[int, int]:
    """Take a word, a number or the number of an enumerated step; return (next byte, token count)."""
    e, mark = scan_word(d, i, b, book)
    frame[STEPS_TAKEN] += e - i
    step = is_step(d, i, e, b, book) if mark & NUMBER != 0 else 0
    if step > 0:
        is_first = n == 0 or tok[(n - 1) * T + FLAGS] & LINE != 0
        is_next = step == frame[LAST_STEP] + 1 and step > 1
        if is_first or is_next or tok[(n - 1) * T + FLAGS] & COLON != 0:
            if is_first and n > 1 and (tok[(n - 2) * T + FLAGS] & COLON != 0 or is_next):
                tok[(n - 1) * T + FLAGS] = PUNCT | LINE  # the steps of one list stay one sentence
            frame[LAST_STEP] = step
            return e + 1, put(tok, n, i, e + 1, 0, PUNCT | STEP | flags)
    return e, put(tok, n, i, e, word_number(d, i, e, book), mark | flags)


def read_mark(d: Ints, i: int, b: int, book: Ints, tok: Ints, n: int, flags: int) -> tuple[int, int]:
    """Take ASCII punctuation; emphasis stars vanish, a hyphen inside words is no break."""
    e, mark = scan_mark(d, i, b)
    is_first = n == 0 or tok[(n - 1) * T + FLAGS] & LINE != 0
    if mark & RULE != 0 and not is_first:
        mark = PUNCT | SOFT
    if mark & RULE == 0 and d[i] == 42:
        return e, n
    if d[i] == 45 and e - i == 1 and not is_first and book[d[i - 1]] != SPACE:
        mark = PUNCT
    return e, put(tok, n, i, e, word_number(d, i, e, book), mark | flags)


def is_detached(d: Ints, i: int, b: int, book: Ints, tok: Ints, n: int) -> bool:
    """Tell whether the mark at `i` opens an ending that a blank parts from its word: "I 'm", "she 's"."""
    if n == 0 or tok[(n - 1) * T + END] != i - 1 or tok[(n - 1) * T + FLAGS] & (WORD | PUNCT) != WORD:
        return False
    letters = letters_from(d, i + 1, b, book)
    if letters == 0 or letters > 2 or (i + 1 + letters < b and book[d[i + 1 + letters]] != SPACE):
        return False
    first = d[i + 1] | 32
    if letters == 1:
        return first == 109 or first == 115 or first == 100  # m, s, d
    second = d[i + 2] | 32
    return (first == 108 and second == 108) or (second == 101 and (first == 114 or first == 118))


def read_rest(
    d: Ints, i: int, b: int, book: Ints, tok: Ints, n: int, frame: Ints, flags: int
) -> tuple[int, int]:
    """Take whatever else stands at `i`: erased bytes, an ending, a symbol, a word or a mark."""
    k = book[d[i]]
    if k == ERASED:
        e = i + 1
        while e < b and d[e] == 0x1A:
            e += 1
        return e, put(tok, n, i, e, 0, CUT | flags)
    width = is_apostrophe(d, i, b)
    is_ending = width > 0 and n > 0 and tok[(n - 1) * T + END] == i
    if is_ending or (width == 1 and is_detached(d, i, b, book, tok, n)):
        letters = letters_from(d, i + width, b, book)
        if letters > 0:
            e = i + width + letters
            return e, put(tok, n, i, e, word_number(d, i, e, book), WORD | TAIL | flags)
    if k == HIGH and not high_joins(d, i, b):
        return read_symbol(d, i, b, tok, n, frame, flags)
    following = book[d[i + 1]] if i + 1 < b else SPACE
    if k == LETTER or k == DIGIT or k == HIGH or (k == SIGN and (following == DIGIT or following == LETTER)):
        return read_word(d, i, b, book, tok, n, frame, flags)
    return read_mark(d, i, b, book, tok, n, flags)


def context_flags(i: int, tok: Ints, ranges: int, frame: Ints) -> int:
    """Return the flags that the place of byte `i` gives: tagged, quoted line, inside quotes."""
    flags = 0
    if ranges > 0:
        while frame[BLOCK] < ranges and i >= tok[frame[BLOCK] * T + CLAUSE_CUES]:
            frame[BLOCK] += 1
        if frame[BLOCK] < ranges and i >= tok[frame[BLOCK] * T + CLAUSE_START]:
            flags |= PASTED
    if frame[LINE_QUOTE] != 0:
        flags |= PASTED | QUOTED
    if i <= frame[QUOTE_END] or frame[IS_OPEN] != 0:
        flags |= QUOTED
    return flags


def tokenise(d: Ints, a: int, b: int, book: Ints, tok: Ints, frame: Ints) -> int:
    """Write the tokens of the message d[a:b] and return their number, at most b - a.

    tok needs room for b - a + 2 tokens; bytes are counted from the start of `d`.
    """
    for place in range(QUOTE_END, STEPS_TAKEN):
        frame[place] = -1
    frame[IS_OPEN] = 0
    frame[LINE_QUOTE] = 0
    frame[LAST_STEP] = 0
    frame[LINE_START] = a
    frame[BLOCK] = 0
    ranges = tagged_ranges(d, a, b, book, tok, frame)
    n = 0
    i = a
    while i < b:
        frame[STEPS_TAKEN] += 1
        c = d[i]
        k = book[c]
        if k == SPACE:
            i += 1
            continue
        if c == 34 or (c == 39 and not is_detached(d, i, b, book, tok, n)):
            open_quote(d, i, b, book, frame)
        flags = context_flags(i, tok, ranges, frame)
        if k == NEWLINE:
            n = read_newline(d, i, b, tok, n, frame, flags)
            i += 1
        elif c == 96:
            i, n = read_code(d, i, b, tok, n, frame)
        elif c == 62 and (n == 0 or tok[(n - 1) * T + FLAGS] & LINE != 0):
            frame[LINE_QUOTE] = 1
            i += 1
        elif c == 60 and tag_end(d, i, b, book) > 0:
            e = tag_end(d, i, b, book)
            n = put(tok, n, i, e, 0, PUNCT | HARD | CODE)
            i = e
        else:
            i, n = read_rest(d, i, b, book, tok, n, frame, flags)
    return n
