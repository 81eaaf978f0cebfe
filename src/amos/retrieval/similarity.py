"""Cosine of a question and texts, over the weights of their words."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from amos.kernels.postings import SCALE
from amos.retrieval.cues import Cue
from amos.retrieval.placing import Places
from amos.retrieval.profile import MILLION

I64 = npt.NDArray[np.int64]
F64 = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class WordVectors:
    """The places of one kind as vectors of words: (1 + ln times) · idf, idf counted over those in sight.

    hashes: (t,) ascending terms in sight.  idf: (t,).  norm: (places,) length of each vector.
    """

    places: Places
    hashes: npt.NDArray[np.uint64]
    idf: F64
    norm: F64

    def similarity(self, cue: Cue) -> I64:
        """Return (places,) the cosine of each place and the question, in millionths."""
        total = np.zeros(self.places.count, np.float64)
        length = 0.0
        for term in cue.terms:
            weights = [(value, self._weight(value)) for value in term.hashes]
            weight = max((idf for _, idf in weights), default=0.0)
            length += weight * weight
            for value, idf in weights:
                found = self.places.documents.find(value) if idf else None
                if found is not None:
                    slot = self.places.slot[found[0]]
                    seen = slot >= 0
                    np.add.at(total, slot[seen], weight * idf * _raised(found[1][seen].astype(np.int64)))
        scale = self.norm * np.sqrt(length)
        cosine = np.divide(total, scale, out=np.zeros_like(total), where=scale > 0)
        return np.minimum(np.rint(cosine * MILLION), MILLION).astype(np.int64)

    def _weight(self, value: int) -> float:
        at = int(np.searchsorted(self.hashes, np.uint64(value)))
        is_known = at < len(self.hashes) and int(self.hashes[at]) == value
        return float(self.idf[at]) if is_known else 0.0


def _raised(times: npt.NDArray[np.int64]) -> F64:
    raised: F64 = np.rint((1 + np.log(np.maximum(times, 1))) * SCALE) / SCALE
    return raised


def word_vectors(places: Places) -> WordVectors:
    """Return the vectors of everything in sight; terms that only help (accents, parts) count as words."""
    terms, slots, times = [], [], []
    for postings, first in places.documents.parts:
        term = np.repeat(postings.hashes, np.diff(postings.starts))
        slot = places.slot[np.asarray(postings.docs).astype(np.int64) + first]
        seen = slot >= 0
        terms.append(term[seen])
        slots.append(slot[seen])
        times.append(np.asarray(postings.counts).astype(np.int64)[seen])
    term, slot = np.concatenate(terms), np.concatenate(slots)
    hashes, number = np.unique(term, return_inverse=True)
    counted = places.is_counted[slot]
    frequency = np.bincount(number[counted], minlength=len(hashes))
    idf = np.rint((np.log((1 + places.counted) / (1 + frequency)) + 1) * SCALE) / SCALE
    weight = _raised(np.concatenate(times)) * idf[number]
    norm = np.sqrt(np.bincount(slot, weights=weight * weight, minlength=places.count))
    return WordVectors(places=places, hashes=hashes, idf=idf, norm=norm)
