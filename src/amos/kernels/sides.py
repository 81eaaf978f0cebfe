"""The open sides of one history: who stands, who leaves, who gives way."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

I64 = NDArray[np.int64]
I16 = NDArray[np.int16]

ADD, REOPEN, LINK, SUPERSEDE, DISPUTE, OUTRANKED, LINK_SETTLES, OUTBACKED = range(8)
"""First opening; opened again; same claim; other sides gave way; no clear winner; lost to a correction; same
claim that settles a dispute; lost to a claim with more independent roots."""
KNOWN = 1
"""Bit of `traits`: the order time is known."""
CORRECTS = 2
"""Bit of `traits`: the claim says that it corrects something."""
ZONE_ASSUMED = 4
"""Bit of `traits`: the zone of the order time was assumed."""
NEGATIVE = 8
"""Bit of `traits`: negative polarity."""
APPROVED = 16
"""Bit of `traits`: a person let the claim in, so that it is never outranked."""
AUTHORITY = 32
"""Bit of `traits`: the source is the registered authority for the property."""
IMPLIED = 64
"""Bit of `traits`: nobody said so; it was concluded from an outcome."""

ROOT = 128
"""Bit of `traits`: the row rests on a root that its claim did not rest on before."""
_GRADED = CORRECTS | AUTHORITY | IMPLIED
"""Traits in which a difference decides before the number of roots does."""

CHECKED_SIDES = 8
"""Open sides of a dispute that are looked at per row: keeps the fold linear."""

DAY_US = 86_400_000_000
OPEN_FROM = -(2**62)
OPEN_UNTIL = 2**62
ENDED_UNKNOWN = OPEN_FROM + 1


def is_clear(row: int, other: int, order_us: I64, conversation: I64, traits: I16) -> bool:
    """Tell whether `row`, later in order than `other`, clearly wins against it.

    The first difference decides: a correction, the authority for the property, what was said against what was
    concluded, then what was said later.  Where none of these does, `backing` counts roots.
    """
    if (traits[row] & CORRECTS) != 0 and (traits[other] & CORRECTS) == 0:
        return True
    if (traits[row] & AUTHORITY) != (traits[other] & AUTHORITY):
        return (traits[row] & AUTHORITY) != 0
    if (traits[row] & IMPLIED) != (traits[other] & IMPLIED):
        return (traits[row] & IMPLIED) == 0
    if conversation[row] == conversation[other]:
        return True
    if (traits[row] & KNOWN) == 0 or (traits[other] & KNOWN) == 0:
        return False
    gap = order_us[row] - order_us[other]
    if ((traits[row] | traits[other]) & ZONE_ASSUMED) != 0:
        return gap >= DAY_US
    return gap > 0


def backing(
    row: int,
    own: int,
    twin_claim: int,
    is_negative: bool,
    order_us: I64,
    conversation: I64,
    traits: I16,
    support: I64,
    roots: I64,
    sides: I64,
    after: I64,
    span_of: I64,
) -> tuple[int, int]:
    """Return the most roots of an open rival, and the most of one that `row` has nothing else against.

    Both are -1 where something decides before roots do, or where too many sides stand to be compared.
    """
    most = held = 0
    side = -1 if is_negative else sides[FIRST]
    if side >= 0 and sides[COUNT] > CHECKED_SIDES:
        return -1, -1
    if twin_claim >= 0 and span_of[twin_claim] >= 0:
        other = support[twin_claim]
        if (traits[row] ^ traits[other]) & _GRADED != 0:
            return -1, -1
        most = roots[twin_claim]
        held = 0 if is_clear(row, other, order_us, conversation, traits) else most
    while side >= 0:
        if side != own:
            other = support[side]
            if (traits[row] ^ traits[other]) & _GRADED != 0:
                return -1, -1
            most = max(most, roots[side])
            if not is_clear(row, other, order_us, conversation, traits):
                held = max(held, roots[side])
        side = after[side]
    return most, held


def close_at(row: int, opened: int, order_us: I64, from_us: I64, traits: I16) -> int:
    """Return when a claim opened at `opened` ends because of `row`; see ENDED_UNKNOWN."""
    moment = from_us[row]
    if moment == OPEN_FROM and (traits[row] & KNOWN) != 0:
        moment = order_us[row]
    if moment == OPEN_FROM:
        return ENDED_UNKNOWN if opened == OPEN_FROM else opened
    if opened == OPEN_FROM:
        return moment
    return max(moment, opened)


def side_ended(claim: int, moment: int, span_of: I64, spans: I64) -> bool:
    """Tell whether the open interval of `claim` is over at `moment`."""
    place = span_of[claim]
    return place >= 0 and moment != OPEN_FROM and spans[2, place] <= moment


FIRST, LATEST, COUNT, UNKNOWN, ASSUMED = range(5)
"""Places of `sides`: first open positive side, row that last supported any, how many are open, and
whether one of them has an unknown time or an assumed zone."""
PAIRS, SPANS = range(2)
"""Places of `used`: entries written to the pair and to the interval columns."""


def unlink(side: int, sides: I64, after: I64, before: I64) -> None:
    """Take `side` out of the list of open positive sides."""
    following = after[side]
    if before[side] >= 0:
        after[before[side]] = following
    else:
        sides[FIRST] = following
    if following >= 0:
        before[following] = before[side]
    sides[COUNT] -= 1


def link(side: int, sides: I64, after: I64, before: I64) -> None:
    """Put `side` before the other open positive sides."""
    after[side] = sides[FIRST]
    before[side] = -1
    if sides[FIRST] >= 0:
        before[sides[FIRST]] = side
    sides[FIRST] = side
    sides[COUNT] += 1


def drop_ended(moment: int, sides: I64, after: I64, before: I64, span_of: I64, spans: I64) -> None:
    """Let sides whose own end has passed leave by themselves."""
    side = sides[FIRST]
    looked = 0
    while side >= 0 and looked < CHECKED_SIDES:
        following = after[side]
        if side_ended(side, moment, span_of, spans):
            span_of[side] = -1
            unlink(side, sides, after, before)
        side = following
        looked += 1


def end_side(
    row: int,
    side: int,
    order_us: I64,
    from_us: I64,
    traits: I16,
    span_of: I64,
    spans: I64,
    disputed: I64,
    pairs: I64,
    used: I64,
) -> None:
    """End the open interval of `side` because of `row`, and note that it gave way."""
    place = span_of[side]
    ended = close_at(row, spans[1, place], order_us, from_us, traits)
    spans[2, place] = min(spans[2, place], ended)
    span_of[side] = -1
    disputed[side] = -1
    pairs[0, used[PAIRS]] = row
    pairs[1, used[PAIRS]] = side
    used[PAIRS] += 1


def is_winner(row: int, base: int, sides: I64, order_us: I64, conversation: I64, traits: I16) -> bool:
    """Tell whether `row` clearly wins against every open side, the latest of which is `base`."""
    if not is_clear(row, base, order_us, conversation, traits):
        return False
    if sides[COUNT] <= 1 or (traits[row] & CORRECTS) != 0:
        return True
    gap = order_us[row] - order_us[base]
    return sides[UNKNOWN] == 0 and not (sides[ASSUMED] != 0 and gap < DAY_US)


def reset_sides(sides: I64) -> None:
    """Begin a history: no side is open."""
    sides[FIRST] = -1
    sides[LATEST] = -1
    sides[COUNT] = 0
    sides[UNKNOWN] = 0
    sides[ASSUMED] = 0


def stand(
    row: int,
    own: int,
    is_negative: bool,
    from_us: I64,
    until_us: I64,
    traits: I16,
    sides: I64,
    after: I64,
    before: I64,
    span_of: I64,
    spans: I64,
    used: I64,
) -> None:
    """Let the claim of `row` stand: open an interval unless one is open, and note its traits."""
    if span_of[own] < 0:
        place = used[SPANS]
        spans[0, place] = own
        spans[1, place] = from_us[row]
        spans[2, place] = until_us[row]
        span_of[own] = place
        used[SPANS] += 1
        if not is_negative:
            link(own, sides, after, before)
    if not is_negative:
        sides[LATEST] = row
        if (traits[row] & KNOWN) == 0:
            sides[UNKNOWN] = 1
        if (traits[row] & ZONE_ASSUMED) != 0:
            sides[ASSUMED] = 1


def rival_of(own: int, twin_claim: int, is_negative: bool, sides: I64, after: I64, span_of: I64) -> int:
    """Return an open claim that stands against `own`, -1 when there is none."""
    twin_stands = twin_claim >= 0 and span_of[twin_claim] >= 0
    if is_negative:
        return twin_claim if twin_stands else -1
    rival = sides[FIRST]
    if rival == own:
        rival = after[own]
    if rival < 0 and twin_stands:
        return twin_claim
    return rival


def is_before_all(until: int, sides: I64, after: I64, span_of: I64, spans: I64) -> bool:
    """Tell whether what ends at `until` is over before any open side begins; some side must be open."""
    side = sides[FIRST]
    looked = 0
    while side >= 0:
        if looked == CHECKED_SIDES or spans[1, span_of[side]] < until:
            return False
        looked += 1
        side = after[side]
    return looked > 0


def tell_earlier(
    row: int,
    own: int,
    from_us: I64,
    until_us: I64,
    support: I64,
    earlier: I64,
    spans: I64,
    used: I64,
) -> int:
    """Return the action of a closed period told late: an occurrence of its own, which changes no side.

    earlier: per claim the last interval told that way, or -1.
    """
    place = earlier[own]
    if place >= 0 and spans[1, place] < until_us[row] and from_us[row] < spans[2, place]:
        return LINK
    action = REOPEN if support[own] >= 0 else ADD
    if support[own] < 0:
        support[own] = row
    place = used[SPANS]
    spans[0, place] = own
    spans[1, place] = from_us[row]
    spans[2, place] = until_us[row]
    earlier[own] = place
    used[SPANS] += 1
    return action


def is_apart(
    row: int,
    twin_claim: int,
    until_us: I64,
    sides: I64,
    after: I64,
    span_of: I64,
    spans: I64,
) -> bool:
    """Tell whether an assertion speaks of a period that was over before everything that stands."""
    if not is_before_all(until_us[row], sides, after, span_of, spans):
        return False
    if twin_claim < 0 or span_of[twin_claim] < 0:
        return True
    return spans[1, span_of[twin_claim]] >= until_us[row]
