"""Mark phrases, pasted blocks, sentences, clauses and value ends on the tokens of one message."""

from __future__ import annotations

from amos.kernels.book import (
    BREAK,
    COMMA_STOP,
    END,
    FEATURES,
    FLAGS,
    LAST,
    NEXT_VERB,
    PHRASE_ACCEPT,
    PHRASE_KEYS,
    PHRASE_MASK,
    PHRASE_NEXT,
    START,
    STOP,
    TERM,
    TIME_END,
    WORDS,
    Ints,
    T,
    W,
)
from amos.kernels.features import (
    ABBREVIATION,
    ASKING,
    AUXILIARY,
    BARRIER,
    BREAKER,
    CLAUSE,
    FINITE,
    FIRST,
    JOINER,
    LATE_ABBREVIATION,
    LINKER,
    MAIL_HEAD,
    NEGATION,
    NOMINATIVE,
    ORDERED,
    PASTE_LEAD,
    PHRASE_HEAD,
    PREPOSITION,
    SENTENCE,
    SUBJECT,
    TIME_LEAD,
)
from amos.kernels.words import (
    CAPITAL,
    COLON,
    COMMA,
    EMOJI,
    HARD,
    LINE,
    PASTED,
    PUNCT,
    QUOTED,
    RULE,
    SOFT,
    STEP,
    TAIL,
    WORD,
)

LONGEST_PHRASE, VERB_REACH, LONGEST_PROBE = 6, 6, 64
OPENING_REACH = 4
"""Tokens from the start of a clause within which its opening "my" stands."""


def features_at(book: Ints, tok: Ints, t: int) -> int:
    """Return the features of the word at token `t`."""
    return book[book[WORDS] + tok[t * T + TERM] * W + FEATURES]


def phrase_place(state: int, word: int, mask: int) -> int:
    """Return where the edge from `state` over `word` is looked for first."""
    return (state * 2_654_435_761 ^ word * 40_503) & mask


def next_state(book: Ints, state: int, word: int) -> int:
    """Return the phrase state after `word`, 0 when no phrase goes on so."""
    mask = book[PHRASE_MASK]
    key = (state << 24) | word
    place = phrase_place(state, word, mask)
    for _ in range(LONGEST_PROBE):
        found = book[book[PHRASE_KEYS] + place]
        if found == key:
            return book[book[PHRASE_NEXT] + place]
        if found == 0:
            return 0
        place = (place + 1) & mask
    return 0


def merge_phrases(tok: Ints, n: int, book: Ints) -> int:
    """Join the tokens of each known phrase, longest first, into one; return the token count."""
    o = 0
    i = 0
    while i < n:
        word = tok[i * T + TERM]
        width = 1
        if features_at(book, tok, i) & PHRASE_HEAD != 0:
            state = word
            j = i + 1
            while j < n and j < i + LONGEST_PHRASE and tok[j * T + TERM] > 0:
                state = next_state(book, state, tok[j * T + TERM])
                if state == 0:
                    break
                accepted = book[book[PHRASE_ACCEPT] + state]
                if accepted > 0:
                    word = accepted
                    width = j - i + 1
                j += 1
        tok[o * T + START] = tok[i * T + START]
        tok[o * T + END] = tok[(i + width - 1) * T + END]
        tok[o * T + TERM] = word
        tok[o * T + FLAGS] = tok[i * T + FLAGS]
        o += 1
        i += width
    return o


def mark_pasted(tok: Ints, n: int, book: Ints) -> None:
    """Flag blocks that a line such as "Forwarded message:" or a mail header announces.

    A block runs to the next line of dashes that follows some content, else to the end.
    """
    is_pasted = False
    has_content = False
    has_lead = False
    is_header = False
    for t in range(n):
        f = tok[t * T + FLAGS]
        is_line_start = t == 0 or tok[(t - 1) * T + FLAGS] & LINE != 0
        if f & LINE != 0 and not is_pasted:
            is_pasted = is_header or (has_lead and t > 0 and tok[(t - 1) * T + FLAGS] & COLON != 0)
            has_content = False
            has_lead = False
            is_header = False
        elif is_pasted and f & RULE != 0 and is_line_start:
            is_pasted = not has_content
        elif is_pasted and not has_content and f & PASTED != 0:
            is_pasted = False  # the quoted lines say themselves where they end
        elif is_pasted:
            tok[t * T + FLAGS] = f | PASTED
            has_content = has_content or f & PUNCT == 0
        else:
            word = features_at(book, tok, t)
            has_lead = has_lead or word & PASTE_LEAD != 0
            if is_line_start and word & MAIL_HEAD != 0 and t + 1 < n:
                is_header = tok[(t + 1) * T + FLAGS] & COLON != 0


def is_abbreviation(d: Ints, tok: Ints, t: int, n: int, book: Ints) -> bool:
    """Tell whether the full stop at `t` belongs to the word before it."""
    s = tok[t * T + START]
    if tok[t * T + END] - s != 1 or d[s] != 46 or t == 0 or tok[(t - 1) * T + END] != s:
        return False
    if t + 1 >= n or tok[(t + 1) * T + FLAGS] & PUNCT != 0:
        return False
    word = features_at(book, tok, t - 1)
    if word & ABBREVIATION != 0:
        return True
    if word & LATE_ABBREVIATION != 0:
        return tok[(t + 1) * T + FLAGS] & CAPITAL == 0
    before = tok[(t - 1) * T + FLAGS]
    first = d[tok[(t - 1) * T + START]]
    if 48 <= first <= 57 and features_at(book, tok, t + 1) & ORDERED != 0:
        return True  # "am 3. Mai"
    return s - tok[(t - 1) * T + START] == 1 and before & CAPITAL != 0 and before & WORD != 0


def has_verb_soon(t: int, n: int, tok: Ints) -> bool:
    """Tell whether a finite verb stands at or shortly after `t`, before any punctuation."""
    if t >= n:
        return False
    verb = tok[t * T + NEXT_VERB]
    return verb - t <= VERB_REACH and verb < tok[t * T + STOP]


def links_clause(tok: Ints, t: int, n: int, word: int, book: Ints, has_verb: bool) -> bool:
    """Tell whether the linking word at `t` (and, so, when) opens a clause rather than a list item."""
    following = features_at(book, tok, t + 1) if t + 1 < n else 0
    is_verb_near = has_verb_soon(t + 1, n, tok)
    is_subject = following & (FIRST | SUBJECT) != 0
    if has_verb and word & JOINER != 0 and following & NOMINATIVE != 0:
        return True
    if tok[(t - 1) * T + FLAGS] & SOFT != 0 and (is_subject or is_verb_near):
        return True
    return is_verb_near and (is_subject or (word & JOINER != 0 and has_verb))


def opens_alike(tok: Ints, t: int, n: int, book: Ints, s: int) -> bool:
    """Tell whether `t` opens a claim of the same shape as the clause from `s`, without any mark between.

    "My phone is a Norda 8 my watch is a Brevia": the same "my" again, after a plain word.
    """
    unlike = FINITE | PREPOSITION | TIME_LEAD | SUBJECT | BARRIER | ASKING | LINKER | BREAKER | AUXILIARY
    if features_at(book, tok, t - 1) & unlike != 0 or not has_verb_soon(t + 1, n, tok):
        return False
    x = s
    while x < min(t, s + OPENING_REACH) and tok[x * T + TERM] != tok[t * T + TERM]:
        x += 1
    if x >= min(t, s + OPENING_REACH):
        return False
    is_contracted = tok[(x + 1) * T + FLAGS] & tok[(t + 1) * T + FLAGS] & TAIL != 0
    return is_contracted or features_at(book, tok, t) & NOMINATIVE == 0


def names_quoted(tok: Ints, t: int, book: Ints, s: int) -> bool:
    """Tell whether the quotation that opens at `t` is the value of the author's own: 'My motto is "…"'."""
    if t - s < 2 or features_at(book, tok, t - 1) & AUXILIARY == 0:
        return False
    x = s
    while x < min(t, s + OPENING_REACH) and features_at(book, tok, x) & FIRST == 0:
        x += 1
    return x < min(t, s + OPENING_REACH)


def opens_clause(tok: Ints, t: int, n: int, book: Ints, has_verb: bool, s: int) -> bool:
    """Tell whether a new clause begins at `t`; the current one began at `s` and `has_verb` or not."""
    f = tok[t * T + FLAGS]
    before = tok[(t - 1) * T + FLAGS]
    if (f ^ before) & QUOTED != 0:
        if f & QUOTED == 0:
            return has_verb
        return has_verb_soon(t + 1, n, tok) and not names_quoted(tok, t, book, s)
    if f & PUNCT != 0:
        return f & STEP != 0
    word = features_at(book, tok, t)
    if word & BREAKER != 0:
        return True
    if word & LINKER != 0:
        if tok[t * T + TIME_END] > 0:
            return False  # "until the end of May": no verb there
        return links_clause(tok, t, n, word, book, has_verb)
    if has_verb and word & FIRST != 0 and before & PUNCT == 0 and opens_alike(tok, t, n, book, s):
        return True
    head = s
    while head < min(t, s + OPENING_REACH) and tok[head * T + FLAGS] & EMOJI != 0:
        head += 1
    if before & SOFT == 0 or (before & COMMA != 0 and tok[head * T + TIME_END] == t - 1):
        return False  # "Last week, I ...": the time belongs to what follows
    if word & NEGATION != 0:
        return True
    return has_verb_soon(t, n, tok) and (has_verb or word & (FIRST | SUBJECT) != 0)


def mark_verbs(tok: Ints, n: int, book: Ints) -> None:
    """Write per token the next finite verb and, into STOP for now, the next punctuation."""
    verb = n
    stop = n
    for t in range(n - 1, -1, -1):
        if features_at(book, tok, t) & FINITE != 0:
            verb = t
        if tok[t * T + FLAGS] & (HARD | SOFT) != 0:
            stop = t
        tok[t * T + NEXT_VERB] = verb
        tok[t * T + STOP] = stop


def mark_breaks(d: Ints, tok: Ints, n: int, book: Ints) -> None:
    """Write SENTENCE or CLAUSE where one begins, else 0."""
    mark_verbs(tok, n, book)
    is_new = True
    has_verb = False
    s = 0
    for t in range(n):
        tok[t * T + BREAK] = 0
        if is_new:
            tok[t * T + BREAK] = SENTENCE
        elif opens_clause(tok, t, n, book, has_verb, s):
            tok[t * T + BREAK] = CLAUSE
        if tok[t * T + BREAK] != 0:
            has_verb = False
            s = t
        is_new = tok[t * T + FLAGS] & HARD != 0
        if is_new and is_abbreviation(d, tok, t, n, book):
            is_new = False
            tok[t * T + FLAGS] = tok[t * T + FLAGS] & ~HARD
        if features_at(book, tok, t) & FINITE != 0:
            has_verb = True


def mark_stops(tok: Ints, n: int) -> None:
    """Write where a value that begins at each token ends, and the last token up to it that is no mark.

    STOP is the clause's end, a bracket, a dash or the end of the quotation; COMMA_STOP the first
    comma too.
    """
    far = n
    near = n
    following = 0
    for t in range(n - 1, -1, -1):
        f = tok[t * T + FLAGS]
        if f & SOFT != 0:
            near = t
            if f & (COMMA | COLON) == 0:
                far = t
        is_closing = f & QUOTED != 0 and f & PUNCT != 0 and t + 1 < n and following & QUOTED == 0
        if f & HARD != 0 or is_closing:
            near = t
            far = t
        tok[t * T + STOP] = far
        tok[t * T + COMMA_STOP] = near
        if tok[t * T + BREAK] > 0:
            near = t
            far = t
        following = f
    seen = -1
    for t in range(n):
        if tok[t * T + FLAGS] & PUNCT == 0:
            seen = t
        tok[t * T + LAST] = seen
