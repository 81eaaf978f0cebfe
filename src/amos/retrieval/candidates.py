"""Which places answer a question at all, with the components of their scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import numpy.typing as npt

from amos.retrieval.cues import Cue
from amos.retrieval.mentions import Mention
from amos.retrieval.profile import MILLION, Profile
from amos.retrieval.rows import TRUSTS, UNKNOWN_US, Array
from amos.retrieval.scoring import WordScores, mapped, score_words
from amos.retrieval.view import CONTRADICTED, Places, View
from amos.schemas.ranked import COMPONENTS

I64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

(DIRECT_CUE_MATCH, WORDS, NEIGHBOURS, HOLDER_MATCH, RECENCY, CONFIDENCE, SUPERSEDED, DISPUTED) = range(
    len(COMPONENTS)
)
"""Columns of `Scored.components`."""

DAY_US = 86_400_000_000
RECENCY_DAYS = 30
"""Age at which recency is one half."""


@dataclass(frozen=True, kw_only=True)
class Scored:
    """Candidates of one kind: `place` ascending, components (candidates, 8) and score beside them.

    held: millionths of the question's weight in the candidate itself.  below: how many missed the floor.
    """

    place: I64
    row: I64
    components: I64
    score: I64
    held: I64
    below: int


def score_turns(view: View, cues: Sequence[Cue], mentions: list[Mention], profile: Profile) -> Scored:
    """Return the turns that answer some cue, passages apart."""
    words = [
        score_words(view, view.turns, cue, profile.bm25f, mention.turn_names(view))
        for cue, mention in zip(cues, mentions, strict=True)
    ]
    matched = [partial(mention.turn_match, view) for mention in mentions]
    scored = _candidates(view.turns, words, mentions, matched, profile)
    rows, row = view.corpus.turns.rows, scored.row
    trust = [getattr(profile.trust, name) for name in TRUSTS] + [0] * (256 - len(TRUSTS))
    scored.components[:, RECENCY] = _recency(rows["event_us"][row], view.wanted.instant_us)
    scored.components[:, CONFIDENCE] = np.array(trust, np.int64)[rows["trust"][row]]
    scored.components[:, SUPERSEDED] = view.stale_turn[row] * MILLION
    return _with_score(scored, profile)


def score_atoms(view: View, cues: Sequence[Cue], mentions: list[Mention], profile: Profile) -> Scored:
    """Return the claims that answer some cue, those that will be omitted included."""
    words = [
        score_words(view, view.atoms, cue, profile.bm25f, mention.atom_names(view))
        for cue, mention in zip(cues, mentions, strict=True)
    ]
    matched = [partial(mention.atom_match, view) for mention in mentions]
    scored = _candidates(view.atoms, words, mentions, matched, profile)
    rows, row = view.corpus.atoms.rows, scored.row
    scored.components[:, RECENCY] = _recency(rows["event_us"][row], view.wanted.instant_us)
    scored.components[:, CONFIDENCE] = rows["confidence"][row]
    scored.components[:, SUPERSEDED] = ~view.holding[row] * MILLION
    scored.components[:, DISPUTED] = (rows["health"][row] == np.uint64(CONTRADICTED)) * MILLION
    return _with_score(scored, profile)


def _recency(event_us: Array, instant_us: int) -> I64:
    days = np.maximum(instant_us - np.where(event_us == UNKNOWN_US, instant_us, event_us), 0) // DAY_US
    share = MILLION * RECENCY_DAYS // (RECENCY_DAYS + days)
    result: I64 = np.where(event_us == UNKNOWN_US, 0, share)
    return result


def _candidates(
    places: Places,
    words: list[WordScores],
    mentions: list[Mention],
    matched: Sequence[Callable[[Array], Mask]],
    profile: Profile,
) -> Scored:
    """Return the places that pass the floor for some cue, with the components that words decide.

    matched: per cue, which rows are by or about somebody it names.
    """
    passing = [score.place[_passes(score, profile)] for score in words]
    for mention, names in zip(mentions, matched, strict=True):
        if mention.is_name_alone:
            passing.append(np.flatnonzero(names(places.row)))
    place = _union(passing, places.count)
    touched = _union([score.place[score.direct > 0] for score in words], places.count)
    row = places.row[place]
    components = np.zeros((len(place), len(COMPONENTS)), np.int64)
    half = profile.bm25f.half
    components[:, DIRECT_CUE_MATCH] = _best(words, place, "direct")
    components[:, WORDS] = mapped(_best(words, place, "own"), half)
    components[:, NEIGHBOURS] = mapped(_best(words, place, "full"), half) - components[:, WORDS]
    components[:, HOLDER_MATCH] = np.logical_or.reduce([names(row) for names in matched]) * MILLION
    return Scored(
        place=place,
        row=row,
        components=components,
        score=np.zeros(0, np.int64),
        held=_best(words, place, "held"),
        below=int((position_of(place, touched) < 0).sum()),
    )


def _union(parts: Sequence[I64], count: int) -> I64:
    """Return the places below `count` that occur in any part, ascending."""
    if len(parts) == 1:
        return parts[0]
    is_in = np.zeros(count, bool)
    for part in parts:
        is_in[part] = True
    return np.flatnonzero(is_in)


def _passes(score: WordScores, profile: Profile) -> Mask:
    is_close = (score.direct > 0) | (score.exchanges >= profile.floor.neighbour_words)
    is_enough = score.covered >= max(profile.floor.coverage, 1)
    return is_close & (is_enough | (score.direct >= profile.floor.words))


def _best(words: list[WordScores], place: I64, name: str) -> I64:
    """Return the greatest value over the cues at each place, 0 where none reaches it."""
    best = np.zeros(len(place), np.int64)
    for score in words:
        at = position_of(score.place, place)
        values = getattr(score, name)
        best = np.maximum(best, np.where(at >= 0, values[at], 0)) if len(values) else best
    return best


def score_of(components: I64, profile: Profile) -> I64:
    """Return the score of each row of (n, 8) components: the clamped weighted sum, in millionths."""
    weights = np.array([getattr(profile.weights, name) for name in COMPONENTS], np.int64)
    result: I64 = np.clip((components * weights).sum(axis=1) // MILLION, 0, MILLION)
    return result


def _with_score(scored: Scored, profile: Profile) -> Scored:
    return replace(scored, score=score_of(scored.components, profile))


def keep(scored: Scored, chosen: Array) -> Scored:
    """Return the chosen candidates, by mask or by position."""
    return Scored(
        place=scored.place[chosen],
        row=scored.row[chosen],
        components=scored.components[chosen],
        score=scored.score[chosen],
        held=scored.held[chosen],
        below=scored.below,
    )


def position_of(rows: I64, wanted: Array) -> I64:
    """Return the position of each wanted row in ascending `rows`, -1 where it is absent."""
    if not len(rows):
        return np.full(len(wanted), -1, np.int64)
    at = np.minimum(np.searchsorted(rows, wanted), len(rows) - 1)
    return np.where(rows[at] == wanted, at, -1)
