"""Score one question over a view: BM25F with neighbours before saturation, in whole numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from amos.kernels.postings import SCALE, THOUSAND, exchanged, saturated, spread
from amos.retrieval.cues import Cue, CueTerm
from amos.retrieval.profile import MILLION, Bm25f
from amos.retrieval.view import Places, View, rarity

I64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class WordScores:
    """Per place reached: own and full (with neighbours) word score in 1/SCALE, and what was found.

    place: ascending.  covered: weight of required terms found in the place or its neighbours,
    millionths of the whole.  held: the same for the place alone.  direct: share of required terms in
    the place itself, millionths.  exchanges: how many words of the question somebody else said next
    to the place.
    """

    place: I64
    own: I64
    full: I64
    covered: I64
    held: I64
    direct: I64
    exchanges: I64


def term_weight(view: View, term: CueTerm, bm25f: Bm25f) -> int:
    """Return what a full match of `term` is worth, in 1/SCALE."""
    frequency = max((view.frequency(value) for value in term.hashes), default=0)
    weight = rarity(view.total, frequency)
    if term.is_exact:
        return weight * bm25f.exact // THOUSAND
    return weight * bm25f.misspelt // THOUSAND if term.is_misspelt else weight


class TermImpacts(NamedTuple):
    """Where one term is, and where it is felt: places in no order, impacts before saturation."""

    slots: I64
    own: I64
    reached: I64
    full: I64


class _Sums:
    """Running sums over the terms of one question."""

    def __init__(self, count: int) -> None:
        self.own, self.full, self.covered, self.held, self.direct, self.exchanges = (
            np.zeros(count, np.int64) for _ in range(6)
        )
        self.last_word = np.zeros(count, np.int64)
        self.touched: list[I64] = []
        self.weight = 0
        self.required = 0

    def add_score(self, term: TermImpacts, weight: int, k1: int) -> None:
        """Add one term's saturated impacts."""
        self.own[term.slots] += saturated(term.own, k1) * weight // SCALE
        self.full[term.reached] += saturated(term.full, k1) * weight // SCALE

    def add_found(self, places: Places, term: TermImpacts, weight: int, word: int) -> None:
        """Count one required term where it was found; terms of one word come one after another."""
        self.touched.append(term.reached)
        self.weight += weight
        self.required += 1
        self.direct[term.slots] += 1
        self.held[term.slots] += weight
        self.covered[term.reached] += weight
        if places.session is not None:
            near = exchanged(term.slots, places.session, places.speaker)
            self.exchanges[near] += self.last_word[near] != word + 1
            self.last_word[near] = word + 1

    def places(self) -> I64:
        """Return every place that a required term reaches, ascending."""
        is_touched = np.zeros(len(self.own), bool)
        for places in self.touched:
            is_touched[places] = True
        return np.flatnonzero(is_touched)


def score_words(view: View, places: Places, cue: Cue, bm25f: Bm25f, excluded: dict[int, Mask]) -> WordScores:
    """Return the word scores of the places that one question reaches.

    excluded: term hash -> (n,) places in which it is a participant's name and no content.
    """
    sums = _Sums(places.count)
    for term in cue.terms:
        weight = term_weight(view, term, bm25f)
        impacts = term_impacts(places, term, bm25f, excluded)
        sums.add_score(impacts, weight, bm25f.k1)
        if term.is_required and not any(value in excluded for value in term.hashes):
            sums.add_found(places, impacts, weight, term.word)
    place = sums.places()
    whole = max(sums.weight, 1)
    return WordScores(
        place=place,
        own=sums.own[place],
        full=sums.full[place],
        covered=sums.covered[place] * MILLION // whole,
        held=sums.held[place] * MILLION // whole,
        direct=sums.direct[place] * MILLION // max(sums.required, 1),
        exchanges=sums.exchanges[place],
    )


def term_impacts(places: Places, term: CueTerm, bm25f: Bm25f, excluded: dict[int, Mask]) -> TermImpacts:
    """Return what one term adds to each place before saturation: alone, and with neighbours."""
    slots, own = _occurrences(places, term, bm25f, excluded)
    if places.session is None:
        return TermImpacts(slots, own, slots, own)
    reached, full = spread(slots, own, places.session, bm25f.near, bm25f.far)
    return TermImpacts(slots, own, reached, full)


def _occurrences(places: Places, term: CueTerm, bm25f: Bm25f, excluded: dict[int, Mask]) -> tuple[I64, I64]:
    """Return the distinct places that hold one of the term's alternatives, and their impacts."""
    slots, impacts = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for value in term.hashes:
        found = places.documents.find(value)
        if found is None:
            continue
        docs, counts = found
        at = places.slot[docs]
        seen = at >= 0
        if value in excluded:
            seen[seen] = ~excluded[value][at[seen]]
        docs, at = docs[seen], at[seen]
        share = np.where(places.is_caption[docs], bm25f.caption, bm25f.own)
        slots.append(at)
        impacts.append(counts[seen] * places.impact[docs] * share // THOUSAND)
    every, amounts = np.concatenate(slots), np.concatenate(impacts)
    if len(term.hashes) == 1 and not places.has_captions:
        return every, amounts
    distinct, where = np.unique(every, return_inverse=True)
    total = np.zeros(len(distinct), np.int64)
    np.add.at(total, where, amounts)
    return distinct, total


def mapped(score: I64, half: int) -> I64:
    """Return x / (x + half) in millionths, x in 1/SCALE and half in thousandths."""
    turn = half * SCALE // THOUSAND
    result: I64 = score * MILLION // (score + turn)
    return result
