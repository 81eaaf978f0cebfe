"""What a term brings to the places around it, and the sum of that over the terms of a question.

What a term brings does not depend on the question: it is found once for a view, and added for every question.
All in whole numbers; `retrieval.scoring` does the same with NumPy, for few questions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from amos.kernels.postings import SCALE, THOUSAND

Array = npt.NDArray[Any]
I64 = Array
I32 = Array
U8 = Array

PLACE, FULL_THERE, OWN_THERE = range(3)
"""Columns of `entries`: a place that a term reaches and its saturated impacts there, in 1/SCALE.

OWN_THERE is shifted by two bits: IS_HELD, the place itself holds the term; IS_HEARD, somebody else said it
next to the place.
"""
IS_HELD, IS_HEARD = 1, 2
ALONE, OFTEN, TOTAL, SLOT_TAG, FELT_TAG, HEARD_TAG = range(6)
"""Columns of `scratch`, one row per place, for the term at work."""
OWN, FULL, COVERED, HELD, DIRECT, EXCHANGES, LAST_WORD, IS_FELT = range(8)
"""Columns of `sums`, one row per place; the sums of `retrieval.scoring.WordScores`, in 1/SCALE.

IS_FELT: 1 where a term was felt at all, 2 where a required one was.
"""
FIRST, END, FIRST_SESSION, END_SESSION, WEIGHT, IS_REQUIRED, WORD, QUESTION = range(8)
"""Columns of `terms`."""
FELT_LIST, SESSION_LIST, LISTED, SPARE = range(4)
"""Rows of `lists`: the places that a question reaches, its sessions, the places of all questions; each has
room for every place."""
FELT, SESSIONS, WHOLE, REQUIRED, FOUND, FOUND_WEIGHT, ASKED = range(7)
"""Cells of `tally`: places and sessions listed; weight and number of the required terms, number and weight of
those found, and how many words they come from."""

SAME_SESSION = (1, 2, 4, 8)
OTHER_SPEAKER = (16, 32, 64, 128)
"""Bits of `around`: whether the place at -2, -1, +1, +2 is of the same session, and said by somebody else."""


def quotient(one: Any, other: Any) -> int:
    """Return one // other for 0 <= one < 2**52 and 0 < other.

    The quotient of whole numbers so small never rounds up to the next one, and a processor divides floats in
    a fraction of the time.
    """
    found: Any = np.int64(np.float64(one) / np.float64(other))
    return found


def saturation(total: int, half: int) -> int:
    """Return (half + SCALE) · total // (total + half)."""
    return quotient(total * (half + SCALE), total + half)


def _feel(place: int, amount: int, tag: int, count: int, scratch: I64, reached: I32) -> int:
    """Add an amount at a place; return how many places the term has reached."""
    if scratch[place, FELT_TAG] != tag:
        scratch[place, FELT_TAG] = tag
        scratch[place, TOTAL] = 0
        reached[count] = place
        count += 1
    scratch[place, TOTAL] += amount
    return count


def _spread(
    slots: I32, count: int, around: U8, near: int, far: int, tag: int, scratch: I64, reached: I32
) -> int:
    """Let every place that holds a term be felt around it; return how many places are reached."""
    felt = 0
    for at in range(count):
        place: Any = np.int64(slots[at])
        amount = scratch[place, ALONE]
        felt = _feel(place, amount, tag, felt, scratch, reached)
        bits = around[place]
        if bits == 0:
            continue
        beside, behind = amount * near // THOUSAND, amount * far // THOUSAND
        for step in range(4):
            if bits & (1 << step):
                other = place + step - 2 + step // 2
                felt = _feel(other, behind if step in (0, 3) else beside, tag, felt, scratch, reached)
                if bits & (16 << step):
                    scratch[other, HEARD_TAG] = tag
    return felt


def _hold(
    docs: I32,
    counts: Array,
    lists: I64,
    hidden: Array,
    documents: I32,
    curve: I64,
    tag: int,
    scratch: I64,
    slots: I32,
) -> int:
    """Note the places that hold a term and what it brings there; return how many they are."""
    count = 0
    for number in range(lists.shape[0]):
        row = lists[number, 2]
        for at in range(lists[number, 0], lists[number, 1]):
            doc = docs[at]
            place: Any = np.int64(documents[doc, 0])
            if place < 0 or (row >= 0 and hidden[row, place] != 0):
                continue
            if scratch[place, SLOT_TAG] != tag:
                scratch[place, SLOT_TAG] = tag
                scratch[place, ALONE] = 0
                scratch[place, OFTEN] = 0
                slots[count] = place
                count += 1
            often = np.int64(counts[at]) * (curve[1] if documents[doc, 2] != 0 else curve[0])
            scratch[place, OFTEN] += often
            scratch[place, ALONE] += often * np.int64(documents[doc, 1]) // THOUSAND
    return count


def _write_sessions(
    count: int,
    tag: int,
    half: int,
    slots: I32,
    session: I32,
    session_impact: I64,
    session_rarity: I64,
    scratch: I64,
    session_scratch: I64,
    session_entries: I32,
    first_session: int,
) -> int:
    """Write what a term brings to the sessions that hold it, each as one document; return the end."""
    end_session = first_session
    for at in range(count):
        own_session: Any = np.int64(session[slots[at]])
        if session_scratch[own_session, 1] != tag:
            session_scratch[own_session, 0] = 0
            session_scratch[own_session, 1] = tag
            session_entries[end_session, 0] = own_session
            end_session += 1
        session_scratch[own_session, 0] += scratch[slots[at], OFTEN]
    weight = session_rarity[end_session - first_session]
    for at in range(first_session, end_session):
        own_session = np.int64(session_entries[at, 0])
        total = session_scratch[own_session, 0] * session_impact[own_session] // THOUSAND
        session_entries[at, 1] = saturation(total, half) * weight // SCALE
    return end_session


def find_term(
    docs: I32,
    counts: Array,
    lists: I64,
    hidden: Array,
    documents: I32,
    around: U8,
    session: I32,
    session_impact: I64,
    session_rarity: I64,
    curve: I64,
    tag: int,
    scratch: I64,
    session_scratch: I64,
    lists_of_places: I32,
    entries: I32,
    first: int,
    session_entries: I32,
    first_session: int,
) -> tuple[int, int]:
    """Write what a term brings from `entries[first]`, `session_entries[first_session]` on; return both ends.

    docs, counts: occurrences of its alternatives, list after list.  lists: (l, 3) first and last of each, and
    a row of `hidden` or -1.  hidden: (h, n) places at which a name is no content.
    documents: (documents, 3) place or -1, what one occurrence adds, whether it is a caption.
    around, session: per place its neighbours and its session, empty where places have none.
    session_impact, session_rarity: per session, and per number of sessions that hold a term.
    curve: shares of text, caption, near and far neighbours, k1 and that of sessions, in thousandths.
    tag: a number that no call before had.  scratch, lists_of_places: room for every place; session_scratch:
    for every session.
    Entries are written by place, those of sessions (session, score in 1/SCALE) in no order.
    """
    slots, reached = lists_of_places[FELT_LIST], lists_of_places[SPARE]
    half, session_half = curve[4] * SCALE // THOUSAND, curve[5] * SCALE // THOUSAND
    count = _hold(docs, counts, lists, hidden, documents, curve, tag, scratch, slots)
    felt = _spread(slots, count, around, curve[2], curve[3], tag, scratch, reached)
    order = np.sort(reached[:felt])
    end = first
    for at in range(felt):
        there: Any = np.int64(order[at])
        own: Any = np.int64(0)
        if scratch[there, SLOT_TAG] == tag:
            own = saturation(scratch[there, ALONE], half) << 2 | IS_HELD
        if scratch[there, HEARD_TAG] == tag:
            own |= IS_HEARD
        entries[end, PLACE] = there
        entries[end, FULL_THERE] = saturation(scratch[there, TOTAL], half)
        entries[end, OWN_THERE] = own
        end += 1
    if session.shape[0] == 0:
        return end, first_session
    return end, _write_sessions(
        count, tag, session_half, slots, session, session_impact, session_rarity, scratch, session_scratch,
        session_entries, first_session,
    )  # fmt: skip


def _add_sessions(
    low: int, high: int, session_entries: I32, session_sums: I64, lists: I32, tally: I64
) -> None:
    """Add what one term brings to sessions."""
    for at in range(low, high):
        number: Any = np.int64(session_entries[at, 0])
        score: Any = np.int64(session_entries[at, 1])
        if score == 0:
            continue
        if session_sums[number] == 0:
            lists[SESSION_LIST, tally[SESSIONS]] = number
            tally[SESSIONS] += 1
        session_sums[number] += score


def add_terms(
    low: int,
    high: int,
    terms: I64,
    entries: I32,
    session_entries: I32,
    sums: I32,
    session_sums: I64,
    lists: I32,
    tally: I64,
) -> None:
    """Add what every term of one question brings, those in the rows low … high - 1 of `terms`.

    terms: (t, 8) where its entries lie, weight in 1/SCALE, whether it is required, its word, and the number
    of its question; terms of one word follow each other.
    sums, session_sums and tally are zero before.  lists: FELT_LIST and SESSION_LIST are filled.
    """
    last_word: Any = np.int64(-1)
    for term in range(low, high):
        weight, is_required, word = terms[term, WEIGHT], terms[term, IS_REQUIRED], terms[term, WORD]
        is_found = False
        for at in range(terms[term, FIRST], terms[term, END]):
            place: Any = np.int64(entries[at, PLACE])
            there: Any = np.int64(entries[at, OWN_THERE])
            sums[place, FULL] += np.int64(entries[at, FULL_THERE]) * weight // SCALE
            if sums[place, IS_FELT] == 0:
                lists[FELT_LIST, tally[FELT]] = place
                tally[FELT] += 1
                sums[place, IS_FELT] = 1
            if there & IS_HELD:
                sums[place, OWN] += (there >> 2) * weight // SCALE
                is_found = True
            if is_required == 0:
                continue
            sums[place, IS_FELT] = 2
            sums[place, COVERED] += weight
            if there & IS_HELD:
                sums[place, DIRECT] += 1
                sums[place, HELD] += weight
            if there & IS_HEARD and sums[place, LAST_WORD] != word + 1:
                sums[place, LAST_WORD] = word + 1
                sums[place, EXCHANGES] += 1
        if is_required == 0:
            continue
        if word != last_word:
            tally[ASKED] += 1
            last_word = word
        tally[WHOLE] += weight
        tally[REQUIRED] += 1
        if is_found:
            tally[FOUND] += 1
            tally[FOUND_WEIGHT] += weight
        _add_sessions(
            terms[term, FIRST_SESSION], terms[term, END_SESSION], session_entries, session_sums, lists, tally
        )
