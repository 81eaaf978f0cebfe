"""The relation dictionary: words by which a speaker calls somebody theirs, and what they imply."""

from __future__ import annotations

from functools import lru_cache
from importlib import resources
from typing import Literal

import msgspec

from amos.errors import SchemaError


class Relation(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One relation; labels: the first names it.  See the head of `relations.toml` for the fields."""

    labels: list[str]
    inverse: str
    description: str
    gender: Literal["f", "m", "x", "n"] = "x"
    number: Literal["one", "several"] = "one"
    holders: Literal["one", "few", "many"] = "few"
    deprecated_at: str | None = None

    @property
    def name(self) -> str:
        """The label that names it."""
        return self.labels[0]


class Relations(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A dictionary of relations and whose it is."""

    version: int
    owner_scope: str
    relation: list[Relation]


def read_relations(text: str) -> Relations:
    """Return the dictionary written in TOML `text`.

    Raises SchemaError naming a wrong field, or a label that stands for two relations.
    """
    try:
        found = msgspec.toml.decode(text, type=Relations)
    except msgspec.MsgspecError as cause:
        raise SchemaError(f"relation dictionary: {cause}", advice="Fix the named field.") from cause
    seen: set[str] = set()
    for relation in found.relation:
        for label in relation.labels:
            if label in seen:
                raise SchemaError(
                    f"relation dictionary: {label!r} stands twice", advice="A label means one relation."
                )
            seen.add(label)
    return found


@lru_cache(maxsize=1)
def default_relations() -> Relations:
    """Return the dictionary that ships with Amos."""
    return read_relations((resources.files("amos.entities") / "relations.toml").read_text("utf-8"))


@lru_cache(maxsize=1)
def all_relations_by_label() -> dict[str, Relation]:
    """Return by label all relations of the shipped dictionary, those that are out of use among them."""
    return {label: relation for relation in default_relations().relation for label in relation.labels}


@lru_cache(maxsize=1)
def relations_by_label() -> dict[str, Relation]:
    """Return by label the relations of the shipped dictionary that are in use."""
    every = all_relations_by_label()
    return {label: relation for label, relation in every.items() if relation.deprecated_at is None}
