"""Rank many questions over one view with compiled loops; the rankings equal those of `rank_view`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from amos.kernels.best_items import CLAIM_ROW, ITEM_SCORE, TURN_ROW, best_items
from amos.kernels.compiled import compiled
from amos.kernels.pairing import MOST_CLAIMS, pair_claims
from amos.kernels.place_scores import (
    SCORED,
    SCORED_HELD,
    SCORED_PLACE,
    SCORED_ROW,
    fill_components,
    join_components,
    score_question,
)
from amos.retrieval.candidates import COLUMN, CUE_COLUMNS, DIRECT_CUE_MATCH, kind_share
from amos.retrieval.cues import Cue, CueTerm
from amos.retrieval.folding import Items, echoes, is_erased, outdated_turns
from amos.retrieval.ground import Board, Cells, Ground, ground_of_atoms, ground_of_turns, weights_of
from amos.retrieval.marks import cue_bit, kind_bit
from amos.retrieval.mentions import Mention
from amos.retrieval.profile import MILLION, Profile
from amos.retrieval.ranking import Answer, Missed, Ranking, left_out, rank_view, ranking_of, reach
from amos.retrieval.rows import Array, text_hash
from amos.retrieval.scoring import term_weight
from amos.retrieval.term_book import TermBook
from amos.retrieval.view import View
from amos.retrieval.visibility import Mask
from amos.schemas.ranked import COMPONENTS

I64 = npt.NDArray[np.int64]

_TERM_COLUMNS = 8
_MOST_TERMS = 8_192
"""Of one question; the sums of more would not fit."""
_NOBODY = np.zeros(0, np.bool_)


class _Kind:
    """Turns or claims of a view, and what a question looks for among them."""

    def __init__(self, ground: Ground, curve: I64, board: Board) -> None:
        self.ground, self.board, self.book = ground, board, TermBook(ground, curve)
        self.matched: Mask = _NOBODY
        self.closeness: I64 = np.zeros(0, np.int64)
        self.asked: I64 = np.zeros((0, 3), np.int64)

    def ask(self, cues: Sequence[Cue], matched: Sequence[Mask]) -> None:
        """Look for what the questions ask for beside words.

        matched: per question that names somebody, which places are by or about them.
        """
        types = {number for cue in cues for number in cue.asked_cues}
        kinds = {number for cue in cues for number in cue.asked_kinds}
        rows = [(cue_bit(n), MILLION, CUE_COLUMNS[n]) for n in types]
        rows += [(kind_bit(n), kind_share(self.ground.places, n), COLUMN["kind_match"]) for n in kinds]
        self.asked = np.array(rows, np.int64).reshape(-1, 3)
        self.closeness = self.ground.closeness(cues)
        self.matched = matched[0] if matched else _NOBODY
        for other in matched[1:]:
            self.matched = self.matched | other

    def components(self, places: I64) -> I64:
        """Return the components of places that passed, a row each."""
        out = np.zeros((len(places), len(COMPONENTS)), np.int64)
        if len(places):
            compiled(fill_components)(
                places, self.board.best, self.ground.columns, self.ground.standing, self.matched,
                self.closeness, self.asked, out,
            )  # fmt: skip
        return out


class BulkRanker:
    """Ranks questions over one view; keeps what the view alone decides.  Not for two threads at once."""

    def __init__(self, view: View, profile: Profile, boards: dict[str, Board]) -> None:
        """Write sums on `boards`, which views of one corpus may share."""
        self._view, self._profile, self._boards = view, profile, boards
        bm25f, floor = profile.bm25f, profile.floor
        shares = [bm25f.own, bm25f.caption, bm25f.near, bm25f.far, bm25f.k1, bm25f.session_k1]
        limits = [bm25f.words, bm25f.k1, bm25f.session_k1, bm25f.half]
        limits += [floor.coverage, floor.words, floor.neighbour_words, floor.talk_words]
        self._weights = weights_of(profile)
        self._numbers = np.append(np.array(limits, np.int64), self._weights)
        self._turns, self._atoms = (
            _Kind(ground, np.array(shares, np.int64), self._board(kind, ground.places.count))
            for kind, ground in (
                ("turns", ground_of_turns(view, profile)),
                ("atoms", ground_of_atoms(view, profile)),
            )
        )
        corpus = view.corpus
        self._ties = np.array(corpus.atoms.rows["tie"]), np.array(corpus.turns.rows["tie"])
        self._atom_kinds = np.array(corpus.atoms.rows["type"])
        self._tie_rank = _ranks(self._ties[0])
        self._is_lone = _lone_places(view)
        self._cells = Cells(corpus.turns.count, corpus.atoms.count)

    def rank(self, cues: Sequence[Cue], k: int, reserved: Sequence[Sequence[str]] = ()) -> Ranking:
        """Return what `rank_view` returns for the same question."""
        view = self._view
        mentions = [Mention(view, cue) for cue in cues]
        if (
            len(self._tie_rank) >= MOST_CLAIMS
            or any(len(cue.terms) > _MOST_TERMS for cue in cues)
            or any(mention.is_name_alone for mention in mentions)
        ):
            return rank_view(view, cues, self._profile, k, reserved)
        self._take_boards()
        turns, missed_turns = self.candidates(cues, mentions)
        atoms, missed_atoms = self._claims(cues, mentions)
        is_out = is_erased(view, turns[:, SCORED_ROW])
        erased = len(np.unique(turns[is_out, SCORED_ROW]))
        turns = turns[~is_out] if erased else turns
        items, total, outdated = self._folded(self._without_echoes(turns, atoms), atoms, k, reserved)
        self._turns.board.is_clean = self._atoms.board.is_clean = True
        rows, scores = atoms[:, SCORED_ROW], atoms[:, SCORED]
        missed = Missed(outdated=outdated, erased=erased, below=missed_turns + missed_atoms)
        out = left_out(view, rows, scores, missed)
        reached = (reach(one[:, SCORED], one[:, SCORED_HELD]) for one in (turns, atoms))
        best = max((int(one.max()) for one in reached if len(one)), default=0)
        return ranking_of(view, mentions, self._profile, Answer(items, total, best), out)

    def _without_echoes(self, turns: I64, atoms: I64) -> I64:
        """Return the turns without those that hold nothing and stand beside outdated ones alone."""
        turn, atom = ((one[:, SCORED_ROW], one[:, SCORED_HELD]) for one in (turns, atoms))
        is_out = outdated_turns(self._view, turn, atom)
        if is_out is None:
            return turns
        place = turns[:, SCORED_PLACE]
        is_echo = echoes(self._view, place, turns[:, SCORED_HELD], is_out)
        if len(self._turns.matched):
            is_echo &= ~self._turns.matched[place]
        return turns[~is_echo]

    def candidates(self, cues: Sequence[Cue], mentions: Sequence[Mention]) -> tuple[I64, int]:
        """Return the turns that answer some cue, as columns of `scored`, and how many missed the floor."""
        view = self._view
        matched = [one.turn_match(view) for one in mentions if one.means_somebody]
        return self._scored(self._turns, cues, [one.turn_names(view) for one in mentions], matched)

    def _claims(self, cues: Sequence[Cue], mentions: Sequence[Mention]) -> tuple[I64, int]:
        view = self._view
        matched = [one.atom_match(view) for one in mentions if one.means_somebody]
        return self._scored(self._atoms, cues, [one.atom_names(view) for one in mentions], matched)

    def _board(self, kind: str, count: int) -> Board:
        board = self._boards.get(kind)
        if board is None or not board.is_fit(count):
            board = self._boards[kind] = Board(count)
        return board

    def _take_boards(self) -> None:
        """Have clean boards, even where a question before was broken off."""
        for name, kind in (("turns", self._turns), ("atoms", self._atoms)):
            kind.board = self._board(name, kind.ground.places.count)
            kind.board.is_clean = False

    def _scored(
        self, kind: _Kind, cues: Sequence[Cue], names: Sequence[dict[int, Mask]], matched: Sequence[Mask]
    ) -> tuple[I64, int]:
        book, board = kind.book, kind.board
        book.make_room()
        terms = [
            (*book.find(term, named, board), *self._weighed(term, named), number)
            for number, (cue, named) in enumerate(zip(cues, names, strict=True))
            for term in cue.terms
        ]
        if not any(term[1] for term in terms):
            return board.scored[:0], 0
        kind.ask(cues, matched)
        passed, missed = compiled(score_question)(
            np.array(terms, np.int64), book.entries, book.session_entries, self._numbers, kind.ground.columns,
            kind.ground.session_turns, kind.matched, kind.closeness, kind.asked, board.sums,
            board.session_sums, board.lists, board.tally, board.best, board.scored,
        )  # fmt: skip
        return board.scored[:passed], missed

    def _weighed(self, term: CueTerm, named: dict[int, Mask]) -> tuple[int, bool, int]:
        """Return the weight of a term, whether it is required, and its word."""
        is_required = term.is_required and not (named and any(value in named for value in term.hashes))
        return term_weight(self._view, term, self._profile.bm25f), is_required, term.word

    def _folded(
        self, turns: I64, atoms: I64, k: int, reserved: Sequence[Sequence[str]]
    ) -> tuple[Items, int, int]:
        """Return the best `k` items, how many there are, and how many turns were outdated."""
        view, corpus = self._view, self._view.corpus
        kept, shown, alone, outdated = compiled(pair_claims)(
            turns, atoms, self._is_lone, view.reasons, corpus.claim_starts, corpus.claims[0], view.holding,
            self._tie_rank, not view.wanted.include_superseded, self._cells.turns, self._cells.claims,
        )  # fmt: skip
        if not view.wanted.has_turns:
            alone = alone[:0]
        claims = len(kept)
        items = np.full((claims + len(alone), ITEM_SCORE + 1), -1, np.int64)
        places = np.full((len(items), 2), -1, np.int64)
        items[claims:, TURN_ROW], items[claims:, ITEM_SCORE] = (
            turns[alone, SCORED_ROW],
            turns[alone, SCORED],
        )
        places[claims:, 1] = turns[alone, SCORED_PLACE]
        if claims:
            items[:claims, CLAIM_ROW], items[:claims, ITEM_SCORE] = (
                atoms[kept, SCORED_ROW],
                atoms[kept, SCORED],
            )
            items[:claims, TURN_ROW] = corpus.cited_turn[items[:claims, CLAIM_ROW]]
            places[:claims, 0] = atoms[kept, SCORED_PLACE]
            paired = np.flatnonzero(shown >= 0)
            items[paired, TURN_ROW] = turns[shown[paired], SCORED_ROW]
            places[paired, 1] = turns[shown[paired], SCORED_PLACE]
            items[paired, ITEM_SCORE] = self._joined(places[paired])[1]
        best = compiled(best_items)(items, k, *self._ties)
        if reserved and claims and len(items) > k:
            best = self._with_reserved(items, places, best, reserved)
        found = Items(
            score=items[best, ITEM_SCORE],
            components=self._components(places[best]),
            signals=None,
            atom_row=items[best, CLAIM_ROW],
            turn_row=items[best, TURN_ROW],
        )
        return found, len(items), outdated

    def _with_reserved(self, items: I64, places: I64, best: I64, reserved: Sequence[Sequence[str]]) -> I64:
        """Return the best items, and the first of each group of types that matches half as much."""
        claims = np.flatnonzero(items[:, CLAIM_ROW] >= 0)
        kinds = self._atom_kinds[items[claims, CLAIM_ROW]]
        chosen = set(best.tolist())
        for group in reserved:
            wanted = np.array([text_hash(kind) for kind in group], np.uint64)
            inside = claims[np.isin(kinds, wanted)]
            first = inside[compiled(best_items)(items[inside], 1, *self._ties)]
            match = self._components(places[np.append(best[:1], first)])[:, DIRECT_CUE_MATCH]
            chosen.update(first[2 * match[1:] >= match[0]].tolist())
        every = np.array(sorted(chosen), np.int64)
        return every[compiled(best_items)(items[every], len(every), *self._ties)]

    def _joined(self, places: I64) -> tuple[I64, I64]:
        """Return components and scores of claims with the turns that say them, a place of each in a row."""
        claims, turns = self._atoms.components(places[:, 0]), self._turns.components(places[:, 1])
        scores = np.empty(len(places), np.int64)
        if len(places):
            compiled(join_components)(claims, turns, self._weights, scores)
        return claims, scores

    def _components(self, places: I64) -> I64:
        """Return the components of items; places: a claim, a turn or both in a row, -1 for none."""
        is_claim, is_shown = places[:, 0] >= 0, places[:, 1] >= 0
        if not is_claim.any():
            return self._turns.components(places[:, 1])
        out = np.empty((len(places), len(COMPONENTS)), np.int64)
        out[~is_claim] = self._turns.components(places[~is_claim, 1])
        out[~is_shown] = self._atoms.components(places[~is_shown, 0])
        out[is_claim & is_shown] = self._joined(places[is_claim & is_shown])[0]
        return out


def _lone_places(view: View) -> npt.NDArray[np.uint8]:
    """Return which visible turns are the only place of their row and cited by no claim."""
    places = np.bincount(view.turns.row, minlength=view.corpus.turns.count)
    places[view.corpus.claims[0]] = 0
    return (places == 1)[view.turns.row].astype(np.uint8)


def _ranks(ties: Array) -> I64:
    """Return the place of each row when ordered by tie, then by row."""
    found = np.empty(len(ties), np.int64)
    found[np.argsort(ties, kind="stable")] = np.arange(len(ties))
    return found
