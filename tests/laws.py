"""Stores on disk for the property tests."""

import tempfile
from contextlib import contextmanager
from pathlib import Path

from amos.api import Store
from amos.flow.digest import state_digest


@contextmanager
def scratch():
    """Yield a fresh folder and an empty store in it."""
    with tempfile.TemporaryDirectory() as folder, Store.create(Path(folder) / "store") as store:
        yield Path(folder), store


def digest_of(store, *, but=()):
    """Return the state digest of the newest version, of all tables but some."""
    with store.shard.pin() as snapshot:
        return state_digest(snapshot, but=but)


def references(store):
    """Return the ids that rows name, by the table they must stand in, less those that stand there."""
    with store.shard.pin() as snapshot:
        tables = {name: snapshot.table(name) for name in snapshot.counts() if name != "events"}
    ids = {
        "sources": set(tables["sources"]["source_id"].to_pylist()),
        "candidates": set(tables["candidates"]["candidate_id"].to_pylist()),
        "atoms": set(tables["atoms"]["atom_id"].to_pylist()),
        "entities": set(tables["entities"]["entity_id"].to_pylist()),
        "conversations": set(tables["conversations"]["conversation_id"].to_pylist()),
        "decisions": set(tables["decisions"]["decision_id"].to_pylist()),
    }
    named = {
        ("candidates", "source_id"): "sources",
        ("candidates", "subject_id"): "entities",
        ("candidates", "conversation_id"): "conversations",
        ("sources", "author_id"): "entities",
        ("sources", "conversation_id"): "conversations",
        ("sources", "revises"): "sources",
        ("entities", "owner_id"): "entities",
        ("decisions", "source_id"): "sources",
        ("decisions", "candidate_id"): "candidates",
        ("decisions", "atom_id"): "atoms",
        ("decisions", "targets"): "atoms",
        ("atoms", "source_id"): "sources",
        ("atoms", "subject_id"): "entities",
        ("edges", "from_id"): "atoms",
        ("edges", "to_id"): "atoms",
        ("lineage", "predecessor_id"): "atoms",
        ("lineage", "successor_id"): "atoms",
        ("lineage", "decision_id"): "decisions",
        ("disputes", "sides"): "atoms",
    }
    dangling = []
    for (table, column), target in named.items():
        cells = tables[table][column].to_pylist()
        found = {one for cell in cells for one in (cell if isinstance(cell, list) else [cell])} - {None}
        dangling += [(table, column, one.hex()) for one in found - ids[target]]
    return dangling
