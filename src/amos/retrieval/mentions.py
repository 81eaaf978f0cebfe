"""Who a question names: speakers and subjects, told apart from the words it asks about."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from amos.retrieval.cues import Cue
from amos.retrieval.rows import ROLES, Array
from amos.retrieval.view import View
from amos.schemas.vocabulary import Role

Mask = npt.NDArray[np.bool_]


class Mention:
    """Who a question names: holders, their conversations, and the terms that are their names."""

    def __init__(self, view: View, cue: Cue) -> None:
        self.means_owner = cue.means_owner
        named: dict[int, list[int]] = {}
        terms = {value for term in cue.terms for value in term.hashes}
        for holder in view.holders.tolist():
            for term in view.corpus.holder_terms.get(holder, ()):
                if term in terms:
                    named.setdefault(term, []).append(holder)
        self.named = {term: np.array(holders, np.uint64) for term, holders in named.items()}
        everyone = [holder for holders in named.values() for holder in holders]
        self.holders = np.unique(np.array(everyone, np.uint64))
        self.has_content = any(
            term.is_required and not any(value in named for value in term.hashes) for term in cue.terms
        )

    def turn_names(self, view: View) -> dict[int, Array]:
        """Return per name term the places of turns whose conversation has that participant."""
        if not self.named:
            return {}
        conversations, holders = view.participants
        spoken = view.corpus.turns.rows["conversation"][view.turns.row]
        return {
            term: np.flatnonzero(np.isin(spoken, conversations[np.isin(holders, named)]))
            for term, named in self.named.items()
        }

    def atom_names(self, view: View) -> dict[int, Array]:
        """Return per name term the places of claims about its holder."""
        held = view.corpus.atoms.rows["holder"][view.atoms.row]
        return {term: np.flatnonzero(np.isin(held, named)) for term, named in self.named.items()}

    def turn_match(self, view: View) -> Mask:
        """Return which turns are by somebody the question names, unless it names everybody there."""
        rows, row = view.corpus.turns.rows, view.turns.row
        match = np.zeros(view.turns.count, bool)
        if len(self.holders):
            match = np.isin(rows["holder"][row], self.holders)
            conversations, holders = view.participants
            ids, where, sizes = np.unique(conversations, return_inverse=True, return_counts=True)
            hits = np.bincount(where, weights=np.isin(holders, self.holders), minlength=len(ids))
            crowded = ids[(hits == sizes) & (sizes > 1)]
            match &= ~np.isin(rows["conversation"][row], crowded)
        if self.means_owner:
            match |= (rows["is_owner"][row] > 0) & (rows["role"][row] == ROLES.index(Role.USER))
        return match

    def atom_match(self, view: View) -> Mask:
        """Return which claims are about somebody the question names."""
        rows, row = view.corpus.atoms.rows, view.atoms.row
        match = np.isin(rows["holder"][row], self.holders)
        return match | (rows["is_owner"][row] > 0) if self.means_owner else match
