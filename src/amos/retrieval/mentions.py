"""Who a question names: those who speak, told apart from the words it asks about."""

from __future__ import annotations

from functools import partial

import numpy as np
import numpy.typing as npt

from amos.retrieval.cues import Cue
from amos.retrieval.rows import ROLES
from amos.retrieval.view import View
from amos.schemas.vocabulary import Role

Mask = npt.NDArray[np.bool_]
_NOBODY = np.zeros(0, np.uint64)


class Mention:
    """Who a question names: speakers, their conversations, and the terms that are their names.

    Only the name of somebody who takes part in a talk leaves the words asked about.  What else a claim
    is about (a theatre, a sister, the hose) is a word: turns that speak of it must be found by it.
    """

    def __init__(self, view: View, cue: Cue) -> None:
        self.cue = cue
        self.means_owner = cue.means_owner
        known = view.names
        self.named = {value: known[value] for term in cue.terms for value in term.hashes if value in known}
        self.holders = np.unique(np.concatenate([_NOBODY, *self.named.values()]))
        self.has_content = any(
            term.is_required and not any(value in self.named for value in term.hashes) for term in cue.terms
        )

    @property
    def is_name_alone(self) -> bool:
        """Return whether the question is nothing but names: then those named are the answer."""
        return not self.has_content and len(self.holders) > 0

    @property
    def means_somebody(self) -> bool:
        """Return whether the question names somebody who speaks, or the owner."""
        return self.means_owner or len(self.holders) > 0

    def turn_names(self, view: View) -> dict[int, Mask]:
        """Return per name term the turns whose conversation has that participant."""
        return {term: view.kept(("talks of", term), partial(_talks_of, view, term)) for term in self.named}

    def atom_names(self, view: View) -> dict[int, Mask]:
        """Return per name term the claims about its holder."""
        return {
            term: view.kept(("claims about", term), partial(_claims_about, view, term)) for term in self.named
        }

    def turn_match(self, view: View) -> Mask:
        """Return which visible turns are by somebody the question names, unless it names everybody there."""
        key = ("turns by", self.holders.tobytes(), self.means_owner)
        return view.kept(key, partial(self._turn_match, view))

    def _turn_match(self, view: View) -> Mask:
        match = np.zeros(view.turns.count, bool)
        if len(self.holders):
            people = view.people
            match = people.are(self.holders)[people.holder_of]
            match &= ~people.crowded_by(self.holders)[people.talk_of]
        if self.means_owner:
            rows, row = view.corpus.turns.rows, view.turns.row
            match |= (rows["is_owner"][row] > 0) & (rows["role"][row] == ROLES.index(Role.USER))
        return match

    def atom_match(self, view: View) -> Mask:
        """Return which visible claims are about somebody the question names."""
        key = ("claims about", self.holders.tobytes(), self.means_owner)
        return view.kept(key, partial(self._atom_match, view))

    def _atom_match(self, view: View) -> Mask:
        rows, row = view.corpus.atoms.rows, view.atoms.row
        match: Mask = np.isin(rows["holder"][row], self.holders)
        return match | (rows["is_owner"][row] > 0) if self.means_owner else match


def _talks_of(view: View, term: int) -> Mask:
    people = view.people
    return people.talks_with(view.names[term])[people.talk_of]


def _claims_about(view: View, term: int) -> Mask:
    found: Mask = np.isin(view.corpus.atoms.rows["holder"][view.atoms.row], view.names[term])
    return found
