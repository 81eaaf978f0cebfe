"""Ranking profiles: named numbers in a TOML file of the package, so that a score can be recomputed."""

from __future__ import annotations

import hashlib
import json
import tomllib
from functools import lru_cache
from pathlib import Path

import msgspec

from amos.errors import UsageError

MILLION = 1_000_000
DEFAULT_PROFILE = "amos.v2"


class Bm25f(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Field weights and curve of the word score, in thousandths.

    half: the score that maps to one half.  Where it is 0, a score is told as the share of what the known
    words of the question could bring at most, `words` of them of mean weight where it has more.
    session_b, session_k1: the same curve for a session as one document.
    """

    b: int
    k1: int
    own: int
    caption: int
    near: int
    far: int
    exact: int
    misspelt: int
    half: int = 0
    words: int = 6
    session_b: int = 750
    session_k1: int = 1200


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
    session_match: int = 0
    answers_question: int = 0
    date_match: int = 0
    kind_match: int = 0
    cue_when: int = 0
    cue_number: int = 0
    cue_where: int = 0
    cue_reason: int = 0
    cue_feeling: int = 0
    cue_name: int = 0
    statement: int = 0
    news: int = 0
    length: int = 0


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
    of the question that somebody else must have said next to an item that holds none itself; talk_words:
    a question of so many words also brings what anybody said next to one of them in a talk of several
    people, 0 for never.
    """

    coverage: int
    words: int
    neighbour_words: int
    talk_words: int = 0


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


def profile_toml(profile: Profile) -> bytes:
    """Return the profile as a TOML file that `load_profile` would read again."""
    fields = msgspec.to_builtins(profile)
    lines = [f"{name} = {json.dumps(value)}" for name, value in fields.items() if isinstance(value, str)]
    for name, table in fields.items():
        if isinstance(table, dict):
            lines += ["", f"[{name}]", *(f"{key} = {number}" for key, number in table.items())]
    return ("\n".join(lines) + "\n").encode()
