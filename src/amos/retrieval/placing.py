"""Visible passages in reading order, numbered so that neighbours are next to each other."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from amos.kernels.postings import SCALE, THOUSAND
from amos.retrieval.corpus import Documents, order_of_turns
from amos.retrieval.marks import HOLDS_QUESTION, kind_bit
from amos.retrieval.marks import KINDS as KINDS_OF_THINGS
from amos.retrieval.profile import Bm25f
from amos.retrieval.rows import KINDS, Array
from amos.retrieval.visibility import Mask

I64 = npt.NDArray[np.int64]
U64 = npt.NDArray[np.uint64]
CAPTION = KINDS.index("caption")


@dataclass(frozen=True, kw_only=True)
class Places:
    """Visible passages of one kind in reading order, numbered 0 … n-1.

    document: (n,) number in the corpus.  row: (n,) row there.  session: (n,) sorted, None where
    passages have no neighbours.  speaker: (n,) who said it.  slot: (documents,) place of a document,
    or of the message that a caption belongs to; -1 is out of sight.  impact: (documents,) what one
    occurrence adds, in 1/SCALE.  is_caption: (documents,).  is_counted: (n,) takes part in the
    statistics.
    """

    documents: Documents
    document: I64
    row: I64
    session: I64 | None
    speaker: I64
    slot: I64
    impact: I64
    is_caption: Mask
    is_counted: Mask

    @property
    def count(self) -> int:
        """Return the number of places."""
        return len(self.document)

    @cached_property
    def has_captions(self) -> bool:
        """Return whether any document is attached to another."""
        return bool(self.is_caption.any())

    @cached_property
    def counted(self) -> int:
        """Return the number of places that take part in the statistics."""
        return int(self.is_counted.sum())

    @cached_property
    def marks(self) -> U64:
        """Return (n,) bits of `retrieval.marks`."""
        marks: U64 = self.documents.marks[self.document]
        return marks

    @cached_property
    def kind_frequency(self) -> list[int]:
        """Return for each of KINDS how many places of the statistics hold it."""
        marks = self.marks[self.is_counted]
        return [
            int((marks & np.uint64(kind_bit(number)) > 0).sum()) for number in range(len(KINDS_OF_THINGS))
        ]

    @cached_property
    def length(self) -> I64:
        """Return (n,) words that count."""
        return self.documents.lengths[self.document].astype(np.int64)

    @cached_property
    def session_number(self) -> I64:
        """Return (n,) the number of the session, 0 … in reading order."""
        assert self.session is not None
        is_first = np.zeros(self.count, np.int64)
        is_first[1:] = self.session[1:] != self.session[:-1]
        return np.cumsum(is_first)

    @cached_property
    def session_length(self) -> I64:
        """Return per session the words that count."""
        length = np.zeros(int(self.session_number[-1]) + 1 if self.count else 0, np.int64)
        np.add.at(length, self.session_number, self.length)
        return length

    @cached_property
    def session_turns(self) -> I64:
        """Return per session how many places it has."""
        return np.bincount(self.session_number).astype(np.int64)

    def session_impact(self, b: int) -> I64:
        """Return per session SCALE / (1 - b + b · length / mean); made once per b."""
        made = self._session_impacts.get(b)
        if made is None:
            every = np.ones(len(self.session_length), bool)
            made = self._session_impacts[b] = impacts(self.session_length, every, b)
        return made

    @cached_property
    def _session_impacts(self) -> dict[int, I64]:
        return {}

    @cached_property
    def is_talk(self) -> Mask:
        """Return (n,) whether more than one person speaks in the session."""
        if self.session is None or not self.count:
            return np.zeros(self.count, bool)
        number = self.session_number
        first = self.speaker[np.searchsorted(number, np.arange(int(number[-1]) + 1))]
        several = np.zeros(len(first), bool)
        several[number[self.speaker != first[number]]] = True
        talk: Mask = several[number]
        return talk

    @cached_property
    def is_after_question(self) -> Mask:
        """Return (n,) whether somebody else asked something right before in the same session."""
        result = np.zeros(self.count, bool)
        if self.session is not None and self.count:
            asked = self.marks[:-1] & np.uint64(HOLDS_QUESTION) > 0
            same = self.session[1:] == self.session[:-1]
            result[1:] = asked & same & (self.speaker[1:] != self.speaker[:-1])
        return result


def impacts(lengths: Array, counted: Mask, b: int) -> I64:
    """Return per document SCALE / (1 - b + b · length / mean), the mean over `counted` ones.

    b: share of length normalisation, in thousandths.
    """
    known = lengths[counted & (lengths > 0)]
    total, number = (int(known.sum()), len(known)) if len(known) else (1, 1)
    base = (THOUSAND - b) * total
    slope = b * number * lengths.astype(np.int64)
    result: Any = SCALE * THOUSAND * total // np.maximum(base + slope, 1)
    return result


def place_turns(documents: Documents, visible: Mask, bm25f: Bm25f) -> Places:
    """Return the visible passages in reading order, captions attached to their messages."""
    row = documents.row
    shown = (visible & documents.is_alive)[row]
    is_caption = documents.rows["kind"][row] == CAPTION
    main = _captioned(documents, shown, is_caption)
    is_caption = is_caption & (main >= 0)
    own = np.flatnonzero(shown & ~is_caption)
    own = own[order_of_turns(documents.rows, row[own], documents.passage[own])]
    slot = np.full(len(row), -1, np.int64)
    slot[own] = np.arange(len(own))
    attached = np.flatnonzero(is_caption & shown)
    slot[attached] = slot[main[attached]]
    impact = impacts(documents.lengths, shown & ~is_caption, bm25f.b)
    captions = impacts(documents.lengths, shown & is_caption, bm25f.b)
    session = documents.rows["session"][row[own]].view(np.int64)
    return Places(
        documents=documents,
        document=own,
        row=row[own].astype(np.int64),
        session=session,
        speaker=documents.rows["holder"][row[own]].view(np.int64),
        slot=slot,
        impact=np.where(is_caption, captions, impact),
        is_caption=is_caption,
        is_counted=np.ones(len(own), bool),
    )


def _captioned(documents: Documents, shown: Mask, is_caption: Mask) -> I64:
    """Return per document the first shown passage of the message a caption belongs to, else -1."""
    result = np.full(len(shown), -1, np.int64)
    captions = np.flatnonzero(is_caption & shown)
    if not len(captions):
        return result
    texts = np.flatnonzero(shown & ~is_caption & (documents.passage == 0))
    message = documents.rows["message"][documents.row]
    texts = texts[np.lexsort((documents.rows["block"][documents.row[texts]], message[texts]))]
    at = np.searchsorted(message[texts], message[captions])
    inside = at < len(texts)
    inside[inside] = message[texts[at[inside]]] == message[captions[inside]]
    result[captions[inside]] = texts[at[inside]]
    return result


def place_atoms(documents: Documents, visible: Mask, eligible: Mask, bm25f: Bm25f) -> Places:
    """Return the visible claims; only the eligible ones count in the statistics."""
    shown = (visible & documents.is_alive)[documents.row]
    own = np.flatnonzero(shown)
    counted = shown & eligible[documents.row]
    slot = np.full(len(shown), -1, np.int64)
    slot[own] = np.arange(len(own))
    return Places(
        documents=documents,
        document=own,
        row=documents.row[own].astype(np.int64),
        session=None,
        speaker=documents.rows["holder"][documents.row[own]].view(np.int64),
        slot=slot,
        impact=impacts(documents.lengths, counted, bm25f.b),
        is_caption=np.zeros(len(shown), bool),
        is_counted=counted[own],
    )


def frequency_in(places: Places, term: int) -> int:
    """Return how many counted places hold a term hash."""
    found = places.documents.find(term) if places.count else None
    if found is None:
        return 0
    slots = places.slot[found[0]]
    slots = slots[slots >= 0]
    if places.has_captions:
        slots = np.unique(slots)
    return int(places.is_counted[slots].sum())


@lru_cache(maxsize=65_536)
def rarity(total: int, frequency: int) -> int:
    """Return the inverse document frequency ln(1 + (N - n + ½) / (n + ½)) in 1/SCALE."""
    return round(math.log1p((total - frequency + 0.5) / (frequency + 0.5)) * SCALE)
