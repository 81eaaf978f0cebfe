"""How far some texts are met by every place in sight: the share of their words that stand there."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from amos.retrieval.cues import Cue
from amos.retrieval.placing import Places
from amos.retrieval.profile import MILLION

I64 = npt.NDArray[np.int64]
WHOLE_TEXT = 750_000
"""Least share of a place that holds all the words of one text."""


def share_held(places: Places, texts: Sequence[Cue]) -> I64:
    """Return (places,) the share of the words of all texts that stand there, in millionths.

    A place that holds every word of one of them has three quarters at least.
    """
    found, total = np.zeros(places.count, np.int64), 0
    has_whole = np.zeros(places.count, bool)
    for text in texts:
        terms = [term for term in text.terms if term.is_required]
        held = np.zeros(places.count, np.int64)
        for term in terms:
            held += _holds(places, term.hashes)
        total += len(terms)
        found += held
        has_whole |= (held == len(terms)) & (len(terms) > 0)
    share = found * MILLION // max(total, 1)
    return np.where(has_whole, np.maximum(share, WHOLE_TEXT), share)


def holds_any(places: Places, texts: Sequence[Cue]) -> npt.NDArray[np.bool_]:
    """Return (places,) whether a word of the texts stands there."""
    found = np.zeros(places.count, bool)
    for text in texts:
        for term in text.terms:
            if term.is_required:
                found |= _holds(places, term.hashes) > 0
    return found


def _holds(places: Places, hashes: Sequence[int]) -> I64:
    held = np.zeros(places.count, np.int64)
    for value in hashes:
        documents = places.documents.find(value)
        if documents is not None:
            slots = places.slot[documents[0]]
            held[slots[slots >= 0]] = 1
    return held
