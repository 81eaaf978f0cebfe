"""The documents of a shard as ranking sees them: a stored base and what came after it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from amos.retrieval.cues import name_terms
from amos.retrieval.postings import Postings, build_postings, merge_postings
from amos.retrieval.rows import Array, Rows, is_replaced, joined, picked, row_count, text_hash
from amos.retrieval.words import Vocabulary, encode

I32 = npt.NDArray[np.int32]
I64 = npt.NDArray[np.int64]
U16 = npt.NDArray[np.uint16]
U64 = npt.NDArray[np.uint64]
Mask = npt.NDArray[np.bool_]
_WHOLE = 1_000_000
_MOST_FOUND = 65_536
"""Terms whose places in the index are kept."""


@dataclass(frozen=True, kw_only=True)
class Space:
    """Rows of one kind with their passages: document d is passage `passage[d]` of row `row[d]`.

    marks: (documents,) bits of `retrieval.marks`.
    """

    rows: Rows
    row: I32
    passage: I32
    marks: U64
    postings: Postings


def build_space(rows: Rows, texts: Iterable[str | None]) -> Space:
    """Return the searchable form of `rows`; text i belongs to row i."""
    vocabulary = Vocabulary()
    encoded = encode(texts, vocabulary)
    return Space(
        rows=rows,
        row=encoded.text_of,
        passage=encoded.passage,
        marks=encoded.marks,
        postings=build_postings(encoded, vocabulary),
    )


@dataclass(frozen=True, kw_only=True)
class Documents:
    """Base and tail of one kind under each other.

    is_alive: (rows,) false where a later version of the same row follows.
    marks: (documents,) bits of `retrieval.marks`.
    parts: postings with the number of their first document.
    """

    rows: Rows
    is_alive: Mask
    row: I32
    passage: I32
    marks: U64
    lengths: I32
    parts: tuple[tuple[Postings, int], ...]

    @property
    def count(self) -> int:
        """Return the number of rows, replaced ones included."""
        return len(self.is_alive)

    def find(self, term: int) -> tuple[I32, U16] | None:
        """Return documents (ascending) and counts of a term hash, None when it occurs nowhere."""
        if term in self._found:
            return self._found[term]
        parts = []
        for postings, first in self.parts:
            at = postings.find(term)
            if at >= 0:
                docs, counts = postings.of(at)
                parts.append((docs + np.int32(first) if first else docs, counts))
        found = parts[0] if parts else None
        if len(parts) > 1:
            found = np.concatenate([docs for docs, _ in parts]), np.concatenate([many for _, many in parts])
        if len(self._found) >= _MOST_FOUND:
            self._found.clear()
        self._found[term] = found
        return found

    @cached_property
    def _found(self) -> dict[int, tuple[I32, U16] | None]:
        return {}


def stacked(spaces: Sequence[Space]) -> Documents:
    """Return `spaces`, oldest first, as one set of documents in which the newest version counts."""
    alive = [
        ~_replaced_later(space.rows, [later.rows for later in spaces[number + 1 :]])
        for number, space in enumerate(spaces)
    ]
    row_starts = np.cumsum([0, *(row_count(space.rows) for space in spaces)])
    doc_starts = np.cumsum([0, *(len(space.row) for space in spaces)])
    rows = spaces[0].rows if len(spaces) == 1 else joined([space.rows for space in spaces])
    return Documents(
        rows=rows,
        is_alive=np.concatenate(alive),
        row=np.concatenate([s.row + np.int32(n) for s, n in zip(spaces, row_starts[:-1], strict=True)]),
        passage=np.concatenate([space.passage for space in spaces]),
        marks=np.concatenate([space.marks for space in spaces]),
        lengths=np.concatenate([space.postings.lengths for space in spaces]),
        parts=tuple((s.postings, int(n)) for s, n in zip(spaces, doc_starts[:-1], strict=True)),
    )


def _replaced_later(rows: Rows, later: Sequence[Rows]) -> Mask:
    replaced = np.zeros(row_count(rows), bool)
    for newer in later:
        replaced |= is_replaced(rows, newer)
    return replaced


def merged(spaces: Sequence[Space]) -> Space:
    """Return one space that holds the living rows of `spaces`, oldest first."""
    documents = stacked(spaces)
    living = np.flatnonzero(documents.is_alive)
    place = np.full(documents.count, -1, np.int64)
    place[living] = np.arange(len(living))
    doc_place = place[documents.row]
    kept = np.flatnonzero(doc_place >= 0)
    target = np.full(len(documents.row), -1, np.int64)
    target[kept] = np.arange(len(kept))
    parts = []
    for number, (postings, first) in enumerate(documents.parts):
        parts.append((postings, target[first : first + len(spaces[number].row)]))
    return Space(
        rows=picked(documents.rows, living),
        row=doc_place[kept].astype(np.int32),
        passage=documents.passage[kept],
        marks=documents.marks[kept],
        postings=merge_postings(parts, len(kept)),
    )


@dataclass(frozen=True, kw_only=True)
class Corpus:
    """Everything that can be ranked at one graph version.

    supports: which source supports which atom, and which sources are held back.
    holders: name of each holder hash.
    """

    turns: Documents
    atoms: Documents
    supports: Rows
    holders: dict[int, str]
    graph_version: int | None
    degradation: tuple[str, ...] = field(default=())

    @cached_property
    def holder_terms(self) -> dict[int, tuple[int, ...]]:
        """Return the term hashes of each holder's name."""
        return {holder: name_terms(name) for holder, name in self.holders.items()}

    @cached_property
    def claims(self) -> tuple[I64, I64]:
        """Return turn row and atom row of every claim a turn supports, each pair once.

        By atom row, then by the identity of the turn, which no key of the store changes.
        """
        alive = np.flatnonzero(self.atoms.is_alive)
        cited = self.cited_turn[alive]
        turn = np.concatenate([living_rows(self.turns, self.supports["source"]), cited])
        atom = np.concatenate([living_rows(self.atoms, self.supports["atom"]), alive])
        both = (turn >= 0) & (atom >= 0)
        pairs = np.unique(atom[both] * max(self.turns.count, 1) + turn[both])
        turn, atom = pairs % max(self.turns.count, 1), pairs // max(self.turns.count, 1)
        order = np.lexsort((self.turns.rows["tie"][turn], atom))
        return turn[order], atom[order]

    @cached_property
    def cited_turn(self) -> I64:
        """Return (atom rows,) the turn row of the first evidence of each atom, -1 when unknown."""
        return living_rows(self.turns, self.atoms.rows["source"])

    @cached_property
    def claim_starts(self) -> I64:
        """Return (atom rows + 1,) where the pairs of each atom row begin in `claims`."""
        return np.searchsorted(self.claims[1], np.arange(self.atoms.count + 1))

    def turns_of(self, atom_rows: Array) -> tuple[I64, I64]:
        """Return the turn rows that support the given atoms, and for each the position of its atom."""
        starts, ends = self.claim_starts[atom_rows], self.claim_starts[atom_rows + 1]
        widths = ends - starts
        position = np.repeat(np.arange(len(atom_rows)), widths)
        within = np.arange(len(position)) - np.repeat(np.cumsum(widths) - widths, widths)
        return self.claims[0][starts[position] + within], position


def living_rows(documents: Documents, ids: Array) -> I64:
    """Return the row of each S16 id, -1 where it is unknown or empty."""
    alive = np.flatnonzero(documents.is_alive)
    known = documents.rows["id"][alive]
    order = np.argsort(known)
    ranked = known[order]
    at = np.searchsorted(ranked, ids)
    result = np.full(len(ids), -1, np.int64)
    inside = np.flatnonzero(at < len(ranked))
    inside = inside[ranked[at[inside]] == ids[inside]]
    result[inside] = alive[order[at[inside]]]
    return result


def raised(corpus: Corpus, reinforced: Mapping[bytes, int]) -> Corpus:
    """Return `corpus` with the confidence of some claims raised, to one at most.

    reinforced: what is added, in parts per million, by atom id.
    """
    if not reinforced:
        return corpus
    atoms = corpus.atoms
    row = living_rows(atoms, np.array(list(reinforced), "S16"))
    added = np.fromiter(reinforced.values(), np.int64, len(reinforced))[row >= 0]
    row = row[row >= 0]
    confidence = np.array(atoms.rows["confidence"])
    confidence[row] = np.minimum(confidence[row] + added, _WHOLE)
    return replace(corpus, atoms=replace(atoms, rows={**atoms.rows, "confidence": confidence}))


def lowered(corpus: Corpus, low: Collection[bytes]) -> Corpus:
    """Return `corpus` with the health of some claims, by id, set to `low_utility` where they are healthy."""
    if not low:
        return corpus
    atoms = corpus.atoms
    row = living_rows(atoms, np.array(sorted(low), "S16"))
    row = row[row >= 0]
    health = np.array(atoms.rows["health"])
    row = row[health[row] == np.uint64(text_hash("healthy"))]
    health[row] = np.uint64(text_hash("low_utility"))
    return replace(corpus, atoms=replace(atoms, rows={**atoms.rows, "health": health}))


def current_supports(parts: Sequence[Rows]) -> Rows:
    """Return the newest row per decision, oldest part first."""
    kept = [
        picked(rows, np.flatnonzero(~_replaced_later(rows, parts[number + 1 :])))
        for number, rows in enumerate(parts)
    ]
    return joined(kept)


def order_of_turns(rows: Rows, row: Array, passage: Array) -> I64:
    """Return document numbers in reading order: session, turn, message, block, passage."""
    columns = (passage, rows["block"][row], rows["message"][row], rows["turn"][row], rows["session"][row])
    return np.lexsort(columns)
