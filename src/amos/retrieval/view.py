"""The part of a corpus that one caller sees, packed: nothing else takes part in a ranking."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
import numpy.typing as npt

from amos.retrieval.corpus import Corpus, Documents
from amos.retrieval.placing import Places, frequency_in, place_atoms, place_turns
from amos.retrieval.profile import Bm25f
from amos.retrieval.rows import Array, text_hash
from amos.retrieval.visibility import (
    Mask,
    RowFilter,
    atom_omissions,
    holds_at,
    in_scope,
    may_see,
    shown_turns,
    superseded_turns,
)

I32 = npt.NDArray[np.int32]
I64 = npt.NDArray[np.int64]
U64 = npt.NDArray[np.uint64]
Kept = TypeVar("Kept")
_MOST_KEPT_BYTES = 32 << 20
"""Size of the masks of names that a view keeps for the next question."""


class People(NamedTuple):
    """Who speaks where.

    holders: distinct holder hashes, sorted.  holder_of, talk_of: (places,) number of the holder and of the
    conversation.  pairs: distinct (conversation, holder) numbers.  sizes: holders per conversation.
    """

    holders: U64
    holder_of: I32
    talk_of: I32
    pairs: tuple[I64, I64]
    sizes: I64

    def are(self, named: U64) -> Mask:
        """Return (holders,) which of the holders are among `named`."""
        found: Mask = np.isin(self.holders, named)
        return found

    def talks_with(self, named: U64) -> Mask:
        """Return (conversations,) in which somebody of `named` takes part."""
        talks, holders = self.pairs
        found = np.zeros(len(self.sizes), bool)
        found[talks[self.are(named)[holders]]] = True
        return found

    def crowded_by(self, named: U64) -> Mask:
        """Return (conversations,) of several people all of whom are among `named`."""
        talks, holders = self.pairs
        hits = np.bincount(talks[self.are(named)[holders]], minlength=len(self.sizes))
        found: Mask = (hits == self.sizes) & (self.sizes > 1)
        return found


@dataclass(frozen=True, kw_only=True)
class View:
    """What one filter leaves of a corpus.

    reasons: per atom row the number of its omission reason in `reason_names`, 0 for none.
    stale_turn: (turn rows,) all its claims are superseded.  holding: (atom rows,) holds now.
    turn_denied, atom_denied: rows that the reader may not see.  stored: rows at all.
    """

    corpus: Corpus
    wanted: RowFilter
    turns: Places
    atoms: Places
    reasons: Array
    reason_names: tuple[str, ...]
    stale_turn: Mask
    holding: Mask
    turn_denied: Mask
    atom_denied: Mask
    stored: int

    @cached_property
    def total(self) -> int:
        """Return how many passages and claims the statistics count."""
        return self.turns.counted + self.atoms.counted

    @cached_property
    def vectors(self) -> dict[str, Any]:
        """Return what was worked out of the words of its places, by kind; filled by those who need it."""
        return {}

    @cached_property
    def _known(self) -> dict[int, int]:
        return {}

    def frequency(self, term: int) -> int:
        """Return in how many counted places a term hash occurs; what is hidden never counts."""
        found = self._known.get(term)
        if found is None:
            found = self._known[term] = sum(frequency_in(p, term) for p in (self.turns, self.atoms))
        return found

    def is_withheld(self, terms: Iterable[int]) -> bool:
        """Return whether one of these term hashes occurs in a row that the reader may not see."""
        denying = [
            (documents, denied)
            for documents, denied, is_any in zip(
                (self.corpus.turns, self.corpus.atoms),
                (self.turn_denied, self.atom_denied),
                self._denies,
                strict=True,
            )
            if is_any
        ]
        if not denying:
            return False
        for term in terms:
            for documents, denied in denying:
                found = documents.find(term)
                if found is not None and denied[documents.row[found[0]]].any():
                    return True
        return False

    @cached_property
    def _denies(self) -> tuple[bool, bool]:
        return bool(self.turn_denied.any()), bool(self.atom_denied.any())

    @cached_property
    def shown_turn(self) -> Mask:
        """Return (turn rows,) which turns may be shown."""
        shown = np.zeros(self.corpus.turns.count, bool)
        shown[self.turns.row] = True
        return shown

    @cached_property
    def captions(self) -> dict[bytes, list[bytes]]:
        """Return per source id the ids of the captions attached to it, for all that is shown."""
        found: dict[bytes, list[bytes]] = {}
        documents, ids = self.corpus.turns, self.corpus.turns.rows["id"]
        attached = np.flatnonzero(self.turns.is_caption & (self.turns.slot >= 0))
        mains = self.turns.row[self.turns.slot[attached]]
        for main, caption in zip(mains.tolist(), documents.row[attached].tolist(), strict=True):
            captions = found.setdefault(ids[main : main + 1].tobytes(), [])
            caption_id = ids[caption : caption + 1].tobytes()
            if caption_id not in captions:
                captions.append(caption_id)
        return found

    def sees_atoms(self, ids: Array) -> Mask:
        """Return which S16 atom ids the caller may see, whatever their state."""
        return np.isin(ids, self.corpus.atoms.rows["id"][self.atoms.row])

    @cached_property
    def people(self) -> People:
        """Return who speaks where in what is visible."""
        rows = self.corpus.turns.rows
        holders, holder_of = np.unique(rows["holder"][self.turns.row], return_inverse=True)
        conversations, conversation_of = np.unique(rows["conversation"][self.turns.row], return_inverse=True)
        pairs = np.unique(conversation_of * max(len(holders), 1) + holder_of)
        talk, holder = np.divmod(pairs, max(len(holders), 1))
        return People(
            holders=holders,
            holder_of=holder_of.astype(np.int32),
            talk_of=conversation_of.astype(np.int32),
            pairs=(talk, holder),
            sizes=np.bincount(talk, minlength=len(conversations)),
        )

    @cached_property
    def names(self) -> dict[int, Array]:
        """Return per term of a speaker's name the holder hashes of those who said what is visible."""
        found: dict[int, list[int]] = {}
        for holder in self.people.holders.tolist():
            for term in dict.fromkeys(self.corpus.holder_terms.get(holder, ())):
                found.setdefault(term, []).append(holder)
        return {term: np.array(holders, np.uint64) for term, holders in found.items()}

    def kept(self, key: tuple[object, ...], make: Callable[[], Kept]) -> Kept:
        """Return what `make` gives, kept for the next questions that need it under the same key."""
        if key not in self._kept:
            if len(self._kept) * max(self.turns.count, self.atoms.count) >= _MOST_KEPT_BYTES:
                self._kept.clear()
            self._kept[key] = make()
        return cast(Kept, self._kept[key])

    @cached_property
    def spelt(self) -> dict[str, tuple[str, ...]]:
        """Return the known words nearest to words that nothing visible holds, as far as they were sought."""
        return {}

    @cached_property
    def _kept(self) -> dict[tuple[object, ...], object]:
        return {}


def build_view(corpus: Corpus, wanted: RowFilter, bm25f: Bm25f, turns: Places | None = None) -> View:
    """Return what `wanted` leaves of `corpus`.

    turns: places of an earlier view with an equal `turn_key`, which need not be made again.
    """
    atoms = corpus.atoms
    turn_denied = corpus.turns.is_alive & ~may_see(corpus.turns.rows, wanted.reader)
    atom_denied = atoms.is_alive & ~may_see(atoms.rows, wanted.reader)
    atom_seen = in_scope(atoms.rows, wanted.scope) & ~atom_denied
    holding = holds_at(atoms.rows, wanted.instant_us)
    names, reasons = _reasons(atoms, wanted)
    claims = atom_seen & atoms.is_alive
    return View(
        corpus=corpus,
        wanted=wanted,
        turns=turns or _visible_turns(corpus, wanted, bm25f, turn_denied),
        atoms=place_atoms(atoms, atom_seen, reasons == 0, bm25f),
        reasons=reasons,
        reason_names=names,
        stale_turn=superseded_turns(corpus.turns.count, corpus.claims, claims, holding),
        holding=holding,
        turn_denied=turn_denied,
        atom_denied=atom_denied,
        stored=int(corpus.turns.is_alive.sum() + atoms.is_alive.sum()),
    )


def _visible_turns(corpus: Corpus, wanted: RowFilter, bm25f: Bm25f, denied: Mask) -> Places:
    rows = corpus.turns.rows
    held = np.unique(corpus.supports["source"][corpus.supports["is_held"] > 0])
    seen = in_scope(rows, wanted.scope) & ~denied & shown_turns(rows, wanted, held)
    return place_turns(corpus.turns, seen, bm25f)


def _reasons(atoms: Documents, wanted: RowFilter) -> tuple[tuple[str, ...], Array]:
    names = [""]
    reasons = np.zeros(atoms.count, np.int16)
    for name, mask in atom_omissions(atoms.rows, wanted):
        if name not in names:
            names.append(name)
        reasons[mask & (reasons == 0)] = names.index(name)
    return tuple(names), reasons


CONTRADICTED = text_hash("contradicted")
STALE = text_hash("stale")
