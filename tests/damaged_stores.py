"""Damage a store on purpose and see what verification says."""

import os
import sqlite3
import time

from amos.journal.store import Shard
from amos.journal.verify import verify_shard
from amos.schemas.catalog import text_digest
from committed_rows import commit, new_shard, story


def make_store(folder):
    """Return the root of a store with hot rows, a segment of one commit and sealed segments."""
    with new_shard(folder) as shard:
        commit(shard, story(0, 3), texts={text_digest("be kind"): ("policy", "be kind")})
        commit(shard, story(3, 1, width=1 << 20))
        shard._log.seal_blobs = 0
        commit(shard, story(4, 2))
        shard._log.seal_blobs = 4096
        commit(shard, story(6, 2))
        commit(shard, story(8, 1))
    return folder / "store"


def report_of(root):
    """Verify a store as a reader."""
    with Shard.open(root, read_only=True) as shard:
        return verify_shard(shard)


def kinds(root):
    """Return the kinds of problems that verification finds."""
    return {problem.kind for problem in report_of(root).problems}


def execute(root, sql, *values):
    """Change the catalog behind the store's back."""
    connection = sqlite3.connect(root / "default/default/shard.sqlite")
    with connection:
        connection.execute(sql, values)
    connection.close()


def flip(blob, position):
    """Return `blob` with one bit turned at a byte position."""
    raw = bytearray(blob)
    raw[position] ^= 1
    return bytes(raw)


def hot_blobs(root):
    """Return (row, table, body) of every hot blob."""
    connection = sqlite3.connect(root / "default/default/shard.sqlite")
    rows = connection.execute("SELECT rowid, table_name, body FROM hot").fetchall()
    connection.close()
    return rows


def drafts_of(shard, process, *, age=0.0):
    """Make a folder of drafts as `process` left it so many seconds ago."""
    folder = shard.folder / "tmp" / str(process)
    folder.mkdir(exist_ok=True)
    (folder / "draft.parquet").write_bytes(b"words of somebody")
    then = time.time() - age
    for path in (folder / "draft.parquet", folder):
        os.utime(path, (then, then))
    return folder
