"""Compare the two folds of a history, without and with its new candidates, and share what rows need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from amos.admission.cells import cells
from amos.admission.history import REASONS, Encoded, Folded
from amos.admission.policy import Policy
from amos.kernels.hashing import hmac_rows
from amos.schemas.buffers import column_arrays
from amos.schemas.choosing import empty
from amos.schemas.columns import ID
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


class Current(Protocol):
    """Current rows of the store, by id; an empty store answers with empty mappings."""

    def rows(
        self, table: str, column: str, keys: list[bytes], columns: Sequence[str] | None = None
    ) -> list[dict[str, Any]]:
        """Return the current rows of `table` whose `column` is one of `keys`."""
        ...

    def versions(self, table: str, column: str, keys: list[bytes]) -> dict[bytes, int]:
        """Return the current row version per id in `column` for those of `keys` that the store holds."""
        ...

    def origins(self, ids: pa.Array, columns: Sequence[str]) -> pa.Table:
        """Return the current rows, with these columns, of the sources with these ids that are known."""
        ...


@dataclass(kw_only=True)
class Work:
    """Everything that the row builders share."""

    candidates: pa.Table
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

    @cached_property
    def atom_versions(self) -> dict[bytes, int]:
        """The stored version of every atom that this change touches, archived ones too.

        An atom is stored when a stored candidate claims it; one that a correction outranked has no
        opener in either fold, but its version goes on.
        """
        is_stored = np.zeros(self.encoded.claim_count, np.bool_)
        is_stored[self.encoded.claim[~self.is_fresh[self.encoded.rows]]] = True
        withdrawn = np.flatnonzero(~self.is_fresh & self.is_gated)
        if withdrawn.size:  # a claim that only they made has a void atom, whose version goes on
            told = self.candidates["claim_id"].take(pa.array(withdrawn))
            known = pc.index_in(told, value_set=self.encoded.claim_ids).drop_null()
            is_stored[known.to_numpy()] = True
        met = [np.array(self.changed_claims, np.int64)]
        for folded in (self.before, self.after):
            near = are_among(folded.pair_place, self.touched, self.encoded.rows.size)
            met += [folded.pair_claim[near], self.encoded.claim[folded.pair_place[near]]]
        is_met = np.zeros(self.encoded.claim_count, np.bool_)
        is_met[np.concatenate(met)] = True
        atoms = self.encoded.claim_ids.take(pa.array(np.flatnonzero(is_met & is_stored)))
        return self.current.versions("atoms", "atom_id", cells(atoms))

    def row(self, place: int) -> int:
        """Return the candidate row at a place of the sorted histories."""
        return int(self.encoded.rows[place])


def table_of(name: str, columns: Mapping[str, pa.Array | pa.ChunkedArray]) -> pa.Table:
    """Return named `columns` as a table of the unsalted schema of `name`."""
    schema = UNSALTED[name]
    arrays = [columns[field.name] for field in schema]
    arrays = [
        array if array.type == field.type else array.cast(field.type)
        for array, field in zip(arrays, schema, strict=True)
    ]
    return pa.Table.from_arrays(arrays, schema=schema)


def as_table(name: str, rows: list[tuple[Any, ...]]) -> pa.Table:
    """Return `rows` as a table of the unsalted schema of `name`."""
    schema = UNSALTED[name]
    if not rows:
        return empty(schema)
    columns = zip(*rows, strict=True)
    return pa.table(
        [pa.array(list(values), field.type) for values, field in zip(columns, schema, strict=True)],
        schema=schema,
    )


def keyed_column(key: bytes, table: str, column: pa.ChunkedArray | pa.Array) -> pa.Array:
    """Return the id in `table` of each value of a column of bytes, equal to `identity.keyed_id`."""
    rows = column_arrays(column)
    assert rows.offsets is not None
    digests = hmac_rows(key, rows.values, rows.offsets, prefix=b"amos/1/" + table.encode() + b"\x00")
    ids = np.ascontiguousarray(digests[:, : ID.byte_width])
    return pa.Array.from_buffers(ID, len(column), [None, pa.py_buffer(ids.tobytes())])


def codes_of(folded: Folded, size: int) -> NDArray[np.int64]:
    """Return per place a code of action and reason, -1 where the fold did not go."""
    code = np.full(size, -1, np.int64)
    code[folded.place] = folded.action.astype(np.int64) * len(REASONS) + folded.reason
    return code


def are_among(numbers: NDArray[np.int64], chosen: NDArray[np.int64], size: int) -> NDArray[np.bool_]:
    """Tell which of `numbers` are in `chosen`; all are below `size` and none is negative."""
    is_chosen = np.zeros(size, np.bool_)
    is_chosen[chosen] = True
    return is_chosen[numbers]


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
    is_first = np.ones(claim.size, np.bool_)
    is_first[1:] = (claim[1:] != claim[:-1]) | (start[1:] != start[:-1]) | (end[1:] != end[:-1])
    first = np.flatnonzero(is_first)
    gained = np.where(order < before.interval_claim.size, -1, 1)
    if first.size:
        differs[claim[first[np.add.reduceat(gained, first) != 0]]] = True
    return np.flatnonzero(differs[:count]).tolist()
