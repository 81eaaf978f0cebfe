"""List the commands that were refused: what each expected, what stands, and what its caller can do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from amos.clock import as_text
from amos.errors import UsageError
from amos.flow.look import Listed
from amos.flow.moments import When
from amos.flow.paging import PageRequest, choose_page
from amos.flow.sight import Sight
from amos.identity import id_text
from amos.journal.refusals import event_of_conflict
from amos.schemas.catalog import ConflictEntry
from amos.schemas.columns import ID

KIND = "conflicts"


def list_conflicts(sight: Sight, entries: Sequence[ConflictEntry], page: PageRequest, when: When) -> Listed:
    """Return one page of refused commands, newest first; a narrowed caller is told of none.

    Raises UsageError for a moment of the past: the queue has no versions.
    """
    past = [name for name in ("at_version", "known_at", "as_of") if when.get(name) is not None]
    if past:
        flag = "--" + past[0].replace("_", "-")
        raise UsageError(
            f"the list of conflicts has no past: it does not take {flag}", advice="Leave it out."
        )
    entries = () if sight.scope else entries
    times = np.array([entry.recorded_us for entry in entries], np.int64)
    ids = pa.chunked_array([[entry.conflict_id.to_bytes(16, "big") for entry in entries]], ID)
    chosen = choose_page(KIND, times, ids, page)
    rows = [_row(sight, entries[number]) for number in chosen.rows.tolist()]
    return Listed(rows, chosen.is_truncated, chosen.cursor)


def _row(sight: Sight, entry: ConflictEntry) -> dict[str, Any]:
    event = event_of_conflict(sight.snapshot, entry)
    return {
        "conflict_id": entry.conflict_id,
        "recorded_at": as_text(entry.recorded_us),
        "target_ref": entry.target_ref,
        "expected_version": int(entry.expected),
        "actual_version": int(entry.actual),
        "conflicting_event_id": None if event is None else id_text("events", event),
        "recommended_action": entry.recommended_action,
        "graph_version": entry.conflicting_version,
    }
