"""How subjects are called in print: the owner `user`, what is somebody's by the name of whose it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

OWNER_NAME = "user"
OWN = "user's "
"""How the stored name of everything begins that an author calls theirs, whoever that author is."""
LABELLED = ("entity_id", "version", "kind", "name", "owner_id", "is_owner")
"""Columns of `entities` that a label is made of."""
Row = Mapping[str, Any]


class Label(NamedTuple):
    """How a subject is called.

    is_author: it is somebody who speaks, so that "my" is theirs.  speaker: name of the one who speaks, of
    whom it is or to whom it belongs; None where that is nobody with a name.
    """

    text: str
    is_author: bool
    speaker: str | None = None


NOBODY = Label("", is_author=False)
"""Stands for a subject that is not stored any more."""


def possessive(name: str) -> str:
    """Return the English possessive of a name."""
    return f"{name}'" if name.endswith("s") and name != "Us" else f"{name}'s"


def owners_named(entities: Iterable[Row]) -> set[bytes]:
    """Return the ids of the authors by whose names entities (LABELLED) are called."""
    return {row["owner_id"] for row in entities if row["owner_id"] is not None and _is_called_so(row)}


def label_of(entity: Row, owner: Row | None) -> Label:
    """Return how an entity (LABELLED) is called; owner: the author whose it is, where one is known."""
    if entity["is_owner"]:
        return Label(OWNER_NAME, is_author=True)
    name, kind = str(entity["name"]), entity["kind"]
    if kind == "author":
        return Label(name, is_author=True, speaker=name)
    if owner is None or owner["is_owner"] or not _is_called_so(entity):
        return Label(name, is_author=False)
    speaker = str(owner["name"])
    own = f"{possessive(speaker)} {name.removeprefix(OWN)}" if kind == "thing" else f"{name} ({speaker})"
    return Label(own, is_author=False, speaker=speaker)


def _is_called_so(entity: Row) -> bool:
    """Tell whether an entity is called by the name of the author whose it is."""
    kind = entity["kind"]
    return kind == "other" or (kind == "thing" and entity["name"].startswith(OWN))
