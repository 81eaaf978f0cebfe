"""Choose among candidate referents, none of them included: one clear referent, several, or null."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

RULE = "referents@1"
"""Name and version of these weights and of what is read as a mention; raised when answers change."""

NULL = 300
"""Weight of "none of them" where nothing speaks for it in particular."""
DOUBTED = 1_000
"""Weight of "none of them" where somebody without a name of their own may be meant."""
RIVAL = 200
"""Weight from which a referent counts as one that may be meant."""
NAMED = 700
"""Weight of the one who was introduced by this name or in this role."""
PART_OF_NAME = 250
"""Weight of somebody whose longer name begins like this."""
KNOWN_GENDER, UNKNOWN_GENDER, PERHAPS_A_PERSON = 700, 450, 280
"""Weights of an antecedent in the sentence before: its gender fits, is not known, or it may be no person."""
PER_SENTENCE, PER_TURN = 20, 70
"""What an antecedent loses for every sentence, and for every turn, that lies between."""
OTHER_SPEAKER = 160
"""What somebody of unknown gender loses when only somebody else spoke of them."""

_MILLION = 1_000_000


class Choice(NamedTuple):
    """Referents, the likeliest first, with their scores in ppm; the last score is that of null.

    chosen: place of the referent that is meant, None while it stays open.  is_ambiguous: several may be.
    """

    referents: tuple[bytes, ...]
    scores_ppm: tuple[int, ...]
    chosen: int | None
    is_ambiguous: bool


def choose(weights: Mapping[bytes, int], null: int = NULL) -> Choice:
    """Return the choice among unkeyed identities by weight; equal weights are ordered by identity.

    One is meant when nobody else may be and it outweighs null.  Two that may be meant are never decided
    by their difference.
    """
    ordered = sorted(
        ((one, weight) for one, weight in weights.items() if weight > 0), key=lambda pair: (-pair[1], pair[0])
    )
    rivals = [weight for _, weight in ordered if weight >= RIVAL]
    total = sum(weight for _, weight in ordered) + null
    scores = [weight * _MILLION // total for _, weight in ordered]
    is_one = len(rivals) == 1 and rivals[0] > null
    return Choice(
        referents=tuple(one for one, _ in ordered),
        scores_ppm=(*scores, null * _MILLION // total),
        chosen=0 if is_one else None,
        is_ambiguous=len(rivals) > 1,
    )
