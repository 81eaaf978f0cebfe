"""Match the patterns of a compiled grammar on tokens: integers in, one row of integers per claim."""

from __future__ import annotations

from amos.kernels.segments import (
    AUXILIARY,
    ASKING,
    BARRIER,
    BREAKER,
    CONTRACTED,
    ENGLISH,
    FINITE,
    FIRST,
    FRENCH,
    GERMAN,
    LEAD,
    LINKER,
    NEGATION,
    NO_TIME,
    OTHER_LATIN,
    SENTENCE,
    SPANISH,
    SUBJECT,
    TIME_LEAD,
    TRAILER,
    mark_breaks,
    mark_pasted,
    mark_stops,
    mark_times,
    merge_phrases,
)
from amos.kernels.tokens import (
    ASK,
    CAPITAL,
    CODE,
    CUT,
    DIGITS,
    EMOJI,
    FOREIGN,
    NUMBER,
    PUNCT,
    QUOTED,
    SOFT,
    WORD,
    Ints,
    tokenise,
)

ONE, MAYBE, MANY, MAY_NEGATE, NEGATES, NOT_NEXT, SLOT, REST, NAME_BEFORE, NAME = range(10)
AT_HEAD, AT_FREE, OPEN, CLOSE, TIME, STEPS, DONE, NO_TIME_HERE, AT_END = range(10, 19)
"""Operations of a pattern; each is four numbers (operation, set or capture, low, high)."""

TO_CLAUSE_END, TO_COMMA, WITH_TIME = 0, 1, 2
"""How far a REST capture runs; WITH_TIME passes over time expressions."""

SUBJECT_CAPTURE, PROPERTY, VALUE, SCOPE, TAIL_CAPTURE, WHEN = range(6)
CAPTURES = 6

ASKED, TAGGED, REPORTED, DENIED, TAG_WORD = 1, 2, 4, 8, 16
"""Cue bits that the kernel itself sets or reads; the grammar's other cues follow from bit 5."""

(
    ROW_MESSAGE, ROW_PATTERN, ROW_START, ROW_END, ROW_CLAUSE, ROW_CLAUSE_END, ROW_SENTENCE, ROW_NEGATIVE,
    ROW_FLAGS, ROW_WHEN, ROW_WHEN_END, ROW_WHEN_KIND, ROW_CUES, ROW_MESSAGE_CUES,
) = range(14)  # fmt: skip
ROW_CAPTURES = 14
ROW_SIZE = ROW_CAPTURES + 2 * CAPTURES
"""Columns of a row; bytes are counted from the start of the message, captures are (start, end) or -1."""

(
    NOTE_WORDS, NOTE_FOREIGN, NOTE_SENTENCES, NOTE_ASKED, NOTE_CUES, NOTE_FLAGS,
    NOTE_ENGLISH, NOTE_GERMAN, NOTE_FRENCH, NOTE_SPANISH, NOTE_OTHER, NOTE_LETTERS,
) = range(12)  # fmt: skip
NOTE_SIZE = 12
"""Columns of the summary of one message."""

MOST_STEPS = 96
STACK_DEPTH = 24
MASK_BITS = 62


def value_end(t: int, mode: int, tok: Ints, marks: Ints, features: Ints, limit: int) -> int:
    """Return the token after the value that begins at `t`, or `t` when there is none."""
    ti, tf = tok[2], tok[3]
    last, time_end, next_time = marks[3], marks[4], marks[6]
    if t >= limit or (int(tf[t]) & PUNCT != 0 and int(tf[t]) & QUOTED == 0):
        return t
    end = min(int(marks[2][t]) if mode == TO_COMMA else int(marks[1][t]), limit)
    if mode != WITH_TIME:
        timed = int(next_time[t])
        end = min(end, int(time_end[t]) if timed == t else timed)
    if end <= t:
        return t
    end = int(last[end - 1]) + 1
    for _ in range(4):
        if end - 1 <= t or int(features[int(ti[end - 1])]) & TRAILER == 0:
            break
        end = int(last[end - 2]) + 1
    return max(end, t)


def may_fill(x: int, capture: int, tok: Ints, features: Ints) -> bool:
    """Tell whether token `x` may stand in a bounded capture: no mark, code or cut; in a subject or
    property no pronoun or clause word either."""
    if int(tok[3][x]) & (PUNCT | CODE | CUT) != 0:
        return False
    return capture > PROPERTY or int(features[int(tok[2][x])]) & BARRIER == 0


def backtrack(depth: int, ops: Ints, frame: Ints, limit: int, tok: Ints, features: Ints) -> tuple[int, int, int, int]:
    """Return (operation, token, negated, depth) of the latest open choice; operation -1 when none."""
    first, after, stack = frame
    while depth > 0:
        base = 4 * (depth - 1)
        op = int(stack[base])
        t = int(stack[base + 1])
        negated = int(stack[base + 2])
        width = int(stack[base + 3])
        if width < 0:
            return op, t, negated, depth - 1
        x = t + width
        capture = int(ops[4 * op + 1])
        if x >= limit or not may_fill(x, capture, tok, features):
            depth -= 1
            continue
        width += 1
        first[capture] = t
        after[capture] = t + width
        if width >= int(ops[4 * op + 3]):
            depth -= 1
        else:
            stack[base + 3] = width
        return op + 1, t + width, negated, depth
    return -1, 0, 0, 0


def push(stack: Ints, depth: int, op: int, t: int, negated: int, width: int) -> int:
    """Remember an open choice and return the new depth; the deepest choices are dropped."""
    if depth >= STACK_DEPTH:
        return depth
    base = 4 * depth
    stack[base] = op
    stack[base + 1] = t
    stack[base + 2] = negated
    stack[base + 3] = width
    return depth + 1


def name_end(t: int, limit: int, most: int, tok: Ints) -> int:
    """Return the token after the capitalised words that begin at `t`, at most `most`."""
    tf = tok[3]
    x = t
    while x < limit and x < t + most and int(tf[x]) & CAPITAL != 0 and int(tf[x]) & WORD != 0:
        x += 1
    return x


def name_start(t: int, low: int, most: int, tok: Ints, features: Ints) -> int:
    """Return the first of the capitalised words right before `t`, at most `most`, else `t`."""
    ti, tf = tok[2], tok[3]
    x = t
    while x - 1 >= low and t - x < most and int(tf[x - 1]) & CAPITAL != 0 and int(tf[x - 1]) & WORD != 0:
        if int(features[int(ti[x - 1])]) & (SUBJECT | FIRST | LEAD | LINKER | BREAKER) != 0:
            break
        x -= 1
    return x


def is_free(t: int, head: int, lexicon: Ints, tok: Ints, marks: Ints) -> bool:
    """Tell whether a statement may begin at `t` inside its clause.

    At the clause head; after a mark, a linking word or a cue word; after an opening time or
    place that holds no verb ("At work my badge is ...").
    """
    features = lexicon[4]
    ti, tf = tok[2], tok[3]
    time_end, next_verb = marks[4], marks[7]
    if t <= head:
        return True
    word = int(ti[t - 1])
    if int(tf[t - 1]) & PUNCT != 0 or int(features[word]) & (LINKER | BREAKER | LEAD) != 0:
        return True
    if word > 0 and int(lexicon[9][word]) | int(lexicon[10][word]) | int(lexicon[11][word]) != 0:
        return True
    opens = int(features[int(ti[head])]) & TIME_LEAD != 0 or int(time_end[head]) > 0
    return opens and int(next_verb[head]) >= t


def is_member(members: Ints, width: int, group: int, word: int) -> bool:
    """Tell whether `word` belongs to the word set `group`."""
    return int(members[group * width + word]) != 0


def match_pattern(
    op: int, t: int, low: int, limit: int, head: int, lexicon: Ints, rules: Ints, tok: Ints, marks: Ints,
    frame: Ints, work: Ints,
) -> tuple[int, int, int]:  # fmt: skip
    """Run the operations from `op` at token `t`; return (start, token after, negated).

    The token after is -1 when the pattern does not match.  low, limit: the clause.  At most
    MOST_STEPS steps, each of them bounded.
    """
    ops, members = rules[0], rules[2]
    features = lexicon[4]
    width = len(features)
    first, after, stack = frame
    ti, tf = tok[2], tok[3]
    time_end = marks[4]
    depth = 0
    negated = 0
    start = t
    for _ in range(MOST_STEPS):
        work[0] += 1
        base = 4 * op
        code = int(ops[base])
        arg = int(ops[base + 1])
        word = int(ti[t]) if t < limit else 0
        ok = True
        if code == DONE:
            return start, t, negated
        if code == ONE or code == NEGATES:
            ok = t < limit and is_member(members, width, arg, word)
            if ok and (code == NEGATES or int(features[word]) & CONTRACTED != 0):
                negated = 1 - negated
            t += 1
            op += 1
        elif code == MAYBE or code == MAY_NEGATE:
            op += 1
            if t < limit and is_member(members, width, arg, word):
                depth = push(stack, depth, op, t, negated, -1)
                t += 1
                if code == MAY_NEGATE or int(features[word]) & CONTRACTED != 0:
                    negated = 1 - negated
        elif code == MANY:
            x = t
            while x < limit and x < t + 3 and is_member(members, width, arg, int(ti[x])):
                x += 1
            t = x
            op += 1
        elif code == SLOT:
            low_width = int(ops[base + 2])
            ok = t + low_width <= limit
            for x in range(t, min(t + low_width, limit)):
                ok = ok and may_fill(x, arg, tok, features)
            if ok:
                first[arg] = t
                after[arg] = t + low_width
                if low_width < int(ops[base + 3]):
                    depth = push(stack, depth, op, t, negated, low_width)
                t += low_width
                op += 1
        elif code == REST:
            end = value_end(t, int(ops[base + 2]), tok, marks, features, limit)
            ok = end > t
            first[arg] = t
            after[arg] = end
            t = end
            op += 1
        else:
            ok, t, op, start = match_special(
                code, arg, op, t, low, limit, head, start, lexicon, rules, tok, marks, frame
            )
        if not ok:
            op, t, negated, depth = backtrack(depth, ops, frame, limit, tok, features)
            if op < 0:
                break
    return start, -1, 0


def match_special(
    code: int, arg: int, op: int, t: int, low: int, limit: int, head: int, start: int, lexicon: Ints,
    rules: Ints, tok: Ints, marks: Ints, frame: Ints,
) -> tuple[bool, int, int, int]:  # fmt: skip
    """Run one of the rarer operations; return (matched, token, operation, start)."""
    ops, members = rules[0], rules[2]
    features = lexicon[4]
    first, after = frame[0], frame[1]
    ti, tf = tok[2], tok[3]
    time_end = marks[4]
    ok = True
    if code == AT_HEAD:
        ok = t == head
    elif code == AT_FREE:
        ok = is_free(start, head, lexicon, tok, marks)
    elif code == NOT_NEXT:
        ok = t >= limit or not is_member(members, len(features), arg, int(ti[t]))
    elif code == NAME_BEFORE:
        x = name_start(t, low, int(ops[4 * op + 3]), tok, features)
        ok = x < t
        first[arg] = x
        after[arg] = t
        start = x
    elif code == NAME:
        x = name_end(t, limit, int(ops[4 * op + 3]), tok)
        ok = x - t >= int(ops[4 * op + 2])
        first[arg] = t
        after[arg] = x
        t = x
    elif code == OPEN:
        first[arg] = t
        after[arg] = t
    elif code == CLOSE:
        after[arg] = t
        ok = t > int(first[arg])
    elif code == TIME:
        ok = t < limit and int(time_end[t]) > 0
        if ok:
            first[arg] = t
            after[arg] = time_end[t]
            t = int(time_end[t])
    elif code == NO_TIME_HERE:
        ok = t >= limit or int(time_end[t]) == 0
    elif code == AT_END:
        ok = t >= limit or int(tf[t]) & PUNCT != 0
    else:  # STEPS: to the end of the sentence
        end = int(marks[8][t]) if t < len(ti) else t
        end = int(marks[3][end - 1]) + 1 if end > t else t
        ok = end > t
        first[arg] = t
        after[arg] = end
        t = end
    return ok, t, op + 1, start


def clause_head(t: int, e: int, tok: Ints, features: Ints) -> int:
    """Return the first token of the clause t..e that is neither a mark nor a lead-in."""
    ti, tf = tok[2], tok[3]
    x = t
    while x < e:
        word = int(features[int(ti[x])])
        is_no_comma = word & NEGATION != 0 and x + 1 < e and int(tf[x + 1]) & SOFT != 0 and x == t
        if int(tf[x]) & PUNCT == 0 and word & LEAD == 0 and word & LINKER == 0 and not is_no_comma:
            break
        x += 1
    return x


def asks(t: int, e: int, has_mark: bool, tok: Ints, features: Ints) -> bool:
    """Tell whether the clause whose head is `t` is built as a question."""
    ti = tok[2]
    if t >= e:
        return False
    word = int(features[int(ti[t])])
    following = int(features[int(ti[t + 1])]) if t + 1 < e else 0
    if word & AUXILIARY != 0:
        return has_mark or following & (FIRST | SUBJECT) != 0
    if word & ASKING != 0:
        return has_mark or following & (AUXILIARY | FINITE) != 0
    return False


def sentence_cues(s: int, e: int, lexicon: Ints, tok: Ints, marks: Ints, clauses: Ints) -> int:
    """Write the clauses of the sentence s..e with their cue bits; return their number.

    clauses: (first tokens, cue bits).  Sentence cues hold throughout, onward cues from their
    clause to the end; a reported clause ends where "but I" or the like sets the author against it.
    """
    features = lexicon[4]
    on_clause, on_sentence, onward = lexicon[9], lexicon[10], lexicon[11]
    ti, tf = tok[2], tok[3]
    breaks = marks[0]
    where, bits = clauses
    count = 0
    whole = 0
    running = 0
    has_mark = False
    for t in range(s, e):
        word = int(ti[t])
        if t == s or int(breaks[t]) != 0:
            if t + 1 < e and int(features[word]) & BREAKER != 0 and int(features[int(ti[t + 1])]) & FIRST != 0:
                running &= ~REPORTED
            where[count] = t
            bits[count] = running
            count += 1
        running |= int(onward[word])
        bits[count - 1] |= int(on_clause[word]) | int(onward[word])
        whole |= int(on_sentence[word])
        has_mark = has_mark or int(tf[t]) & ASK != 0
    for x in range(count):
        bits[x] |= whole
    mark_questions(e, count, has_mark, tok, features, clauses, lexicon)
    return count


def mark_questions(e: int, count: int, has_mark: bool, tok: Ints, features: Ints, clauses: Ints, lexicon: Ints) -> None:
    """Set ASKED from the first questioning clause on, or TAGGED when only a tag asks."""
    where, bits = clauses
    ti, tf = tok[2], tok[3]
    asked = -1
    for x in range(count):
        end = int(where[x + 1]) if x + 1 < count else e
        head = clause_head(int(where[x]), end, tok, features)
        if asked < 0 and asks(head, end, has_mark, tok, features):
            asked = x
    final = e - 1
    while final > int(where[0]) and int(tf[final]) & PUNCT != 0:
        final -= 1
    is_tag = has_mark and int(lexicon[9][int(ti[final])]) & TAG_WORD != 0 and asked != 0
    if has_mark and asked > 0 and asked == count - 1 and final - int(where[asked]) <= 3:
        is_tag = True
    if has_mark and asked < 0 and not is_tag:
        asked = 0
    for x in range(count):
        if is_tag:
            bits[x] |= TAGGED
        elif 0 <= asked <= x:
            bits[x] |= ASKED


def may_match(pattern: int, needed: Ints) -> bool:
    """Tell whether the clause holds a word that `pattern` cannot do without."""
    return (int(needed[pattern // MASK_BITS]) >> (pattern % MASK_BITS)) & 1 != 0


def put_row(
    out: Ints, r: int, m: int, a: int, pattern: int, span: Ints, clause: Ints, cues: int, message_cues: int,
    tok: Ints, marks: Ints, frame: Ints,
) -> None:  # fmt: skip
    """Write row `r`: span is (start, token after, negated), clause (first, after, sentence)."""
    ts, te, ti, tf = tok
    first, after = frame[0], frame[1]
    start, end, negated = span
    base = r * ROW_SIZE
    flags = int(tf[start])
    for x in range(start, end):
        flags |= int(tf[x]) & CUT
    for capture in range(CAPTURES):
        s = int(first[capture])
        place = base + ROW_CAPTURES + 2 * capture
        out[place] = int(ts[s]) - a if s >= 0 else -1
        out[place + 1] = int(te[int(after[capture]) - 1]) - a if s >= 0 else -1
    out[base + ROW_MESSAGE] = m
    out[base + ROW_PATTERN] = pattern
    out[base + ROW_START] = int(ts[start]) - a
    out[base + ROW_END] = int(te[end - 1]) - a
    out[base + ROW_CLAUSE] = int(ts[int(clause[0])]) - a
    out[base + ROW_CLAUSE_END] = int(te[int(clause[1]) - 1]) - a
    out[base + ROW_SENTENCE] = clause[2]
    out[base + ROW_NEGATIVE] = negated
    out[base + ROW_FLAGS] = flags
    out[base + ROW_CUES] = cues
    out[base + ROW_MESSAGE_CUES] = message_cues
    put_time(out, base, a, clause, tok, marks, frame)


def put_time(out: Ints, base: int, a: int, clause: Ints, tok: Ints, marks: Ints, frame: Ints) -> None:
    """Write the first time expression of the clause that is not part of subject or property."""
    ts, te = tok[0], tok[1]
    first, after = frame[0], frame[1]
    time_end, time_kind, next_time = marks[4], marks[5], marks[6]
    out[base + ROW_WHEN] = -1
    out[base + ROW_WHEN_END] = -1
    out[base + ROW_WHEN_KIND] = NO_TIME
    t = int(next_time[int(clause[0])])
    for _ in range(4):
        if t >= int(clause[1]):
            return
        is_inside = False
        for capture in range(2):
            is_inside = is_inside or int(first[capture]) <= t < int(after[capture])
        if not is_inside:
            out[base + ROW_WHEN] = int(ts[t]) - a
            out[base + ROW_WHEN_END] = int(te[int(time_end[t]) - 1]) - a
            out[base + ROW_WHEN_KIND] = time_kind[t]
            return
        t = int(next_time[int(time_end[t])]) if int(time_end[t]) < int(clause[1]) else int(clause[1])


def clause_needs(s: int, e: int, tok: Ints, rules: Ints, needed: Ints) -> int:
    """Write which patterns the words of the clause allow; return the first negating token or `e`."""
    need, base = rules[3], rules[4]
    masks = len(base)
    ti = tok[2]
    for k in range(masks):
        needed[k] = base[k]
    for t in range(s, e):
        word = int(ti[t])
        if word > 0:
            for k in range(masks):
                needed[k] |= int(need[word * masks + k])
    return e


def first_negation(s: int, e: int, head: int, tok: Ints, features: Ints) -> int:
    """Return the first negating token of the clause from its head on, or `e`."""
    ti = tok[2]
    for t in range(max(s, head), e):
        if int(features[int(ti[t])]) & NEGATION != 0:
            return t
    return e


def match_token(
    t: int, r: int, phase: int, m: int, a: int, clause: Ints, cues: Ints, lexicon: Ints, rules: Ints, tok: Ints,
    marks: Ints, frame: Ints, needed: Ints, out: Ints, work: Ints,
) -> int:  # fmt: skip
    """Try the patterns that begin with the word at `t`, in table order; write the first that matches.

    phase 0 tries the ordinary patterns, 1 the late ones.  cues: (clause cues, message cues, clause
    head, first negation).  Returns the token after the match, or -1.
    """
    pattern_ops, index, listed, late = rules[1], rules[5], rules[6], int(rules[8][0])
    first = frame[0]
    word = int(tok[2][t])
    for place in range(int(index[word]), int(index[word + 1])):
        pattern = int(listed[place])
        if (pattern >= late) != (phase == 1) or not may_match(pattern, needed):
            continue
        for capture in range(CAPTURES):
            first[capture] = -1
        span = match_pattern(
            int(pattern_ops[pattern]), t, clause[0], clause[1], cues[2], lexicon, rules, tok, marks, frame, work
        )
        if span[1] > t:
            denied = DENIED if cues[3] < span[0] else 0
            put_row(out, r, m, a, pattern, span, clause, cues[0] | denied, cues[1], tok, marks, frame)
            return span[1]
    return -1


def match_anchored(
    r: int, m: int, a: int, clause: Ints, cues: Ints, lexicon: Ints, rules: Ints, tok: Ints, marks: Ints,
    frame: Ints, needed: Ints, out: Ints, work: Ints,
) -> int:  # fmt: skip
    """Try the patterns that begin with a capture at the head of the clause; return the rows so far."""
    first = frame[0]
    anchored = rules[7]
    head = cues[2]
    for place in range(len(anchored)):
        pattern = int(anchored[place])
        if not may_match(pattern, needed):
            continue
        for capture in range(CAPTURES):
            first[capture] = -1
        span = match_pattern(
            int(rules[1][pattern]), head, clause[0], clause[1], head, lexicon, rules, tok, marks, frame, work
        )
        if span[1] > head:
            put_row(out, r, m, a, pattern, span, clause, cues[0], cues[1], tok, marks, frame)
            return r + 1
    return r


def match_clause(
    m: int, a: int, clause: Ints, bits: int, message_cues: int, lexicon: Ints, rules: Ints, tok: Ints,
    marks: Ints, frame: Ints, needed: Ints, out: Ints, r: int, work: Ints,
) -> int:  # fmt: skip
    """Write a row for each claim of one clause, left to right; return the number of rows so far.

    Where no pattern that begins with a word matches, those that begin with a capture are tried at
    the head, then the late ones.
    """
    s, e, _sentence = clause
    head = clause_head(s, e, tok, lexicon[4])
    clause_needs(s, e, tok, rules, needed)
    cues = (bits, message_cues, head, first_negation(s, e, head, tok, lexicon[4]))
    before = r
    for phase in range(2):
        t = s
        while t < e:
            after = match_token(
                t, r, phase, m, a, clause, cues, lexicon, rules, tok, marks, frame, needed, out, work
            )
            if after > t:
                r += 1
            t = max(after, t + 1)
        if r == before and phase == 0 and head < e:
            r = match_anchored(r, m, a, clause, cues, lexicon, rules, tok, marks, frame, needed, out, work)
        if r > before:
            break
    return r


def note_message(m: int, n: int, lexicon: Ints, tok: Ints, notes: Ints) -> None:
    """Write the summary of a message: words, scripts, flags, votes of the languages."""
    features = lexicon[4]
    ts, te, ti, tf = tok
    base = m * NOTE_SIZE
    for t in range(n):
        f = int(tf[t])
        notes[base + NOTE_FLAGS] |= f
        if f & PUNCT == 0:
            notes[base + NOTE_WORDS] += 1
        if f & FOREIGN != 0:
            notes[base + NOTE_FOREIGN] += int(te[t]) - int(ts[t])
        elif f & WORD != 0:
            notes[base + NOTE_LETTERS] += int(te[t]) - int(ts[t])
        word = int(features[int(ti[t])])
        if word & (ENGLISH | GERMAN | FRENCH | SPANISH | OTHER_LATIN) != 0:
            notes[base + NOTE_ENGLISH] += (word & ENGLISH) // ENGLISH
            notes[base + NOTE_GERMAN] += (word & GERMAN) // GERMAN
            notes[base + NOTE_FRENCH] += (word & FRENCH) // FRENCH
            notes[base + NOTE_SPANISH] += (word & SPANISH) // SPANISH
            notes[base + NOTE_OTHER] += (word & OTHER_LATIN) // OTHER_LATIN


def match_message(
    m: int, a: int, n: int, lexicon: Ints, rules: Ints, tok: Ints, marks: Ints, clauses: Ints, frame: Ints,
    needed: Ints, out: Ints, r: int, notes: Ints, work: Ints,
) -> int:  # fmt: skip
    """Write the rows of one segmented message; return the number of rows so far."""
    on_message = lexicon[12]
    ti = tok[2]
    breaks, ends = marks[0], marks[8]
    where, bits = clauses
    message_cues = 0
    s = 0
    while s < n:
        e = s + 1
        while e < n and int(breaks[e]) != SENTENCE:
            e += 1
        for t in range(s, e):
            message_cues |= int(on_message[int(ti[t])])
            ends[t] = e
        count = sentence_cues(s, e, lexicon, tok, marks, clauses)
        notes[m * NOTE_SIZE + NOTE_SENTENCES] += 1
        notes[m * NOTE_SIZE + NOTE_ASKED] += int(bits[count - 1]) & ASKED
        for x in range(count):
            notes[m * NOTE_SIZE + NOTE_CUES] |= int(bits[x])
            clause = (int(where[x]), int(where[x + 1]) if x + 1 < count else e, s)
            r = match_clause(
                m, a, clause, int(bits[x]), message_cues, lexicon, rules, tok, marks, frame, needed, out, r, work
            )
        s = e
    notes[m * NOTE_SIZE + NOTE_CUES] |= message_cues
    return r


def read_messages(
    d: Ints, offsets: Ints, m: int, lexicon: Ints, rules: Ints, tok: Ints, marks: Ints, clauses: Ints,
    spare: Ints, small: Ints, out: Ints, notes: Ints, work: Ints,
) -> tuple[int, int]:  # fmt: skip
    """Tokenise, segment and match the messages from number `m` on; return (rows, next message).

    d, offsets: the UTF-8 bytes and where each message begins.  tok, marks, clauses, spare:
    scratch for the longest message.  small: (captures first, captures after, choices, needed
    patterns, tokeniser state).  out: rows of ROW_SIZE numbers; the run stops before a message
    whose claims might not fit.  notes: NOTE_SIZE numbers per message, zeroed.
    """
    lex = (lexicon[0], lexicon[1], lexicon[2], lexicon[3])
    phrases = (lexicon[6], lexicon[7], lexicon[8])
    features = lexicon[4]
    frame = (small[0], small[1], small[2])
    breaks, stop, comma, last, time_end, time_kind, next_time, next_verb, _ends = marks
    capacity = len(out) // ROW_SIZE
    messages = len(offsets) - 1
    r = 0
    while m < messages:
        a = int(offsets[m])
        b = int(offsets[m + 1])
        n = tokenise(d, a, b, lex, tok, spare, small[4], work)
        if r + n > capacity:
            break
        n = merge_phrases(tok, n, features, phrases)
        mark_pasted(tok, n, features)
        note_message(m, n, lexicon, tok, notes)
        mark_breaks(d, tok, n, features, breaks, next_verb, stop)
        mark_times(d, tok, n, lexicon, time_end, time_kind, next_time)
        mark_stops(d, tok, n, breaks, stop, comma, last)
        r = match_message(m, a, n, lexicon, rules, tok, marks, clauses, frame, small[3], out, r, notes, work)
        m += 1
    return r, m
