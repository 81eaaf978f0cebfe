"""What each term brings to the places of a view: found when first asked for, kept for later questions."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from amos.kernels.compiled import compiled
from amos.kernels.term_sums import OWN_THERE, find_term
from amos.retrieval.cues import CueTerm
from amos.retrieval.ground import Board, Ground
from amos.retrieval.visibility import Mask

I64 = npt.NDArray[np.int64]
I32 = npt.NDArray[np.int32]

MOST_ENTRIES = 8 << 20
"""Entries kept before all are forgotten: 96 MB."""
MOST_TERMS = 65_536
_REACH = 5
"""Places that one occurrence reaches: its own and two on either side."""
_NOWHERE = (0, 0, 0, 0)

Where = tuple[int, int, int, int]
"""First entry and end, first entry of sessions and end: the first columns of `terms` in the kernels."""


class TermBook:
    """Terms of one ground, by their alternatives."""

    def __init__(self, ground: Ground, curve: I64) -> None:
        """Find terms by `curve`, the shares that `find_term` takes."""
        self._ground, self._curve = ground, curve
        self._where: dict[tuple[int, ...], Where] = {}
        self._end = self._session_end = 0
        self.entries = np.zeros((4_096, OWN_THERE + 1), np.int32)
        self.session_entries = np.zeros((4_096, 2), np.int32)

    def make_room(self) -> None:
        """Forget all terms when there are too many; between questions only."""
        if self._end > MOST_ENTRIES or len(self._where) > MOST_TERMS:
            self._where.clear()
            self._end = self._session_end = 0

    def find(self, term: CueTerm, named: Mapping[int, Mask], board: Board) -> Where:
        """Return where the entries of a term lie.

        named: per name term the places at which it is no content, the same for every question of a view.
        """
        where = self._where.get(term.hashes)
        if where is None:
            is_empty = not self._ground.places.count
            where = _NOWHERE if is_empty else self._found(term, named, board)
            self._where[term.hashes] = where
        return where

    def _found(self, term: CueTerm, named: Mapping[int, Mask], board: Board) -> Where:
        pairs = ((value, self._ground.places.documents.find(value)) for value in term.hashes)
        found = [(value, *lists) for value, lists in pairs if lists is not None]
        if not found:
            return _NOWHERE
        masks = [named[value] for value, _, _ in found if value in named]
        rows = {value: row for row, value in enumerate(value for value, _, _ in found if value in named)}
        ends = np.cumsum([len(docs) for _, docs, _ in found]).tolist()
        lists = [
            (end - len(docs), end, rows.get(value, -1))
            for end, (value, docs, _) in zip(ends, found, strict=True)
        ]
        self._grow(ends[-1])
        board.tag += 1
        ground, first, first_session = self._ground, self._end, self._session_end
        self._end, self._session_end = compiled(find_term)(
            np.concatenate([docs for _, docs, _ in found]), np.concatenate([many for _, _, many in found]),
            np.array(lists, np.int64), np.stack(masks) if masks else np.zeros((0, 0), np.bool_),
            ground.documents, ground.around, ground.session, ground.session_impact, ground.session_rarity,
            self._curve, board.tag, board.scratch, board.session_scratch, board.lists, self.entries, first,
            self.session_entries, first_session,
        )  # fmt: skip
        return first, self._end, first_session, self._session_end

    def _grow(self, occurrences: int) -> None:
        """Make room for the entries of so many occurrences."""
        for name, end, more in (
            ("entries", self._end, min(occurrences * _REACH, self._ground.places.count)),
            ("session_entries", self._session_end, occurrences),
        ):
            known = getattr(self, name)
            if end + more > len(known):
                larger = np.zeros((max(end + more, 2 * len(known)), known.shape[1]), np.int32)
                larger[:end] = known[:end]
                setattr(self, name, larger)
