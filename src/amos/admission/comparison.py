"""Compare the two folds of a history, without and with its new candidates, and share what rows need."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from amos.admission.history import REASONS, Encoded, Folded
from amos.admission.policy import Policy
from amos.identity import keyed_id
from amos.schemas.state import ATOMS, DECISIONS, DISPUTES, EDGES, LINEAGE


def _unsalted(schema: pa.Schema) -> pa.Schema:
    return pa.schema([field for field in schema if field.name != "salt"])


UNSALTED = {
    "decisions": _unsalted(DECISIONS),
    "atoms": _unsalted(ATOMS),
    "edges": _unsalted(EDGES),
    "lineage": _unsalted(LINEAGE),
    "disputes": _unsalted(DISPUTES),
}

READ = (
    "candidate_id",
    "source_id",
    "source_revision",
    "spans",
    "extractor",
    "type",
    "memory_class",
    "subject_id",
    "slot_id",
    "history_id",
    "claim_id",
    "polarity",
    "modality",
    "payload",
    "event_time",
    "order_time",
    "cues",
    "gate",
    "trust",
    "scope_project",
    "scope_user",
    "scope_agent",
    "scope_session",
    "scope_task",
    "scope_tool_environment",
)
"""Candidate columns that rows are written from; the six of scope come last."""


class Current(Protocol):
    """Current rows of the store, by id; an empty store answers with empty mappings."""

    def rows(
        self, table: str, column: str, keys: list[bytes], columns: Sequence[str] | None = None
    ) -> list[dict[str, Any]]:
        """Return the current rows of `table` whose `column` is one of `keys`."""
        ...


@dataclass(kw_only=True)
class Work:
    """Everything that the row builders share."""

    candidates: pa.Table
    cells: Cells
    encoded: Encoded
    before: Folded
    after: Folded
    changed: list[int]
    touched: NDArray[np.int64]
    changed_claims: list[int]
    is_fresh: NDArray[np.bool_]
    is_gated: NDArray[np.bool_]
    key: bytes
    policy: Policy
    now: datetime
    current: Current

    def claim_id(self, claim: int) -> bytes:
        """Return the id of a claim code."""
        return bytes(self.encoded.claim_ids[claim].as_py())

    def row(self, place: int) -> int:
        """Return the candidate row at a place of the sorted histories."""
        return int(self.encoded.rows[place])

    def decision_id(self, row: int) -> bytes:
        """Return the id of the decision on the candidate at `row`."""
        return decision_id_of(self.key, self.cells.get("candidate_id", row))


class Cells:
    """Cells of the few candidate rows that are written about, as Python values."""

    def __init__(self, candidates: pa.Table, rows: NDArray[np.int64]) -> None:
        self._place = {row: place for place, row in enumerate(rows.tolist())}
        taken = candidates.select(READ).take(rows)
        self._columns = {name: taken[name].to_pylist() for name in READ}

    def get(self, name: str, row: int) -> Any:
        """Return the cell of column `name` at candidate `row`."""
        return self._columns[name][self._place[row]]


def as_table(name: str, rows: list[tuple[Any, ...]]) -> pa.Table:
    """Return `rows` as a table of the unsalted schema of `name`."""
    schema = UNSALTED[name]
    if not rows:
        return schema.empty_table()
    columns = zip(*rows, strict=True)
    return pa.table(
        [pa.array(list(values), field.type) for values, field in zip(columns, schema, strict=True)],
        schema=schema,
    )


def decision_id_of(key: bytes, decided: bytes) -> bytes:
    """Return the id of the decision on a candidate or source with id `decided`."""
    return keyed_id(key, "decisions", decided)


def stored_versions(work: Work, table: str, column: str, keys: list[bytes]) -> dict[bytes, int]:
    """Return the current row version per id for those of `keys` that the store holds."""
    if not keys:
        return {}
    return {
        row[column]: row["version"] for row in work.current.rows(table, column, keys, [column, "version"])
    }


def codes_of(folded: Folded, size: int) -> NDArray[np.int64]:
    """Return per place a code of action and reason, -1 where the fold did not go."""
    code = np.full(size, -1, np.int64)
    code[folded.place] = folded.action.astype(np.int64) * len(REASONS) + folded.reason
    return code


def claims_met(folded: Folded, places: NDArray[np.int64]) -> dict[int, tuple[int, ...]]:
    """Return the claims that each of `places` met, for those that met any."""
    met: dict[int, list[int]] = defaultdict(list)
    wanted = np.isin(folded.pair_place, places)
    pairs = zip(folded.pair_place[wanted].tolist(), folded.pair_claim[wanted].tolist(), strict=True)
    for place, claim in pairs:
        met[place].append(claim)
    return {place: tuple(sorted(claims)) for place, claims in met.items()}


def changed_places(
    encoded: Encoded, before: Folded, after: Folded, is_new: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Return the places whose decision is new or differs between the folds, ascending."""
    size = encoded.rows.size
    is_changed = is_new[encoded.rows] | (codes_of(before, size) != codes_of(after, size))
    count = max(encoded.claim_count, 1)
    met_before, met_after = (folded.pair_place * count + folded.pair_claim for folded in (before, after))
    is_changed[np.setxor1d(met_before, met_after) // count] = True
    moved = before.opener[after.pair_claim] != after.opener[after.pair_claim]
    is_changed[after.pair_place[moved]] = True  # what gave way now opens with other words
    return np.flatnonzero(is_changed)


def shown_places(
    before: Folded, after: Folded, touched: NDArray[np.int64], changed_claims: Sequence[int]
) -> NDArray[np.int64]:
    """Return the places whose cells lineage and disputes of this change may show."""
    changed = np.array(changed_claims, np.int64)
    parts = []
    for folded in (before, after):
        near = np.isin(folded.pair_place, touched)
        claims = folded.pair_claim[near]
        parts += [folded.pair_place[near], before.opener[claims], after.opener[claims]]
        in_dispute = changed[folded.disputed[changed] >= 0]
        # all disputes: a side that itself stays as it was may be the one that opened a changed dispute
        parts += [folded.disputed, folded.opener[in_dispute]]
    places = np.unique(np.concatenate(parts))
    return places[places >= 0]


def find_changed_claims(before: Folded, after: Folded, count: int) -> list[int]:
    """Return the claim codes whose atom differs between the folds, ascending."""
    differs = (
        (before.opener != after.opener)
        | (before.support_count != after.support_count)
        | (before.root_count != after.root_count)
        | ((before.disputed >= 0) != (after.disputed >= 0))
    )
    parts = [(one.interval_claim, one.interval_from, one.interval_until) for one in (before, after)]
    claim, start, end = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    order = np.lexsort((end, start, claim))
    claim, start, end = claim[order], start[order], end[order]
    is_paired = np.zeros(claim.size, np.bool_)
    equals_next = (claim[:-1] == claim[1:]) & (start[:-1] == start[1:]) & (end[:-1] == end[1:])
    is_paired[:-1] |= equals_next
    is_paired[1:] |= equals_next
    differs[claim[~is_paired]] = True
    return np.flatnonzero(differs[:count]).tolist()


def states(folded: Folded, claims: Sequence[int]) -> dict[int, tuple[Any, ...] | None]:
    """Return what the atoms of `claims` say: opener, intervals, supports, roots, disputed; or None."""
    spans: dict[int, list[int]] = {claim: [] for claim in claims}
    wanted = np.isin(folded.interval_claim, np.array(claims, np.int64))
    columns = (folded.interval_claim, folded.interval_from, folded.interval_until)
    for claim, start, end in zip(*(column[wanted].tolist() for column in columns), strict=True):
        spans[claim].extend((start, end))
    return {
        claim: (
            int(folded.opener[claim]),
            tuple(spans[claim]),
            int(folded.support_count[claim]),
            int(folded.root_count[claim]),
            bool(folded.disputed[claim] >= 0),
        )
        if folded.opener[claim] >= 0
        else None
        for claim in claims
    }
