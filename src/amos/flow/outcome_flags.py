"""Claims that outcomes call into question: each is shown to a reviewer until a person decides on it again.

What was used or put right under a label such as `wrong` or `stale` is flagged; nothing is written for it.  A
flag stands until a person accepts what supports the claim, or until nothing supports it any more.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from amos.admission.reviewed import ACCEPTING
from amos.atoms.feedback import FLAGGING
from amos.flow.printed import states_of
from amos.flow.sight import Sight
from amos.flow.versions import latest
from amos.schemas.columns import ID
from amos.schemas.vocabulary import FeedbackKind, Outcome, OutcomeLabel, Reason

_SUPPORT = ["decision_id", "version", "atom_id", "outcome", "reasons", "graph_version", "row_number"]
_HOLDING = (str(Outcome.COMMIT), str(Outcome.LINK))
Row = dict[str, Any]


class Flag(NamedTuple):
    """Why a claim is in question.  first, last: graph versions of the first and the last such outcome."""

    labels: tuple[str, ...]
    first: int
    last: int


def flagged_decisions(sight: Sight) -> dict[bytes, Flag]:
    """Return by id the decisions that a reviewer is asked about: one per claim that holds, in question."""
    flags = _flagged_claims(sight)
    if not flags:
        return {}
    lookup = sight.snapshot.lookup
    named = lookup("decisions", "atom_id", pa.array(sorted(flags), ID), ["decision_id"])["decision_id"]
    ids = named.combine_chunks().unique()  # some of them name no claim any more
    rows = latest(lookup("decisions", "decision_id", ids, _SUPPORT), "decisions")
    rows = rows.filter(pc.is_in(rows["outcome"], value_set=pa.array(_HOLDING)))
    supports: dict[bytes, list[Row]] = {}
    for row in rows.to_pylist():
        if row["atom_id"] in flags:
            supports.setdefault(row["atom_id"], []).append(row)
    holding = _holding(sight, list(supports))
    asked = {atom: _asked(held, flags[atom]) for atom, held in supports.items() if atom in holding}
    return {decision: flags[atom] for atom, decision in asked.items() if decision is not None}


def _flagged_claims(sight: Sight) -> dict[bytes, Flag]:
    if sight.snapshot.row_count("outcomes") == 0:
        return {}
    outcomes = sight.current("outcomes", ["outcome_id", "labels"])
    told = zip(outcomes["outcome_id"].to_pylist(), outcomes["labels"].to_pylist(), strict=True)
    labels = {one: FLAGGING.intersection(found) for one, found in told}
    ids = pa.array([one for one, found in labels.items() if found], ID)
    rows = sight.snapshot.lookup("feedback", "outcome_id", ids)
    rows = rows.filter(pc.not_equal(rows["kind"], str(FeedbackKind.EXPOSURE)))
    rows = sight.seen("feedback", rows.filter(pc.is_valid(rows["atom_id"])))
    found: dict[bytes, tuple[set[str], set[int]]] = {}
    for row in rows.select(["atom_id", "outcome_id", "graph_version"]).to_pylist():
        names, versions = found.setdefault(row["atom_id"], (set(), set()))
        names.update(labels[row["outcome_id"]])
        versions.add(row["graph_version"])
    order = [str(label) for label in OutcomeLabel]
    return {
        atom: Flag(tuple(sorted(names, key=order.index)), min(versions), max(versions))
        for atom, (names, versions) in found.items()
    }


def _holding(sight: Sight, atoms: list[bytes]) -> set[bytes]:
    """Return those of the claims that hold now: what has given way is in question no more."""
    wanted = pa.array(atoms, ID)
    rows = latest(sight.snapshot.lookup("atoms", "atom_id", wanted), "atoms")
    states = zip(rows["atom_id"].to_pylist(), states_of(rows, sight.now_us), strict=True)
    return {atom for atom, state in states if state == "active"}


def _asked(supports: list[Row], flag: Flag) -> bytes | None:
    """Return the decision to ask about, None where a person accepted the claim after the flag."""
    for row in supports:
        is_deferred = str(Reason.DEFERRED_BY_REVIEWER) in row["reasons"]
        if row["reasons"][0] in ACCEPTING and row["graph_version"] > flag.last and not is_deferred:
            return None
    first = min(supports, key=lambda row: (row["outcome"] != Outcome.COMMIT, row["decision_id"]))
    decision: bytes = first["decision_id"]
    return decision
