"""Who a question names: those who speak, told apart from the words it asks about."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from amos.retrieval.cues import Cue
from amos.retrieval.rows import ROLES, Array
from amos.retrieval.view import View
from amos.schemas.vocabulary import Role

Mask = npt.NDArray[np.bool_]


class Mention:
    """Who a question names: speakers, their conversations, and the terms that are their names.

    Only the name of somebody who takes part in a talk leaves the words asked about.  What else a claim
    is about (a theatre, a sister, the hose) is a word: turns that speak of it must be found by it.
    """

    def __init__(self, view: View, cue: Cue) -> None:
        self.cue = cue
        self.means_owner = cue.means_owner
        named: dict[int, list[int]] = {}
        terms = {value for term in cue.terms for value in term.hashes}
        for holder in view.speakers.tolist():
            for term in view.corpus.holder_terms.get(holder, ()):
                if term in terms:
                    named.setdefault(term, []).append(holder)
        self.named = {term: np.array(holders, np.uint64) for term, holders in named.items()}
        everyone = [holder for holders in named.values() for holder in holders]
        self.holders = np.unique(np.array(everyone, np.uint64))
        self.has_content = any(
            term.is_required and not any(value in self.named for value in term.hashes) for term in cue.terms
        )

    @property
    def is_name_alone(self) -> bool:
        """Return whether the question is nothing but names: then those named are the answer."""
        return not self.has_content and len(self.holders) > 0

    def turn_names(self, view: View) -> dict[int, Mask]:
        """Return per name term the turns whose conversation has that participant."""
        if not self.named:
            return {}
        conversations, holders = view.participants
        spoken = view.corpus.turns.rows["conversation"][view.turns.row]
        return {
            term: np.isin(spoken, conversations[np.isin(holders, named)])
            for term, named in self.named.items()
        }

    def atom_names(self, view: View) -> dict[int, Mask]:
        """Return per name term the claims about its holder."""
        held = view.corpus.atoms.rows["holder"][view.atoms.row]
        return {term: np.isin(held, named) for term, named in self.named.items()}

    def turn_match(self, view: View, row: Array) -> Mask:
        """Return which turn rows are by somebody the question names, unless it names everybody there."""
        rows = view.corpus.turns.rows
        match = np.zeros(len(row), bool)
        if len(self.holders):
            match = np.isin(rows["holder"][row], self.holders)
            match &= ~np.isin(rows["conversation"][row], self._crowded(view))
        if self.means_owner:
            match |= (rows["is_owner"][row] > 0) & (rows["role"][row] == ROLES.index(Role.USER))
        return match

    def _crowded(self, view: View) -> Array:
        """Return the conversations of several people all of whom the question names."""
        conversations, holders = view.participants
        ids, where, sizes = np.unique(conversations, return_inverse=True, return_counts=True)
        hits = np.bincount(where, weights=np.isin(holders, self.holders), minlength=len(ids))
        crowded: Array = ids[(hits == sizes) & (sizes > 1)]
        return crowded

    def atom_match(self, view: View, row: Array) -> Mask:
        """Return which atom rows are about somebody the question names."""
        rows = view.corpus.atoms.rows
        match = np.isin(rows["holder"][row], self.holders)
        return match | (rows["is_owner"][row] > 0) if self.means_owner else match
