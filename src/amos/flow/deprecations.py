"""Which entities a person has declared out of use: read from the records of those decisions."""

from __future__ import annotations

import json
from collections.abc import Collection
from datetime import datetime

import pyarrow as pa
import pyarrow.compute as pc

from amos.flow.review_names import FORMAT, conversation_of
from amos.identity import parse_ref, prefix_range
from amos.journal.store import Snapshot
from amos.schemas.columns import ID

DEPRECATE, RESTORE = "deprecate", "restore"
"""What such a record decides: an entity is out of use, or in use again."""
_READ = ["conversation_id", "turn", "revision", "event_time", "extra"]
_USERS = (
    ("candidates", "subject_id"), ("atoms", "subject_id"), ("mentions", "referent_id"),
    ("mentions", "subject_id"), ("sources", "author_id"), ("entities", "owner_id"),
)  # fmt: skip
"""Columns that name entities."""


def deprecations_of(snapshot: Snapshot, entities: Collection[bytes], key: bytes) -> dict[bytes, datetime]:
    """Return for those of `entities` (ids) that are out of use since when."""
    talks = {conversation_of("entities", one, key): one for one in entities}
    if not talks:
        return {}
    rows = snapshot.lookup("sources", "conversation_id", pa.array(sorted(talks), ID), _READ).to_pylist()
    found: dict[bytes, datetime] = {}
    for row in sorted(rows, key=lambda row: (row["turn"], row["revision"])):
        verdict = json.loads(row["extra"] or "{}").get("decision")
        if verdict == DEPRECATE:
            found[talks[row["conversation_id"]]] = row["event_time"]
        elif verdict == RESTORE:
            found.pop(talks[row["conversation_id"]], None)
    return found


def all_deprecations(snapshot: Snapshot, key: bytes) -> dict[bytes, datetime]:
    """Return every entity that is out of use, and since when."""
    talks = snapshot.table("conversations", ["format", "conversation_key"])
    own = talks.filter(pc.equal(talks["format"], FORMAT))["conversation_key"].to_pylist()
    named = {prefix_range(parse_ref(ref)[1])[0] for ref in own if ref.startswith("ent_")}
    return deprecations_of(snapshot, named, key)


def is_used(snapshot: Snapshot, entity: bytes) -> bool:
    """Tell whether any row that the store keeps names an entity: then its reference goes on working."""
    wanted = pa.array([entity], ID)
    return any(snapshot.lookup(table, column, wanted, [column]).num_rows for table, column in _USERS)
