"""The shard's erasure key, in a file of its own so that backups can treat it differently."""

from __future__ import annotations

import hashlib
import logging
import os
from pathlib import Path

from amos.errors import IntegrityError
from amos.storage.connections import Rows, fetch, open_database
from amos.storage.files import disk_errors
from amos.storage.places import place, table

KEY_BYTES = 32
_ERASURE = "erasure"
_ADVICE = "Restore keys.sqlite from the backup that belongs to this store; until then it can only be read."
_LOG = logging.getLogger(__name__)


def fingerprint(key: bytes) -> bytes:
    """Return the digest by which a catalog recognises its key."""
    return hashlib.sha256(b"amos/key/1" + key).digest()


def make_key(shard: Path, key: bytes | None = None) -> bytes:
    """Return the erasure key, making it on first call; it is `key` then, or random when None."""
    path = place(shard, "keys.sqlite")
    connection = open_database(path, journal="DELETE")
    try:
        with disk_errors(path):
            path.chmod(0o600)
            keys = table("keys")
            connection.execute(
                f"CREATE TABLE IF NOT EXISTS {keys} (name TEXT PRIMARY KEY, key BLOB NOT NULL) STRICT"
            )
            connection.execute(
                f"INSERT OR IGNORE INTO {keys} VALUES (?, ?)",  # noqa: S608 - a registered name
                (_ERASURE, os.urandom(KEY_BYTES) if key is None else key),
            )
    finally:
        connection.close()
    return read_key(shard)


def held_key(shard: Path) -> bytes:
    """Return the erasure key, empty where its file is gone or damaged: enough to read, never to write."""
    said = "missing"
    if place(shard, "keys.sqlite").exists():
        try:
            return read_key(shard)
        except IntegrityError:
            said = "damaged"
    _LOG.warning("keys.sqlite is %s: the store can be read, not written", said, extra={"path": str(shard)})
    return b""


def read_key(shard: Path) -> bytes:
    """Return the erasure key.  Raises IntegrityError when its file or row is missing."""
    path = place(shard, "keys.sqlite")
    if not path.exists():
        raise IntegrityError(f"{path} is missing", path=str(path), advice=_ADVICE)
    try:
        found = _read(path)
    except IntegrityError as cause:
        raise IntegrityError(cause.message, path=str(path), advice=_ADVICE) from cause
    if not found:
        raise IntegrityError(f"{path} holds no erasure key", path=str(path), advice=_ADVICE)
    key: bytes = found[0][0]
    return key


def _read(path: Path) -> Rows:
    connection = open_database(path, read_only=True)
    try:
        with disk_errors(path):
            return fetch(connection, f"SELECT key FROM {table('keys')} WHERE name = ?", (_ERASURE,))  # noqa: S608
    finally:
        connection.close()
