"""Read what the tables say of claims beside their words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from amos.retrieval.corpus import Corpus, living_rows
from amos.retrieval.facts import Facts, Payload
from amos.retrieval.graph import I64, Edges, known_factor
from amos.retrieval.profile import MILLION
from amos.retrieval.rows import ids_of, latest
from amos.schemas.columns import ID

Scope = Mapping[str, str]


class Lessons(NamedTuple):
    """What outcomes taught, for callers of a scope.

    standings: utility and salience of claims, by id, where outcomes moved them.  factors: what outcomes made
    of edges, by id, in millionths.
    """

    standings: Callable[[Scope], Mapping[bytes, tuple[int, int]]]
    factors: Callable[[Scope], Mapping[bytes, int]]


NO_LESSONS = Lessons(lambda _: {}, lambda _: {})


class Snapshot(Protocol):
    """The tables of a pinned graph version."""

    def table(self, name: str, columns: Sequence[str] | None = None, *, since: int = 0) -> pa.Table:
        """Return all row versions after `since`."""

    def lookup(self, name: str, column: str, keys: Any, columns: Sequence[str] | None = None) -> pa.Table:
        """Return the row versions whose id column is among `keys`."""


def stored_facts(corpus: Corpus, snapshot: Snapshot, lessons: Lessons, scope: Scope) -> Facts:
    """Return the facts of a corpus of this snapshot, each read when it is first needed."""
    return Facts(
        standing=lambda: _standing(corpus, snapshot, lessons.standings(scope)),
        graph=lambda: _edges(corpus, snapshot, lessons.factors(scope)),
        read=lambda ids: _payloads(snapshot, ids),
    )


def _standing(corpus: Corpus, snapshot: Snapshot, moved: Mapping[bytes, tuple[int, int]]) -> I64:
    columns = ["atom_id", "version", "utility_ppm", "salience_ppm"]
    rows = latest(snapshot.table("atoms", columns), "atom_id", "version")
    found = np.full((corpus.atoms.count, 2), MILLION // 2, np.int64)
    at = living_rows(corpus.atoms, ids_of(rows["atom_id"]))
    told = np.stack([rows[name].to_numpy() for name in columns[2:]], axis=1)
    found[at[at >= 0]] = told[at >= 0]
    if moved:
        at = living_rows(corpus.atoms, np.array(list(moved), "S16"))
        found[at[at >= 0]] = np.array(list(moved.values()), np.int64)[at >= 0]
    return found


def _edges(corpus: Corpus, snapshot: Snapshot, factors: Mapping[bytes, int]) -> Edges:
    columns = ["edge_id", "version", "from_id", "relation", "to_id", "lifecycle_state"]
    rows = latest(snapshot.table("edges", columns), "edge_id", "version")
    rows = rows.filter(pc.equal(rows["lifecycle_state"], "active"))
    source, target = (living_rows(corpus.atoms, ids_of(rows[name])) for name in ("from_id", "to_id"))
    known = np.flatnonzero((source >= 0) & (target >= 0))
    coded = rows["relation"].combine_chunks().dictionary_encode() if rows.num_rows else None
    names = () if coded is None else tuple(coded.dictionary.to_pylist())
    relation = np.zeros(0, np.int64) if coded is None else coded.indices.to_numpy().astype(np.int64)
    factor = known_factor(factors, rows["edge_id"].to_pylist()) if factors else None
    return Edges(
        source=source[known],
        target=target[known],
        relation=relation[known],
        relations=names,
        factor=np.full(len(known), MILLION, np.int64) if factor is None else factor[known],
    )


def _payloads(snapshot: Snapshot, ids: Sequence[bytes]) -> Mapping[bytes, Payload]:
    rows = latest(
        snapshot.lookup("atoms", "atom_id", pa.array(list(ids), ID), ["atom_id", "version", "payload"]),
        "atom_id",
        "version",
    )
    return {
        one: msgspec.json.decode(payload)
        for one, payload in zip(rows["atom_id"].to_pylist(), rows["payload"].to_pylist(), strict=True)
    }
