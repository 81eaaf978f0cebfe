"""What a decision of a person rests on: the claims of its history, as they are and as they were."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from datetime import datetime
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from amos.admission.candidates import UNSALTED_CANDIDATES
from amos.admission.policy import Policy
from amos.admission.reviewed import approved
from amos.admission.settle import Settlement, settle
from amos.flow.current import SnapshotRows
from amos.flow.ordering import next_version
from amos.flow.plan import rows_of_histories
from amos.flow.versions import latest
from amos.journal.store import Snapshot
from amos.schemas.columns import ID

Row = dict[str, Any]


class Basis(NamedTuple):
    """One claim that a decision would meet: its atom as it is.

    version is its generation; changed_at: graph version of its newest row; digest: of its payload.
    """

    atom_id: bytes
    version: int
    status: str
    digest: bytes
    changed_at: int


def bases_of(snapshot: Snapshot, histories: Iterable[bytes]) -> dict[bytes, list[Basis]]:
    """Return by history the atoms of its claims, those that hold and those that gave way."""
    wanted = pa.array(sorted(set(histories)), ID)
    rows = snapshot.lookup("candidates", "history_id", wanted, ["history_id", "claim_id"])
    pairs = set(zip(rows["history_id"].to_pylist(), rows["claim_id"].to_pylist(), strict=True))
    columns = ["atom_id", "version", "lifecycle_state", "health_status", "payload", "graph_version"]
    claims = pa.array(sorted({claim for _, claim in pairs}), ID)
    atoms = {
        row["atom_id"]: Basis(
            row["atom_id"],
            row["version"],
            f"{row['lifecycle_state']}/{row['health_status']}",
            hashlib.sha256(row["payload"].encode()).digest(),
            row["graph_version"],
        )
        for row in latest(snapshot.lookup("atoms", "atom_id", claims, columns), "atoms").to_pylist()
    }
    found: dict[bytes, list[Basis]] = {history: [] for history in wanted.to_pylist()}
    for history, claim in sorted(pairs):
        if claim in atoms:
            found[history].append(atoms[claim])
    return found


def unsalted(rows: list[Row]) -> pa.Table:
    """Return stored candidates as a table without salts."""
    columns = [{name: row[name] for name in UNSALTED_CANDIDATES.names} for row in rows]
    return pa.Table.from_pylist(columns, schema=UNSALTED_CANDIDATES)


def settle_reviewed(
    snapshot: Snapshot,
    fresh: pa.Table,
    changed: pa.Table,
    *,
    key: bytes,
    policy: Policy,
    now: datetime,
    sources: pa.Table | None = None,
) -> Settlement:
    """Return what follows when `fresh` candidates come in and `changed` ones replace their stored rows.

    sources: those that the fresh ones were read from, where they come in with them.
    """
    both = pa.concat_tables([fresh, changed])
    known = SnapshotRows(snapshot, fresh=sources)
    stored = rows_of_histories(snapshot, both["history_id"].combine_chunks())
    eligible = pc.is_null(changed["gate"])
    was = changed.filter(pc.invert(eligible))
    gone = was.filter(pc.is_in(was["candidate_id"], value_set=_eligible_ids(stored)))
    replaced = pa.concat_tables([changed.filter(eligible), gone]).combine_chunks()
    reviewed = both["candidate_id"].combine_chunks()
    return settle(fresh, stored, known, replaced=replaced, key=key, policy=policy, now=now, reviewed=reviewed)


def _eligible_ids(rows: pa.Table) -> pa.Array:
    return rows.filter(rows["gate"].is_null())["candidate_id"].combine_chunks()


def foresee(snapshot: Snapshot, candidate: Row, *, key: bytes, policy: Policy, now: datetime) -> Row | None:
    """Return the decision that would stand if a person approved `candidate`, None when nothing would."""
    changed = next_version(approved(unsalted([candidate])))
    settled = settle_reviewed(
        snapshot, UNSALTED_CANDIDATES.empty_table(), changed, key=key, policy=policy, now=now
    )
    own = settled.decisions.filter(pc.equal(settled.decisions["candidate_id"], candidate["candidate_id"]))
    rows: list[Row] = own.to_pylist()
    return rows[0] if rows else None
