"""Records of what a person decided about an entity: captured, with a decision, ready to be committed."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

import pyarrow as pa

from amos.clock import to_us
from amos.errors import UsageError
from amos.flow.current import SnapshotRows
from amos.flow.forget_selection import find_one
from amos.flow.prepare import Prepared, Rules
from amos.flow.review_words import Reviewed, Words, capture, raw_records, records_of
from amos.flow.tombstoned import read_graves
from amos.flow.versions import latest
from amos.journal.store import EventRows, Snapshot
from amos.schemas.columns import ID, SCOPE_NAMES

ADVICE = "`amos entities list` prints entities."
Row = dict[str, Any]


class Decided(NamedTuple):
    """What somebody decided about an entity, and why.  extra: what else the record holds."""

    verdict: str
    entity: Row
    note: str
    extra: Mapping[str, str]


def entity_row(snapshot: Snapshot, ref: str) -> Row:
    """Return the current row of an entity.  Raises UsageError for what names none."""
    table, one = find_one(snapshot, ref)
    if table != "entities":
        raise UsageError(f"{ref!r} is of {table}", path=ref, advice=ADVICE)
    rows = latest(snapshot.lookup("entities", "entity_id", pa.array([one], ID)), "entities")
    return dict(rows.to_pylist()[0])


def captured_record(
    snapshot: Snapshot, decided: Decided, *, key: bytes, rules: Rules, actor: str, now: datetime
) -> Prepared:
    """Return the record of a decision as it is captured."""
    entity = decided.entity
    one = entity["entity_id"]
    known = records_of(snapshot, [("entities", one)], key)[one]
    scopes = {f"scope_{name}": entity[f"scope_{name}"] for name in SCOPE_NAMES}
    reviewed = Reviewed(
        table="entities",
        identifier=one,
        source={"may_retain": True, "purposes": ["personalization"], **scopes},
        turn=max((row["turn"] for row in known), default=-1) + 1,
        words=Words(note=decided.note),
        extra={"decision": decided.verdict, **decided.extra},
        actor=actor,
        at_us=to_us(now),
    )
    graves = read_graves(snapshot, key, now)
    return capture(raw_records([reviewed]), graves, rules=rules, key=key, now=now)


def record_rows(snapshot: Snapshot, records: Prepared, event: str) -> list[EventRows]:
    """Return the rows of captured records; event: type of the event that tells the decision."""
    known = SnapshotRows(snapshot)
    talks = known.changed_conversations(records.conversations, known.conversations(records.conversations))
    parts = [
        ("evidence_captured", "sources", records.sources),
        ("evidence_captured", "conversations", talks),
        ("dictionary_updated", "entities", known.absent("entities", records.entities)),
        (event, "decisions", records.source_decisions),
    ]
    return [EventRows(*part) for part in parts if part[2].num_rows]
