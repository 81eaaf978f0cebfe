"""Add one term's occurrences to its passages and their neighbours, in whole numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

I64 = npt.NDArray[np.int64]

SCALE = 4096
"""One occurrence in a passage of mean length."""
THOUSAND = 1000


def spread(slots: I64, impacts: I64, session: I64, near: int, far: int) -> tuple[I64, I64]:
    """Return every place that one term reaches, and what it adds there before saturation.

    slots: (k,) distinct places that hold the term.  impacts: (k,) >= 0.  session: (n,) equal along one
    session's run.  near, far: thousandths that places at distance one and two receive.
    """
    total = np.zeros(session.shape[0], np.int64)
    total[slots] = impacts
    is_reached = np.zeros(session.shape[0], np.bool_)
    is_reached[slots] = True
    reached = [slots]
    for shift, share in ((-1, near), (1, near), (-2, far), (2, far)):
        at, places = _neighbours(slots, session, shift)
        total[places] += impacts[at] * share // THOUSAND
        fresh = places[~is_reached[places]]
        is_reached[fresh] = True
        reached.append(fresh)
    every = np.concatenate(reached)
    return every, total[every]


def _neighbours(slots: I64, session: I64, shift: int) -> tuple[I64, I64]:
    """Return which slots have a place `shift` further in their session, and those places."""
    places = slots + shift
    at = np.flatnonzero((places >= 0) & (places < session.shape[0]))
    at = at[session[places[at]] == session[slots[at]]]
    return at, places[at]


def exchanged(slots: I64, session: I64, speaker: I64) -> I64:
    """Return the places within two of `slots` in the same session that somebody else speaks."""
    is_found = np.zeros(session.shape[0], np.bool_)
    found = []
    for shift in (-2, -1, 1, 2):
        at, places = _neighbours(slots, session, shift)
        places = places[(speaker[places] != speaker[slots[at]]) & ~is_found[places]]
        is_found[places] = True
        found.append(places)
    return np.concatenate(found)


def saturated(total: I64, k1: int) -> I64:
    """Return (k1 + 1) · total / (total + k1) in units of SCALE; k1 in thousandths."""
    half = k1 * SCALE // THOUSAND
    result: Any = total * (half + SCALE) // (total + half)
    return result
