"""Match the patterns of a compiled grammar on the tokens of one clause."""

from __future__ import annotations

from amos.kernels.book import (
    CAPTURE_AFTER,
    CAPTURE_FIRST,
    CAPTURES,
    CLAUSE_CUE,
    CLAUSE_FROM,
    CLAUSE_TO,
    COMMA_STOP,
    FEATURES,
    FLAGS,
    HEAD,
    LAST,
    NEXT_TIME,
    NEXT_VERB,
    ONWARD_CUE,
    OPERATIONS,
    SENTENCE_CUE,
    SENTENCE_END,
    STACK,
    STACK_DEPTH,
    STEPS_TAKEN,
    STOP,
    TERM,
    TIME_END,
    Ints,
    T,
    is_member,
    of_word,
)
from amos.kernels.features import (
    BARRIER,
    BREAKER,
    CONTRACTED,
    FIRST,
    JOINER,
    LEAD,
    LINKER,
    PREPOSITION,
    SUBJECT,
    TRAILER,
)
from amos.kernels.segments import features_at
from amos.kernels.words import CAPITAL, CODE, CUT, EMOJI, PUNCT, QUOTED, WORD

ONE, MAYBE, MANY, MAY_NEGATE, NEGATES, NOT_NEXT, SLOT, REST, NAME_BEFORE, NAME = range(10)
AT_HEAD, AT_FREE, OPEN, CLOSE, TIME, STEPS, DONE, NO_TIME_HERE, AT_END = range(10, 19)
"""Operations of a pattern; each is four numbers (operation, set or capture, low, high)."""

TO_CLAUSE_END, TO_COMMA, WITH_TIME, TO_JOINER = range(4)
"""How far a REST capture runs; WITH_TIME passes over time expressions, TO_JOINER stops at "and" too."""

LONGEST_NAME = 12
"""Tokens within which TO_JOINER looks for its "and"."""

SUBJECT_CAPTURE, PROPERTY, VALUE, SCOPE, TAIL_CAPTURE, WHEN = range(CAPTURES)

MOST_STEPS = 96
MOST_REPEATS = 3
MOST_TRAILERS = 4


def capture(frame: Ints, number: int, first: int, after: int) -> None:
    """Note that a capture holds the tokens first..after."""
    frame[CAPTURE_FIRST + number] = first
    frame[CAPTURE_AFTER + number] = after


def value_end(t: int, mode: int, limit: int, tok: Ints, book: Ints) -> int:
    """Return the token after the value that begins at `t`, or `t` when there is none."""
    if t >= limit or (tok[t * T + FLAGS] & PUNCT != 0 and tok[t * T + FLAGS] & QUOTED == 0):
        return t
    is_near = mode == TO_COMMA or mode == TO_JOINER
    end = min(tok[t * T + COMMA_STOP] if is_near else tok[t * T + STOP], limit)
    if mode == TO_JOINER:
        for x in range(t + 1, min(end, t + LONGEST_NAME)):
            if features_at(book, tok, x) & JOINER != 0:
                end = x
                break
    if mode != WITH_TIME:
        timed = tok[t * T + NEXT_TIME]
        end = min(end, tok[t * T + TIME_END] if timed == t else timed)
    if end <= t:
        return t
    end = tok[(end - 1) * T + LAST] + 1
    for _ in range(MOST_TRAILERS):
        if end - 1 <= t or features_at(book, tok, end - 1) & TRAILER == 0:
            break
        end = tok[(end - 2) * T + LAST] + 1
    return max(end, t)


def may_fill(x: int, number: int, tok: Ints, book: Ints) -> bool:
    """Tell whether token `x` may stand in a bounded capture.

    No mark, code or cut; in a subject or property no pronoun or clause word either.
    """
    if tok[x * T + FLAGS] & (PUNCT | CODE | CUT) != 0:
        return False
    return number > PROPERTY or features_at(book, tok, x) & BARRIER == 0


def push(frame: Ints, depth: int, op: int, t: int, negated: int, width: int) -> int:
    """Remember an open choice and return the new depth; choices beyond STACK_DEPTH are dropped."""
    if depth >= STACK_DEPTH:
        return depth
    base = STACK + 4 * depth
    frame[base] = op
    frame[base + 1] = t
    frame[base + 2] = negated
    frame[base + 3] = width
    return depth + 1


def backtrack(depth: int, limit: int, book: Ints, tok: Ints, frame: Ints) -> tuple[int, int, int, int]:
    """Return (operation, token, negated, depth) of the latest open choice; operation -1 when none."""
    while depth > 0:
        base = STACK + 4 * (depth - 1)
        op = frame[base]
        t = frame[base + 1]
        width = frame[base + 3]
        if width < 0:
            return op, t, frame[base + 2], depth - 1
        number = book[op + 1]
        if t + width >= limit or not may_fill(t + width, number, tok, book):
            depth -= 1
            continue
        width += 1
        capture(frame, number, t, t + width)
        if width >= book[op + 3]:
            depth -= 1
        else:
            frame[base + 3] = width
        return op + 4, t + width, frame[base + 2], depth
    return -1, 0, 0, 0


def is_name(t: int, tok: Ints) -> bool:
    """Tell whether token `t` is a capitalised word."""
    return tok[t * T + FLAGS] & CAPITAL != 0 and tok[t * T + FLAGS] & WORD != 0


def name_start(t: int, low: int, most: int, tok: Ints, book: Ints) -> int:
    """Return the first of the capitalised words right before `t`, at most `most`, else `t`."""
    x = t
    while x - 1 >= low and t - x < most and is_name(x - 1, tok):
        if features_at(book, tok, x - 1) & (SUBJECT | FIRST | LEAD | LINKER | BREAKER) != 0:
            break
        x -= 1
    return x


def is_free(t: int, head: int, book: Ints, tok: Ints) -> bool:
    """Tell whether a statement may begin at `t` inside its clause.

    At the clause head; after a mark, a linking word or a cue word; after an opening time or
    place that holds no verb ("At work my badge is ...").
    """
    if t <= head:
        return True
    if (
        tok[(t - 1) * T + FLAGS] & (PUNCT | EMOJI) != 0
        or features_at(book, tok, t - 1) & (LINKER | BREAKER | LEAD) != 0
    ):
        return True
    word = tok[(t - 1) * T + TERM]
    cues = (
        of_word(book, word, CLAUSE_CUE) | of_word(book, word, ONWARD_CUE) | of_word(book, word, SENTENCE_CUE)
    )
    if cues != 0:
        return True
    opens = features_at(book, tok, head) & PREPOSITION != 0 or tok[head * T + TIME_END] > 0
    return opens and tok[head * T + NEXT_VERB] >= t


def match_rare(
    code: int, op: int, t: int, start: int, book: Ints, tok: Ints, frame: Ints
) -> tuple[bool, int, int]:
    """Run one of the rarer operations at `op`; return (matched, token, start of the match)."""
    limit = frame[CLAUSE_TO]
    number = book[op + 1]
    if code == AT_HEAD:
        return t == frame[HEAD], t, start
    if code == AT_FREE:
        return is_free(start, frame[HEAD], book, tok), t, start
    if code == NOT_NEXT:
        return t >= limit or not is_member(book, number, tok[t * T + TERM]), t, start
    if code == NAME_BEFORE:
        x = name_start(t, frame[CLAUSE_FROM], book[op + 3], tok, book)
        capture(frame, number, x, t)
        return x < t, t, x
    if code == NAME:
        x = t
        while x < limit and x < t + book[op + 3] and is_name(x, tok):
            x += 1
        if x > t:
            capture(frame, number, t, x)
        return x - t >= book[op + 2], x, start
    if code == OPEN:
        capture(frame, number, t, t)
        return True, t, start
    if code == CLOSE:
        frame[CAPTURE_AFTER + number] = t
        return t > frame[CAPTURE_FIRST + number], t, start
    if code == NO_TIME_HERE:
        return t >= limit or tok[t * T + TIME_END] == 0, t, start
    if code == AT_END:
        return t >= limit or tok[t * T + FLAGS] & PUNCT != 0, t, start
    if code == TIME:
        end = tok[t * T + TIME_END] if t < limit else 0
    else:  # the steps of a procedure: beyond the clause, to the end of the sentence
        last = tok[(t - 1) * T + SENTENCE_END] - 1
        end = tok[last * T + LAST] + 1
    if end <= t:
        return False, t, start
    capture(frame, number, t, end)
    return True, end, start


def match_pattern(op: int, t: int, book: Ints, tok: Ints, frame: Ints) -> tuple[int, int, int]:
    """Run the operations from `op` at token `t`; return (start, token after, negated).

    The token after is -1 when the pattern does not match the current clause.  At most MOST_STEPS
    steps, each of them bounded.
    """
    op += book[OPERATIONS]
    limit = frame[CLAUSE_TO]
    depth = 0
    negated = 0
    start = t
    for _ in range(MOST_STEPS):
        frame[STEPS_TAKEN] += 1
        code = book[op]
        if code == DONE:
            return start, t, negated
        arg = book[op + 1]
        ok = True
        if code <= NEGATES and code != MANY:
            word = tok[t * T + TERM] if t < limit else 0
            is_in = t < limit and is_member(book, arg, word)
            ok = is_in or code == MAYBE or code == MAY_NEGATE
            if is_in:
                if code == MAYBE or code == MAY_NEGATE:
                    depth = push(frame, depth, op + 4, t, negated, -1)
                if code >= MAY_NEGATE or of_word(book, word, FEATURES) & CONTRACTED != 0:
                    negated = 1 - negated
                t += 1
        elif code == MANY:
            most = min(limit, t + MOST_REPEATS)
            while t < most and is_member(book, arg, tok[t * T + TERM]):
                t += 1
        elif code == SLOT:
            width = book[op + 2]
            ok = t + width <= limit
            x = t
            while ok and x < t + width:
                ok = may_fill(x, arg, tok, book)
                x += 1
            if ok:
                capture(frame, arg, t, t + width)
                if width < book[op + 3]:
                    depth = push(frame, depth, op, t, negated, width)
                t += width
        elif code == REST:
            end = value_end(t, book[op + 2], limit, tok, book)
            capture(frame, arg, t, end)
            ok = end > t
            t = end
        else:
            ok, t, start = match_rare(code, op, t, start, book, tok, frame)
        op += 4
        if not ok:
            op, t, negated, depth = backtrack(depth, limit, book, tok, frame)
            if op < 0:
                break
    return start, -1, 0
