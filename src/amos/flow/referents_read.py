"""Take from candidates what their subjects are called: whom a claim speaks of, and whom it names."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from amos.clock import to_us
from amos.entities.relations import relations_by_label
from amos.entities.resolve import Asked, Introduced, Order, Owner, Person
from amos.entities.spoken import Spoken, fold_name, is_name, role_label, spoken_of
from amos.identity import CLAIM_SCOPE, UNNAMED, author_identity
from amos.schemas.vocabulary import Cue, Outcome, Reason, Trust

UNKNOWN_TIME = 2**62
"""Stands for an unknown event time: after every known one."""
_INTRODUCING = (
    None,
    f"{Outcome.QUARANTINE}:{Reason.THIRD_PARTY_SENSITIVE}",
    f"{Outcome.QUARANTINE}:{Reason.SENSITIVE_CONTENT}",
)
"""Gates behind which a claim still says that somebody is called so."""
_LABELS = "|".join(sorted(map(re.escape, relations_by_label())))
_NAMES_SOMEBODY = f'"property":"(?:name|{_LABELS})"'
_OF_SOURCE = ("source_id", "format", "delivery_key", "block", "author", "author_id", "is_owner", "content",
              *CLAIM_SCOPE)  # fmt: skip
_APPROVED = int(Cue.APPROVED)
Row = dict[str, Any]


class Read(NamedTuple):
    """A claim as it was read, its source, and the one whom its words alone make its subject."""

    row: Row
    source: Row
    asked: Asked
    person: Person


class Naming(NamedTuple):
    """A claim that says how somebody is called: "my sister's name is Ana", "Ana is my sister"."""

    row: Row
    source: Row
    owner: Owner
    bare: Person
    introduced: Introduced


class Batch(NamedTuple):
    """What subjects of a batch are called, and the places of these claims among its candidates."""

    reads: list[Read]
    namings: list[Naming]
    places: list[int]


def read_batch(
    candidates: pa.Table, entities: pa.Table, sources: pa.Table, *, but: Collection[bytes] = ()
) -> Batch:
    """Return the claims whose subject may be somebody known, and those that say how somebody is called.

    candidates: without salt.  entities: those of the batch that are no authors.  sources: CAPTURED.
    but: entities whose claims are about nobody else, and are left out.
    places: of the claims of `reads`, in order.
    """
    columns = (entities[name].to_pylist() for name in ("entity_id", "kind", "name"))
    called = {one: (kind, name) for one, kind, name in zip(*columns, strict=True)}
    spoken = {
        one: found
        for one, pair in called.items()
        if one not in but and (found := spoken_of(*pair)) is not None
    }
    places = np.union1d(*_chosen(candidates, list(spoken), list(called)))
    if not places.size:
        return Batch([], [], [])
    rows = candidates.take(pa.array(places)).to_pylist()
    said_in = sources_of(rows, sources)
    reads: list[Read] = []
    namings: list[Naming] = []
    kept: list[int] = []
    for place, row in zip(places.tolist(), rows, strict=True):
        source = said_in[row["source_id"]]
        naming = naming_of(row, source, spoken.get(row["subject_id"]))
        if naming is not None:
            namings.append(naming)
        elif row["subject_id"] in spoken:
            kind, name = called[row["subject_id"]]
            reads.append(read_claim(row, source, kind, name))
            kept.append(place)
    return Batch(reads, namings, kept)


def bare_names(entities: pa.Table) -> dict[bytes, tuple[bytes, str]]:
    """Return the author (id) and the folded name of the entities (ids) that are called by nothing else.

    Their claims are about somebody else only where somebody of that name was introduced.
    """
    columns = (entities[name].to_pylist() for name in ("entity_id", "owner_id", "kind", "name"))
    found = {}
    for one, owner, kind, name in zip(*columns, strict=True):
        spoken = spoken_of(kind, name)
        if spoken is not None and spoken.kind == "name" and not spoken.is_apart:
            found[one] = owner, fold_name(name)
    return found


def _chosen(
    candidates: pa.Table, spoken: Sequence[bytes], others: Sequence[bytes]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the places of claims about somebody spoken of, and of those that may say a name."""
    kind = candidates.schema.field("subject_id").type
    is_told = pc.equal(candidates["trust"], str(Trust.TRUSTED_USER))
    is_about = pc.is_in(candidates["subject_id"], value_set=pa.array(spoken, kind))
    is_open = pc.or_kleene(
        candidates["gate"].is_null(), pc.starts_with(candidates["gate"], f"{Outcome.QUARANTINE}:")
    )
    about = pc.and_(pc.and_(is_about, is_open), is_told)
    is_own = pc.invert(pc.is_in(candidates["subject_id"], value_set=pa.array(others, kind)))
    says = pc.match_substring_regex(candidates["payload"], _NAMES_SOMEBODY)
    naming = pc.and_(pc.and_(says, pc.or_(is_own, is_about)), pc.and_(candidates["gate"].is_null(), is_told))
    return _places(about), _places(naming)


def _places(holds: pa.ChunkedArray) -> NDArray[np.int64]:
    found: NDArray[np.int64] = np.flatnonzero(holds.to_numpy(zero_copy_only=False))
    return found


def sources_of(rows: Iterable[Row], sources: pa.Table) -> dict[bytes, Row]:
    """Return by id the sources that `rows` were read from."""
    kind = sources.schema.field("source_id").type
    wanted = pa.array(list({row["source_id"] for row in rows}), kind)
    held = sources.select(_OF_SOURCE).filter(pc.is_in(sources["source_id"], value_set=wanted))
    return {row["source_id"]: row for row in held.to_pylist()}


def owner_of(source: Row) -> Owner:
    """Return the author of a source as the one whose words its claims are."""
    scope = tuple(source[name] for name in CLAIM_SCOPE)
    identity = author_identity(scope, source["author"] or UNNAMED, source["is_owner"])
    return Owner(identity, source["author_id"], scope)


def order_of(row: Mapping[str, Any]) -> Order:
    """Return where a candidate stands in the order of what was said."""
    at = UNKNOWN_TIME if row["event_time"] is None else to_us(row["event_time"])
    return at, row["conversation_order"], row["turn"], row["order_key"], row["spans"][0]


def read_claim(row: Row, source: Row, kind: str, name: str) -> Read:
    """Return a claim about the entity of `kind` and `name`, somebody spoken of."""
    spoken = spoken_of(kind, name)
    assert spoken is not None
    owner = owner_of(source)
    asked = Asked(
        spoken=spoken,
        owner=owner,
        order=order_of(row),
        conversation=row["conversation_id"],
        turn=row["turn"],
        block=source["block"],
        source=row["source_id"],
        place=row["spans"][0],
        text=source["content"],
    )
    return Read(row, source, asked, owner.person(kind, name))


def plain_person(read: Read) -> Person:
    """Return the one whom the words make the subject, a role by the name of its relation."""
    spoken = read.asked.spoken
    return read.asked.owner.person("thing", role_label(spoken)) if spoken.kind == "role" else read.person


def introduced_by(read: Read) -> Introduced | None:
    """Return whom the subject itself introduces: "my sister Ana", "Tom from work"."""
    spoken = read.asked.spoken
    if spoken.name is None or spoken.kind == "pronoun" or not is_introducing(read.row):
        return None
    if spoken.kind == "name" and not spoken.is_apart:
        return None
    is_part = spoken.kind == "name" and is_name(spoken.name)
    return Introduced(
        owner=read.asked.owner.identity,
        role=spoken.role,
        name=spoken.name,
        person=read.person,
        order=read.asked.order,
        conversation=read.asked.conversation,
        turn=read.asked.turn,
        source=read.asked.source,
        is_part=is_part,
    )


def is_introducing(row: Row) -> bool:
    """Tell whether a claim says that somebody is called so: it is believed, or only too delicate to be."""
    return row["gate"] in _INTRODUCING


def naming_of(row: Row, source: Row, spoken: Spoken | None) -> Naming | None:
    """Return that a claim gives a name to somebody in a role; spoken: its subject, None for the author."""
    if row["polarity"] != "positive" or not is_introducing(row):
        return None
    fields = msgspec.json.decode(row["payload"])
    role, name = fields.get("property"), fields.get("value")
    if spoken is not None:
        role = spoken.role if role == "name" and spoken.kind == "role" and spoken.name is None else None
    elif role not in relations_by_label():
        role = None
    else:
        role = relations_by_label()[role].name
    if role is None or not isinstance(name, str) or not is_name(name):
        return None
    owner = owner_of(source)
    bare = Spoken("role", role=role)
    introduced = Introduced(
        owner=owner.identity,
        role=role,
        name=name,
        person=owner.person("thing", role_label(bare._replace(name=name))),
        order=order_of(row),
        conversation=row["conversation_id"],
        turn=row["turn"],
        source=row["source_id"],
    )
    return Naming(row, source, owner, owner.person("thing", role_label(bare)), introduced)
