"""Find time expressions among the tokens of one message; resolving them is another stage's work."""

from __future__ import annotations

from amos.kernels.book import (
    END,
    FLAGS,
    NEXT_TIME,
    START,
    TERM,
    TIME_END,
    TIME_KIND,
    TIME_KIND_OF,
    Ints,
    T,
    of_word,
)
from amos.kernels.features import (
    BREAKER,
    DATE,
    EVERY,
    FINITE,
    FIRST,
    FROM,
    JOINER,
    LINKER,
    NO_TIME,
    PAST,
    SUBJECT,
    TIME_AGO,
    TIME_ALONE,
    TIME_CORE,
    TIME_LEAD,
    TIME_LINK,
    TIME_WEAK,
    TRAILER,
    UNTIL,
)
from amos.kernels.segments import features_at
from amos.kernels.words import COMMA, DIGITS, NUMBER, PUNCT, TAIL

LONGEST_TIME = 8
MOST_RECURRENCES = 7
"""Further days and hours that one recurrence may name."""
LONGEST_COUNT = 4
"""Tokens before the unit of "a couple of weeks ago"."""
HAS_LEAD, HAS_NUMBER, HAS_CORE = 1, 2, 4
"""What the part read so far holds: "on", "14", "June"."""


def is_ordinal(d: Ints, s: int, e: int) -> bool:
    """Tell whether the token s..e is a number with an English ordinal ending."""
    if not 3 <= e - s <= 4:
        return False
    x = d[e - 2] | 32
    y = d[e - 1] | 32
    return (y == 104 and x == 116) or (y == 116 and x == 115) or (y == 100 and (x == 110 or x == 114))


def is_clock(d: Ints, s: int, e: int) -> bool:
    """Tell whether the token s..e reads as 14:30, 3pm or 2031-04-06."""
    y = d[e - 1] | 32
    if y == 109 and e - s >= 3:
        x = d[e - 2] | 32
        return (x == 97 or x == 112) and e - s <= 7
    if 4 <= e - s <= 5:
        return d[e - 3] == 58
    return e - s == 10 and d[s + 4] == 45 and d[s + 7] == 45


def is_moment(d: Ints, s: int, e: int, flags: int, seen: int) -> bool:
    """Tell whether the number s..e says a time, given what was `seen` before it."""
    if is_clock(d, s, e) or (seen & HAS_CORE != 0 and e - s <= 4):
        return True
    if seen & HAS_LEAD == 0:
        return False
    is_year = e - s == 4 and (d[s] == 49 or d[s] == 50) and flags & NUMBER != 0
    return is_year or is_ordinal(d, s, e)


def ends_here(book: Ints, tok: Ints, x: int, n: int) -> bool:
    """Tell whether no plain word follows at `x`: "on the third", but not "on the third floor"."""
    if x >= n or tok[x * T + FLAGS] & PUNCT != 0:
        return True
    following = features_at(book, tok, x)
    return (
        following
        & (
            FIRST
            | SUBJECT
            | TIME_LEAD
            | TIME_CORE
            | TIME_ALONE
            | TIME_LINK
            | LINKER
            | BREAKER
            | FINITE
            | TRAILER
        )
        != 0
    )


def word_role(book: Ints, tok: Ints, x: int, n: int, seen: int) -> tuple[int, bool]:
    """Return (what the word at `x` adds, whether the expression may end here); 0 when it does not fit."""
    word = features_at(book, tok, x)
    kind = of_word(book, tok[x * T + TERM], TIME_KIND_OF)
    if word & TIME_ALONE != 0:
        return HAS_CORE, True
    if word & TIME_CORE != 0:
        if seen & HAS_LEAD != 0 or (seen & HAS_NUMBER != 0 and kind == DATE):
            return HAS_CORE, True
        is_before_day = kind == DATE and x + 1 < n and tok[(x + 1) * T + FLAGS] & DIGITS != 0
        if is_before_day or seen & HAS_NUMBER != 0:
            return HAS_CORE, False  # "two weeks" alone is a length; "ago" may still follow
    if word & TIME_WEAK != 0 and seen != 0:
        return HAS_CORE, ends_here(book, tok, x + 1, n)
    return 0, False


def time_phrase(d: Ints, tok: Ints, t: int, n: int, book: Ints, seen: int) -> tuple[int, int]:
    """Return (token after, kind) of the time expression that begins at `t`, or (0, NO_TIME).

    seen: what stands before it already, 0 for nothing.
    """
    kind = NO_TIME
    end = 0
    x = t
    while x < n and x < t + LONGEST_TIME:
        f = tok[x * T + FLAGS]
        word = features_at(book, tok, x)
        own = of_word(book, tok[x * T + TERM], TIME_KIND_OF)
        if f & PUNCT != 0:
            is_inner = seen & HAS_CORE != 0 and f & COMMA != 0
            if not is_inner or x + 1 >= n or tok[(x + 1) * T + FLAGS] & DIGITS == 0:
                break
        elif f & DIGITS != 0:
            if is_moment(d, tok[x * T + START], tok[x * T + END], f, seen):
                seen |= HAS_CORE
                end = x + 1
            seen |= HAS_NUMBER
        elif word & TIME_AGO != 0 and seen & HAS_CORE != 0:
            return x + 1, PAST if own == NO_TIME else own
        elif word & TIME_LEAD != 0 and seen & (HAS_CORE | HAS_NUMBER) == 0:
            seen |= HAS_LEAD
            kind = max(kind, own)
        else:
            role, may_end = word_role(book, tok, x, n, seen)
            if role == 0 and (word & TIME_LINK == 0 or seen == 0):
                break
            seen |= role
            if may_end:
                end = x + 1
            if kind == NO_TIME and role != 0:
                kind = own
        x += 1
    if end == 0 or (end < n and tok[end * T + FLAGS] & TAIL != 0):
        return 0, NO_TIME  # none, or "next week's agenda", which names a thing
    return end, DATE if kind == NO_TIME else kind


def whole_recurrence(d: Ints, tok: Ints, t: int, n: int, book: Ints) -> int:
    """Return the token after all of a recurrence that ends at `t`: "Mondays | and Thursdays | at 20:00"."""
    for _ in range(MOST_RECURRENCES):
        x = t
        while x < min(n, t + 2) and (
            tok[x * T + FLAGS] & COMMA != 0 or features_at(book, tok, x) & JOINER != 0
        ):
            x += 1
        if x >= n or (x > t and features_at(book, tok, x) & (TIME_CORE | TIME_LEAD) == 0):
            return t
        after, kind = time_phrase(d, tok, x, n, book, HAS_LEAD if x > t else 0)
        if after == 0 or kind not in (EVERY, DATE, NO_TIME):
            return t
        t = after
    return t


def counts_back(tok: Ints, t: int, n: int, book: Ints) -> bool:
    """Tell whether a length and "ago" begin at `t`: "two weeks ago", "a couple of years ago"."""
    x = t
    while x < min(n, t + LONGEST_COUNT) and features_at(book, tok, x) & (TIME_LINK | TIME_WEAK) != 0:
        x += 1
    if x == t or x + 1 >= n or features_at(book, tok, x) & TIME_CORE == 0:
        return False
    return features_at(book, tok, x + 1) & TIME_AGO != 0


def whole_range(d: Ints, tok: Ints, t: int, n: int, book: Ints) -> int:
    """Return the token after all of a range that begins before `t`: "from 3 June | until 9 June"."""
    if t >= n or of_word(book, tok[t * T + TERM], TIME_KIND_OF) != UNTIL:
        return t
    after, kind = time_phrase(d, tok, t, n, book, 0)
    return after if kind == UNTIL else t


def mark_times(d: Ints, tok: Ints, n: int, book: Ints) -> None:
    """Write per token the end and kind of a time expression that begins there, and the next start."""
    opening = TIME_LEAD | TIME_ALONE | TIME_CORE
    for t in range(n):
        tok[t * T + TIME_END] = 0
        tok[t * T + TIME_KIND] = NO_TIME
    t = 0
    while t < n:
        after = 0
        seen = 0
        if features_at(book, tok, t) & (TIME_LINK | TIME_WEAK) != 0 and counts_back(tok, t, n, book):
            seen = HAS_NUMBER
        if features_at(book, tok, t) & opening != 0 or tok[t * T + FLAGS] & DIGITS != 0 or seen != 0:
            after, kind = time_phrase(d, tok, t, n, book, seen)
            if after > 0:
                if kind == EVERY:
                    after = whole_recurrence(d, tok, after, n, book)
                elif kind == FROM:
                    after = whole_range(d, tok, after, n, book)
                tok[t * T + TIME_END] = after
                tok[t * T + TIME_KIND] = kind
        t = max(after, t + 1)
    following = n
    for t in range(n - 1, -1, -1):
        if tok[t * T + TIME_END] > 0:
            following = t
        tok[t * T + NEXT_TIME] = following
