"""Which entities a person has declared to be one: read from the records of those decisions."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from amos.flow.review_names import FORMAT, RECORD, conversation_of
from amos.identity import id_text, parse_ref, prefix_range
from amos.journal.store import Snapshot
from amos.schemas.columns import ID

MERGE, SPLIT = "merge", "split"
"""What such a record decides: an entity is another one, or is itself again."""
_RECORD = [
    "source_id", "conversation_id", "format", "delivery_key", "block", "turn", "revision", "extra",
]  # fmt: skip
Row = dict[str, Any]


class Merged(NamedTuple):
    """That an entity is another one.  record: id of the source that says so."""

    into: bytes
    record: bytes


def merges_of(snapshot: Snapshot, entities: Collection[bytes], key: bytes) -> dict[bytes, Merged]:
    """Return for those of `entities` (ids) that are merged which one they end up as."""
    found: dict[bytes, Merged] = {}
    waiting = set(entities)
    while waiting:
        direct = _direct(snapshot, waiting, key)
        found |= direct
        waiting = {one.into for one in direct.values()} - set(found)
    return {one: _end(one, found) for one in entities if one in found}


def _end(entity: bytes, direct: dict[bytes, Merged]) -> Merged:
    """Return where the merges that begin with `entity` end."""
    merged = direct[entity]
    seen = {entity}
    while merged.into in direct and merged.into not in seen:
        seen.add(merged.into)
        merged = merged._replace(into=direct[merged.into].into)
    return merged


def _direct(snapshot: Snapshot, entities: Iterable[bytes], key: bytes) -> dict[bytes, Merged]:
    talks = {conversation_of("entities", one, key): one for one in entities}
    held = snapshot.lookup(
        "conversations", "conversation_id", pa.array(sorted(talks), ID), ["conversation_id"]
    )
    if held.num_rows == 0:
        return {}
    ids = held["conversation_id"].combine_chunks().unique()
    rows = snapshot.lookup("sources", "conversation_id", ids, _RECORD).to_pylist()
    found: dict[bytes, Merged] = {}
    for row in sorted(rows, key=lambda row: (row["turn"], row["revision"])):
        entity = talks[row["conversation_id"]]
        told = json.loads(row["extra"] or "{}")
        if told.get("decision") == SPLIT:
            found.pop(entity, None)
        elif told.get("decision") == MERGE:
            found[entity] = Merged(prefix_range(parse_ref(told["into"])[1])[0], row["source_id"])
    return found


def records_about(snapshot: Snapshot, entities: Collection[bytes]) -> pa.Array:
    """Return the ids of all records that merge or split one of `entities`, whichever side it is."""
    if not entities:
        return pa.array([], ID)
    refs = {id_text("entities", one) for one in entities}
    rows = snapshot.table("sources", _RECORD)
    rows = rows.filter(pc.and_(pc.equal(rows["format"], FORMAT), pc.equal(rows["block"], RECORD)))
    chosen = []
    for row in rows.to_pylist():
        about = row["delivery_key"].partition("@")[0]
        if about.startswith("ent_") and not refs.isdisjoint(
            {about, json.loads(row["extra"] or "{}").get("into")}
        ):
            chosen.append(row["source_id"])
    return pa.array(sorted(set(chosen)), ID)


def all_merges(snapshot: Snapshot, key: bytes) -> dict[bytes, Merged]:
    """Return every entity that is merged, and which one it ends up as."""
    talks = snapshot.table("conversations", ["format", "conversation_key"])
    own = talks.filter(pc.equal(talks["format"], FORMAT))["conversation_key"].to_pylist()
    named = [parse_ref(ref)[1] for ref in own if ref.startswith("ent_")]
    return merges_of(snapshot, {prefix_range(body)[0] for body in named}, key)
