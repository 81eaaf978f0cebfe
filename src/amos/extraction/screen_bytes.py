"""Tell by bytes alone which names cannot hold a key: a few passes over a whole column, and most are out."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]
Places = npt.NDArray[np.int64]

_ALPHANUMERIC = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
SHORTEST_TOKEN = 16
"""Bytes of the shortest key that its prefix gives away: `sk-` and thirteen more."""
SHORTEST_RANDOM = 24
"""Bytes of the shortest key that is known by its look; it may have dots in it."""


def _members(octets: bytes) -> npt.NDArray[np.bool_]:
    is_member = np.zeros(256, np.bool_)
    is_member[list(octets)] = True
    return is_member


_IN_TOKEN = _members(_ALPHANUMERIC + b"_-")
_IN_RANDOM = _members(_ALPHANUMERIC + b"_-.")


def may_hold_keys(octets: Bytes, offsets: Places) -> npt.NDArray[np.bool_]:
    """Return which texts have a run long enough for a key, a URL, or the head of a key block.

    Text i is octets[offsets[i]:offsets[i + 1]].  Names too many, never too few.
    """
    first, last = int(offsets[0]), int(offsets[-1])
    octets, offsets = octets[first:last], offsets - first
    found = [
        _long_runs(octets, offsets, _IN_TOKEN, SHORTEST_TOKEN),
        _long_runs(octets, offsets, _IN_RANDOM, SHORTEST_RANDOM),
        _occurrences(octets, b"://"),
        _occurrences(octets, b"--BEGIN "),
    ]
    holds = np.zeros(len(offsets) - 1, np.bool_)
    holds[np.searchsorted(offsets, np.concatenate(found), side="right") - 1] = True
    return holds


def _long_runs(octets: Bytes, offsets: Places, is_member: npt.NDArray[np.bool_], shortest: int) -> Places:
    """Return where runs of at least `shortest` members begin; none goes from one text into the next."""
    others = np.flatnonzero(~is_member[octets])
    edges = np.concatenate([others, others + 1, offsets])
    edges.sort(kind="stable")
    return edges[:-1][np.diff(edges) >= shortest]


def _occurrences(octets: Bytes, wanted: bytes) -> Places:
    """Return where `wanted` begins, in one text or across two."""
    places = np.flatnonzero(octets[: max(len(octets) - len(wanted) + 1, 0)] == wanted[0])
    for at, octet in enumerate(wanted[1:], 1):
        places = places[octets[places + at] == octet]
    return places
