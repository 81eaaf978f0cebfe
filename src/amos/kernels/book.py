"""The layout of the arrays that the token kernels share: the grammar's book, tokens, scratch.

Each is one flat array of integers, because a compiled function takes few arrays cheaply and many
dearly; plain runs use lists in their place.
"""

from __future__ import annotations

from typing import Any

Ints = Any
"""A flat list of int or a one-dimensional NumPy array; `bytes` or uint8 where text is read."""

T = 15
(
    START, END, TERM, FLAGS, BREAK, STOP, COMMA_STOP, LAST, TIME_END, TIME_KIND, NEXT_TIME, NEXT_VERB,
    SENTENCE_END, CLAUSE_START, CLAUSE_CUES,
) = range(T)  # fmt: skip
"""Fields of a token at `tok[t * T + FIELD]`: first byte, byte after, word number, flags; where a
clause begins; where a value that begins here ends, at most and at the first comma; last token up
to here that is no mark; end and kind of a time expression that begins here; next such beginning;
next finite verb; end of the sentence.  The last two hold the clauses of the current sentence (and,
while tokens are cut, the byte ranges between markup tags)."""

(
    KINDS, SLOTS, SLOT_MASK, WORD_STARTS, WORD_BYTES, WORDS, WORD_COUNT, PHRASE_KEYS, PHRASE_MASK,
    PHRASE_NEXT, PHRASE_ACCEPT, OPERATIONS, PATTERN_STARTS, MEMBERS, SET_MASKS, NEED, PATTERN_MASKS,
    BASE, INDEX, LISTED, ANCHORED, ANCHORED_COUNT, FIRST_LATE,
) = (0, *range(256, 278))  # fmt: skip
"""Places in the book: bytes' kinds first, then offsets of the tables and a few counts."""
HEADER = 278

W = 9
(
    FEATURES, TIME_KIND_OF, CLAUSE_CUE, SENTENCE_CUE, ONWARD_CUE, MESSAGE_CUE, FUSED_HEAD, FUSED_TAIL,
    FUSED_AT,
) = range(W)  # fmt: skip
"""Fields of a word in the table WORDS; the last three of a word that stands for two ("im"): the
numbers of both, and the bytes of the first."""

CAPTURES = 6
STACK_DEPTH = 24
OPEN_TAGS = 32
CAPTURE_FIRST = 0
CAPTURE_AFTER = CAPTURE_FIRST + CAPTURES
STACK = CAPTURE_AFTER + CAPTURES
TAG_NAMES = STACK + 4 * STACK_DEPTH
TAG_STARTS = TAG_NAMES + OPEN_TAGS
(
    QUOTE_END, IS_OPEN, LINE_QUOTE, NO_DOUBLE, NO_SINGLE, NO_TICK, LAST_STEP, LINE_START, BLOCK, STEPS_TAKEN,
    MESSAGE, ORIGIN, SENTENCE_FROM, CLAUSE_FROM, CLAUSE_TO, HEAD, NEGATION_AT, CUES_HERE, CUES_BEFORE, PHASE,
    DONE_TO,
) = range(TAG_STARTS + OPEN_TAGS, TAG_STARTS + OPEN_TAGS + 21)  # fmt: skip
NEEDED = DONE_TO + 1
"""Places in the frame, the scratch of one run: captures, open choices, open tags, state of the
tokeniser (end of the quotation; inside paired quotes; on a quoted line; up to where no closing
mark exists; last step number; start of the line; current tagged range), steps taken; the current
message and its first byte, sentence, clause with its head, first negation and cues, the cues of
the message so far, the phase, the end of the last match; and from NEEDED on the patterns that
the clause allows."""

MASK_BITS = 62
"""Bits used of each mask number, so that none is ever negative."""


def of_word(book: Ints, word: int, field: int) -> int:
    """Return a field of a word; word 0 stands for any unknown word and has none."""
    return book[book[WORDS] + word * W + field]


def is_member(book: Ints, group: int, word: int) -> bool:
    """Tell whether `word` belongs to the word set `group`."""
    mask = book[book[MEMBERS] + word * book[SET_MASKS] + group // MASK_BITS]
    return (mask >> (group % MASK_BITS)) & 1 != 0
