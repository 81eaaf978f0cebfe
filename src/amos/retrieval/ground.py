"""What compiled loops read of a view: contiguous columns, made once; and the sums they write, used again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from amos.kernels.pairing import PICKED
from amos.kernels.place_scores import (
    BASE,
    DAY,
    IS_AFTER_QUESTION,
    IS_TALK,
    MARKS,
    ROW,
    SCORED_HELD,
    SESSION,
    STATE,
    TALK,
)
from amos.kernels.term_sums import ASKED, HEARD_TAG, IS_FELT, OTHER_SPEAKER, SAME_SESSION, SPARE
from amos.retrieval.candidates import LOOKS, STANDING, atom_standing, dates_met, looks, turn_standing
from amos.retrieval.cues import Cue
from amos.retrieval.placing import Places, rarity
from amos.retrieval.profile import Profile
from amos.retrieval.rows import UNKNOWN_US
from amos.retrieval.view import View
from amos.schemas.ranked import COMPONENTS

I64 = npt.NDArray[np.int64]
I32 = npt.NDArray[np.int32]
U8 = npt.NDArray[np.uint8]

_DAY_US = 86_400_000_000


def weights_of(profile: Profile) -> I64:
    """Return the weight of each component, in millionths."""
    return np.array([getattr(profile.weights, name) for name in COMPONENTS], np.int64)


@dataclass(frozen=True, kw_only=True)
class Ground:
    """Places of one kind as `kernels.term_sums` and `kernels.place_scores` read them; see there.

    days: the distinct days on which they were said, as instants.
    """

    places: Places
    documents: I32
    around: U8
    session: I32
    session_impact: I64
    session_rarity: I64
    session_turns: I64
    columns: I64
    standing: I32
    days: I64

    def closeness(self, cues: Sequence[Cue]) -> I64:
        """Return per day its share of the dates asked for, empty where none is."""
        if not any(cue.dates for cue in cues):
            return np.zeros(0, np.int64)
        return dates_met(cues, self.days)


def ground_of_turns(view: View, profile: Profile) -> Ground:
    """Return what loops read of the visible turns."""
    return _ground(view.turns, turn_standing(view, view.turns.row, profile), profile)


def ground_of_atoms(view: View, profile: Profile) -> Ground:
    """Return what loops read of the visible claims."""
    return _ground(view.atoms, atom_standing(view, view.atoms.row, profile), profile)


def _ground(places: Places, standing: I64, profile: Profile) -> Ground:
    has_sessions = places.session is not None and places.count > 0
    nothing = np.zeros(0, np.int64)
    counts = range(len(places.session_length) + 1) if has_sessions else ()
    days, day = _days(places)
    columns = np.zeros((places.count, DAY + 1), np.int64)
    columns[:, ROW] = places.row
    columns[:, SESSION] = places.session_number if has_sessions else -1
    columns[:, TALK] = places.is_after_question * IS_AFTER_QUESTION + places.is_talk * IS_TALK
    columns[:, MARKS] = places.marks.view(np.int64)
    columns[:, DAY] = day
    shares = np.concatenate([standing, looks(places, np.arange(places.count))], axis=1)
    columns[:, BASE] = shares @ weights_of(profile)[[*STANDING, *LOOKS]]
    return Ground(
        places=places,
        documents=np.stack([places.slot, places.impact, places.is_caption], axis=1).astype(np.int32),
        around=_around(places),
        session=places.session_number.astype(np.int32) if has_sessions else np.zeros(0, np.int32),
        session_impact=places.session_impact(profile.bm25f.session_b) if has_sessions else nothing,
        session_rarity=np.array([rarity.__wrapped__(len(counts) - 1, number) for number in counts], np.int64),
        session_turns=places.session_turns if has_sessions else nothing,
        columns=columns,
        standing=shares.astype(np.int32),
        days=days,
    )


def _days(places: Places) -> tuple[I64, I64]:
    """Return the distinct days of places, as instants, and the number of each place's."""
    event_us = places.documents.rows["event_us"][places.row]
    known = np.where(event_us == UNKNOWN_US, UNKNOWN_US, event_us // _DAY_US * _DAY_US)
    distinct, number = np.unique(known, return_inverse=True)
    return distinct, number


def _around(places: Places) -> U8:
    """Return the bits SAME_SESSION and OTHER_SPEAKER of every place, 0 where places have no neighbours."""
    bits = np.zeros(places.count, np.uint8)
    if places.session is None:
        return bits
    number = np.arange(places.count)
    for shift, same, other in zip((-2, -1, 1, 2), SAME_SESSION, OTHER_SPEAKER, strict=True):
        at = number[max(-shift, 0) : places.count - max(shift, 0)]
        at = at[places.session[at + shift] == places.session[at]]
        bits[at] |= np.uint8(same)
        bits[at[places.speaker[at + shift] != places.speaker[at]]] |= np.uint8(other)
    return bits


class Board:
    """The sums that loops write for one question after another: room for so many places, zero in between.

    One question at a time may be written on it.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self.sums = np.zeros((count, IS_FELT + 1), np.int32)
        self.best = np.zeros((count, STATE + 1), np.int32)
        self.session_sums = np.zeros(count, np.int64)
        self.lists = np.zeros((SPARE + 1, count), np.int32)
        self.scored = np.zeros((count, SCORED_HELD + 1), np.int64)
        self.tally = np.zeros(ASKED + 1, np.int64)
        self.scratch = np.zeros((count, HEARD_TAG + 1), np.int64)
        self.session_scratch = np.zeros((count, 2), np.int64)
        self.tag = 0
        self.is_clean = True

    def is_fit(self, count: int) -> bool:
        """Return whether the next question over so many places may be written here."""
        return self.is_clean and self.count >= count


class Cells:
    """Where `kernels.pairing` notes what it found of each row; zero in between."""

    def __init__(self, turn_rows: int, claim_rows: int) -> None:
        self.turns = np.zeros((turn_rows, PICKED + 1), np.int64)
        self.claims = np.zeros(claim_rows, np.int64)
