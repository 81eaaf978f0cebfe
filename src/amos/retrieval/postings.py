"""Which document holds which term how often: build, look up, spell."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from amos.retrieval.container import StoredArray
from amos.retrieval.languages import second_terms
from amos.retrieval.words import Encoded, Vocabulary, term_hash

U64 = npt.NDArray[np.uint64]
I64 = npt.NDArray[np.int64]
I32 = npt.NDArray[np.int32]
U16 = npt.NDArray[np.uint16]
U8 = npt.NDArray[np.uint8]

_MOST = 65_535


@dataclass(frozen=True, kw_only=True)
class Postings:
    """Terms in hash order, each with its documents in ascending order.

    hashes: (t,).  starts: (t + 1,).  docs, counts: (p,) int32 and uint16, possibly read on demand.
    lengths: (documents,) words that count.  names, name_starts: the terms as UTF-8, end to end, in
    hash order.
    """

    hashes: U64
    starts: I64
    docs: I32 | StoredArray
    counts: U16 | StoredArray
    lengths: I32
    names: U8 | StoredArray
    name_starts: I64

    def find(self, wanted: int) -> int:
        """Return the position of a term hash, or -1."""
        key = np.uint64(wanted)
        at = int(self.hashes.searchsorted(key))
        return at if at < len(self.hashes) and self.hashes[at] == key else -1

    def of(self, at: int) -> tuple[I32, U16]:
        """Return the documents and counts of the term at position `at`."""
        low, high = int(self.starts[at]), int(self.starts[at + 1])
        return self.docs[low:high], self.counts[low:high]

    @cached_property
    def letter_pairs(self) -> U16:
        """Return every two bytes that follow each other in `names` as one number."""
        names = np.asarray(self.names).astype(np.uint16)
        pairs: U16 = names[:-1] << np.uint16(8) | names[1:]
        return pairs

    def name(self, at: int) -> str:
        """Return the text of the term at position `at`."""
        low, high = int(self.name_starts[at]), int(self.name_starts[at + 1])
        return self.names[low:high].tobytes().decode()


def build_postings(encoded: Encoded, vocabulary: Vocabulary) -> Postings:
    """Return the postings of encoded passages, which become documents 0 … n-1."""
    documents = len(encoded.starts) - 1
    doc_of = np.repeat(np.arange(documents, dtype=np.int64), np.diff(encoded.starts))
    counted = np.array(vocabulary.counts, bool)[encoded.codes] if len(encoded.codes) else np.zeros(0, bool)
    lengths = np.bincount(doc_of[counted], minlength=documents).astype(np.int32)
    more_docs, more_codes = second_terms(encoded, vocabulary)
    term_of, hashes, names = _terms_in_hash_order(vocabulary)
    codes = np.concatenate([encoded.codes, more_codes])
    pairs = term_of[codes] * max(documents, 1) + np.concatenate([doc_of, more_docs])
    pairs.sort()
    is_first = np.ones(len(pairs), bool)
    is_first[1:] = pairs[1:] != pairs[:-1]
    firsts = np.flatnonzero(is_first)
    counts = np.diff(np.append(firsts, len(pairs)))
    terms, docs = np.divmod(pairs[firsts], max(documents, 1))
    starts = np.searchsorted(terms, np.arange(len(hashes) + 1))
    raw = [name.encode() for name in names]
    return Postings(
        hashes=hashes,
        starts=starts.astype(np.int64),
        docs=docs.astype(np.int32),
        counts=np.minimum(counts, _MOST).astype(np.uint16),
        lengths=lengths,
        names=np.frombuffer(b"".join(raw), np.uint8),
        name_starts=_offsets([len(name) for name in raw]),
    )


def _offsets(lengths: list[int]) -> I64:
    return np.concatenate([[0], np.cumsum(np.array(lengths, np.int64))]).astype(np.int64)


def _terms_in_hash_order(vocabulary: Vocabulary) -> tuple[I64, U64, list[str]]:
    """Return term number per code, hashes ascending, and the terms in that order."""
    distinct = list(dict.fromkeys(vocabulary.terms))
    hashes = np.array([term_hash(term) for term in distinct], np.uint64)
    order = np.argsort(hashes, kind="stable")
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    number = dict(zip(distinct, rank.tolist(), strict=True))
    term_of = np.array([number[term] for term in vocabulary.terms], np.int64)
    return term_of, hashes[order], [distinct[i] for i in order.tolist()]


def merge_postings(parts: list[tuple[Postings, I64]], documents: int) -> Postings:
    """Return one index over `documents` documents; each part says where its documents go, -1 is away."""
    hashes = np.unique(np.concatenate([part.hashes for part, _ in parts]))
    pairs, counts, lengths = [], [], np.zeros(documents, np.int32)
    for part, target in parts:
        terms = np.repeat(np.searchsorted(hashes, part.hashes), np.diff(part.starts))
        docs = target[np.asarray(part.docs)]
        kept = docs >= 0
        pairs.append(terms[kept] * max(documents, 1) + docs[kept])
        counts.append(np.asarray(part.counts)[kept])
        lengths[target[target >= 0]] = part.lengths[target >= 0]
    pair, count = np.concatenate(pairs), np.concatenate(counts)
    order = np.argsort(pair, kind="stable")
    terms, docs = np.divmod(pair[order], max(documents, 1))
    used, first = np.unique(terms, return_index=True)
    names = _merged_names(hashes[used], [part for part, _ in parts])
    return Postings(
        hashes=hashes[used],
        starts=np.append(first, len(terms)).astype(np.int64),
        docs=docs.astype(np.int32),
        counts=count[order],
        lengths=lengths,
        names=np.frombuffer(b"".join(names), np.uint8),
        name_starts=_offsets([len(name) for name in names]),
    )


def _merged_names(hashes: U64, parts: list[Postings]) -> list[bytes]:
    found: dict[int, bytes] = {}
    for part in parts:
        for at in np.flatnonzero(np.isin(part.hashes, hashes)).tolist():
            found[int(part.hashes[at])] = part.name(at).encode()
    return [found[value] for value in hashes.tolist()]
