"""Ranking profiles: named numbers in a TOML file of the package, so that a score can be recomputed."""

from __future__ import annotations

import hashlib
import tomllib
from functools import lru_cache
from pathlib import Path

import msgspec

from amos.errors import UsageError

MILLION = 1_000_000
DEFAULT_PROFILE = "words.v1"


class Bm25f(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Field weights and curve of the word score, in thousandths."""

    b: int
    k1: int
    own: int
    caption: int
    near: int
    far: int
    half: int
    exact: int
    misspelt: int


class Weights(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Weight of each component in millionths; negative ones are penalties."""

    direct_cue_match: int
    words: int
    neighbours: int
    holder_match: int
    recency: int
    confidence: int
    superseded: int
    contradicted: int


class TrustConfidence(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Confidence of a turn by its trust, in millionths."""

    trusted_user: int
    agent: int
    tool: int
    untrusted_web: int
    recall: int


class Floor(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Least values an item needs to be returned at all.

    coverage: share of the question's weight, in millionths.  words: share of its words that the item
    itself may hold instead, so that words which every item holds still count.  neighbour_words: words
    of the question that the neighbours must hold where the item itself holds none.
    """

    coverage: int
    words: int
    neighbour_words: int


class Profile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One ranking profile; `digest` pins the very numbers that ranked."""

    name: str
    fitted_on: str
    bm25f: Bm25f
    weights: Weights
    trust: TrustConfidence
    floor: Floor

    @property
    def digest(self) -> str:
        """Return the SHA-256 of the profile's canonical bytes, hex."""
        return hashlib.sha256(msgspec.json.encode(self)).hexdigest()


@lru_cache(maxsize=8)
def load_profile(name: str = DEFAULT_PROFILE) -> Profile:
    """Return the profile called `name`.  Raises UsageError for a name nobody ships."""
    file = Path(__file__).parent / "profiles" / f"{name.replace('.', '_')}.toml"
    if not file.is_file():
        raise UsageError(f"no ranking profile is called {name!r}", advice=f"Use {DEFAULT_PROFILE!r}.")
    return msgspec.convert(tomllib.loads(file.read_text(encoding="utf-8")), Profile)
