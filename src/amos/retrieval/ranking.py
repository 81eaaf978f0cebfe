"""Rank claims and turns for a question, and say what was left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from amos.retrieval.candidates import DIRECT_CUE_MATCH, HOLDER_MATCH, keep, score_atoms, score_turns
from amos.retrieval.cues import Cue
from amos.retrieval.folding import (
    Items,
    Reserved,
    fold_items,
    ranked_table,
    without_erased,
    without_outdated,
)
from amos.retrieval.lens import Lens
from amos.retrieval.mentions import Mention
from amos.retrieval.profile import Profile
from amos.retrieval.rows import Array, id_array
from amos.retrieval.view import View
from amos.schemas.ranked import OMITTED

SAMPLE = 5
"""Omitted rows named per reason."""
_NO_SAMPLE = OMITTED.empty_table()
BELOW = "low_relevance"
"""Reason of what missed the floor."""


@dataclass(frozen=True, kw_only=True)
class Ranking:
    """What a question brought.

    omitted: counts per reason.  sample: OMITTED.  empty_reason: set when there is no item.
    is_withheld: rows that the reader may not see hold a word of the question.
    total: items that passed, of which the best are here.  degradation: what the index disclosed.
    """

    view: View
    found: Items
    omitted: dict[str, int]
    sample: pa.Table
    empty_reason: str | None
    is_withheld: bool
    total: int
    degradation: tuple[str, ...]
    profile: str

    @cached_property
    def items(self) -> pa.Table:
        """Return RANKED: the best items, best first."""
        return ranked_table(self.view, self.found)


def rank_view(
    view: View,
    cues: Sequence[Cue],
    profile: Profile,
    k: int,
    reserved: Sequence[Sequence[str]] = (),
    lens: Lens | None = None,
) -> Ranking:
    """Return the best `k` items of what `view` shows, best first, and the reserved ones behind them.

    lens: through which candidates are looked at further; None where words decide alone.
    """
    mentions = [Mention(view, cue) for cue in cues]
    turns = score_turns(view, cues, mentions, profile)
    atoms = score_atoms(view, cues, mentions, profile)
    if lens is not None:
        turns, atoms = lens.seen(turns, atoms)
    turns, erased = without_erased(view, turns)
    best = max((int(reach(one.score, one.held).max()) for one in (turns, atoms) if len(one.row)), default=0)
    turns, outdated = without_outdated(view, turns, atoms)
    missed = Missed(outdated=outdated, erased=erased, below=turns.below + atoms.below)
    out = left_out(view, atoms.row, atoms.score, missed)
    eligible, guards = keep(atoms, view.reasons[atoms.row] == 0), []
    if lens is not None:
        turns, eligible, gated = lens.gated(turns, eligible)
        out.counts.update(gated)
        guards = lens.serving(eligible)
    found, total = fold_items(view, turns, eligible, profile, k, Reserved(reserved, guards))
    return ranking_of(view, mentions, profile, Answer(found, total, best), out)


class Answer(NamedTuple):
    """The best items, how many there were, and the greatest `reach` of all matches, shown or not."""

    found: Items
    total: int
    reach: int


def reach(score: Array, held: Array) -> Array:
    """Return how far matches go towards an answer: score, and half of what they hold of the question."""
    return score + held // 2


class Missed(NamedTuple):
    """How many turns are no items, and how many matches.

    outdated: they match only where a superseded claim stands.  erased: nothing is left of what they said.
    below: turns and claims under the floor.
    """

    outdated: int
    erased: int
    below: int


class LeftOut(NamedTuple):
    """What matched and is no item: counts per reason, and OMITTED rows of some claims."""

    counts: dict[str, int]
    sample: pa.Table


def ranking_of(
    view: View, mentions: Sequence[Mention], profile: Profile, answer: Answer, out: LeftOut
) -> Ranking:
    """Return the ranking of an answer; one that hardly touches the questions is none."""
    found, total = answer.found, answer.total
    if total and _is_none(mentions, profile, answer):
        out.counts[BELOW] = out.counts.get(BELOW, 0) + total
        found, total = found.first(0), 0
    cues = [mention.cue for mention in mentions]
    return Ranking(
        view=view,
        found=found,
        omitted=out.counts,
        sample=out.sample,
        empty_reason=None if total else _empty_reason(view, out.counts.get(BELOW, 0)),
        is_withheld=view.is_withheld({value for cue in cues for t in cue.terms for value in t.hashes}),
        total=total,
        degradation=view.corpus.degradation,
        profile=profile.name,
    )


def _is_none(mentions: Sequence[Mention], profile: Profile, answer: Answer) -> bool:
    """Return whether even the best match has too little to do with the questions, all of them short.

    Not where the first item holds most of their words, or is by or about somebody whom they name.
    """
    floor, first = profile.floor, answer.found.components[0]
    is_short = all(one.has_content and one.cue.word_count <= floor.answer_words for one in mentions)
    is_met = first[DIRECT_CUE_MATCH] >= floor.words or first[HOLDER_MATCH] > 0
    return bool(mentions) and is_short and not is_met and answer.reach < floor.answer


def left_out(view: View, row: Array, score: Array, missed: Missed) -> LeftOut:
    """Return what is told of matches that are no items.

    row, score: the claims that passed, those with a reason to leave them out included.
    """
    reasons = view.reasons[row]
    found = np.bincount(reasons, minlength=len(view.reason_names)).tolist()
    counts = {name: count for name, count in zip(view.reason_names, found, strict=True) if name and count}
    if missed.outdated:
        counts["superseded"] = counts.get("superseded", 0) + missed.outdated
    if missed.erased:
        counts["erased"] = missed.erased
    if missed.below:
        counts[BELOW] = missed.below
    return LeftOut(counts, _sample(view, row, score, reasons))


def _empty_reason(view: View, below: int) -> str:
    if not view.stored:
        return "nothing_stored"
    if not view.turns.count and not view.atoms.count:
        return "nothing_visible"
    return "below_threshold" if below else "no_match"


def _sample(view: View, row: Array, score: Array, reasons: Array) -> pa.Table:
    """Return the best omitted claims, SAMPLE per reason, with their reason."""
    chosen: list[int] = []
    if not reasons.any():
        return _NO_SAMPLE
    for number in np.unique(reasons[reasons > 0]).tolist():
        if view.reason_names[number] == "access_denied":
            continue  # a sample names nothing that this reader may not have
        where = np.flatnonzero(reasons == number)
        order = np.lexsort((view.corpus.atoms.rows["tie"][row[where]], -score[where]))
        chosen += where[order[:SAMPLE]].tolist()
    rows = row[np.array(chosen, np.int64)]
    return pa.Table.from_arrays(
        [
            pa.array(["atom"] * len(chosen), pa.string()),
            id_array(view.corpus.atoms.rows["id"][rows]),
            pa.array([view.reason_names[reasons[at]] for at in chosen], pa.string()),
        ],
        schema=OMITTED,
    )
