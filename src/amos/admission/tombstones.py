"""Tombstones: what was forgotten and may not return, known only by keyed digests.

Three kinds.  `claim`: the keyed id of a claim, its scope included.  `source`: the keyed identity of a
delivery.  `text`: the words of a passage without case, spacing, punctuation or Unicode form, bound
to the scope of the claim; its digest begins with the masked sum of the words, so that a text is
looked through in one pass and only likely places are hashed.  Without the key none confirms a guess.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Sequence
from datetime import datetime
from hashlib import blake2b
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from amos.admission.addressed import readings_of
from amos.clock import EPOCH, to_us
from amos.identity import Scope, keyed_id, unkeyed_identity
from amos.kernels.wordings import (
    Sums,
    Wording,
    ascii_values,
    prefix_sums,
    run_starts,
    run_sums,
    word_value,
    wording_of,
)
from amos.schemas.buffers import column_arrays
from amos.schemas.choosing import empty
from amos.schemas.state import TOMBSTONES

UNSALTED_TOMBSTONES = pa.schema([field for field in TOMBSTONES if field.name != "salt"])

FORBID, REVIEW, NEW_EVIDENCE = "forbid", "require_review", "allow_if_new_evidence"
RECREATIONS = (FORBID, REVIEW, NEW_EVIDENCE)
SHORTEST_RUN, LONGEST_RUN = 3, 16
"""Words of a passage that is found inside a longer text: a shorter one must be all of it, a longer one
is kept as several runs."""

_SUM_BYTES = 8
_FOR_EVER = 2**63 - 1
_ROWS_AT_ONCE = 20_000
_LONGEST_MEMORY = 1 << 20


class Rule(NamedTuple):
    """What a tombstone says about a return: how, and since when it stands."""

    recreation: str
    created_us: int

    def verdict(self, event_us: int | None) -> str | None:
        """Return `cut` or `hold` for evidence of that time, None when it may come.

        Evidence of unknown time counts from when it arrives, which is later than any tombstone.
        """
        if self.recreation == REVIEW:
            return "hold"
        if self.recreation == NEW_EVIDENCE and (event_us is None or event_us > self.created_us):
            return None
        return "cut"


class Passage(NamedTuple):
    """A forgotten passage found in a text: first byte, byte after it, and what stands against it."""

    text: int
    start: int
    end: int
    rule: Rule


class WordKey:
    """Keyed values of words, kept while they are few."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._known: dict[str, int] = {}
        self.base = self._number(b"base") | 1
        self.letters = self._number(b"letters") | 1

    def _number(self, content: bytes) -> int:
        digest = blake2b(content, key=self._key, digest_size=8, person=b"amos/word/1").digest()
        return int.from_bytes(digest, "little")

    def values(self, words: Sequence[str]) -> list[int]:
        """Return the 64-bit value of each word."""
        known = self._known
        if len(known) > _LONGEST_MEMORY:
            known.clear()
        for word in words:
            if word not in known:
                known[word] = word_value(word, self.letters)
        return [known[word] for word in words]

    def sums(self, words: Sequence[str]) -> Sums:
        """Return the prefix sums of the words' values."""
        return prefix_sums(np.array(self.values(words), np.uint64), self.base)

    def total(self, words: Sequence[str]) -> int:
        """Return the sum of one whole run."""
        return int(run_sums(self.sums(words), np.zeros(1, np.int64), len(words))[0])


def claim_digest(key: bytes, claim_id: bytes) -> bytes:
    """Return the digest of a claim that may not return."""
    return hmac.digest(key, b"amos/tombstone/1/claim\x00" + claim_id, "sha256")


def source_digest(key: bytes, source_id: bytes) -> bytes:
    """Return the digest of a delivery that may not return."""
    return hmac.digest(key, b"amos/tombstone/1/source\x00" + source_id, "sha256")


def text_digest(words: Sequence[str], scope: Scope, words_key: WordKey, key: bytes) -> bytes:
    """Return the digest of a passage in a scope: 8 masked bytes of its sum, 24 of its keyed digest."""
    tail = _tail(words, scope, key)
    total = words_key.total(words).to_bytes(_SUM_BYTES, "little")
    return _masked(total, tail, key) + tail


def _tail(words: Sequence[str], scope: Scope, key: bytes) -> bytes:
    content = unkeyed_identity((*scope, "\x1f".join(words)))
    return hmac.digest(key, b"amos/tombstone/1/text\x00" + content, "sha256")[_SUM_BYTES:]


def _masked(total: bytes, tail: bytes, key: bytes) -> bytes:
    """Hide or show a sum: its mask depends on the rest of the digest and the key."""
    mask = hmac.digest(key, b"amos/tombstone/1/mask\x00" + tail, "sha256")
    return bytes(one ^ other for one, other in zip(total, mask, strict=False))


class Graves:
    """The tombstones that stand at one moment, ready to be asked; see `flow.tombstoned.read_graves`.

    over: those whose time is over, as if they stood.  due: their next version, where none says so yet.
    """

    def __init__(self, rows: pa.Table, key: bytes, now: datetime, row_count: int = 0) -> None:
        """Take the current rows of `tombstones`; row_count: how many row versions there were."""
        self._key = key
        self.over: Graves | None = None
        self.due = empty(UNSALTED_TOMBSTONES)
        self._row_count, self._until_us = row_count, _FOR_EVER
        self._words = WordKey(key)
        self._claims: dict[bytes, Rule] = {}
        self._sources: dict[bytes, Rule] = {}
        self._texts: dict[bytes, Rule] = {}
        self._sums: dict[int, list[int]] = {}
        if rows.num_rows:
            self._take_in(rows, to_us(now))
        self._sort()

    def _take_in(self, rows: pa.Table, now_us: int) -> None:
        """Add those of `rows` that stand."""
        names = ("kind", "digest", "tokens", "recreation", "status", "created_at", "expires_at")
        columns = [
            rows[name].cast(pa.int64()).to_pylist() if name.endswith("_at") else rows[name].to_pylist()
            for name in names
        ]
        for kind, digest, tokens, recreation, status, created, expires in zip(*columns, strict=True):
            if status == "active" and (expires is None or expires > now_us):
                self._add(kind, digest, tokens, Rule(recreation, created))
                self._until_us = min(self._until_us, _FOR_EVER if expires is None else expires)

    def _sort(self) -> None:
        self._sorted = {
            length: np.unique(np.array(sums, np.uint64)) for length, sums in sorted(self._sums.items())
        }

    def still_holds(self, row_count: int, now: datetime) -> bool:
        """Return whether a store with `row_count` rows of tombstones says the same at `now`."""
        return row_count == self._row_count and to_us(now) < self._until_us

    def of_passages(self, passages: Iterable[tuple[Sequence[str], Scope]]) -> Graves:
        """Return tombstones that forbid just these passages, under the same key."""
        return Graves.for_passages(passages, self._key)

    @classmethod
    def for_passages(cls, passages: Iterable[tuple[Sequence[str], Scope]], key: bytes) -> Graves:
        """Return tombstones that forbid just these passages."""
        made = cls(UNSALTED_TOMBSTONES.empty_table(), key, EPOCH)
        for words, scope in passages:
            for run in runs_of(words):
                made._add("text", text_digest(run, scope, made._words, key), len(run), Rule(FORBID, 0))
        made._sort()
        return made

    def _add(self, kind: str, digest: bytes, tokens: int, rule: Rule) -> None:
        if kind == "claim":
            self._claims[digest] = rule
        elif kind == "source":
            self._sources[digest] = rule
        else:
            self._texts[digest[_SUM_BYTES:]] = rule
            total = _masked(digest[:_SUM_BYTES], digest[_SUM_BYTES:], self._key)
            self._sums.setdefault(tokens, []).append(int.from_bytes(total, "little"))

    @property
    def is_empty(self) -> bool:
        """Whether nothing is forbidden."""
        return not (self._claims or self._sources or self._texts)

    def claim(self, claim_id: bytes) -> Rule | None:
        """Return what stands against a claim, or None."""
        return self._claims.get(claim_digest(self._key, claim_id)) if self._claims else None

    def source(self, source_id: bytes) -> Rule | None:
        """Return what stands against a delivery, or None."""
        return self._sources.get(source_digest(self._key, source_id)) if self._sources else None

    def likely(self, texts: pa.Array | pa.ChunkedArray) -> NDArray[np.bool_]:
        """Return which texts may hold a forgotten passage; linear in their bytes, without a look at most.

        Texts beyond ASCII and those with a backslash, which may be an escape, always may.
        """
        held = np.zeros(len(texts), np.bool_)
        if not self._texts or not len(texts):
            return held
        filled = pc.fill_null(texts, "")
        is_plain = pc.and_(pc.string_is_ascii(filled), pc.invert(pc.match_substring(filled, "\\")))
        plain = is_plain.to_numpy(zero_copy_only=False)
        held[~plain] = True
        rows = np.flatnonzero(plain)
        for start in range(0, len(rows), _ROWS_AT_ONCE):
            part = rows[start : start + _ROWS_AT_ONCE]
            held[part] = self._likely_plain(filled.take(pa.array(part)))
        return held

    def _likely_plain(self, texts: pa.Array | pa.ChunkedArray) -> NDArray[np.bool_]:
        arrays = column_arrays(texts)
        assert arrays.offsets is not None
        values, counts = ascii_values(arrays.values, arrays.offsets.astype(np.int64), self._words.letters)
        held = np.zeros(len(texts), np.bool_)
        if not len(values):
            return held
        sums, ends = prefix_sums(values, self._words.base), np.cumsum(counts)
        for length, wanted in self._sorted.items():
            starts = run_starts(counts, length)
            found = starts[np.isin(run_sums(sums, starts, length), wanted)]
            held[np.searchsorted(ends, found, "right")] = True
        return held

    def passages(
        self, texts: Sequence[str], scopes: Sequence[Scope], addressing: Sequence[bool] = ()
    ) -> list[Passage]:
        """Return the forgotten passages of `texts`, each of the scope at its place; linear in the words.

        addressing: which texts are told to somebody; these are also read as if they had said them.
        """
        if not self._texts or not texts:
            return []
        places = np.flatnonzero(self.likely(pa.array(texts, pa.string()))).tolist()
        wordings = [wording_of(texts[place]) for place in places]
        for place in np.flatnonzero(addressing).tolist():
            for reading in readings_of(texts[place]):
                places.append(place)
                wordings.append(reading)
        counts = [len(wording.words) for wording in wordings]
        if not sum(counts):
            return []
        sums = self._words.sums([word for wording in wordings for word in wording.words])
        firsts = np.cumsum(counts) - counts
        found: list[Passage] = []
        for length, wanted in self._sorted.items():
            starts = run_starts(counts, length)
            likely = starts[np.isin(run_sums(sums, starts, length), wanted)]
            owners = np.searchsorted(firsts, likely, "right") - 1
            for start, place in zip(likely.tolist(), owners.tolist(), strict=True):
                run = start - int(firsts[place])
                text = places[place]
                passage = self._passage(text, wordings[place], run, length, scopes[text])
                if passage is not None:
                    found.append(passage)
        return found

    def _passage(self, place: int, wording: Wording, start: int, length: int, scope: Scope) -> Passage | None:
        if length < SHORTEST_RUN and length != len(wording.words):
            return None
        words = wording.words[start : start + length]
        rule = self._texts.get(_tail(words, scope, self._key))
        if rule is None:
            return None
        return Passage(place, wording.starts[start], wording.ends[start + length - 1], rule)


def runs_of(words: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the runs under which a passage is kept; one word alone says too little to be forbidden."""
    if len(words) < 2:
        return []
    last = max(len(words) - LONGEST_RUN, 0)
    starts = sorted({*range(0, last, LONGEST_RUN), last})
    return [tuple(words[start : start + LONGEST_RUN]) for start in starts]


class Forbidden(NamedTuple):
    """What one act of forgetting forbids: claims and sources by id, passages by words and scope."""

    claims: Iterable[bytes]
    sources: Iterable[bytes]
    passages: Iterable[tuple[tuple[str, ...], Scope]]


class Terms(NamedTuple):
    """How long and how strictly it is forbidden, and why."""

    recreation: str
    reason: str
    now: datetime
    expires: datetime | None


def tombstone_rows(forbidden: Forbidden, terms: Terms, versions: dict[bytes, int], key: bytes) -> pa.Table:
    """Return the tombstones (without salt) of one act of forgetting, each digest once.

    versions: by tombstone id the row version that stands; a new row raises it.
    """
    words_key = WordKey(key)
    digests: dict[tuple[str, bytes], int] = {}
    for claim in forbidden.claims:
        digests["claim", claim_digest(key, claim)] = 0
    for source in forbidden.sources:
        digests["source", source_digest(key, source)] = 0
    for words, scope in forbidden.passages:
        for run in runs_of(words):
            digests["text", text_digest(run, scope, words_key, key)] = len(run)
    rows = sorted((tombstone_id(kind, digest, key), kind, digest, count)
                  for (kind, digest), count in digests.items())  # fmt: skip
    count = len(rows)
    ids, kinds, values, tokens = zip(*rows, strict=True) if rows else ((), (), (), ())
    columns = {
        "tombstone_id": ids,
        "version": [versions.get(identifier, 0) + 1 for identifier in ids],
        "kind": kinds,
        "digest": values,
        "tokens": tokens,
        "recreation": [terms.recreation] * count,
        "reason": [terms.reason] * count,
        "status": ["active"] * count,
        "created_at": [terms.now] * count,
        "expires_at": [terms.expires] * count,
    }
    schema = UNSALTED_TOMBSTONES
    return pa.table([pa.array(columns[field.name], field.type) for field in schema], schema=schema)


def tombstone_id(kind: str, digest: bytes, key: bytes) -> bytes:
    """Return the id of the tombstone of `kind` with `digest`."""
    return keyed_id(key, "tombstones", kind.encode() + b"\x00" + digest)
