"""Answer questions over one corpus; views are kept so that many questions share them."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from copy import copy
from typing import Self

import msgspec

from amos.errors import UsageError
from amos.kernels.place_scores import score_question
from amos.kernels.warmth import is_cached
from amos.retrieval.bulk import BulkRanker
from amos.retrieval.corpus import Corpus
from amos.retrieval.cues import Cue, read_cue
from amos.retrieval.facts import Facts, plain_facts
from amos.retrieval.ground import Board
from amos.retrieval.lens import Lens, needs_lens
from amos.retrieval.profile import Profile, load_profile
from amos.retrieval.ranking import Ranking, rank_view
from amos.retrieval.spelling import mended
from amos.retrieval.view import View, build_view
from amos.retrieval.visibility import RowFilter, check_scope
from amos.retrieval.wishes import NO_WISHES, Wishes

_VIEWS = 8
MOST_CUES = 32
_FIXED_WORK = 10_000
"""What a question costs by itself, in documents looked at."""
_WORTH_CALLING, _WORTH_LOADING, _WORTH_COMPILING = 300_000, 5_000_000, 100_000_000
"""Documents looked at in all from which compiled loops pay: loaded, in the cache, yet to be compiled."""


class Retriever:
    """Ranks the claims and turns of one graph version."""

    def __init__(self, corpus: Corpus, profile: Profile | None = None, *, is_compiled: bool = False) -> None:
        """Rank `corpus`; with compiled loops where many questions are to come."""
        self.corpus = corpus
        self.is_compiled = is_compiled
        self._rankers: dict[tuple[object, ...], BulkRanker] = {}
        self._boards: dict[str, Board] = {}
        self.profile = profile or load_profile()
        self._views: dict[tuple[object, ...], View] = {}
        self._read_key: tuple[object, ...] = ()
        self._read: list[Cue] = []

    def expect(self, questions: int) -> None:
        """Answer with compiled loops from now on where so many questions to come are worth it."""
        work = questions * (_FIXED_WORK + len(self.corpus.turns.row) + len(self.corpus.atoms.row))
        if "numba" in sys.modules:
            self.is_compiled = work >= _WORTH_CALLING
        else:
            self.is_compiled = work >= (_WORTH_LOADING if is_cached(score_question) else _WORTH_COMPILING)

    def replace_corpus(self, corpus: Corpus) -> None:
        """Rank another corpus from now on."""
        self.corpus = corpus
        self._views, self._rankers, self._boards = {}, {}, {}
        self._read_key = ()

    def view(self, wanted: RowFilter) -> View:
        """Return what `wanted` shows; built once per filter."""
        key = wanted.key
        view = self._views.pop(key, None)
        if view is None:
            check_scope(wanted.scope)
            alike = (v for v in self._views.values() if v.wanted.turn_key == wanted.turn_key)
            turns = next((v.turns for v in alike), None)
            view = build_view(self._corpus_of(wanted), wanted, self.profile.bm25f, turns)
        self._views[key] = view
        if len(self._views) > _VIEWS:
            oldest = next(iter(self._views))
            self._views.pop(oldest)
            self._rankers.pop(oldest, None)
        return view

    def _corpus_of(self, wanted: RowFilter) -> Corpus:  # noqa: ARG002 - all see the same one here
        return self.corpus

    def read_cues(self, cues: Sequence[str], wanted: RowFilter) -> list[Cue]:
        """Return the questions as terms; misspelt words carry the known words nearest to them."""
        if len(cues) > MOST_CUES:
            raise UsageError(f"a request has up to {MOST_CUES} cues, not {len(cues)}")
        if any(not cue.strip() for cue in cues):
            raise UsageError(
                "a cue is empty", advice="Ask with a few words, for example `coffee in the evening`."
            )
        key = (tuple(cues), wanted.key)
        if key != self._read_key:
            self._read_key, self._read = key, self._read_anew(cues, self.view(wanted))
        return self._read

    def _read_anew(self, cues: Sequence[str], view: View) -> list[Cue]:
        return [mended(view, read_cue(cue, lambda term: view.frequency(term) > 0)) for cue in cues]

    def rank(
        self,
        cues: Sequence[str],
        wanted: RowFilter,
        k: int,
        reserved: Sequence[Sequence[str]] = (),
        wishes: Wishes = NO_WISHES,
    ) -> Ranking:
        """Return the best `k` claims and turns for the cues; an item takes its best cue.

        Without a cue all that is in sight is ranked.  reserved: groups of atom types; the best claim of each
        is there even where it is not among the `k`, if it matches the question at least half as much as the
        best item.  wishes: attention and what else is wanted beside words.
        """
        if k <= 0:
            raise UsageError(f"the number of items must be at least 1, not {k}")
        view, asked, profile = self.view(wanted), self.read_cues(cues, wanted), self._timed(wishes)
        lens = None
        if not asked or needs_lens(view, profile, wishes, self.facts(wanted)):
            lens = Lens(
                view=view,
                profile=profile,
                wishes=wishes,
                facts=self.facts(wanted),
                cues=asked,
                read=lambda texts: self._read_anew(texts, view),
            )
        if lens is not None or not self.is_compiled:
            return rank_view(view, asked, profile, k, reserved, lens)
        ranker = self._rankers.get(wanted.key)
        if ranker is None:
            ranker = self._rankers[wanted.key] = BulkRanker(view, profile, self._boards)
        return ranker.rank(asked, k, reserved)

    def facts(self, wanted: RowFilter) -> Facts:
        """Return what is known of claims beside their words, as this caller may know it."""
        return plain_facts(self.view(wanted).corpus)

    def with_profile(self, profile: Profile) -> Self:
        """Return a retriever of the same corpus under another profile."""
        if profile == self.profile:
            return self
        other = copy(self)
        other.profile = profile
        other._views, other._rankers, other._read_key = {}, {}, ()
        return other

    def _timed(self, wishes: Wishes) -> Profile:
        """Return the profile with the horizon of recency that is wished for."""
        if wishes.recency_days is None:
            return self.profile
        recency = msgspec.structs.replace(self.profile.recency, days=wishes.recency_days)
        return msgspec.structs.replace(self.profile, recency=recency)

    def rank_many(self, questions: Iterable[tuple[Sequence[str], RowFilter]], k: int) -> list[Ranking]:
        """Return one ranking per question, equal to asking them one by one."""
        return [self.rank(cues, wanted, k) for cues, wanted in questions]
