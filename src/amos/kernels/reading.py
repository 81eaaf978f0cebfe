"""Read messages from bytes to rows of claims: the outer loop of the token kernels."""

from __future__ import annotations

from amos.kernels.book import (
    ANCHORED,
    ANCHORED_COUNT,
    BASE,
    BREAK,
    CAPTURE_AFTER,
    CAPTURE_FIRST,
    CAPTURES,
    CLAUSE_CUES,
    CLAUSE_FROM,
    CLAUSE_START,
    CLAUSE_TO,
    CUES_BEFORE,
    CUES_HERE,
    DONE_TO,
    FIRST_LATE,
    HEAD,
    INDEX,
    LISTED,
    MASK_BITS,
    MESSAGE,
    MESSAGE_CUE,
    NEED,
    NEEDED,
    NEGATION_AT,
    ORIGIN,
    PATTERN_MASKS,
    PATTERN_STARTS,
    PHASE,
    SENTENCE_END,
    SENTENCE_FROM,
    TERM,
    Ints,
    T,
    of_word,
)
from amos.kernels.clauses import clause_head, first_negation, sentence_cues
from amos.kernels.features import ASKED, SENTENCE
from amos.kernels.fused import split_fused
from amos.kernels.match import match_pattern
from amos.kernels.moments import mark_times
from amos.kernels.rows import (
    NOTE_ASKED,
    NOTE_CUES,
    NOTE_SENTENCES,
    NOTE_SIZE,
    ROW_SIZE,
    note_message,
    put_row,
)
from amos.kernels.segments import mark_breaks, mark_pasted, mark_stops, merge_phrases
from amos.kernels.tokens import tokenise


def may_match(pattern: int, frame: Ints) -> bool:
    """Tell whether the clause holds a word that `pattern` cannot do without."""
    return (frame[NEEDED + pattern // MASK_BITS] >> (pattern % MASK_BITS)) & 1 != 0


def try_pattern(pattern: int, t: int, book: Ints, tok: Ints, frame: Ints, out: Ints, r: int) -> int:
    """Write row `r` when `pattern` matches at token `t`; return the token after the match, else -1."""
    for number in range(CAPTURES):
        frame[CAPTURE_FIRST + number] = -1
        frame[CAPTURE_AFTER + number] = -1
    op = book[book[PATTERN_STARTS] + pattern]
    start, end, negated = match_pattern(op, t, book, tok, frame)
    if end <= t:
        return -1
    put_row(out, r, pattern, start, end, negated, tok, frame)
    frame[DONE_TO] = end
    return end


def match_token(t: int, book: Ints, tok: Ints, frame: Ints, out: Ints, r: int) -> int:
    """Write the first match among the patterns that begin with the word at `t`, in table order.

    Phase 0 tries the ordinary patterns, 1 the late ones.  Returns the token after, or -1.
    """
    word = tok[t * T + TERM]
    index = book[INDEX]
    for place in range(book[index + word], book[index + word + 1]):
        pattern = book[book[LISTED] + place]
        is_late = pattern >= book[FIRST_LATE]
        if is_late != (frame[PHASE] == 1) or not may_match(pattern, frame):
            continue
        after = try_pattern(pattern, t, book, tok, frame, out, r)
        if after > t:
            return after
    return -1


def match_anchored(book: Ints, tok: Ints, frame: Ints, out: Ints, r: int) -> int:
    """Try the patterns that begin with a capture at the head of the clause; return the rows so far."""
    for place in range(book[ANCHORED_COUNT]):
        pattern = book[book[ANCHORED] + place]
        if may_match(pattern, frame) and try_pattern(pattern, frame[HEAD], book, tok, frame, out, r) > 0:
            return r + 1
    return r


def find_needs(s: int, e: int, book: Ints, tok: Ints, frame: Ints) -> None:
    """Write into the frame which patterns the words of the clause allow."""
    masks = book[PATTERN_MASKS]
    for k in range(masks):
        frame[NEEDED + k] = book[book[BASE] + k]
    for t in range(s, e):
        word = tok[t * T + TERM]
        if word > 0:
            for k in range(masks):
                frame[NEEDED + k] |= book[book[NEED] + word * masks + k]


def match_clause(s: int, e: int, book: Ints, tok: Ints, frame: Ints, out: Ints, r: int) -> int:
    """Write a row for each claim of the clause s..e, left to right; return the number of rows so far.

    Where no pattern that begins with a word matches, those that begin with a capture are tried at
    the head, then the late ones.
    """
    frame[CLAUSE_FROM] = s
    frame[CLAUSE_TO] = e
    frame[HEAD] = clause_head(s, e, tok, book)
    frame[NEGATION_AT] = first_negation(frame[HEAD], e, tok, book)
    find_needs(s, e, book, tok, frame)
    before = r
    for phase in range(2):
        frame[PHASE] = phase
        t = s
        while t < e:
            after = match_token(t, book, tok, frame, out, r)
            if after > t:
                r += 1
            t = max(after, t + 1)
        if r == before and phase == 0 and frame[HEAD] < e:
            r = match_anchored(book, tok, frame, out, r)
        if r > before:
            break
    return r


def match_sentence(s: int, e: int, book: Ints, tok: Ints, frame: Ints, out: Ints, r: int, notes: Ints) -> int:
    """Write the rows of the sentence s..e and count it in the summary; return the rows so far."""
    for t in range(s, e):
        frame[CUES_BEFORE] |= of_word(book, tok[t * T + TERM], MESSAGE_CUE)
        tok[t * T + SENTENCE_END] = e
    frame[SENTENCE_FROM] = s
    frame[DONE_TO] = s
    count = sentence_cues(s, e, tok, book)
    note = frame[MESSAGE] * NOTE_SIZE
    notes[note + NOTE_SENTENCES] += 1
    notes[note + NOTE_ASKED] += tok[(count - 1) * T + CLAUSE_CUES] & ASKED
    for x in range(count):
        frame[CUES_HERE] = tok[x * T + CLAUSE_CUES]
        notes[note + NOTE_CUES] |= frame[CUES_HERE] | frame[CUES_BEFORE]
        end = tok[(x + 1) * T + CLAUSE_START] if x + 1 < count else e
        if end > frame[DONE_TO]:  # the steps of a procedure take in the clauses that follow
            r = match_clause(tok[x * T + CLAUSE_START], end, book, tok, frame, out, r)
    return r


def read_messages(
    d: Ints, offsets: Ints, m: int, book: Ints, tok: Ints, frame: Ints, out: Ints, notes: Ints
) -> tuple[int, int]:
    """Tokenise, segment and match the messages from number `m` on; return (rows, next message).

    d, offsets: the UTF-8 bytes and where each message begins.  tok: room for the longest message.
    out: rows of ROW_SIZE numbers; the run stops before a message whose claims might not fit.
    notes: NOTE_SIZE numbers per message, zeroed.
    """
    capacity = len(out) // ROW_SIZE
    messages = len(offsets) - 1
    r = 0
    while m < messages:
        n = tokenise(d, offsets[m], offsets[m + 1], book, tok, frame)
        n = split_fused(tok, n, book)
        if r + n > capacity:
            break
        frame[MESSAGE] = m
        frame[ORIGIN] = offsets[m]
        frame[CUES_BEFORE] = 0
        n = merge_phrases(tok, n, book)
        mark_pasted(tok, n, book)
        note_message(m, n, book, tok, notes)
        mark_times(d, tok, n, book)
        mark_breaks(d, tok, n, book)
        mark_stops(tok, n)
        s = 0
        while s < n:
            e = s + 1
            while e < n and tok[e * T + BREAK] != SENTENCE:
                e += 1
            r = match_sentence(s, e, book, tok, frame, out, r, notes)
            s = e
        m += 1
    return r, m
