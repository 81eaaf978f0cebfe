"""Score one question over a view: BM25F with neighbours before saturation, in whole numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from amos.kernels.postings import SCALE, THOUSAND, exchanged, saturated, spread
from amos.retrieval.cues import Cue, CueTerm
from amos.retrieval.placing import Places, rarity
from amos.retrieval.profile import MILLION, Bm25f
from amos.retrieval.view import View

I64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


_FEW_TURNS = 1
"""Other turns of a session with which it says half of what a long one does."""


@dataclass(frozen=True, kw_only=True)
class WordScores:
    """Per place reached: what the words bring, as shares in millionths, and what was found.

    place: ascending.  own, full: the place alone, and with neighbours.  session: its session as one
    document.  answered: the place before, where somebody else asks there.
    covered: weight of required terms found in the place or its neighbours, of the whole.  held: the same
    for the place alone.  direct: share of required terms in the place itself.  exchanges: how many words
    of the question somebody else said next to the place.
    asked: how many words the question has.
    """

    place: I64
    own: I64
    full: I64
    session: I64
    answered: I64
    covered: I64
    held: I64
    direct: I64
    exchanges: I64
    asked: int


def term_weight(view: View, term: CueTerm, bm25f: Bm25f) -> int:
    """Return what a full match of `term` is worth, in 1/SCALE."""
    frequency = max((view.frequency(value) for value in term.hashes), default=0)
    weight = rarity(view.total, frequency)
    if term.is_exact:
        return weight * bm25f.exact // THOUSAND
    return weight * bm25f.misspelt // THOUSAND if term.is_misspelt else weight


class TermImpacts(NamedTuple):
    """Where one term is, and where it is felt: places in no order, impacts before saturation.

    times: how often it is there, in thousandths.
    """

    slots: I64
    own: I64
    times: I64
    reached: I64
    full: I64


class _Sums:
    """Running sums over the terms of one question."""

    def __init__(self, places: Places, bm25f: Bm25f) -> None:
        self.places_seen, self.bm25f = places, bm25f
        self.own, self.full, self.covered, self.held, self.direct, self.exchanges = (
            np.zeros(places.count, np.int64) for _ in range(6)
        )
        self.last_word = np.zeros(places.count, np.int64)
        self.words: set[int] = set()
        self.session = np.zeros(len(places.session_length) if places.session is not None else 0, np.int64)
        self.touched: list[I64] = []
        self.weight = 0
        self.required = 0
        self.found_weight = 0
        self.found = 0

    def add_score(self, term: TermImpacts, weight: int) -> None:
        """Add one term's saturated impacts."""
        k1 = self.bm25f.k1
        self.own[term.slots] += saturated(term.own, k1) * weight // SCALE
        self.full[term.reached] += saturated(term.full, k1) * weight // SCALE

    def add_found(self, term: TermImpacts, weight: int, word: int) -> None:
        """Count one required term where it was found; terms of one word come one after another."""
        places = self.places_seen
        self.touched.append(term.reached)
        self.weight += weight
        self.required += 1
        self.direct[term.slots] += 1
        self.held[term.slots] += weight
        self.covered[term.reached] += weight
        self.words.add(word)
        if len(term.slots):
            self.found += 1
            self.found_weight += weight
        if places.session is not None:
            near = exchanged(term.slots, places.session, places.speaker)
            self.exchanges[near] += self.last_word[near] != word + 1
            self.last_word[near] = word + 1
            self._add_sessions(term)

    def _add_sessions(self, term: TermImpacts) -> None:
        """Add the term to the sessions that hold it, each as one document."""
        places, bm25f = self.places_seen, self.bm25f
        numbers, where = np.unique(places.session_number[term.slots], return_inverse=True)
        times = np.zeros(len(numbers), np.int64)
        np.add.at(times, where, term.times)
        weight = rarity(len(self.session), len(numbers))
        total = times * places.session_impact(bm25f.session_b)[numbers] // THOUSAND
        self.session[numbers] += saturated(total, bm25f.session_k1) * weight // SCALE

    def places(self) -> I64:
        """Return every place that a required term reaches, ascending."""
        is_touched = np.zeros(len(self.own), bool)
        for places in self.touched:
            is_touched[places] = True
        return np.flatnonzero(is_touched)

    def share(self, score: I64, k1: int) -> I64:
        """Return the scores as shares of what the question could bring at most, in millionths."""
        if self.bm25f.half:
            return mapped(score, self.bm25f.half)
        most = self.found_weight * (THOUSAND + k1) // THOUSAND
        most = most * min(self.found, self.bm25f.words) // max(self.found, 1)
        return np.minimum(score * MILLION // max(most, 1), MILLION)

    def answered(self, place: I64) -> I64:
        """Return the word score of the place before, where somebody else asks there."""
        result = np.zeros(len(place), np.int64)
        after = self.places_seen.is_after_question[place]
        result[after] = self.own[place[after] - 1]
        return result

    def sessions_of(self, place: I64) -> I64:
        """Return the score of each place's session; the fewer turns it has, the less it says of them."""
        places = self.places_seen
        if places.session is None:
            return np.zeros(len(place), np.int64)
        number = places.session_number[place]
        others = places.session_turns[number] - 1
        return self.session[number] * others // (others + _FEW_TURNS)


def score_words(view: View, places: Places, cue: Cue, bm25f: Bm25f, excluded: dict[int, Mask]) -> WordScores:
    """Return the word scores of the places that one question reaches.

    excluded: term hash -> (n,) places in which it is a participant's name and no content.
    """
    sums = _Sums(places, bm25f)
    for term in cue.terms:
        weight = term_weight(view, term, bm25f)
        found = term_impacts(places, term, bm25f, excluded)
        sums.add_score(found, weight)
        if term.is_required and not any(value in excluded for value in term.hashes):
            sums.add_found(found, weight, term.word)
    place = sums.places()
    whole = max(sums.weight, 1)
    return WordScores(
        place=place,
        own=sums.share(sums.own[place], bm25f.k1),
        full=sums.share(sums.full[place], bm25f.k1),
        session=sums.share(sums.sessions_of(place), bm25f.session_k1),
        answered=sums.share(sums.answered(place), bm25f.k1),
        covered=sums.covered[place] * MILLION // whole,
        held=sums.held[place] * MILLION // whole,
        direct=sums.direct[place] * MILLION // max(sums.required, 1),
        exchanges=sums.exchanges[place],
        asked=len(sums.words),
    )


def term_impacts(places: Places, term: CueTerm, bm25f: Bm25f, excluded: dict[int, Mask]) -> TermImpacts:
    """Return what one term adds to each place before saturation: alone, and with neighbours."""
    slots, own, times = _occurrences(places, term, bm25f, excluded)
    if places.session is None:
        return TermImpacts(slots, own, times, slots, own)
    reached, full = spread(slots, own, places.session, bm25f.near, bm25f.far)
    return TermImpacts(slots, own, times, reached, full)


def _occurrences(
    places: Places, term: CueTerm, bm25f: Bm25f, excluded: dict[int, Mask]
) -> tuple[I64, I64, I64]:
    """Return the distinct places that hold one of the term's alternatives, their impacts and how often."""
    slots, amounts, times = ([np.zeros(0, np.int64)] for _ in range(3))
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
        often = counts[seen].astype(np.int64) * np.where(places.is_caption[docs], bm25f.caption, bm25f.own)
        slots.append(at)
        amounts.append(often * places.impact[docs] // THOUSAND)
        times.append(often)
    every, amount, often = np.concatenate(slots), np.concatenate(amounts), np.concatenate(times)
    if len(term.hashes) == 1 and not places.has_captions:
        return every, amount, often
    distinct, where = np.unique(every, return_inverse=True)
    total, often_there = np.zeros(len(distinct), np.int64), np.zeros(len(distinct), np.int64)
    np.add.at(total, where, amount)
    np.add.at(often_there, where, often)
    return distinct, total, often_there


def mapped(score: I64, half: int) -> I64:
    """Return x / (x + half) in millionths, x in 1/SCALE and half in thousandths."""
    turn = half * SCALE // THOUSAND
    result: I64 = score * MILLION // (score + turn)
    return result
