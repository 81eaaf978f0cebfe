"""Turn new candidates and the histories they touch into the rows that a commit appends.

What stands is a pure function of the candidates of a history, so the change that new
candidates bring is the difference between two folds: without them and with them.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from amos.admission.atom_rows import atom_rows
from amos.admission.comparison import (
    UNSALTED,
    Current,
    Work,
    changed_places,
    find_changed_claims,
)
from amos.admission.decision_rows import decision_rows
from amos.admission.history import encode_histories, fold, name_refinements
from amos.admission.policy import Policy
from amos.admission.reviewed import keep_reviewed
from amos.admission.roots import root_codes, root_codes_of
from amos.admission.succession import dispute_rows, edge_rows, lineage_rows


@dataclass(frozen=True, kw_only=True)
class Settlement:
    """Rows to append, without salts, and decision rows written per outcome."""

    decisions: pa.Table
    atoms: pa.Table
    edges: pa.Table
    lineage: pa.Table
    disputes: pa.Table
    new_atoms: int


_NOTHING = Settlement(**{name: schema.empty_table() for name, schema in UNSALTED.items()}, new_atoms=0)


def settle(
    fresh: pa.Table,
    stored: pa.Table,
    current: Current,
    *,
    replaced: pa.Table,
    key: bytes,
    policy: Policy,
    now: datetime,
    reviewed: pa.Array | None = None,
) -> Settlement:
    """Decide the `fresh` candidates and re-decide what they change in the `stored` histories.

    fresh, stored, replaced: candidates without salt; stored holds every current candidate of
    each history in fresh and replaced; rows of replaced stand in for their stored versions.
    reviewed: ids of candidates that a person decides with this change.
    Returns rows for five tables in a fixed order.
    """
    if fresh.num_rows == 0 and replaced.num_rows == 0:
        return _NOTHING
    work = _compare(fresh, stored, replaced, current, key=key, policy=policy, now=now)
    decisions = keep_reviewed(work, decision_rows(work), reviewed)
    atoms, created = atom_rows(work)
    lineage = lineage_rows(work)
    disputes, contradictions = dispute_rows(work)
    return Settlement(
        decisions=decisions,
        atoms=atoms,
        edges=edge_rows(work, lineage, contradictions),
        lineage=lineage,
        disputes=disputes,
        new_atoms=created,
    )


def _compare(
    fresh: pa.Table,
    stored: pa.Table,
    replaced: pa.Table,
    current: Current,
    *,
    key: bytes,
    policy: Policy,
    now: datetime,
) -> Work:
    """Fold the histories without and with what is new, and find what differs."""
    candidates = pa.concat_tables([stored, replaced, fresh]).combine_chunks()
    encoded = encode_histories(candidates)
    is_new = np.arange(candidates.num_rows) >= stored.num_rows
    is_gone = np.zeros(candidates.num_rows, np.bool_)
    if replaced.num_rows:
        ids = replaced["candidate_id"].combine_chunks()
        is_gone[: stored.num_rows] = pc.is_in(stored["candidate_id"], value_set=ids).to_numpy(
            zero_copy_only=False
        )
    earlier, later = np.flatnonzero(~is_new[encoded.rows]), np.flatnonzero(~is_gone[encoded.rows])
    roots, is_joined = root_codes(encoded, candidates, current.origins)
    was, now_is = (
        (root_codes_of(place, encoded, candidates, current.origins) for place in (earlier, later))
        if is_joined
        else (roots, roots)
    )
    before, after = fold(encoded, earlier, was), fold(encoded, later, now_is)
    changed = changed_places(encoded, before, after, is_new)
    touched = changed
    for folded in (before, after):
        name_refinements(encoded, folded, touched)
    changed = changed[~is_gone[encoded.rows[changed]]]
    is_fresh = np.arange(candidates.num_rows) >= stored.num_rows + replaced.num_rows
    changed_claims = find_changed_claims(before, after, encoded.claim_count)
    return Work(
        candidates=candidates,
        encoded=encoded,
        before=before,
        after=after,
        changed=changed.tolist(),
        touched=touched,
        changed_claims=changed_claims,
        is_fresh=is_fresh,
        is_gated=pc.is_valid(candidates["gate"]).to_numpy(),
        key=key,
        policy=policy,
        now=now,
        current=current,
    )
