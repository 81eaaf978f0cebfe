"""What a person decided about a candidate: it enters its history as they said, and is never re-decided."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from amos.admission.comparison import UNSALTED, Work
from amos.schemas.choosing import with_column
from amos.schemas.vocabulary import Cue, Outcome, Reason

REVIEWER = "reviewer@1"
"""Extractor of the claims that a reviewer worded."""
ACCEPTING = (str(Reason.APPROVED_BY_REVIEWER), str(Reason.EDITED_AND_APPROVED_BY_REVIEWER))
"""First reasons of decisions by which a person let a claim in."""
DECIDING = (*ACCEPTING, str(Reason.REJECTED_BY_REVIEWER))
"""First reasons of all decisions of a person that ended the wait."""

REJECTED_GATE = f"{Outcome.REJECT}:{Reason.REJECTED_BY_REVIEWER}"
EDITED_GATE = f"{Outcome.LINK}:{Reason.EDITED_AND_APPROVED_BY_REVIEWER}"
"""Gates of candidates that a person kept out, or let in in other words."""

_FLAG = str(Reason.BASIS_CHANGED)
_APPROVED = int(Cue.APPROVED)
Row = dict[str, Any]


def approved(candidates: pa.Table) -> pa.Table:
    """Return the rows as a person let them in: no gate stands before their history."""
    cues = pc.bit_wise_or(candidates["cues"], pa.scalar(_APPROVED, pa.int32()))
    return with_column(
        with_column(candidates, "cues", cues), "gate", pa.nulls(candidates.num_rows, pa.string())
    )


def closed(candidates: pa.Table, gate: str) -> pa.Table:
    """Return the rows as a person kept them out of every history, behind `gate`."""
    cues = pc.bit_wise_and(candidates["cues"], pa.scalar(~_APPROVED, pa.int32()))
    return with_column(with_column(candidates, "cues", cues), "gate", pa.repeat(gate, candidates.num_rows))


def keep_reviewed(work: Work, decisions: pa.Table, reviewed: pa.Array | None) -> pa.Table:
    """Return `decisions` with those of a person as that person made them.

    reviewed: candidates that a person decides in this very change.  An earlier decision whose basis the
    change moves stays, and is flagged once with `basis_changed`.
    """
    is_approved = (work.candidates["cues"].to_numpy() & _APPROVED) != 0
    if not is_approved.any():
        return decisions
    chosen = work.candidates.filter(pa.array(is_approved))
    names = chosen["candidate_id"].combine_chunks()
    is_human = pc.is_in(decisions["candidate_id"], value_set=names)
    told = decisions.filter(is_human).to_pylist()
    extractors = dict(zip(names.to_pylist(), chosen["extractor"].to_pylist(), strict=True))
    now = set() if reviewed is None else set(reviewed.to_pylist())
    ids = [row["decision_id"] for row in told if row["version"] > 1 and row["candidate_id"] not in now]
    held = {row["decision_id"]: row for row in work.current.rows("decisions", "decision_id", ids)}
    kept = []
    for row in told:
        reason = ACCEPTING[extractors[row["candidate_id"]] == REVIEWER]
        own = {**row, "reasons": [reason, *row["reasons"]]}
        stored = held.get(row["decision_id"])
        found = own if stored is None else flagged(stored, own)
        if found is not None:
            kept.append(found)
    schema = UNSALTED["decisions"]
    rows = [{name: row[name] for name in schema.names} for row in kept]
    others = decisions.filter(pc.invert(is_human))
    return pa.concat_tables([others, pa.Table.from_pylist(rows, schema=schema)])


def flagged(stored: Mapping[str, Any], told: Mapping[str, Any]) -> Row | None:
    """Return the next version of a person's stored decision, None when it stays as it is.

    told: what the histories say now, with the person's reason first.
    """
    if _FLAG in stored["reasons"] or _met(stored) == _met(told):
        return None
    return {**stored, "version": stored["version"] + 1, "reasons": [*stored["reasons"], _FLAG]}


def is_accepting(reasons: list[str]) -> bool:
    """Tell whether a decision with these reasons is one by which a person let a claim in."""
    return bool(reasons) and reasons[0] in ACCEPTING


def _met(decision: Mapping[str, Any]) -> tuple[bytes | None, frozenset[bytes]]:
    """Return what a decision made of a claim: its atom, and the other claims that it replaced or disputes.

    Whether the claim was the first to say so or said it again is no part of it.
    """
    return decision["atom_id"], frozenset(decision["targets"]) - {decision["atom_id"]}
