"""Hide what may not be deleted: it stays in the files and leaves every current row that is read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from amos.admission.comparison import UNSALTED
from amos.evidence.capture import CAPTURED
from amos.flow.forget_plan import ErasurePlan
from amos.flow.forget_selection import current_rows
from amos.flow.prepare import UNSALTED_CONVERSATIONS, UNSALTED_ENTITIES
from amos.journal.store import EventRows, Snapshot
from amos.kernels.hashing import sha256_rows
from amos.schemas.buffers import column_arrays
from amos.schemas.choosing import with_column
from amos.schemas.columns import DIGEST, ID
from amos.schemas.state import PRIMARY_KEYS
from amos.schemas.vocabulary import SourceFlag

_HIDDEN = int(SourceFlag.WITHHELD | SourceFlag.CUT)
_NAMELESS = "\x1a"


def suppress(snapshot: Snapshot, plan: ErasurePlan) -> list[EventRows]:
    """Return the rows that hide what `plan` would erase; nothing is taken away.

    Atoms become tombstoned, edges and disputes end, sources get a revision without their words.
    """
    rows = [_withheld(group) for group in plan.rows]
    blanked = _blanked(current_rows(snapshot, "sources", "source_id", plan.sources))
    found = [
        *rows,
        EventRows("source_revised", "sources", blanked),
        EventRows("source_revised", "conversations", _untitled(snapshot, plan)),
        EventRows("dictionary_updated", "entities", _unnamed(snapshot, plan)),
        EventRows("atom_archived", "atoms", _ended(snapshot, plan, "atoms", "lifecycle_state", "tombstoned")),
        EventRows("edge_retired", "edges", _ended(snapshot, plan, "edges", "lifecycle_state", "archived")),
        EventRows("dispute_closed", "disputes", _ended(snapshot, plan, "disputes", "status", "closed")),
    ]
    return [group for group in found if group.rows.num_rows]


def _withheld(group: EventRows) -> EventRows:
    """Return an event's rows; sources that lost bytes are kept out of sight as a whole."""
    if group.table != "sources":
        return group
    flags = pc.bit_wise_or(group.rows["flags"], pa.scalar(_HIDDEN, pa.int32()))
    return group._replace(rows=with_column(group.rows, "flags", flags))


def _blanked(rows: pa.Table) -> pa.Table:
    """Return the next revision of whole sources: their words overwritten, their `extra` left out."""
    if rows.num_rows == 0:
        return CAPTURED.empty_table()
    rows = rows.select(CAPTURED.names)
    lengths = pc.binary_length(rows["content"])
    blank = pa.array(["\x1a" * length for length in lengths.to_pylist()], pa.string())
    text = column_arrays(blank)
    assert text.offsets is not None
    digests = np.ascontiguousarray(sha256_rows(text.values, text.offsets))
    changes = {
        "content": blank,
        "content_digest": pa.Array.from_buffers(DIGEST, len(blank), [None, pa.py_buffer(digests.tobytes())]),
        "revision": pc.add(rows["revision"], pa.scalar(1, pa.int32())),
        "cut_bytes": lengths.cast(pa.int64()),
        "flags": pc.bit_wise_or(rows["flags"], pa.scalar(_HIDDEN, pa.int32())),
        "extra": pa.nulls(rows.num_rows, pa.string()),
    }
    for name, column in changes.items():
        rows = with_column(rows, name, column)
    return rows.cast(CAPTURED)


def _untouched(snapshot: Snapshot, plan: ErasurePlan, table: str) -> pa.Table:
    """Return the current rows of what the plan takes away without giving it a new form."""
    key = PRIMARY_KEYS[table]
    ids = set(plan.gone.places.get(table, {}).values())
    for group in plan.rows:
        if group.table == table:
            ids -= set(group.rows[key].to_pylist())
    return current_rows(snapshot, table, key, pa.array(sorted(ids), ID))


def _next(rows: pa.Table, schema: pa.Schema, **values: Any) -> pa.Table:
    rows = with_column(rows, "version", pc.add(rows["version"], pa.scalar(1, pa.int32())))
    for name, value in values.items():
        rows = with_column(rows, name, pa.array([value] * rows.num_rows, rows.schema.field(name).type))
    return rows.select(schema.names).cast(schema)


def _ended(snapshot: Snapshot, plan: ErasurePlan, table: str, column: str, state: str) -> pa.Table:
    rows = _untouched(snapshot, plan, table)
    changed = rows.filter(pc.not_equal(rows[column], state))
    if table == "atoms":  # versions of atoms that stay may be among what goes
        changed = changed.filter(pc.is_in(changed["atom_id"], value_set=pa.array(sorted(plan.vanished), ID)))
    return _next(changed, UNSALTED[table], **{column: state})


def _untitled(snapshot: Snapshot, plan: ErasurePlan) -> pa.Table:
    rows = _untouched(snapshot, plan, "conversations")
    return _next(rows.filter(pc.is_valid(rows["title"])), UNSALTED_CONVERSATIONS, title=None)


def _unnamed(snapshot: Snapshot, plan: ErasurePlan) -> pa.Table:
    return _next(_untouched(snapshot, plan, "entities"), UNSALTED_ENTITIES, name=_NAMELESS)
