"""Mark phrases, pasted blocks, sentences, clauses, time expressions and value ends on tokens."""

from __future__ import annotations

from amos.kernels.tokens import (
    CAPITAL,
    COLON,
    COMMA,
    DIGITS,
    HARD,
    LINE,
    NUMBER,
    PASTED,
    PUNCT,
    QUOTED,
    RULE,
    SOFT,
    STEP,
    TAIL,
    WORD,
    Ints,
)

ABBREVIATION, LATE_ABBREVIATION, FIRST, SUBJECT, BREAKER, LINKER, JOINER, FINITE = (1 << bit for bit in range(8))
LEAD, TRAILER, AUXILIARY, ASKING, NEGATION, PASTE_LEAD, MAIL_HEAD, PHRASE_HEAD = (
    1 << bit for bit in range(8, 16)
)
TIME_CORE, TIME_WEAK, TIME_LEAD, TIME_LINK, TIME_ALONE, TIME_AGO = (1 << bit for bit in range(16, 22))
ENGLISH, GERMAN, FRENCH, SPANISH, OTHER_LATIN = (1 << bit for bit in range(22, 27))
CONTRACTED, BARRIER = 1 << 27, 1 << 28
"""Features of a word, one bit each; `grammar` names them in lower case."""

NO_TIME, UNTIL, FROM, EVERY, PAST, NEXT, NOW, DATE, BY = range(9)
"""Kinds of time expressions."""

SENTENCE, CLAUSE = 2, 1
LONGEST_PHRASE, LONGEST_TIME, VERB_REACH = 6, 8, 6


def next_state(keys: Ints, following: Ints, state: int, word: int) -> int:
    """Return the phrase state after `word`, 0 when no phrase goes on so."""
    mask = len(keys) - 1
    key = (state << 24) | word
    place = (key * 40503) & mask
    for _ in range(64):
        found = int(keys[place])
        if found == key:
            return int(following[place])
        if found == 0:
            return 0
        place = (place + 1) & mask
    return 0


def merge_phrases(tok: Ints, n: int, features: Ints, phrases: Ints) -> int:
    """Join the tokens of each known phrase, longest first, into one; return the token count.

    phrases: (keys, following states, word number per state).
    """
    ts, te, ti, tf = tok
    keys, following, accepted = phrases
    o = 0
    i = 0
    while i < n:
        word = int(ti[i])
        width = 1
        if int(features[word]) & PHRASE_HEAD != 0:
            state = word
            j = i + 1
            while j < n and j < i + LONGEST_PHRASE and int(ti[j]) > 0:
                state = next_state(keys, following, state, int(ti[j]))
                if state == 0:
                    break
                if int(accepted[state]) > 0:
                    word = int(accepted[state])
                    width = j - i + 1
                j += 1
        ts[o] = ts[i]
        te[o] = te[i + width - 1]
        ti[o] = word
        tf[o] = tf[i]
        o += 1
        i += width
    return o


def mark_pasted(tok: Ints, n: int, features: Ints) -> None:
    """Flag blocks that a line such as "Forwarded message:" or a mail header announces.

    A block runs to the next line of dashes that follows some content, else to the end.
    """
    ti, tf = tok[2], tok[3]
    is_pasted = False
    has_content = False
    has_lead = False
    is_header = False
    for t in range(n):
        f = int(tf[t])
        word = int(features[int(ti[t])])
        is_line_start = t == 0 or int(tf[t - 1]) & LINE != 0
        if f & LINE != 0 and not is_pasted:
            is_pasted = is_header or (has_lead and t > 0 and int(tf[t - 1]) & COLON != 0)
            has_content = False
            has_lead = False
            is_header = False
        elif is_pasted and f & RULE != 0 and is_line_start:
            is_pasted = not has_content
        elif is_pasted:
            tf[t] = f | PASTED
            has_content = has_content or f & PUNCT == 0
        else:
            has_lead = has_lead or word & PASTE_LEAD != 0
            if is_line_start and word & MAIL_HEAD != 0 and t + 1 < n:
                is_header = int(tf[t + 1]) & COLON != 0


def is_ordinal(d: Ints, s: int, e: int) -> bool:
    """Tell whether the token s..e is a number with an English ordinal ending."""
    x = int(d[e - 2]) | 32
    y = int(d[e - 1]) | 32
    is_ending = (x == 116 and y == 104) or (x == 115 and y == 116) or (x == 110 and y == 100) or (x == 114 and y == 100)
    return 3 <= e - s <= 4 and is_ending


def is_clock(d: Ints, s: int, e: int) -> bool:
    """Tell whether the token s..e reads as 14:30, 3pm or 2031-04-06."""
    y = int(d[e - 1]) | 32
    x = int(d[e - 2]) | 32 if e - s >= 2 else 0
    if y == 109 and (x == 97 or x == 112):
        return e - s <= 7
    if 4 <= e - s <= 5:
        return int(d[e - 3]) == 58
    return e - s == 10 and int(d[s + 4]) == 45 and int(d[s + 7]) == 45


def time_phrase(d: Ints, tok: Ints, t: int, n: int, features: Ints, time_kinds: Ints) -> tuple[int, int]:
    """Return (token after, kind) of the time expression that begins at `t`, or (0, NO_TIME)."""
    ts, te, ti, tf = tok
    kind = NO_TIME
    end = 0
    has_lead = False
    has_number = False
    has_core = False
    x = t
    while x < n and x < t + LONGEST_TIME:
        f = int(tf[x])
        word = int(features[int(ti[x])])
        if f & PUNCT != 0:
            if not (has_core and f & COMMA != 0 and x + 1 < n and int(tf[x + 1]) & DIGITS != 0):
                break
        elif f & DIGITS != 0:
            s = int(ts[x])
            e = int(te[x])
            is_moment = is_clock(d, s, e)
            is_year = e - s == 4 and int(d[s]) in (49, 50) and f & NUMBER != 0
            if is_moment or (has_lead and (is_ordinal(d, s, e) or is_year)) or (has_core and e - s <= 4):
                has_core = True
                end = x + 1
                kind = DATE if kind == NO_TIME else kind
            elif e - s > 4:
                break
            has_number = True
        elif word & TIME_LEAD != 0:
            if x > t and (has_core or has_number):
                break
            has_lead = True
            kind = max(kind, int(time_kinds[int(ti[x])])) if x > t else int(time_kinds[int(ti[x])])
        elif word & TIME_AGO != 0 and has_core:
            return x + 1, PAST if int(time_kinds[int(ti[x])]) == NO_TIME else int(time_kinds[int(ti[x])])
        elif word & TIME_ALONE != 0 or (word & TIME_CORE != 0 and (has_lead or has_number)):
            if has_number and not has_lead and word & TIME_ALONE == 0 and int(time_kinds[int(ti[x])]) != DATE:
                has_core = True  # "two weeks" alone is a length; "ago" may still follow
            else:
                has_core = True
                end = x + 1
            if kind == NO_TIME:
                kind = int(time_kinds[int(ti[x])])
        elif word & TIME_CORE != 0 and int(time_kinds[int(ti[x])]) == DATE and x + 1 < n and int(tf[x + 1]) & DIGITS != 0:
            has_core = True
        elif word & TIME_WEAK != 0 and x > t:
            has_core = True
            end = x + 1
            kind = DATE if kind == NO_TIME else kind
        elif word & TIME_LINK == 0 or not (has_lead or has_number or has_core):
            break
        x += 1
    if end > 0 and end < n and int(tf[end]) & TAIL != 0:
        return 0, NO_TIME  # "next week's agenda" names a thing
    if end == 0:
        return 0, NO_TIME
    return end, max(kind, UNTIL) if kind != NO_TIME else DATE


def mark_times(d: Ints, tok: Ints, n: int, lexicon: Ints, time_end: Ints, time_kind: Ints, next_time: Ints) -> None:
    """Write per token the end and kind of a time expression that begins there, and the next start."""
    features, time_kinds = lexicon[4], lexicon[5]
    ti, tf = tok[2], tok[3]
    for t in range(n):
        time_end[t] = 0
        time_kind[t] = NO_TIME
    t = 0
    while t < n:
        word = int(features[int(ti[t])])
        may_begin = word & (TIME_LEAD | TIME_ALONE | TIME_CORE) != 0 or int(tf[t]) & DIGITS != 0
        if may_begin:
            end, kind = time_phrase(d, tok, t, n, features, time_kinds)
            if end > 0:
                time_end[t] = end
                time_kind[t] = kind
                t = end
                continue
        t += 1
    following = n
    for t in range(n - 1, -1, -1):
        if int(time_end[t]) > 0:
            following = t
        next_time[t] = following


def is_abbreviation(d: Ints, tok: Ints, t: int, n: int, features: Ints) -> bool:
    """Tell whether the full stop at `t` belongs to the word before it."""
    ts, te, ti, tf = tok
    if int(te[t]) - int(ts[t]) != 1 or int(d[int(ts[t])]) != 46 or t == 0 or int(te[t - 1]) != int(ts[t]):
        return False
    if t + 1 >= n or int(tf[t + 1]) & PUNCT != 0:
        return False
    word = int(features[int(ti[t - 1])])
    if word & ABBREVIATION != 0:
        return True
    if word & LATE_ABBREVIATION != 0:
        return int(tf[t + 1]) & CAPITAL == 0
    return int(te[t - 1]) - int(ts[t - 1]) == 1 and int(tf[t - 1]) & CAPITAL != 0 and int(tf[t - 1]) & WORD != 0


def has_verb_soon(t: int, n: int, next_verb: Ints, next_stop: Ints) -> bool:
    """Tell whether a finite verb stands at or shortly after `t`, before any punctuation."""
    if t >= n:
        return False
    verb = int(next_verb[t])
    return verb - t <= VERB_REACH and verb < int(next_stop[t])


def opens_clause(tok: Ints, t: int, n: int, features: Ints, next_verb: Ints, next_stop: Ints, has_verb: bool) -> bool:
    """Tell whether a new clause begins at `t`; `has_verb`: the current one has its verb."""
    ti, tf = tok[2], tok[3]
    f = int(tf[t])
    before = int(tf[t - 1])
    if (f ^ before) & QUOTED != 0:
        return has_verb if f & QUOTED == 0 else has_verb_soon(t + 1, n, next_verb, next_stop)
    if f & PUNCT != 0:
        return f & STEP != 0
    word = int(features[int(ti[t])])
    following = int(features[int(ti[t + 1])]) if t + 1 < n else 0
    is_subject_next = following & (FIRST | SUBJECT) != 0 and has_verb_soon(t + 1, n, next_verb, next_stop)
    is_after_soft = before & SOFT != 0
    if word & BREAKER != 0:
        return True
    if word & LINKER != 0:
        if is_after_soft and (following & (FIRST | SUBJECT) != 0 or has_verb_soon(t + 1, n, next_verb, next_stop)):
            return True
        return is_subject_next or (word & JOINER != 0 and has_verb and has_verb_soon(t + 1, n, next_verb, next_stop))
    if not is_after_soft:
        return False
    if word & NEGATION != 0:
        return True
    if not has_verb_soon(t, n, next_verb, next_stop):
        return False
    return has_verb or word & (FIRST | SUBJECT) != 0


def mark_breaks(d: Ints, tok: Ints, n: int, features: Ints, breaks: Ints, next_verb: Ints, next_stop: Ints) -> None:
    """Write SENTENCE or CLAUSE where one begins, else 0; next_verb, next_stop: scratch of n."""
    ti, tf = tok[2], tok[3]
    verb = n
    stop = n
    for t in range(n - 1, -1, -1):
        if int(features[int(ti[t])]) & FINITE != 0:
            verb = t
        if int(tf[t]) & (HARD | SOFT) != 0:
            stop = t
        next_verb[t] = verb
        next_stop[t] = stop
    is_new = True
    has_verb = False
    for t in range(n):
        breaks[t] = 0
        if is_new:
            breaks[t] = SENTENCE
            has_verb = False
        elif opens_clause(tok, t, n, features, next_verb, next_stop, has_verb):
            breaks[t] = CLAUSE
            has_verb = False
        is_new = int(tf[t]) & HARD != 0
        if is_new and is_abbreviation(d, tok, t, n, features):
            is_new = False
            tf[t] = int(tf[t]) & ~HARD
        if int(features[int(ti[t])]) & FINITE != 0:
            has_verb = True


def mark_stops(d: Ints, tok: Ints, n: int, breaks: Ints, stop: Ints, comma: Ints, last: Ints) -> None:
    """Write where a value that begins at each token ends: `stop` at the clause's end, a bracket or
    a dash; `comma` at the first comma too; `last` is the last token up to there that is no mark."""
    tf = tok[3]
    far = n
    near = n
    for t in range(n - 1, -1, -1):
        f = int(tf[t])
        if f & SOFT != 0:
            near = t
            if f & (COMMA | COLON) == 0:
                far = t
        is_closing = f & QUOTED != 0 and t + 1 < n and int(tf[t + 1]) & QUOTED == 0
        if f & HARD != 0 or (is_closing and f & PUNCT != 0):
            near = t
            far = t
        stop[t] = far
        comma[t] = near
        if int(breaks[t]) > 0:
            near = t
            far = t
    seen = -1
    for t in range(n):
        if int(tf[t]) & PUNCT == 0:
            seen = t
        last[t] = seen
