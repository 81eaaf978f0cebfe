"""What the kernels know of words: one bit per feature, kinds of time, cue bits they set or read."""

from __future__ import annotations

ABBREVIATION, LATE_ABBREVIATION, FIRST, SUBJECT, BREAKER, LINKER, JOINER, FINITE = (
    1 << bit for bit in range(8)
)
LEAD, TRAILER, AUXILIARY, ASKING, NEGATION, PASTE_LEAD, MAIL_HEAD, PHRASE_HEAD = (
    1 << bit for bit in range(8, 16)
)
TIME_CORE, TIME_WEAK, TIME_LEAD, TIME_LINK, TIME_ALONE, TIME_AGO = (1 << bit for bit in range(16, 22))
ENGLISH, GERMAN, FRENCH, SPANISH, OTHER_LATIN, CONTRACTED, BARRIER, PREPOSITION = (
    1 << bit for bit in range(22, 30)
)
NOMINATIVE = 1 << 30
ORDERED = 1 << 31
"""Features of a word; the grammar's `tag` lines name them in lower case."""

NO_TIME, UNTIL, FROM, EVERY, PAST, NEXT, NOW, DATE, BY = range(9)
"""Kinds of time expressions."""

ASKED, TAGGED, REPORTED, DENIED, TAG_WORD, FIRST_CUE = 1, 2, 4, 8, 16, 32
"""Cue bits that the kernels themselves set or read; the grammar's other cues follow from FIRST_CUE."""

SENTENCE, CLAUSE = 2, 1
"""What begins at a token, in its field BREAK."""
