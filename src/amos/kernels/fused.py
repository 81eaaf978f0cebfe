"""Part words that are typed as one but are two: "im" for "i'm"."""

from __future__ import annotations

from amos.kernels.book import (
    END,
    FLAGS,
    FUSED_AT,
    FUSED_HEAD,
    FUSED_TAIL,
    START,
    TERM,
    Ints,
    T,
    of_word,
)
from amos.kernels.features import GERMAN
from amos.kernels.segments import features_at
from amos.kernels.words import TAIL


def split_fused(tok: Ints, n: int, book: Ints) -> int:
    """Make two tokens of each fused word and return the token count; leave German texts alone.

    There is room: a fused word has at least two bytes, and tokens are at most as many as bytes.
    """
    count = 0
    for t in range(n):
        if of_word(book, tok[t * T + TERM], FUSED_AT) != 0:
            count += 1
    if count == 0:
        return n
    for t in range(n):
        if features_at(book, tok, t) & GERMAN != 0:
            return n  # "im Haus"
    o = n + count
    for t in range(n - 1, -1, -1):
        word = tok[t * T + TERM]
        start = tok[t * T + START]
        end = tok[t * T + END]
        flags = tok[t * T + FLAGS]
        width = of_word(book, word, FUSED_AT)
        o -= 1
        tok[o * T + START] = start + width
        tok[o * T + END] = end
        tok[o * T + TERM] = word if width == 0 else of_word(book, word, FUSED_TAIL)
        tok[o * T + FLAGS] = flags if width == 0 else flags | TAIL
        if width > 0:
            o -= 1
            tok[o * T + START] = start
            tok[o * T + END] = start + width
            tok[o * T + TERM] = of_word(book, word, FUSED_HEAD)
            tok[o * T + FLAGS] = flags
    return n + count
