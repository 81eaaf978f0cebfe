"""Read the readable subject of a claim as what it is: a role, a name, both, a pronoun, or none of these."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from amos.entities.relations import Relation, all_relations_by_label, relations_by_label
from amos.schemas.labels import OWN

PRONOUNS = {
    "he": "m", "him": "m", "his": "m", "she": "f", "her": "f", "hers": "f",
    "they": "p", "them": "p", "their": "p", "theirs": "p",
}  # fmt: skip
"""Third-person pronouns of people by gender; p: several, or one of unknown gender."""
QUALIFIERS = frozenset(
    "younger older little big elder eldest youngest oldest baby late twin half middle best old new".split()
)
_LINKS = frozenset("from at in of the with who next door".split())
_MOST_NAMES = 3


class Spoken(NamedTuple):
    """One way in which somebody is spoken of.

    kind: role, name or pronoun.  role: relation, with what narrows it ("older sister").  name: as written.
    is_apart: a name that says which of several bearers is meant ("Tom from work", "Tom Baker").
    """

    kind: str
    role: str | None = None
    name: str | None = None
    relation: Relation | None = None
    is_apart: bool = False

    @property
    def folded(self) -> str | None:
        """The name by which it is looked up, see `fold_name`."""
        return None if self.name is None else fold_name(self.name)


_TITLES = frozenset("dr dr. mr mr. mrs mrs. ms ms. prof prof. uncle aunt".split())


@lru_cache(maxsize=1 << 12)
def fold_name(name: str) -> str:
    """Return the word by which somebody is looked up: the first of the name that is no title, folded."""
    words = [word.casefold() for word in name.split()]
    return next((word for word in words if word not in _TITLES), words[-1])


def is_name(text: str) -> bool:
    """Tell whether a value is somebody's name as it is written."""
    return _are_names(text.split())


@lru_cache(maxsize=1 << 14)
def spoken_of(kind: str, name: str) -> Spoken | None:
    """Return how the subject (kind and readable name of an entity) is spoken of, None when as a thing."""
    if kind == "pronoun":
        return Spoken("pronoun", name=name) if name.casefold() in PRONOUNS else None
    if kind == "thing" and name.startswith(OWN):
        return _role(name[len(OWN) :].split())
    if kind == "person":
        return _named(name.split())
    if kind == "other":  # "Tom from work lives in Riga" has no property by which a person would be known
        found = _named(name.split())
        return found if found is not None and not is_name(name) else None
    return None


def _role(words: list[str]) -> Spoken | None:
    """Return the role of "older sister Ana"; None where more than a name stands beside it."""
    narrowed = [word.casefold() for word in words if word.casefold() in QUALIFIERS and word.islower()]
    if words[: len(narrowed)] != narrowed or len(narrowed) == len(words):
        return None
    relation = relations_by_label().get(words[len(narrowed)])
    names = words[len(narrowed) + 1 :]
    if relation is None or not _are_names(names, is_empty_fine=True):
        return None
    role = " ".join([*narrowed, relation.name])
    return Spoken("role", role=role, name=" ".join(names) or None, relation=relation)


def _named(words: list[str]) -> Spoken | None:
    """Return the name of "Tom", "Tom Baker" or "Tom from work"."""
    count = next((place for place, word in enumerate(words) if not _is_name(word)), len(words))
    head, rest = words[:count], words[count:]
    if not _are_names(head) or (rest and rest[0] not in _LINKS):
        return None
    if head[0].casefold() in relations_by_label():
        return None
    return Spoken("name", name=" ".join(words), is_apart=len(words) > 1)


def _are_names(words: list[str], *, is_empty_fine: bool = False) -> bool:
    if not words:
        return is_empty_fine
    return len(words) <= _MOST_NAMES and all(map(_is_name, words))


def _is_name(word: str) -> bool:
    """Tell whether a word is written like a name: a capital, then letters, with marks inside."""
    letters = word.replace("-", "").replace("'", "").replace("’", "").rstrip(".")
    return letters.isalpha() and word[0].isupper() and not (len(letters) > 1 and letters.isupper())


def shown_kind(kind: str, name: str) -> str:
    """Return the kind of an entity as people would call it: a sister is a person, a cat an animal.

    kind, name: as stored.  A role of a relation that is out of use is still what it was.
    """
    if kind != "thing" or not name.startswith(OWN):
        return kind
    words = name[len(OWN) :].split()
    bare = next((word for word in words if word not in QUALIFIERS), "")
    relation = all_relations_by_label().get(bare)
    if relation is None or not _are_names(words[words.index(bare) + 1 :], is_empty_fine=True):
        return kind
    return "animal" if relation.gender == "n" else "person"


def role_label(spoken: Spoken) -> str:
    """Return the readable subject of a role, with its name where it has one."""
    return f"{OWN}{spoken.role}" + (f" {spoken.name}" if spoken.name else "")
