"""Ranking profiles: named numbers in a TOML file of the package, so that a score can be recomputed."""

from __future__ import annotations

import hashlib
import json
import tomllib
from functools import lru_cache
from pathlib import Path

import msgspec

from amos.errors import InputError, UsageError

MILLION = 1_000_000
DEFAULT_PROFILE = "amos.v2"
_FOLDER = Path(__file__).parent / "profiles"


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
    semantic_similarity: int = 0
    edge_activation: int = 0
    utility: int = 0
    salience: int = 0
    goal_relevance: int = 0
    procedural_applicability: int = 0
    attention_focus: int = 0
    attention_type_boost: int = 0
    attention_counterevidence: int = 0
    attention_novelty: int = 0
    agency_match: int = 0
    attribution_confidence: int = 0
    correction_learning_relevance: int = 0
    attention_suppression_penalty: int = 0
    staleness_penalty: int = 0
    redundancy_penalty: int = 0
    health_penalty: int = 0
    access_penalty: int = 0
    inhibition_penalty: int = 0
    exclusion_penalty: int = 0
    over_attribution_penalty: int = 0
    omitted_counterevidence_penalty: int = 0
    ignored_failure_penalty: int = 0


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
    people, 0 for never.  answer: least sum of score and half the share of the question's weight that the best
    match must hold, in millionths, or nothing is an answer; asked of questions of up to `answer_words` words.
    """

    coverage: int
    words: int
    neighbour_words: int
    talk_words: int = 0
    answer: int = 0
    answer_words: int = 12


class Recency(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How age counts.

    days: age at which recency is one half, or nothing where it is linear.
    """

    days: int = 30
    is_linear: bool = False


class Activation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How activation spreads along edges, in millionths.

    reverse: what an edge passes against its direction.  decay: what each edge after the first passes on.
    threshold: less than this ends.  seed: least similarity that seeds.  relations: weight of an edge by its
    relation, negative ones inhibit; other: of any other relation.
    """

    hops: int
    decay: int
    reverse: int
    threshold: int
    seed: int
    other: int
    relations: dict[str, int]

    def weight(self, relation: str) -> int:
        """Return the weight of a relation."""
        return self.relations.get(relation, self.other)


class Profile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One ranking profile; `digest` pins the very numbers that ranked.

    fitted_on: where the numbers come from.  activation: None where edges do not count.
    """

    name: str
    fitted_on: str
    bm25f: Bm25f
    weights: Weights
    trust: TrustConfidence
    floor: Floor
    version: int = 1
    recency: Recency = Recency()
    activation: Activation | None = None

    @property
    def weighs_signals(self) -> bool:
        """Return whether it weighs something that every claim has beside its words."""
        weights = self.weights
        return bool(weights.semantic_similarity or weights.utility or weights.salience)

    @property
    def digest(self) -> str:
        """Return the SHA-256 of the profile's canonical bytes, hex."""
        return hashlib.sha256(msgspec.json.encode(self)).hexdigest()


@lru_cache(maxsize=8)
def load_profile(name: str = DEFAULT_PROFILE) -> Profile:
    """Return the profile called `name`.  Raises UsageError for a name nobody ships."""
    file = _FOLDER / f"{name.replace('.', '_')}.toml"
    if not file.is_file():
        raise UsageError(
            f"no ranking profile is called {name!r}",
            advice=f"Profiles are {', '.join(profile_names())}; or give the path of a TOML file.",
        )
    return msgspec.convert(tomllib.loads(file.read_text(encoding="utf-8")), Profile)


def profile_names() -> tuple[str, ...]:
    """Return the names of the profiles that ship, the default one first."""
    names = [file.stem.replace("_", ".") for file in sorted(_FOLDER.glob("*.toml"))]
    return (DEFAULT_PROFILE, *(name for name in names if name != DEFAULT_PROFILE))


def find_profile(named: str) -> Profile:
    """Return the profile of a name, or of a TOML file such as `amos evaluate fit` writes.

    Raises UsageError where there is none, InputError where the file is no profile.
    """
    path = Path(named)
    if path.suffix != ".toml":
        return load_profile(named)
    if not path.is_file():
        raise UsageError(f"{named} is no file", path=named, advice="Check the path of the profile.")
    return read_profile(path)


def read_profile(path: Path) -> Profile:
    """Return the profile in a TOML file.  Raises InputError where it is none."""
    try:
        return msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), Profile)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, msgspec.ValidationError, OSError) as cause:
        raise InputError(
            f"{path} is no ranking profile: {cause}",
            code="schema_invalid",
            path=str(path),
            advice="Begin with one that `amos evaluate fit` wrote.",
        ) from cause


def profile_toml(profile: Profile) -> bytes:
    """Return the profile as a TOML file that `read_profile` would read again."""
    fields = {name: value for name, value in msgspec.to_builtins(profile).items() if value is not None}
    lines = [f"{name} = {_toml(value)}" for name, value in fields.items() if not isinstance(value, dict)]
    for name, table in fields.items():
        if isinstance(table, dict):
            lines += ["", *_table_lines(name, table)]
    return ("\n".join(lines) + "\n").encode()


def _table_lines(name: str, table: dict[str, object]) -> list[str]:
    lines = [f"[{name}]"]
    lines += [f"{key} = {_toml(value)}" for key, value in table.items() if not isinstance(value, dict)]
    for key, value in table.items():
        if isinstance(value, dict):
            lines += ["", *_table_lines(f"{name}.{key}", value)]
    return lines


def _toml(value: object) -> str:
    return json.dumps(value)
