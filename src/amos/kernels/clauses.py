"""Give each clause of a sentence its cue bits: question, tag, report, hypothesis, request, ..."""

from __future__ import annotations

from amos.kernels.book import (
    BREAK,
    CLAUSE_CUE,
    CLAUSE_CUES,
    CLAUSE_START,
    FLAGS,
    ONWARD_CUE,
    SENTENCE_CUE,
    TERM,
    TIME_END,
    Ints,
    T,
    of_word,
)
from amos.kernels.features import (
    ASKED,
    ASKING,
    AUXILIARY,
    BREAKER,
    FINITE,
    FIRST,
    LEAD,
    LINKER,
    NEGATION,
    REPORTED,
    SUBJECT,
    TAG_WORD,
    TAGGED,
)
from amos.kernels.segments import features_at
from amos.kernels.words import ASK, COMMA, EMOJI, PUNCT, SOFT

LONGEST_TAG_CLAUSE = 1
"""A questioning clause with at most so many words after its first, at the end, is a tag ("..., is it?")."""


def clause_head(t: int, e: int, tok: Ints, book: Ints) -> int:
    """Return the first token of the clause t..e that is neither a mark nor a lead-in.

    Lead-ins are words such as "well" and "no,", and an opening time with its comma.
    """
    x = t
    while x < e:
        after = tok[x * T + TIME_END]
        if 0 < after < e and tok[after * T + FLAGS] & COMMA != 0:
            x = after
            continue
        if tok[x * T + FLAGS] & (PUNCT | EMOJI) == 0:
            word = features_at(book, tok, x)
            is_plain_no = (
                x == t and word & NEGATION != 0 and x + 1 < e and tok[(x + 1) * T + FLAGS] & SOFT != 0
            )
            if word & (LEAD | LINKER) == 0 and not is_plain_no:
                break
        x += 1
    return x


def first_negation(t: int, e: int, tok: Ints, book: Ints) -> int:
    """Return the first negating token of t..e, or `e`."""
    x = t
    while x < e and features_at(book, tok, x) & NEGATION == 0:
        x += 1
    return x


def asks(t: int, e: int, has_mark: bool, tok: Ints, book: Ints) -> bool:
    """Tell whether the clause whose head is `t` is built as a question."""
    if t >= e:
        return False
    word = features_at(book, tok, t)
    following = features_at(book, tok, t + 1) if t + 1 < e else 0
    if word & AUXILIARY != 0:
        return has_mark or following & (FIRST | SUBJECT) != 0
    if word & ASKING != 0:
        return has_mark or following & (AUXILIARY | FINITE) != 0
    return False


def sentence_cues(s: int, e: int, tok: Ints, book: Ints) -> int:
    """Write the clauses of the sentence s..e with their cue bits; return their number.

    Sentence cues hold throughout, onward cues from their clause to the end; a report ends where
    "but I" or the like sets the author against it.
    """
    count = 0
    whole = 0
    running = 0
    has_mark = False
    for t in range(s, e):
        word = tok[t * T + TERM]
        if t == s or tok[t * T + BREAK] != 0:
            is_contrast = t + 1 < e and features_at(book, tok, t) & BREAKER != 0
            if is_contrast and features_at(book, tok, t + 1) & FIRST != 0:
                running &= ~REPORTED
            tok[count * T + CLAUSE_START] = t
            tok[count * T + CLAUSE_CUES] = running
            count += 1
        if word > 0:
            running |= of_word(book, word, ONWARD_CUE)
            tok[(count - 1) * T + CLAUSE_CUES] |= of_word(book, word, CLAUSE_CUE) | running
            whole |= of_word(book, word, SENTENCE_CUE)
        has_mark = has_mark or tok[t * T + FLAGS] & ASK != 0
    for x in range(count):
        tok[x * T + CLAUSE_CUES] |= whole
    mark_questions(e, count, has_mark, tok, book)
    return count


def mark_questions(e: int, count: int, has_mark: bool, tok: Ints, book: Ints) -> None:
    """Set ASKED from the first questioning clause on, or TAGGED throughout when only a tag asks."""
    asked = -1
    for x in range(count):
        start = tok[x * T + CLAUSE_START]
        end = tok[(x + 1) * T + CLAUSE_START] if x + 1 < count else e
        if asked < 0 and asks(clause_head(start, end, tok, book), end, has_mark, tok, book):
            asked = x
    is_tag = False
    if has_mark and asked != 0:
        final = e - 1
        while final > 0 and tok[final * T + FLAGS] & PUNCT != 0:
            final -= 1
        is_tag = of_word(book, tok[final * T + TERM], CLAUSE_CUE) & TAG_WORD != 0
        is_last = asked > 0 and asked == count - 1
        is_tag = is_tag or (is_last and final - tok[asked * T + CLAUSE_START] <= LONGEST_TAG_CLAUSE)
        asked = max(asked, 0)
    for x in range(count):
        if is_tag:
            tok[x * T + CLAUSE_CUES] |= TAGGED
        elif 0 <= asked <= x:
            tok[x * T + CLAUSE_CUES] |= ASKED
