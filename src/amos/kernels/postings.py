"""Add one term's occurrences to its passages and their neighbours, in whole numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

I64 = npt.NDArray[np.int64]

SCALE = 4096
"""One occurrence in a passage of mean length."""
THOUSAND = 1000


def spread_loop(slots: I64, impacts: I64, session: I64, near: int, far: int, full: I64) -> None:
    """Add the impacts of one term to `full`, weakened for the neighbours of the same session.

    slots: (k,) distinct places.  impacts: (k,) >= 0.  session: (n,) equal for one session's run.
    near, far: thousandths for distance one and two.  Source of `spread_arrays`' results.
    """
    n = session.shape[0]
    for i in range(slots.shape[0]):
        at = slots[i]
        full[at] += impacts[i]
        for distance in range(1, 3):
            share = near if distance == 1 else far
            part = impacts[i] * share // THOUSAND
            if at + distance < n and session[at + distance] == session[at]:
                full[at + distance] += part
            if at >= distance and session[at - distance] == session[at]:
                full[at - distance] += part


def spread_arrays(slots: I64, impacts: I64, session: I64, near: int, far: int, full: I64) -> None:
    """Do what `spread_loop` does, in whole-array steps: faster where nothing is compiled."""
    n = session.shape[0]
    full[slots] += impacts
    home = session[slots]
    for distance, share in ((1, near), (2, far)):
        part = impacts * share // THOUSAND
        for shift in (distance, -distance):
            places = slots + shift
            inside = np.flatnonzero((places >= 0) & (places < n))
            inside = inside[session[places[inside]] == home[inside]]
            full[places[inside]] += part[inside]


def exchanged(slots: I64, session: I64, speaker: I64) -> I64:
    """Return the places within two of `slots` in the same session that somebody else speaks."""
    found = []
    for shift in (-2, -1, 1, 2):
        places = slots + shift
        inside = np.flatnonzero((places >= 0) & (places < session.shape[0]))
        near, at = places[inside], slots[inside]
        found.append(near[(session[near] == session[at]) & (speaker[near] != speaker[at])])
    return np.unique(np.concatenate(found))


def saturated(total: I64, k1: int) -> I64:
    """Return (k1 + 1) · total / (total + k1) in units of SCALE; k1 in thousandths."""
    half = k1 * SCALE // THOUSAND
    result: Any = total * (half + SCALE) // (total + half)
    return result
