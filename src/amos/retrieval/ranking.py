"""Rank claims and turns for a question, and say what was left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from amos.retrieval.candidates import Scored, keep, score_atoms, score_turns
from amos.retrieval.cues import Cue
from amos.retrieval.folding import Reserved, fold_items, without_outdated
from amos.retrieval.lens import Lens
from amos.retrieval.mentions import Mention
from amos.retrieval.profile import Profile
from amos.retrieval.rows import Array, id_array
from amos.retrieval.view import View
from amos.schemas.ranked import OMITTED

SAMPLE = 5
"""Omitted rows named per reason."""


@dataclass(frozen=True, kw_only=True)
class Ranking:
    """What a question brought.

    items: RANKED.  omitted: counts per reason.  sample: OMITTED.  empty_reason: set when items is
    empty.  is_withheld: rows that the reader may not see hold a word of the question.
    total: items that passed, of which the best are here.  degradation: what the index disclosed.
    """

    items: pa.Table
    omitted: dict[str, int]
    sample: pa.Table
    empty_reason: str | None
    is_withheld: bool
    total: int
    degradation: tuple[str, ...]
    profile: str


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
    reasons = view.reasons[atoms.row]
    omitted = {
        name: int((reasons == number).sum())
        for number, name in enumerate(view.reason_names)
        if number and (reasons == number).any()
    }
    turns, outdated = without_outdated(view, turns, atoms)
    if outdated:
        omitted["superseded"] = omitted.get("superseded", 0) + outdated
    below = turns.below + atoms.below
    if below:
        omitted["low_relevance"] = below
    eligible, guards = keep(atoms, reasons == 0), []
    if lens is not None:
        turns, eligible, gated = lens.gated(turns, eligible)
        omitted |= gated
        guards = lens.serving(eligible)
    items, total = fold_items(view, turns, eligible, profile, k, Reserved(reserved, guards))
    return Ranking(
        items=items,
        omitted=omitted,
        sample=_sample(view, atoms, reasons),
        empty_reason=None if total else _empty_reason(view, below),
        is_withheld=any(view.is_withheld(value) for cue in cues for t in cue.terms for value in t.hashes),
        total=total,
        degradation=view.corpus.degradation,
        profile=profile.name,
    )


def _empty_reason(view: View, below: int) -> str:
    if not view.stored:
        return "nothing_stored"
    if not view.turns.count and not view.atoms.count:
        return "nothing_visible"
    return "below_threshold" if below else "no_match"


def _sample(view: View, atoms: Scored, reasons: Array) -> pa.Table:
    """Return the best omitted claims, SAMPLE per reason, with their reason."""
    chosen: list[int] = []
    for number in np.unique(reasons[reasons > 0]).tolist():
        if view.reason_names[number] == "access_denied":
            continue  # a sample names nothing that this reader may not have
        where = np.flatnonzero(reasons == number)
        order = np.lexsort((view.corpus.atoms.rows["tie"][atoms.row[where]], -atoms.score[where]))
        chosen += where[order[:SAMPLE]].tolist()
    rows = atoms.row[np.array(chosen, np.int64)]
    return pa.Table.from_arrays(
        [
            pa.array(["atom"] * len(chosen), pa.string()),
            id_array(view.corpus.atoms.rows["id"][rows]),
            pa.array([view.reason_names[reasons[at]] for at in chosen], pa.string()),
        ],
        schema=OMITTED,
    )
