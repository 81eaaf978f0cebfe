"""What stands for ids in the state digest: the unkeyed identities of the rows that they name.

Rows are looked up as they are asked for, a column of ids at a time; few identities are remembered.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Protocol, TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from amos.admission.candidate_ids import (
    Named,
    claim_identities,
    conversation_identities,
    id_array,
    source_identities,
)
from amos.admission.values import fold_property
from amos.flow.digest_reviews import unkeyed_outcomes, unkeyed_reviews
from amos.flow.versions import latest
from amos.identity import CLAIM_SCOPE, Scope, author_identity, subject_identity
from amos.kernels.hashing import identities, sha256_matrix
from amos.schemas.buffers import column_arrays
from amos.schemas.columns import DIGEST
from amos.schemas.vocabulary import Reason

Array = npt.NDArray[Any]
Ids: TypeAlias = pa.Array | pa.ChunkedArray

_MOST_REMEMBERED = 20_000
CLAIM = ["subject_id", "payload", "polarity", *CLAIM_SCOPE]
CANDIDATE = ["candidate_id", "source_id", "spans", "extractor", *CLAIM]
DECISION = ["decision_id", "version", "candidate_id", "source_id", "reasons"]
ENTITY = ["entity_id", "version", "kind", "name", "owner_id", "is_owner", *CLAIM_SCOPE]


class _Payload(msgspec.Struct):
    """The fields of a claim's payload that its identity rests on."""

    normal: tuple[str, str]
    applicability: Any = None
    holder_property: str | None = msgspec.field(default=None, name="property")


_PAYLOADS = msgspec.json.Decoder(_Payload)


class _Remembered:
    """Identities by id, forgotten when they become many."""

    def __init__(self, read: Callable[[pa.Array], Mapping[bytes, bytes]]) -> None:
        self._read = read
        self._known: dict[bytes, bytes] = {}

    def of(self, ids: Ids) -> pa.Array:
        """Return the identity of each id; null for a null, and for one that nothing is stored under."""
        distinct = pc.unique(ids).drop_null()
        wanted = [one for one in distinct.to_pylist() if one not in self._known]
        if wanted:
            if len(self._known) + len(wanted) > _MOST_REMEMBERED:
                self._known.clear()
                wanted = distinct.to_pylist()
            self._known.update(self._read(pa.array(wanted, distinct.type)))
        found = pa.array([self._known.get(one) for one in distinct.to_pylist()], DIGEST)
        return _taken(found, ids, distinct)


class Rows(Protocol):
    """Rows by their ids; a pinned snapshot fits."""

    def lookup(self, name: str, column: str, keys: Ids, columns: Sequence[str] | None = None) -> pa.Table:
        """Return all row versions of a table whose id `column` is among `keys`."""


class UnkeyedIds:
    """The identities of rows of a snapshot, or of anything that finds rows by their ids."""

    def __init__(self, snapshot: Rows) -> None:
        self._snapshot = snapshot
        self._entities = _Remembered(self._read_entities)
        self._claims = _Remembered(self._read_claims)
        self._conversations = _Remembered(self._read_conversations)

    def sources(self, ids: Ids) -> pa.Array:
        """Return the identity of each source."""
        distinct = pc.unique(ids).drop_null()
        names = ["source_id", "format", "delivery_key", "block"]
        rows = self.unkeyed(self._snapshot.lookup("sources", "source_id", distinct, names))
        return _taken(id_array(source_identities(rows)), ids, rows["source_id"])

    def unkeyed(self, rows: pa.Table) -> pa.Table:
        """Return rows of sources without what is keyed in the names of records of reviews and outcomes."""
        return unkeyed_outcomes(unkeyed_reviews(rows, "delivery_key", self._identify))

    def conversations(self, ids: Ids) -> pa.Array:
        """Return the identity of each conversation."""
        return self._conversations.of(ids)

    def entities(self, ids: Ids) -> pa.Array:
        """Return the identity of each entity."""
        return self._entities.of(ids)

    def entity_lists(self, ids: Ids) -> pa.Array:
        """Return the lists of the identities of entities, in their order."""
        return _in_lists(ids, self.entities)

    def source_lists(self, ids: Ids) -> pa.Array:
        """Return the lists of the identities of sources, in their order."""
        return _in_lists(ids, self.sources)

    def claims(self, ids: Ids) -> pa.Array:
        """Return the identity of each claim, for lists of claims ascending lists of them."""
        if not pa.types.is_list(ids.type):
            return self._claims.of(ids)
        cells = ids.combine_chunks() if isinstance(ids, pa.ChunkedArray) else ids
        flat = self._claims.of(cells.flatten()).to_pylist()
        edges = np.cumsum([0, *cells.value_lengths().to_pylist()]).tolist()
        lists = [sorted(one or b"" for one in flat[a:b]) for a, b in pairwise(edges)]
        return pa.array(lists, pa.list_(pa.binary()))

    def claims_made(self, rows: pa.Table) -> pa.Array:
        """Return the identity of what each row claims.  rows: `CLAIM` columns, of candidates or atoms."""
        payloads = [_PAYLOADS.decode(text) for text in rows["payload"].to_pylist()]
        named = Named(
            subject=self.entities(rows["subject_id"]).to_pylist(),
            holder_property=[_folded(one.holder_property) for one in payloads],
            kind=[one.normal[0] for one in payloads],
            canonical=[one.normal[1] for one in payloads],
            applicability=[_conditions(one.applicability) for one in payloads],
        )
        return id_array(claim_identities(named, rows["polarity"], rows)[1])

    def candidates(self, rows: pa.Table) -> pa.Array:
        """Return the identity of each candidate.  rows: `CANDIDATE` columns."""
        spans = pa.array([",".join(map(str, one)) for one in rows["spans"].to_pylist()], pa.string())
        parts = (self.sources(rows["source_id"]), spans, rows["extractor"], self.claims_made(rows))
        return id_array(identities(["candidate", *map(column_arrays, parts)], rows.num_rows))

    def decisions(self, rows: pa.Table) -> pa.Array:
        """Return the identity of what each decision decides; of a refused delivery, with the refusal.

        rows: `DECISION` columns.
        """
        decided = self.sources(rows["source_id"])
        is_claim = pc.is_valid(rows["candidate_id"])
        if pc.any(is_claim).as_py():
            cited = pc.unique(rows["source_id"].filter(is_claim))
            found = self._snapshot.lookup("candidates", "source_id", cited, CANDIDATE)
            claims = _taken(self.candidates(found), rows["candidate_id"], found["candidate_id"])
            decided = pc.if_else(is_claim, claims, decided)
        return _with_refusals(decided, rows["reasons"])

    def decisions_named(self, ids: Ids) -> pa.Array:
        """Return the identity of each decision by its id; null for one on a reading that was replaced."""
        rows = self._snapshot.lookup("decisions", "decision_id", pc.unique(ids).drop_null(), DECISION)
        newest = latest(rows, "decisions")
        newest = newest.filter(pa.array(are_of_last_reading(newest["reasons"])))
        return _taken(self.decisions(newest), ids, newest["decision_id"])

    def _identify(self, table: str, ids: pa.Array) -> pa.Array:
        """Return the identities of what reviews are about."""
        if table == "sources":
            return self.sources(ids)
        if table == "entities":
            return self.entities(ids)
        if table != "candidates":
            return pa.nulls(len(ids), DIGEST)
        rows = self._snapshot.lookup("candidates", "candidate_id", ids, CANDIDATE)
        return _taken(self.candidates(rows), ids, rows["candidate_id"])

    def _read_conversations(self, ids: pa.Array) -> dict[bytes, bytes]:
        names = ["conversation_id", "format", "conversation_key"]
        rows = self._snapshot.lookup("conversations", "conversation_id", ids, names)
        rows = unkeyed_reviews(rows, "conversation_key", self._identify)
        return _by_id(rows["conversation_id"], id_array(conversation_identities(rows)))

    def _read_entities(self, ids: pa.Array) -> dict[bytes, bytes]:
        rows = latest(self._snapshot.lookup("entities", "entity_id", ids, ENTITY), "entities")
        owners = rows["owner_id"].combine_chunks().drop_null().unique()
        return entity_identities(rows, _by_id(owners, self._entities.of(owners)))

    def _read_claims(self, ids: pa.Array) -> dict[bytes, bytes]:
        """Return the identities of claims: of those that are no atoms, from what proposed them."""
        rows = latest(self._snapshot.lookup("atoms", "atom_id", ids, ["version", "atom_id", *CLAIM]), "atoms")
        found = _by_id(rows["atom_id"], self.claims_made(rows))
        rest = ids.filter(pc.invert(pc.is_in(ids, value_set=rows["atom_id"].combine_chunks())))
        if len(rest):
            proposed = self._snapshot.lookup("candidates", "claim_id", rest, ["claim_id", *CLAIM])
            found |= _by_id(proposed["claim_id"], self.claims_made(proposed))
        return found


def entity_identities(entities: pa.Table, owners: Mapping[bytes, bytes] | None = None) -> dict[bytes, bytes]:
    """Return the identities of entities: of authors first, then of what belongs to them or to `owners`."""
    scopes: list[Scope] = list(zip(*(entities[name].to_pylist() for name in CLAIM_SCOPE), strict=True))
    names = ("entity_id", "kind", "name", "owner_id", "is_owner")
    rows = list(zip(*(entities[name].to_pylist() for name in names), scopes, strict=True))
    known: dict[bytes, bytes] = {}
    for identifier, kind, name, _, is_owner, scope in rows:
        if kind == "author":
            known[identifier] = author_identity(scope, name, is_owner)
    for identifier, kind, name, owner, _, scope in rows:
        if kind != "author":
            found = known.get(owner) or (owners or {}).get(owner)
            known[identifier] = subject_identity(scope, kind, name, found)
    return known


def _folded(holder_property: str | None) -> str | None:
    return None if holder_property is None else fold_property(holder_property)


def _conditions(applicability: Any) -> str | None:
    return msgspec.json.encode(applicability, order="sorted").decode() if applicability else None


def are_of_last_reading(reasons: pa.ChunkedArray) -> Array:
    """Return which decisions, by their reasons, are on what was read last."""
    return pc.invert(_begins_with(reasons, Reason.SUPERSEDED_BY_EXTRACTOR)).to_numpy(zero_copy_only=False)


def _begins_with(reasons: pa.ChunkedArray, reason: Reason) -> pa.Array:
    first = pa.array([one[0] if one else None for one in reasons.to_pylist()], pa.string())
    return pc.fill_null(pc.equal(first, str(reason)), False)


def _with_refusals(decided: pa.Array, reasons: pa.ChunkedArray) -> pa.Array:
    """Return the identities, of refused deliveries together with the refusal: they are counted."""
    is_refusal = _begins_with(reasons, Reason.DELIVERY_CONFLICT)
    if not pc.any(is_refusal).as_py():
        return decided
    digests = np.stack([np.frombuffer(one or b"", np.uint8) for one in decided.to_pylist()])
    refused = id_array(sha256_matrix(digests, prefix=Reason.DELIVERY_CONFLICT.encode()))
    return pc.if_else(is_refusal, refused, decided)


def _in_lists(ids: Ids, stands: Callable[[Ids], pa.Array]) -> pa.Array:
    """Return lists of ids with what stands for each id."""
    cells = ids.combine_chunks() if isinstance(ids, pa.ChunkedArray) else ids
    flat = stands(cells.flatten()).to_pylist()
    edges = np.cumsum([0, *cells.value_lengths().to_pylist()]).tolist()
    return pa.array([flat[first:after] for first, after in pairwise(edges)], pa.list_(pa.binary()))


def _taken(values: pa.Array, ids: Ids, known: Ids) -> pa.Array:
    """Return for each id the value that stands where `known` holds it; null where it does not."""
    keys = known.combine_chunks() if isinstance(known, pa.ChunkedArray) else known
    places = pc.index_in(ids, value_set=keys)
    return values.take(places.combine_chunks() if isinstance(places, pa.ChunkedArray) else places)


def _by_id(ids: Ids, values: pa.Array) -> dict[bytes, bytes]:
    return dict(zip(ids.to_pylist(), values.to_pylist(), strict=True))
