"""Turn the sums of a question into shares, and shares into the score of every place that passes.

`retrieval.candidates` does the same with NumPy for few questions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from amos.kernels.postings import SCALE, THOUSAND
from amos.kernels.term_sums import (
    ASKED,
    COVERED,
    DIRECT,
    EXCHANGES,
    FELT,
    FELT_LIST,
    FOUND,
    FOUND_WEIGHT,
    FULL,
    HELD,
    IS_FELT,
    LISTED,
    OWN,
    QUESTION,
    REQUIRED,
    SESSION_LIST,
    SESSIONS,
    WHOLE,
    add_terms,
    quotient,
)

Array = npt.NDArray[Any]
I64 = Array
I32 = Array

MILLION = 1_000_000
KIND = 11
"""The component of kinds of things."""

BEST_OWN, BEST_FULL, BEST_SESSION, BEST_ANSWERED, BEST_HELD, BEST_DIRECT, STATE = range(7)
"""Columns of `best`, one row per place: the best share over the questions, in millionths."""
IS_LISTED, PASSES, HOLDS_WORD = 1, 2, 4
"""Bits of STATE."""

MOST_WORDS, K1, SESSION_K1, HALF = range(4)
FLOOR_COVERAGE, FLOOR_WORDS, FLOOR_NEIGHBOURS, FLOOR_TALK, WEIGHTS = range(4, 9)
"""Cells of `numbers`: words of a full score, k1 and that of sessions in thousandths, the score that maps to
one half or 0, the floor: coverage and words in millionths, neighbouring words, words of talk; from WEIGHTS
on the weight of each component."""

ROW, SESSION, TALK, MARKS, BASE, DAY = range(6)
"""Columns of `ground`, one row per place: its row in the corpus, its session or -1, bits of TALK and of
`retrieval.marks`, what it brings whatever is asked, weighted, and the number of its day.
"""
IS_AFTER_QUESTION, IS_TALK = 1, 2
"""Bits of TALK: somebody else asks right before; several people speak in the session."""
MARK, WORTH, COLUMN = range(3)
"""Columns of `asked`: a mark that the question asks for, its share, and the component it counts for.

One of several kinds of things counts, the best; of answer types each counts for itself.
"""
SCORED_PLACE, SCORED_ROW, SCORED, SCORED_HELD = range(4)
"""Columns of `scored`: a place that passes, its row, its score, its share of the question in millionths."""


def _share(score: Any, most: int, turn: int) -> int:
    """Return a score as a share of the most there can be, or as x / (x + turn) where `turn` is set."""
    if turn > 0:
        return quotient(score * MILLION, score + turn)
    return min(quotient(score * MILLION, most), MILLION)


def _most(tally: I64, words: int, k1: int) -> int:
    """Return what a question can bring at most: its known words, no more than `words` of mean weight."""
    most = tally[FOUND_WEIGHT] * (THOUSAND + k1) // THOUSAND
    return max(most * min(tally[FOUND], words) // max(tally[FOUND], 1), 1)


def _take_shares(
    numbers: I64,
    ground: I64,
    session_turns: I64,
    sums: I32,
    session_sums: I64,
    lists: I32,
    tally: I64,
    best: I32,
    count: int,
) -> int:
    """Add the shares of one question to `best`; return how many places are listed."""
    most_found = _most(tally, numbers[MOST_WORDS], numbers[K1])
    most_session = _most(tally, numbers[MOST_WORDS], numbers[SESSION_K1])
    turn = numbers[HALF] * SCALE // THOUSAND
    whole = max(tally[WHOLE], 1)
    required = max(tally[REQUIRED], 1)
    least = max(numbers[FLOOR_COVERAGE], 1)
    is_talked = 0 < numbers[FLOOR_TALK] <= tally[ASKED]
    for at in range(tally[FELT]):
        place: Any = np.int64(lists[FELT_LIST, at])
        if sums[place, IS_FELT] != 2:
            continue
        own = _share(np.int64(sums[place, OWN]), most_found, turn)
        full = _share(np.int64(sums[place, FULL]), most_found, turn)
        held = quotient(np.int64(sums[place, HELD]) * MILLION, whole)
        direct = quotient(np.int64(sums[place, DIRECT]) * MILLION, required)
        in_session: Any = np.int64(0)
        answered: Any = np.int64(0)
        number = ground[place, SESSION]
        if number >= 0:
            others = session_turns[number] - 1
            in_session = _share(quotient(session_sums[number] * others, others + 1), most_session, turn)
            if ground[place, TALK] & IS_AFTER_QUESTION:
                answered = _share(np.int64(sums[place - 1, OWN]), most_found, turn)
        state = IS_LISTED
        if direct > 0:
            state |= HOLDS_WORD
        is_close = direct > 0 or sums[place, EXCHANGES] >= numbers[FLOOR_NEIGHBOURS]
        if not is_close and is_talked:
            is_close = ground[place, TALK] & IS_TALK != 0
        if is_close and (
            quotient(np.int64(sums[place, COVERED]) * MILLION, whole) >= least
            or direct >= numbers[FLOOR_WORDS]
        ):
            state |= PASSES
        if best[place, STATE] == 0:
            lists[LISTED, count] = place
            count += 1
            for column in range(STATE):
                best[place, column] = 0
        best[place, BEST_OWN] = max(best[place, BEST_OWN], own)
        best[place, BEST_FULL] = max(best[place, BEST_FULL], full)
        best[place, BEST_SESSION] = max(best[place, BEST_SESSION], in_session)
        best[place, BEST_ANSWERED] = max(best[place, BEST_ANSWERED], answered)
        best[place, BEST_HELD] = max(best[place, BEST_HELD], held)
        best[place, BEST_DIRECT] = max(best[place, BEST_DIRECT], direct)
        best[place, STATE] |= state
    return count


def _clear_sums(sums: I32, session_sums: I64, lists: I32, tally: I64) -> None:
    """Set to zero what one question wrote."""
    for at in range(tally[FELT]):
        for column in range(8):
            sums[lists[FELT_LIST, at], column] = 0
    for at in range(tally[SESSIONS]):
        session_sums[lists[SESSION_LIST, at]] = 0
    for cell in range(ASKED + 1):
        tally[cell] = 0


def _score_of(
    place: Any, numbers: I64, ground: I64, matched: Array, closeness: I64, asked: I64, best: I32
) -> int:
    """Return the weighted sum of the components of a place, in millionths of millionths."""
    own: Any = np.int64(best[place, BEST_OWN])
    score = ground[place, BASE] + best[place, BEST_DIRECT] * numbers[WEIGHTS] + own * numbers[WEIGHTS + 1]
    score += max(best[place, BEST_FULL] - own, 0) * numbers[WEIGHTS + 2]
    score += best[place, BEST_SESSION] * numbers[WEIGHTS + 8]
    score += best[place, BEST_ANSWERED] * numbers[WEIGHTS + 9]
    if matched.shape[0] and matched[place] != 0:
        score += MILLION * numbers[WEIGHTS + 3]
    if closeness.shape[0]:
        score += closeness[ground[place, DAY]] * numbers[WEIGHTS + 10]
    kind = 0
    for row in range(asked.shape[0]):
        if ground[place, MARKS] & asked[row, MARK] == 0:
            continue
        if asked[row, COLUMN] == KIND:
            kind = max(kind, asked[row, WORTH])
        else:
            score += asked[row, WORTH] * numbers[WEIGHTS + asked[row, COLUMN]]
    score += kind * numbers[WEIGHTS + KIND]
    total: int = score
    return total


def score_question(
    terms: I64,
    entries: I32,
    session_entries: I32,
    numbers: I64,
    ground: I64,
    session_turns: I64,
    matched: Array,
    closeness: I64,
    asked: I64,
    sums: I32,
    session_sums: I64,
    lists: I32,
    tally: I64,
    best: I32,
    scored: I64,
) -> tuple[int, int]:
    """Score the places that pass the floor for some question; return how many do, and how many missed it.

    terms, entries, session_entries: see `add_terms`; terms by question.  session_turns: per session how many
    places it has.  matched: (n,) by or about somebody named, empty for nobody.  closeness: per day the share
    of the dates asked for, empty where none is.
    sums, session_sums, tally: zero before and after.  best: keeps the rows of the places that pass; STATE is
    zero before and after.  scored: room for every place; the first rows are filled.
    """
    count: Any = np.int64(0)
    low = 0
    for high in range(1, terms.shape[0] + 1):
        if high < terms.shape[0] and terms[high, QUESTION] == terms[low, QUESTION]:
            continue
        add_terms(low, high, terms, entries, session_entries, sums, session_sums, lists, tally)
        count = _take_shares(numbers, ground, session_turns, sums, session_sums, lists, tally, best, count)
        _clear_sums(sums, session_sums, lists, tally)
        low = high
    passed = 0
    below = 0
    for at in range(count):
        place: Any = np.int64(lists[LISTED, at])
        state = best[place, STATE]
        best[place, STATE] = 0
        if state & PASSES == 0:
            if state & HOLDS_WORD:
                below += 1
            continue
        score = _score_of(place, numbers, ground, matched, closeness, asked, best)
        scored[passed, SCORED_PLACE] = place
        scored[passed, SCORED_ROW] = ground[place, ROW]
        scored[passed, SCORED] = min(max(score // MILLION, 0), MILLION)
        scored[passed, SCORED_HELD] = best[place, BEST_HELD]
        passed += 1
    return passed, below


def fill_components(
    places: I64,
    best: I32,
    ground: I64,
    standing: I32,
    matched: Array,
    closeness: I64,
    asked: I64,
    out: I64,
) -> None:
    """Write the components of scored places, a row each, in the order of `schemas.ranked.COMPONENTS`.

    standing: (n, 7) shares of recency, confidence, superseded, contradicted, statement, news and length.
    The others are those of `score_question`; `out` is zero before.
    """
    for at in range(places.shape[0]):
        place = places[at]
        own = best[place, BEST_OWN]
        out[at, 0] = best[place, BEST_DIRECT]
        out[at, 1] = own
        out[at, 2] = max(best[place, BEST_FULL] - own, 0)
        if matched.shape[0] and matched[place] != 0:
            out[at, 3] = MILLION
        for column in range(4):
            out[at, 4 + column] = standing[place, column]
        out[at, 8] = best[place, BEST_SESSION]
        out[at, 9] = best[place, BEST_ANSWERED]
        if closeness.shape[0]:
            out[at, 10] = closeness[ground[place, DAY]]
        for row in range(asked.shape[0]):
            if ground[place, MARKS] & asked[row, MARK]:
                column = asked[row, COLUMN]
                out[at, column] = max(out[at, column], asked[row, WORTH])
        for column in range(3):
            out[at, 18 + column] = standing[place, 4 + column]


def join_components(claims: I64, turns: I64, weights: I64, scores: I64) -> None:
    """Make each row of `claims` what claim and turn bring together, and write its score.

    Does what `retrieval.folding.joined_components` and `retrieval.candidates.score_of` do.
    """
    for at in range(claims.shape[0]):
        score: Any = np.int64(0)
        for column in range(claims.shape[1]):
            if column not in (6, 7) and turns[at, column] > claims[at, column]:
                claims[at, column] = turns[at, column]
        claims[at, 2] = min(claims[at, 2], MILLION - claims[at, 1])
        for column in range(claims.shape[1]):
            score += claims[at, column] * weights[column]
        scores[at] = min(max(score // MILLION, 0), MILLION)
