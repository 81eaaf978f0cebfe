"""Score one question over a view: BM25F with neighbours before saturation, in whole numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from amos.kernels.postings import SCALE, THOUSAND, exchanged, saturated, spread_arrays
from amos.retrieval.cues import Cue, CueTerm
from amos.retrieval.profile import MILLION, Bm25f
from amos.retrieval.rows import Array
from amos.retrieval.view import Places, View, rarity

I64 = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class WordScores:
    """Per place: own and full (with neighbours) word score in 1/SCALE, and what was found.

    covered: weight of required terms found in the place or its neighbours, millionths of the whole.
    held: the same for the place alone.  direct: share of required terms in the place itself,
    millionths.  reached: how many words of the question somebody else said next to the place.
    """

    own: I64
    full: I64
    covered: I64
    held: I64
    direct: I64
    reached: I64


def term_weight(view: View, term: CueTerm, bm25f: Bm25f) -> int:
    """Return what a full match of `term` is worth, in 1/SCALE."""
    frequency = max((view.frequency(value) for value in term.hashes), default=0)
    weight = rarity(view.total, frequency)
    if term.is_exact:
        return weight * bm25f.exact // THOUSAND
    return weight * bm25f.misspelt // THOUSAND if term.is_misspelt else weight


class _Sums:
    """Running sums over the terms of one question."""

    def __init__(self, count: int) -> None:
        self.own, self.full, self.covered, self.held, self.direct, self.reached = (
            np.zeros(count, np.int64) for _ in range(6)
        )
        self.last_word = np.full(count, -1, np.int64)
        self.weight = 0
        self.required = 0

    def add_score(self, own: I64, full: I64, weight: int, k1: int) -> None:
        """Add one term's saturated impacts."""
        hit, reached = np.flatnonzero(own), np.flatnonzero(full)
        self.own[hit] += saturated(own[hit], k1) * weight // SCALE
        self.full[reached] += saturated(full[reached], k1) * weight // SCALE

    def add_found(self, places: Places, own: I64, full: I64, weight: int, word: int) -> None:
        """Count one required term where it was found; terms of one word come one after another."""
        hit = np.flatnonzero(own)
        self.weight += weight
        self.required += 1
        self.direct[hit] += 1
        self.held[hit] += weight
        self.covered[np.flatnonzero(full)] += weight
        if places.session is not None:
            near = exchanged(hit, places.session, places.speaker)
            self.reached[near] += self.last_word[near] != word
            self.last_word[near] = word


def score_words(view: View, places: Places, cue: Cue, bm25f: Bm25f, excluded: dict[int, Array]) -> WordScores:
    """Return the word scores of every place for one question.

    excluded: term hash -> places in which it is a participant's name and no content.
    """
    sums = _Sums(places.count)
    for term in cue.terms:
        weight = term_weight(view, term, bm25f)
        own, full = term_impacts(places, term, bm25f, excluded)
        sums.add_score(own, full, weight, bm25f.k1)
        if term.is_required and not any(value in excluded for value in term.hashes):
            sums.add_found(places, own, full, weight, term.word)
    whole = max(sums.weight, 1)
    return WordScores(
        own=sums.own,
        full=sums.full,
        covered=sums.covered * MILLION // whole,
        held=sums.held * MILLION // whole,
        direct=sums.direct * MILLION // max(sums.required, 1),
        reached=sums.reached,
    )


def term_impacts(places: Places, term: CueTerm, bm25f: Bm25f, excluded: dict[int, Array]) -> tuple[I64, I64]:
    """Return what one term adds to each place before saturation: alone, and with neighbours."""
    own = np.zeros(places.count, np.int64)
    for value in term.hashes:
        _add_occurrences(own, places, value, bm25f)
        if value in excluded:
            own[excluded[value]] = 0
    if places.session is None:
        return own, own
    full = np.zeros(places.count, np.int64)
    slots = np.flatnonzero(own)
    spread_arrays(slots, own[slots], places.session, bm25f.near, bm25f.far, full)
    return own, full


def _add_occurrences(own: I64, places: Places, term: int, bm25f: Bm25f) -> None:
    found = places.documents.find(term)
    if found is None:
        return
    docs, counts = found
    seen = places.slot[docs] >= 0
    docs, impacts = docs[seen], (counts * places.impact[docs])[seen]
    is_caption = places.is_caption[docs]
    if not is_caption.any():
        own[places.slot[docs]] += impacts * bm25f.own // THOUSAND
        return
    share = np.where(is_caption, bm25f.caption, bm25f.own)
    np.add.at(own, places.slot[docs], impacts * share // THOUSAND)


def mapped(score: I64, half: int) -> I64:
    """Return x / (x + half) in millionths, x in 1/SCALE and half in thousandths."""
    turn = half * SCALE // THOUSAND
    result: I64 = score * MILLION // (score + turn)
    return result
