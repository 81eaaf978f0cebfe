"""Turn new candidates and the histories they touch into the rows that a commit appends.

What stands is a pure function of the candidates of a history, so the change that new
candidates bring is the difference between two folds: without them and with them.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from amos.admission.comparison import (
    READ,
    Cells,
    Current,
    Work,
    as_table,
    changed_places,
    claims_met,
    codes_of,
    find_changed_claims,
    shown_places,
    states,
    stored_versions,
)
from amos.admission.gates import risk_of, utility_of
from amos.admission.history import REASONS, encode_histories, fold
from amos.admission.policy import Policy
from amos.admission.succession import dispute_rows, edge_rows, lineage_rows
from amos.kernels import history as kernel
from amos.schemas.vocabulary import Action, Outcome, Reason

_MEANING = {
    kernel.ADD: (Outcome.COMMIT, Action.ADD),
    kernel.REOPEN: (Outcome.COMMIT, Action.ADD),
    kernel.LINK: (Outcome.LINK, Action.NOOP),
    kernel.SUPERSEDE: (Outcome.COMMIT, Action.SUPERSEDE),
    kernel.DISPUTE: (Outcome.COMMIT, Action.ADD),
    kernel.OUTRANKED: (Outcome.IGNORE, Action.NOOP),
    kernel.LINK_SETTLES: (Outcome.LINK, Action.NOOP),
}
_HELD_ACTION = {Outcome.REJECT: Action.REJECT, Outcome.IGNORE: Action.NOOP}
FULL = 1_000_000


@dataclass(frozen=True, kw_only=True)
class Settlement:
    """Rows to append, without salts, and decision rows written per outcome."""

    decisions: pa.Table
    atoms: pa.Table
    edges: pa.Table
    lineage: pa.Table
    disputes: pa.Table
    new_atoms: int


def settle(
    fresh: pa.Table,
    stored: pa.Table,
    current: Current,
    *,
    replaced: pa.Table,
    key: bytes,
    policy: Policy,
    now: datetime,
) -> Settlement:
    """Decide the `fresh` candidates and re-decide what they change in the `stored` histories.

    fresh, stored, replaced: candidates without salt; stored holds every current candidate of
    each history in fresh and replaced; rows of replaced stand in for their stored versions.
    Returns rows for five tables in a fixed order.
    """
    candidates = pa.concat_tables([stored, replaced, fresh]).combine_chunks()
    encoded = encode_histories(candidates)
    source = candidates["source_id"].combine_chunks().dictionary_encode().indices.to_numpy()
    of_place = source[encoded.rows].astype(np.int64)
    is_new = np.arange(candidates.num_rows) >= stored.num_rows
    is_gone = np.zeros(candidates.num_rows, np.bool_)
    if replaced.num_rows:
        ids = replaced["candidate_id"].combine_chunks()
        is_gone[: stored.num_rows] = pc.is_in(stored["candidate_id"], value_set=ids).to_numpy(
            zero_copy_only=False
        )
    before = fold(encoded, np.flatnonzero(~is_new[encoded.rows]), of_place)
    after = fold(encoded, np.flatnonzero(~is_gone[encoded.rows]), of_place)
    changed = changed_places(encoded, before, after, is_new)
    touched = changed
    changed = changed[~is_gone[encoded.rows[changed]]]
    is_fresh = np.arange(candidates.num_rows) >= stored.num_rows + replaced.num_rows
    changed_claims = find_changed_claims(before, after, encoded.claim_count)
    shown = shown_places(before, after, touched, changed_claims)
    work = Work(
        cells=Cells(candidates, np.union1d(encoded.rows[shown], np.flatnonzero(is_new))),
        encoded=encoded,
        before=before,
        after=after,
        changed=changed.tolist(),
        touched=touched,
        changed_claims=changed_claims,
        is_fresh=is_fresh,
        key=key,
        policy=policy,
        now=now,
        current=current,
    )
    decisions = _decisions(work)
    atoms, created = _atoms(work)
    lineage = lineage_rows(work)
    disputes, contradictions = dispute_rows(work)
    return Settlement(
        decisions=decisions,
        atoms=atoms,
        edges=edge_rows(work, lineage, contradictions),
        lineage=as_table("lineage", lineage),
        disputes=disputes,
        new_atoms=created,
    )


def _decisions(work: Work) -> pa.Table:
    codes = codes_of(work.after, work.encoded.rows.size)
    met = claims_met(work.after, np.array(work.changed, np.int64))
    old = [work.row(place) for place in work.changed if not work.is_fresh[work.row(place)]]
    versions = stored_versions(work, "decisions", "decision_id", [work.decision_id(row) for row in old])
    rows: list[tuple[Any, ...]] = []
    for place in work.changed:
        action, code = divmod(int(codes[place]), len(REASONS))
        row = work.row(place)
        outcome, what = _MEANING[action]
        if REASONS[code] == Reason.REFINES_CURRENT_VALUE:
            what = Action.UPDATE
        claimed = work.cells.get("claim_id", row)
        made = None if action == kernel.OUTRANKED else claimed
        targets = [work.claim_id(claim) for claim in met.get(place, ())]
        if outcome == Outcome.LINK and not targets:
            targets = [claimed]
        rows.append(_decision(work, row, versions, outcome, what, REASONS[code], made, targets))
    rows.extend(_gated(work))
    return as_table("decisions", rows)


def _gated(work: Work) -> list[tuple[Any, ...]]:
    rows = []
    for row in np.flatnonzero(work.is_fresh).tolist():
        gate = work.cells.get("gate", row)
        if gate is None:
            continue
        outcome, reason = gate.split(":")
        action = _HELD_ACTION.get(Outcome(outcome), Action.ADD)
        rows.append(_decision(work, row, {}, Outcome(outcome), action, Reason(reason), None, []))
    return rows


def _decision(
    work: Work,
    row: int,
    versions: dict[bytes, int],
    outcome: Outcome,
    action: Action,
    reason: Reason,
    atom: bytes | None,
    targets: list[bytes],
) -> tuple[Any, ...]:
    cell = work.cells.get
    decision_id = work.decision_id(row)
    is_held = outcome == Outcome.QUARANTINE
    return (
        decision_id,
        versions.get(decision_id, 0) + 1,
        cell("candidate_id", row),
        cell("source_id", row),
        str(outcome),
        str(action),
        [str(reason)],
        cell("modality", row),
        work.policy.label,
        cell("extractor", row),
        utility_of(cell("memory_class", row), work.policy),
        risk_of(cell("cues", row), work.policy),
        atom,
        targets,
        work.now + timedelta(days=work.policy.quarantine.days) if is_held else None,
    )


def _atoms(work: Work) -> tuple[pa.Table, int]:
    before, after = states(work.before, work.changed_claims), states(work.after, work.changed_claims)
    known = [work.claim_id(claim) for claim in work.changed_claims if before[claim] is not None]
    versions = stored_versions(work, "atoms", "atom_id", known)
    rows = []
    for claim in work.changed_claims:
        held, lifecycle = before[claim], "active"
        state = after[claim]
        if state is None and held is not None:  # a late source left it without support
            state, lifecycle = (held[0], (), 0, 0, False), "archived"
        if state is None:
            continue
        atom_id = work.claim_id(claim)
        rows.append(_atom(work, atom_id, versions.get(atom_id, 0) + 1, state, lifecycle))
    created = sum(before[claim] is None and after[claim] is not None for claim in work.changed_claims)
    return as_table("atoms", rows), created


def _atom(
    work: Work, atom_id: bytes, version: int, state: tuple[Any, ...], lifecycle: str
) -> tuple[Any, ...]:
    opener, intervals, supports, roots, is_disputed = state
    row = work.row(opener)
    cell, policy = work.cells.get, work.policy
    memory_class = cell("memory_class", row)
    return (
        atom_id,
        version,
        cell("type", row),
        memory_class,
        cell("subject_id", row),
        cell("slot_id", row),
        cell("payload", row),
        cell("polarity", row),
        lifecycle,
        "contradicted" if is_disputed else "healthy",
        list(intervals),
        cell("event_time", row),
        cell("source_id", row),
        cell("source_revision", row),
        cell("spans", row),
        supports,
        roots,
        policy.confidence_ppm.get(cell("trust", row), 0),
        FULL // 2,
        FULL // 2,
        "consolidated_long_term" if memory_class == "durable_fact" else "recent_episodic",
        policy.retention.get(memory_class, "standard"),
        *(cell(name, row) for name in READ[-6:]),
    )
