"""Rows that fit together, for tests of the store: a source each, with its claim, decision and atom."""

import hashlib
from datetime import UTC, datetime

import pyarrow as pa

from amos.journal.store import EventRows, Shard
from amos.schemas.state import TABLES

NOW = datetime(2026, 4, 1, 9, 30, tzinfo=UTC)
RUN = bytes(range(16))


def number_id(table, number):
    """Return a 16-byte id that no other table or number has."""
    return hashlib.sha256(f"{table}:{number}".encode()).digest()[:16]


def plain_value(field, row):
    """Return some value that fits the column."""
    kind = field.type
    if field.nullable:
        return None
    if pa.types.is_list(kind):
        return []
    if pa.types.is_fixed_size_binary(kind):
        return hashlib.sha256(f"{field.name}:{row}".encode()).digest()[: kind.byte_width]
    if pa.types.is_string(kind):
        return field.name
    if pa.types.is_boolean(kind):
        return row % 2 == 0
    return NOW if pa.types.is_timestamp(kind) else 1


def rows_of(table, count, **columns):
    """Return `count` rows of a table without salts; columns not named hold plain values."""
    fields = [field for field in TABLES[table] if field.name != "salt"]
    arrays = [
        pa.array(columns.get(field.name) or [plain_value(field, row) for row in range(count)], field.type)
        for field in fields
    ]
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields))


def story(first, count, *, width=0, source_version=1):
    """Return the rows of `count` messages numbered from `first`, each claiming something.

    width: extra bytes of content per message.
    """
    numbers = range(first, first + count)
    texts = [f"Réka keeps spare key {number} in the blue tin. {'~' * width}" for number in numbers]
    raw = [text.encode() for text in texts]
    sources = [number_id("sources", number) for number in numbers]
    atoms = [number_id("atoms", number) for number in numbers]
    candidates = [number_id("candidates", number) for number in numbers]
    spans = [[0, text.index(b" in the")] for text in raw]
    cited = {"source_id": sources, "source_revision": [source_version] * count, "spans": spans}
    return [
        EventRows(
            "evidence_captured",
            "sources",
            rows_of(
                "sources",
                count,
                source_id=sources,
                revision=[source_version] * count,
                delivery_key=[f"m{number}" for number in numbers],
                content=texts,
                content_digest=[hashlib.sha256(text).digest() for text in raw],
            ),
        ),
        EventRows(
            "candidate_proposed",
            "candidates",
            rows_of("candidates", count, candidate_id=candidates, claim_id=atoms, **cited),
        ),
        EventRows(
            "candidate_decided",
            "decisions",
            rows_of(
                "decisions",
                count,
                decision_id=[number_id("decisions", number) for number in numbers],
                candidate_id=candidates,
                source_id=sources,
                reasons=[["new_unkeyed_fact"]] * count,
                atom_id=atoms,
            ),
        ),
        EventRows("atom_committed", "atoms", rows_of("atoms", count, atom_id=atoms, **cited)),
    ]


def new_shard(folder):
    """Return a fresh shard below `folder`."""
    return Shard.create(folder / "store", now=NOW)


def commit(shard, rows, *, base=None, reads=None, now=NOW, **terms):
    """Commit rows on the newest state, or on `base`."""
    return shard.commit(
        rows,
        base=shard.head if base is None else base,
        reads=reads or {},
        operation="ingest",
        actor="tester",
        run_id=RUN,
        now=now,
        **terms,
    )
