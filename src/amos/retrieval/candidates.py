"""Which places answer a question at all, with the components of their scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from amos.kernels.postings import SCALE
from amos.retrieval.cues import Cue
from amos.retrieval.dates import date_closeness
from amos.retrieval.marks import CUES, ENDS_AS_QUESTION, REPLIES, cue_bit, kind_bit
from amos.retrieval.mentions import Mention
from amos.retrieval.placing import Places, rarity
from amos.retrieval.profile import MILLION, Profile, Recency
from amos.retrieval.rows import TRUSTS, UNKNOWN_US, Array
from amos.retrieval.scoring import WordScores, score_words
from amos.retrieval.view import CONTRADICTED, View
from amos.schemas.ranked import COMPONENTS, SIGNALS

I64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

COLUMN = {name: number for number, name in enumerate(COMPONENTS)}
"""Columns of `Scored.components`."""
DIRECT_CUE_MATCH, WORDS, NEIGHBOURS, HOLDER_MATCH, RECENCY, CONFIDENCE, SUPERSEDED, DISPUTED = range(8)
STANDING = [RECENCY, CONFIDENCE, SUPERSEDED, DISPUTED]
"""Components that do not depend on the question."""
LOOKS = [COLUMN[name] for name in ("statement", "news", "length")]
"""Components that the text alone decides."""
CUE_COLUMNS = tuple(COLUMN[f"cue_{name}"] for name in CUES)

DAY_US = 86_400_000_000
_KIND_HALF = 3
"""Rarity of a kind of thing that counts one half."""
_LENGTH_HALF = 6
"""Words of a text that count one half."""


@dataclass(frozen=True, kw_only=True)
class Scored:
    """Candidates of one kind: `place` ascending, components (candidates, n) and score beside them.

    held: millionths of the question's weight in the candidate itself.  below: how many missed the floor.
    signals: (candidates, SIGNALS), None where none was asked for.
    """

    place: I64
    row: I64
    components: I64
    score: I64
    held: I64
    below: int
    signals: I64 | None = None


def score_turns(view: View, cues: Sequence[Cue], mentions: list[Mention], profile: Profile) -> Scored:
    """Return the turns that answer some cue, passages apart."""
    words = [
        score_words(view, view.turns, cue, profile.bm25f, mention.turn_names(view))
        for cue, mention in zip(cues, mentions, strict=True)
    ]
    matched = [mention.turn_match(view) for mention in mentions]
    return turns_as_they_stand(
        view, cues, _candidates(view.turns, words, mentions, matched, profile), profile
    )


def turns_as_they_stand(view: View, cues: Sequence[Cue], scored: Scored, profile: Profile) -> Scored:
    """Return candidates with the components that words do not decide, and their scores."""
    scored.components[:, COLUMN["date_match"]] = dates_met(
        cues, view.corpus.turns.rows["event_us"][scored.row]
    )
    scored.components[:, STANDING] = turn_standing(view, scored.row, profile)
    return _with_score(scored, profile)


def score_atoms(view: View, cues: Sequence[Cue], mentions: list[Mention], profile: Profile) -> Scored:
    """Return the claims that answer some cue, those that will be omitted included."""
    words = [
        score_words(view, view.atoms, cue, profile.bm25f, mention.atom_names(view))
        for cue, mention in zip(cues, mentions, strict=True)
    ]
    matched = [mention.atom_match(view) for mention in mentions]
    return atoms_as_they_stand(
        view, cues, _candidates(view.atoms, words, mentions, matched, profile), profile
    )


def atoms_as_they_stand(view: View, cues: Sequence[Cue], scored: Scored, profile: Profile) -> Scored:
    """Return candidates with the components that words do not decide, and their scores."""
    scored.components[:, COLUMN["date_match"]] = dates_met(
        cues, view.corpus.atoms.rows["event_us"][scored.row]
    )
    scored.components[:, STANDING] = atom_standing(view, scored.row, profile)
    return _with_score(scored, profile)


def turn_standing(view: View, row: Array, profile: Profile) -> I64:
    """Return what turn rows bring whatever is asked: columns STANDING, in millionths."""
    rows = view.corpus.turns.rows
    trust = [getattr(profile.trust, name) for name in TRUSTS] + [0] * (256 - len(TRUSTS))
    columns = (
        _recency(rows["event_us"][row], view.wanted.instant_us, profile.recency),
        np.array(trust, np.int64)[rows["trust"][row]],
        view.stale_turn[row] * MILLION,
        np.zeros(len(row), np.int64),
    )
    return np.stack(columns, axis=1)


def atom_standing(view: View, row: Array, profile: Profile) -> I64:
    """Return what atom rows bring whatever is asked: columns STANDING, in millionths."""
    rows = view.corpus.atoms.rows
    columns = (
        _recency(rows["event_us"][row], view.wanted.instant_us, profile.recency),
        rows["confidence"][row].astype(np.int64),
        ~view.holding[row] * MILLION,
        (rows["health"][row] == np.uint64(CONTRADICTED)) * MILLION,
    )
    return np.stack(columns, axis=1)


def dates_met(cues: Sequence[Cue], event_us: Array) -> I64:
    """Return how close events lie to the dates that the questions name, in millionths."""
    return date_closeness(event_us, tuple(one for cue in cues for one in cue.dates))


def _recency(event_us: Array, instant_us: int, rule: Recency) -> I64:
    age = np.maximum(instant_us - np.where(event_us == UNKNOWN_US, instant_us, event_us), 0)
    if rule.is_linear:
        whole = rule.days * DAY_US
        share = MILLION - np.minimum(age, whole) // (whole // MILLION)
    else:
        share = MILLION * rule.days // (rule.days + age // DAY_US)
    result: I64 = np.where(event_us == UNKNOWN_US, 0, share)
    return result


def _candidates(
    places: Places,
    words: list[WordScores],
    mentions: list[Mention],
    matched: Sequence[Mask],
    profile: Profile,
) -> Scored:
    """Return the places that pass the floor for some cue, with the components that words decide.

    matched: per cue, which places are by or about somebody it names.
    """
    passing = [score.place[_passes(places, score, profile)] for score in words]
    for mention, names in zip(mentions, matched, strict=True):
        if mention.is_name_alone:
            passing.append(np.flatnonzero(names))
    place = _union(passing, places.count)
    touched = _union([score.place[score.direct > 0] for score in words], places.count)
    row = places.row[place]
    components = np.zeros((len(place), len(COMPONENTS)), np.int64)
    components[:, DIRECT_CUE_MATCH] = _best(words, place, "direct")
    components[:, WORDS] = _best(words, place, "own")
    components[:, NEIGHBOURS] = np.maximum(_best(words, place, "full") - components[:, WORDS], 0)
    components[:, HOLDER_MATCH] = np.logical_or.reduce([names[place] for names in matched]) * MILLION
    components[:, COLUMN["session_match"]] = _best(words, place, "session")
    components[:, COLUMN["answers_question"]] = _best(words, place, "answered")
    _add_marks(components, places, place, [mention.cue for mention in mentions])
    return Scored(
        place=place,
        row=row,
        components=components,
        score=np.zeros(0, np.int64),
        held=_best(words, place, "held"),
        below=int((position_of(place, touched) < 0).sum()),
    )


def _add_marks(components: I64, places: Places, place: I64, cues: Sequence[Cue]) -> None:
    """Fill in what the texts look like, and which of it the questions ask for."""
    marks = places.marks[place]
    for number in sorted({number for cue in cues for number in cue.asked_cues}):
        components[:, CUE_COLUMNS[number]] = (marks & np.uint64(cue_bit(number)) > 0) * MILLION
    kinds = components[:, COLUMN["kind_match"]]
    for number in sorted({number for cue in cues for number in cue.asked_kinds}):
        share = kind_share(places, number)
        np.maximum(kinds, (marks & np.uint64(kind_bit(number)) > 0) * share, out=kinds)
    components[:, LOOKS] = looks(places, place)


def kind_share(places: Places, number: int) -> int:
    """Return what it is worth to speak of one of KINDS: the rarer, the more."""
    weight = rarity(places.counted, places.kind_frequency[number])
    return weight * MILLION // (weight + _KIND_HALF * SCALE)


def looks(places: Places, place: Array) -> I64:
    """Return what the texts of places look like: columns LOOKS, in millionths."""
    marks, length = places.marks[place], places.length[place]
    columns = (
        (marks & np.uint64(ENDS_AS_QUESTION) == 0) * MILLION,
        (marks & np.uint64(REPLIES) == 0) * MILLION,
        length * MILLION // (length + _LENGTH_HALF),
    )
    return np.stack(columns, axis=1)


def _union(parts: Sequence[I64], count: int) -> I64:
    """Return the places below `count` that occur in any part, ascending."""
    if len(parts) == 1:
        return parts[0]
    is_in = np.zeros(count, bool)
    for part in parts:
        is_in[part] = True
    return np.flatnonzero(is_in)


def _passes(places: Places, score: WordScores, profile: Profile) -> Mask:
    floor = profile.floor
    is_close = (score.direct > 0) | (score.exchanges >= floor.neighbour_words)
    if floor.talk_words and score.asked >= floor.talk_words:
        is_close |= places.is_talk[score.place]
    is_enough = score.covered >= max(floor.coverage, 1)
    return is_close & (is_enough | (score.direct >= floor.words))


def _best(words: list[WordScores], place: I64, name: str) -> I64:
    """Return the greatest value over the cues at each place, 0 where none reaches it."""
    best = np.zeros(len(place), np.int64)
    for score in words:
        at = position_of(score.place, place)
        values = getattr(score, name)
        best = np.maximum(best, np.where(at >= 0, values[at], 0)) if len(values) else best
    return best


def score_of(components: I64, profile: Profile, signals: I64 | None = None) -> I64:
    """Return the score of each row of components: the clamped weighted sum, in millionths.

    With signals the sum is not clamped, so that it still orders what is beyond the ends.
    """
    weights = np.array([getattr(profile.weights, name) for name in COMPONENTS], np.int64)
    result: I64 = (components * weights).sum(axis=1)
    if signals is None:
        return np.clip(result // MILLION, 0, MILLION)
    result += (signals * np.array([getattr(profile.weights, name) for name in SIGNALS], np.int64)).sum(axis=1)
    return result // MILLION


def _with_score(scored: Scored, profile: Profile) -> Scored:
    return replace(scored, score=score_of(scored.components, profile))


def bare(places: Places, place: I64) -> Scored:
    """Return places as candidates that no word of a question brought."""
    components = np.zeros((len(place), len(COMPONENTS)), np.int64)
    _add_marks(components, places, place, ())
    none = np.zeros(len(place), np.int64)
    return Scored(place=place, row=places.row[place], components=components, score=none, held=none, below=0)


def merged_candidates(one: Scored, other: Scored) -> Scored:
    """Return the candidates of both, whose places differ, by place."""
    order = np.argsort(np.concatenate([one.place, other.place]), kind="stable")

    def both(name: str) -> I64:
        joined: I64 = np.concatenate([getattr(one, name), getattr(other, name)])[order]
        return joined

    names = ("place", "row", "components", "score", "held")
    return Scored(**{name: both(name) for name in names}, below=one.below + other.below)


def keep(scored: Scored, chosen: Array) -> Scored:
    """Return the chosen candidates, by mask or by position."""
    return Scored(
        place=scored.place[chosen],
        row=scored.row[chosen],
        components=scored.components[chosen],
        score=scored.score[chosen],
        held=scored.held[chosen],
        below=scored.below,
        signals=None if scored.signals is None else scored.signals[chosen],
    )


def position_of(rows: I64, wanted: Array) -> I64:
    """Return the position of each wanted row in ascending `rows`, -1 where it is absent."""
    if not len(rows):
        return np.full(len(wanted), -1, np.int64)
    at = np.minimum(np.searchsorted(rows, wanted), len(rows) - 1)
    return np.where(rows[at] == wanted, at, -1)
