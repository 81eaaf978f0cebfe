"""Write what the kernels found: one row of integers per claim, one summary per message."""

from __future__ import annotations

from amos.kernels.book import (
    CAPTURE_AFTER,
    CAPTURE_FIRST,
    CAPTURES,
    CLAUSE_FROM,
    CLAUSE_TO,
    CUES_BEFORE,
    CUES_HERE,
    END,
    FLAGS,
    MESSAGE,
    NEGATION_AT,
    NEXT_TIME,
    ORIGIN,
    SENTENCE_FROM,
    START,
    TIME_END,
    TIME_KIND,
    Ints,
    T,
)
from amos.kernels.features import DENIED, ENGLISH, FRENCH, GERMAN, NO_TIME, OTHER_LATIN, SPANISH
from amos.kernels.segments import features_at
from amos.kernels.words import CUT, FOREIGN, PUNCT, WORD

(
    ROW_MESSAGE, ROW_PATTERN, ROW_START, ROW_END, ROW_CLAUSE, ROW_CLAUSE_END, ROW_SENTENCE, ROW_NEGATIVE,
    ROW_FLAGS, ROW_WHEN, ROW_WHEN_END, ROW_WHEN_KIND, ROW_CUES, ROW_MESSAGE_CUES, ROW_CAPTURES,
) = range(15)  # fmt: skip
ROW_SIZE = ROW_CAPTURES + 2 * CAPTURES
"""Columns of a row; bytes are counted from the start of the message, captures are (start, end) or -1."""

(
    NOTE_WORDS, NOTE_FOREIGN, NOTE_LETTERS, NOTE_SENTENCES, NOTE_ASKED, NOTE_CUES, NOTE_FLAGS,
    NOTE_ENGLISH, NOTE_GERMAN, NOTE_FRENCH, NOTE_SPANISH, NOTE_OTHER,
) = range(12)  # fmt: skip
NOTE_SIZE = 12
"""Columns of the summary of one message."""

PASSED_TIMES = 4
"""Time expressions inside subject or property that are passed over in search of the claim's own."""


def put_row(
    out: Ints, r: int, pattern: int, start: int, end: int, negated: int, tok: Ints, frame: Ints
) -> None:
    """Write row `r`: `pattern` matched the tokens start..end of the current clause."""
    a = frame[ORIGIN]
    base = r * ROW_SIZE
    flags = tok[start * T + FLAGS]
    for x in range(start, end):
        flags |= tok[x * T + FLAGS] & CUT
    for capture in range(CAPTURES):
        s = frame[CAPTURE_FIRST + capture]
        place = base + ROW_CAPTURES + 2 * capture
        out[place] = tok[s * T + START] - a if s >= 0 else -1
        out[place + 1] = tok[(frame[CAPTURE_AFTER + capture] - 1) * T + END] - a if s >= 0 else -1
    out[base + ROW_MESSAGE] = frame[MESSAGE]
    out[base + ROW_PATTERN] = pattern
    out[base + ROW_START] = tok[start * T + START] - a
    out[base + ROW_END] = tok[(end - 1) * T + END] - a
    out[base + ROW_CLAUSE] = tok[frame[CLAUSE_FROM] * T + START] - a
    out[base + ROW_CLAUSE_END] = tok[(frame[CLAUSE_TO] - 1) * T + END] - a
    out[base + ROW_SENTENCE] = frame[SENTENCE_FROM]
    out[base + ROW_NEGATIVE] = negated
    out[base + ROW_FLAGS] = flags
    out[base + ROW_CUES] = frame[CUES_HERE] | (DENIED if frame[NEGATION_AT] < start else 0)
    out[base + ROW_MESSAGE_CUES] = frame[CUES_BEFORE]
    put_time(out, base, tok, frame)


def put_time(out: Ints, base: int, tok: Ints, frame: Ints) -> None:
    """Write the first time expression of the clause that is not part of subject or property."""
    a = frame[ORIGIN]
    limit = frame[CLAUSE_TO]
    out[base + ROW_WHEN] = -1
    out[base + ROW_WHEN_END] = -1
    out[base + ROW_WHEN_KIND] = NO_TIME
    t = tok[frame[CLAUSE_FROM] * T + NEXT_TIME]
    for _ in range(PASSED_TIMES):
        if t >= limit:
            return
        after = tok[t * T + TIME_END]
        is_inside = False
        for capture in range(2):  # subject and property
            is_inside = is_inside or frame[CAPTURE_FIRST + capture] <= t < frame[CAPTURE_AFTER + capture]
        if not is_inside:
            out[base + ROW_WHEN] = tok[t * T + START] - a
            out[base + ROW_WHEN_END] = tok[(after - 1) * T + END] - a
            out[base + ROW_WHEN_KIND] = tok[t * T + TIME_KIND]
            return
        t = tok[after * T + NEXT_TIME] if after < limit else limit


def note_message(m: int, n: int, book: Ints, tok: Ints, notes: Ints) -> None:
    """Write the summary of message `m`: words, scripts, flags, votes of the languages."""
    base = m * NOTE_SIZE
    votes = ENGLISH | GERMAN | FRENCH | SPANISH | OTHER_LATIN
    for t in range(n):
        f = tok[t * T + FLAGS]
        notes[base + NOTE_FLAGS] |= f
        if f & PUNCT == 0:
            notes[base + NOTE_WORDS] += 1
        if f & FOREIGN != 0:
            notes[base + NOTE_FOREIGN] += tok[t * T + END] - tok[t * T + START]
        elif f & WORD != 0:
            notes[base + NOTE_LETTERS] += tok[t * T + END] - tok[t * T + START]
        word = features_at(book, tok, t)
        if word & votes != 0:
            notes[base + NOTE_ENGLISH] += (word & ENGLISH) // ENGLISH
            notes[base + NOTE_GERMAN] += (word & GERMAN) // GERMAN
            notes[base + NOTE_FRENCH] += (word & FRENCH) // FRENCH
            notes[base + NOTE_SPANISH] += (word & SPANISH) // SPANISH
            notes[base + NOTE_OTHER] += (word & OTHER_LATIN) // OTHER_LATIN
