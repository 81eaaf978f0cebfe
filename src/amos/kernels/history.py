"""Fold the ordered history of each property into decisions: who holds, who gave way, since when."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from amos.kernels.sides import (
    ADD,
    APPROVED,
    AUTHORITY,
    CHECKED_SIDES,
    CORRECTS,
    DAY_US,
    DISPUTE,
    ENDED_UNKNOWN,
    FIRST,
    IMPLIED,
    KNOWN,
    LATEST,
    LINK,
    LINK_SETTLES,
    NEGATIVE,
    OPEN_FROM,
    OPEN_UNTIL,
    OUTBACKED,
    OUTRANKED,
    PAIRS,
    REOPEN,
    ROOT,
    SPANS,
    SUPERSEDE,
    ZONE_ASSUMED,
    backing,
    drop_ended,
    end_side,
    is_apart,
    is_winner,
    link,
    reset_sides,
    rival_of,
    side_ended,
    stand,
    tell_earlier,
    unlink,
)

__all__ = [
    "ADD", "APPROVED", "AUTHORITY", "CHECKED_SIDES", "CORRECTS", "DAY_US", "DISPUTE", "ENDED_UNKNOWN",
    "IMPLIED", "KNOWN", "LINK", "LINK_SETTLES", "NEGATIVE", "OPEN_FROM", "OPEN_UNTIL", "OUTBACKED",
    "OUTRANKED", "REOPEN", "ROOT", "SUPERSEDE", "ZONE_ASSUMED", "fold_histories",
]  # fmt: skip

I64 = NDArray[np.int64]
I32 = NDArray[np.int32]
I8 = NDArray[np.int8]
I16 = NDArray[np.int16]


def decide_row(
    row: int,
    own: int,
    twin_claim: int,
    is_negative: bool,
    order_us: I64,
    conversation: I64,
    from_us: I64,
    traits: I16,
    support: I64,
    roots: I64,
    disputed: I64,
    span_of: I64,
    spans: I64,
    after: I64,
    before: I64,
    sides: I64,
    pairs: I64,
    used: I64,
) -> int:
    """Return the action of `row`, ending the sides that give way to it.

    Where nothing about the row itself decides, the claim that rests on more independent roots does.
    """
    is_open = span_of[own] >= 0
    rival = rival_of(own, twin_claim, is_negative, sides, after, span_of)
    if rival < 0:
        if is_open:
            return LINK
        return REOPEN if support[own] >= 0 else ADD
    twin_stands = twin_claim >= 0 and span_of[twin_claim] >= 0
    base = latest_against(rival, twin_claim if twin_stands else -1, is_negative, support, sides)
    held = -1
    wins = is_winner(row, base, sides, order_us, conversation, traits)
    if not wins:
        most, held = backing(
            row, own, twin_claim, is_negative, order_us, conversation, traits, support, roots, sides, after,
            span_of,
        )  # fmt: skip
        wins = 0 <= most < roots[own]
    if wins:
        give_way(
            row, own, twin_claim if twin_stands else -1, is_negative, order_us, from_us, traits,
            disputed, span_of, spans, after, before, sides, pairs, used,
        )  # fmt: skip
        return LINK_SETTLES if is_open else SUPERSEDE
    if is_open:
        return LINK
    pairs[0, used[PAIRS]] = row
    pairs[1, used[PAIRS]] = rival
    used[PAIRS] += 1
    if (traits[row] & APPROVED) == 0:
        if (traits[base] & CORRECTS) != 0 and (traits[row] & CORRECTS) == 0:
            return OUTRANKED
        if roots[own] < held:
            return OUTBACKED
    if disputed[rival] < 0:
        disputed[rival] = row
    disputed[own] = row
    return DISPUTE


def latest_against(rival: int, twin_claim: int, is_negative: bool, support: I64, sides: I64) -> int:
    """Return the row that last supported what stands against a row.  twin_claim: -1 unless it stands."""
    base = sides[LATEST] if not is_negative and sides[LATEST] >= 0 else support[rival]
    return max(base, support[twin_claim]) if twin_claim >= 0 else base


def give_way(
    row: int,
    own: int,
    twin_claim: int,
    is_negative: bool,
    order_us: I64,
    from_us: I64,
    traits: I16,
    disputed: I64,
    span_of: I64,
    spans: I64,
    after: I64,
    before: I64,
    sides: I64,
    pairs: I64,
    used: I64,
) -> None:
    """End every side but `own`, and the denial or assertion `twin_claim` where it stands."""
    if not is_negative:
        side = sides[FIRST]
        is_open = span_of[own] >= 0
        while side >= 0:
            following = after[side]
            if side != own:
                end_side(
                    row, side, order_us, from_us, traits, span_of, spans, disputed,
                    pairs, used,
                )  # fmt: skip
            side = following
        reset_sides(sides)
        if is_open:
            link(own, sides, after, before)
    if twin_claim >= 0:
        end_side(
            row, twin_claim, order_us, from_us, traits, span_of, spans, disputed,
            pairs, used,
        )  # fmt: skip
        if is_negative:
            unlink(twin_claim, sides, after, before)
    disputed[own] = -1


def fold_histories(
    group: I64,
    claim: I64,
    twin: I64,
    order_us: I64,
    conversation: I64,
    from_us: I64,
    until_us: I64,
    traits: I16,
    claim_count: int,
) -> tuple[I8, I64, I64, I64, I64, I64, I64, I64, I64]:
    """Decide every row of every history; rows come sorted by (group, order).

    group, claim: (n,) codes; a claim belongs to one group.  twin: (claims,) the claim with the
    same value and the other polarity, or -1.  order_us: (n,) order time, any number where
    KNOWN is off.  from_us, until_us: (n,) validity, OPEN_FROM / OPEN_UNTIL where unknown.
    traits: (n,) bits KNOWN, CORRECTS, ZONE_ASSUMED, NEGATIVE, APPROVED, AUTHORITY, IMPLIED, ROOT.

    Plain runs take lists in place of the arrays: their items cost a third.

    Returns the action per row (n,); pairs (row, claim) that gave way or, for DISPUTE and
    OUTRANKED and OUTBACKED, that stood against the row; the intervals in order of opening (claim, from,
    until); per claim the row that last supported it, the row that opened its dispute or -1, and
    its open interval or -1.  Linear in n.
    """
    n = len(group)
    action = np.zeros(n, np.int8)
    pairs = np.empty((2, 2 * n + 1), np.int64)  # row, claim
    spans = np.empty((3, n), np.int64)  # claim, from, until
    support, disputed, span_of, after, before, earlier = np.full((6, claim_count), -1, np.int64)
    sides, used, roots = np.zeros(5, np.int64), np.zeros(2, np.int64), np.zeros(claim_count, np.int64)
    for row in range(n):
        if row == 0 or group[row] != group[row - 1]:
            reset_sides(sides)
        own = claim[row]
        is_negative = (traits[row] & NEGATIVE) != 0
        drop_ended(from_us[row], sides, after, before, span_of, spans)
        if is_negative and side_ended(own, from_us[row], span_of, spans):
            span_of[own] = -1
        if not is_negative and is_apart(row, twin[own], until_us, sides, after, span_of, spans):
            action[row] = tell_earlier(row, own, from_us, until_us, support, earlier, spans, used)
            continue
        roots[own] += (traits[row] & ROOT) // ROOT
        action[row] = decide_row(
            row, own, twin[own], is_negative, order_us, conversation, from_us, traits, support,
            roots, disputed, span_of, spans, after, before, sides, pairs, used,
        )  # fmt: skip
        if action[row] != OUTRANKED and action[row] != OUTBACKED:
            support[own] = row
            stand(
                row, own, is_negative, from_us, until_us, traits, sides, after, before, span_of,
                spans, used,
            )  # fmt: skip
    disputed[span_of < 0] = -1
    met, told = pairs[:, : used[PAIRS]].copy(), spans[:, : used[SPANS]].copy()
    return action, met[0], met[1], told[0], told[1], told[2], support, disputed, span_of
