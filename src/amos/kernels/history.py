"""Fold the ordered history of each property into decisions: who holds, who gave way, since when."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

I64 = NDArray[np.int64]
I32 = NDArray[np.int32]
I8 = NDArray[np.int8]

ADD, REOPEN, LINK, SUPERSEDE, DISPUTE, OUTRANKED, LINK_SETTLES = range(7)
"""First opening; opened again; same claim; other sides gave way; no clear winner; lost; same claim
that settles a dispute."""
KNOWN = 1
"""Bit of `traits`: the order time is known."""
CORRECTS = 2
"""Bit of `traits`: the claim says that it corrects something."""
ZONE_ASSUMED = 4
"""Bit of `traits`: the zone of the order time was assumed."""
NEGATIVE = 8
"""Bit of `traits`: negative polarity."""

CHECKED_SIDES = 8
"""Open sides of a dispute whose own end is looked at per row: keeps the fold linear."""

DAY_US = 86_400_000_000
OPEN_FROM = -(2**62)
OPEN_UNTIL = 2**62
ENDED_UNKNOWN = OPEN_FROM + 1


def is_clear(row: int, other: int, order_us: I64, conversation: I64, traits: I8) -> bool:
    """Tell whether `row`, later in order than `other`, clearly wins against it."""
    if conversation[row] == conversation[other]:
        return True
    if (traits[row] & CORRECTS) != 0 and (traits[other] & CORRECTS) == 0:
        return True
    if (traits[row] & KNOWN) == 0 or (traits[other] & KNOWN) == 0:
        return False
    gap = order_us[row] - order_us[other]
    if ((traits[row] | traits[other]) & ZONE_ASSUMED) != 0:
        return gap >= DAY_US
    return gap > 0


def close_at(row: int, opened: int, order_us: I64, from_us: I64, traits: I8) -> int:
    """Return when a claim opened at `opened` ends because of `row`; see ENDED_UNKNOWN."""
    moment = from_us[row]
    if moment == OPEN_FROM and (traits[row] & KNOWN) != 0:
        moment = order_us[row]
    if moment == OPEN_FROM:
        return ENDED_UNKNOWN if opened == OPEN_FROM else opened
    if opened == OPEN_FROM:
        return moment
    return max(moment, opened)


def side_ended(claim: int, moment: int, span_of: I64, span_until: I64) -> bool:
    """Tell whether the open interval of `claim` is over at `moment`."""
    place = span_of[claim]
    return place >= 0 and moment != OPEN_FROM and span_until[place] <= moment


def is_before_all(first: int, until: int, after: I64, span_of: I64, span_from: I64) -> bool:
    """Tell whether what ends at `until` is over before any open side begins; some side must be open."""
    side = first
    looked = 0
    while side >= 0:
        if looked == CHECKED_SIDES or span_from[span_of[side]] < until:
            return False
        looked += 1
        side = after[side]
    return looked > 0


def fold_histories(
    group: I64,
    claim: I64,
    twin: I64,
    order_us: I64,
    conversation: I64,
    from_us: I64,
    until_us: I64,
    traits: I8,
    claim_count: int,
) -> tuple[I8, I64, I64, I64, I64, I64, I64, I64, I64]:
    """Decide every row of every history; rows come sorted by (group, order).

    group, claim: (n,) codes; a claim belongs to one group.  twin: (claims,) the claim with the
    same value and the other polarity, or -1.  order_us: (n,) order time, any number where
    KNOWN is off.  from_us, until_us: (n,) validity, OPEN_FROM / OPEN_UNTIL where unknown.
    traits: (n,) bits KNOWN, CORRECTS, ZONE_ASSUMED, NEGATIVE.

    Returns the action per row (n,); pairs (row, claim) that gave way or, for DISPUTE and
    OUTRANKED, that stood against the row; the intervals in order of opening (claim, from,
    until); per claim its open rival count at the end (0 is undisputed) and the row that opened
    the dispute or -1; linear in n.
    """
    n = group.shape[0]
    action = np.zeros(n, np.int8)
    pair_row = np.empty(2 * n + 1, np.int64)
    pair_claim = np.empty(2 * n + 1, np.int64)
    pairs = 0
    span_claim = np.empty(n, np.int64)
    span_from = np.empty(n, np.int64)
    span_until = np.empty(n, np.int64)
    spans = 0
    support = np.full(claim_count, -1, np.int64)
    disputed = np.full(claim_count, -1, np.int64)
    opened = np.zeros(claim_count, np.int8)
    span_of = np.full(claim_count, -1, np.int64)
    after = np.full(claim_count, -1, np.int64)
    before = np.full(claim_count, -1, np.int64)
    earlier = np.full(claim_count, -1, np.int64)  # last interval told that was over before all others
    first = -1  # first open positive side of the history
    latest = -1  # row that last supported any open side
    sides = 0
    has_unknown = False
    has_assumed = False
    for row in range(n):
        if row == 0 or group[row] != group[row - 1]:
            first = -1
            latest = -1
            sides = 0
            has_unknown = False
            has_assumed = False
        own = claim[row]
        moment = from_us[row]
        is_negative = (traits[row] & NEGATIVE) != 0
        # 1. sides whose own end has passed leave by themselves
        side = first
        looked = 0
        while side >= 0 and looked < CHECKED_SIDES:
            following = after[side]
            if side_ended(side, moment, span_of, span_until):
                span_of[side] = -1
                if before[side] >= 0:
                    after[before[side]] = following
                else:
                    first = following
                if following >= 0:
                    before[following] = before[side]
                sides -= 1
            side = following
            looked += 1
        if is_negative and side_ended(own, moment, span_of, span_until):
            span_of[own] = -1
        is_open = span_of[own] >= 0
        twin_claim = twin[own]
        twin_stands = twin_claim >= 0 and span_of[twin_claim] >= 0
        # an earlier, closed period told late is an occurrence of its own and changes no side
        is_apart = not is_negative and is_before_all(first, until_us[row], after, span_of, span_from)
        if is_apart and (not twin_stands or span_from[span_of[twin_claim]] >= until_us[row]):
            place = earlier[own]
            if place >= 0 and span_from[place] < until_us[row] and from_us[row] < span_until[place]:
                action[row] = LINK
                continue
            action[row] = REOPEN if opened[own] != 0 else ADD
            opened[own] = 1
            support[own] = row if support[own] < 0 else support[own]
            span_claim[spans] = own
            span_from[spans] = from_us[row]
            span_until[spans] = until_us[row]
            earlier[own] = spans
            spans += 1
            continue
        # 2. who stands against this row
        if is_negative:
            against = 1 if twin_stands else 0
            rival = twin_claim if twin_stands else -1
        else:
            against = sides - (1 if is_open else 0) + (1 if twin_stands else 0)
            rival = first
            if rival == own:
                rival = after[own]
            if rival < 0 and twin_stands:
                rival = twin_claim
        if against == 0:
            if is_open:
                action[row] = LINK
            else:
                action[row] = REOPEN if opened[own] != 0 else ADD
        else:
            base = latest if (not is_negative and latest >= 0) else support[rival]
            if twin_stands and support[twin_claim] > base:
                base = support[twin_claim]
            wins = is_clear(row, base, order_us, conversation, traits)
            if wins and sides > 1 and (traits[row] & CORRECTS) == 0:
                gap = order_us[row] - order_us[base]
                wins = not has_unknown and not (has_assumed and gap < DAY_US)
            if wins:
                action[row] = LINK_SETTLES if is_open else SUPERSEDE
                if not is_negative:
                    side = first
                    while side >= 0:
                        following = after[side]
                        if side != own:
                            place = span_of[side]
                            ended = close_at(row, span_from[place], order_us, from_us, traits)
                            span_until[place] = min(span_until[place], ended)
                            span_of[side] = -1
                            disputed[side] = -1
                            pair_row[pairs] = row
                            pair_claim[pairs] = side
                            pairs += 1
                        side = following
                    first = own if is_open else -1
                    sides = 1 if is_open else 0
                    if is_open:
                        after[own] = -1
                        before[own] = -1
                    has_unknown = False
                    has_assumed = False
                if twin_stands:
                    place = span_of[twin_claim]
                    ended = close_at(row, span_from[place], order_us, from_us, traits)
                    span_until[place] = min(span_until[place], ended)
                    span_of[twin_claim] = -1
                    disputed[twin_claim] = -1
                    pair_row[pairs] = row
                    pair_claim[pairs] = twin_claim
                    pairs += 1
                    if is_negative:
                        following = after[twin_claim]
                        if before[twin_claim] >= 0:
                            after[before[twin_claim]] = following
                        else:
                            first = following
                        if following >= 0:
                            before[following] = before[twin_claim]
                        sides -= 1
                disputed[own] = -1
            elif is_open:
                action[row] = LINK
            elif (traits[base] & CORRECTS) != 0 and (traits[row] & CORRECTS) == 0:
                action[row] = OUTRANKED
                pair_row[pairs] = row
                pair_claim[pairs] = rival
                pairs += 1
                continue
            else:
                action[row] = DISPUTE
                pair_row[pairs] = row
                pair_claim[pairs] = rival
                pairs += 1
                if disputed[rival] < 0:
                    disputed[rival] = row
                disputed[own] = row
        # 3. this row's claim now stands
        support[own] = row
        opened[own] = 1
        if not is_open:
            span_claim[spans] = own
            span_from[spans] = from_us[row]
            span_until[spans] = until_us[row]
            span_of[own] = spans
            spans += 1
            if not is_negative:
                after[own] = first
                before[own] = -1
                if first >= 0:
                    before[first] = own
                first = own
                sides += 1
        if not is_negative:
            latest = row
            has_unknown = has_unknown or (traits[row] & KNOWN) == 0
            has_assumed = has_assumed or (traits[row] & ZONE_ASSUMED) != 0
    for item in range(claim_count):
        if span_of[item] < 0:
            disputed[item] = -1
    return (
        action,
        pair_row[:pairs].copy(),
        pair_claim[:pairs].copy(),
        span_claim[:spans].copy(),
        span_from[:spans].copy(),
        span_until[:spans].copy(),
        support,
        disputed,
        span_of,
    )
