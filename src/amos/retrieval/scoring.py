"""Score one question over a view: BM25F with neighbours before saturation, in whole numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from amos.kernels.postings import SCALE, THOUSAND, saturated, spread_arrays
from amos.retrieval.cues import Cue, CueTerm
from amos.retrieval.profile import MILLION, Bm25f
from amos.retrieval.rows import Array
from amos.retrieval.view import Places, View, rarity

I64 = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class WordScores:
    """Per place: own and full (with neighbours) word score in 1/SCALE, coverage and direct share.

    covered: weight of required terms found in the place or its neighbours, millionths of the whole.
    direct: share of required terms in the place itself, millionths.  reached: a required term counts.
    """

    own: I64
    full: I64
    covered: I64
    direct: I64


def term_weight(view: View, term: CueTerm, bm25f: Bm25f) -> int:
    """Return what a full match of `term` is worth, in 1/SCALE."""
    frequency = max((view.frequency(value) for value in term.hashes), default=0)
    weight = rarity(view.total, frequency)
    if term.is_exact:
        return weight * bm25f.exact // THOUSAND
    return weight * bm25f.misspelt // THOUSAND if term.is_misspelt else weight


def score_words(view: View, places: Places, cue: Cue, bm25f: Bm25f, excluded: dict[int, Array]) -> WordScores:
    """Return the word scores of every place for one question.

    excluded: term hash -> places in which it is a participant's name and no content.
    """
    own_total, full_total, covered = (np.zeros(places.count, np.int64) for _ in range(3))
    direct = np.zeros(places.count, np.int64)
    weight_sum, required = 0, 0
    for term in cue.terms:
        weight = term_weight(view, term, bm25f)
        is_name = any(value in excluded for value in term.hashes)
        if term.is_required and not is_name:
            weight_sum += weight
            required += 1
        own, full = term_impacts(places, term, bm25f, excluded)
        hit, reached = np.flatnonzero(own), np.flatnonzero(full)
        own_total[hit] += saturated(own[hit], bm25f.k1) * weight // SCALE
        full_total[reached] += saturated(full[reached], bm25f.k1) * weight // SCALE
        if term.is_required and not is_name:
            direct[hit] += 1
            covered[reached] += weight
    return WordScores(
        own=own_total,
        full=full_total,
        covered=covered * MILLION // max(weight_sum, 1),
        direct=direct * MILLION // max(required, 1),
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
