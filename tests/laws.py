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


def digest_of(store):
    """Return the state digest of the newest version."""
    with store.shard.pin() as snapshot:
        return state_digest(snapshot)
