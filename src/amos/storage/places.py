"""Every place of a store that may hold content, and who removes content from it.

Nothing in `storage` opens a file or a table that is not listed: paths come from `place` and
table names from `table`, which refuse what they do not know.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple


class Place(NamedTuple):
    """A table or a path of a store; `eraser` says what makes forgotten content leave it."""

    kind: str
    holds: str
    eraser: str


_REWRITTEN = "erasure rewrites the segment without the row and removes the old file"
_DELETED = "erasure deletes the row; secure_delete zeroes its page, a checkpoint truncates the log"
_NONE = "holds no content"
_DERIVED = "erasure removes the file; it is rebuilt from what is left"
_DROPPED = "removed at the next write open"

PLACES: dict[str, Place] = {
    "amos.toml": Place("root file", "settings", _NONE),
    ".gitignore": Place("root file", "keeps the store out of version control", _NONE),
    "backup.json": Place("copy file", "which state a backup holds", _NONE),
    "shard.sqlite": Place("file", "commit log and catalog; its tables are listed below", _DELETED),
    "shard.sqlite-wal": Place("file", "recent writes of shard.sqlite", _DELETED),
    "shard.sqlite-shm": Place("file", "index of the write-ahead log", _NONE),
    "keys.sqlite": Place("file", "erasure key", "destroying a data key erases what it opens"),
    "keys.sqlite-journal": Place("file", "undo log of a write to keys.sqlite in progress", _DELETED),
    "telemetry.sqlite": Place("file", "packet receipts: ids and numbers, no text", _DELETED),
    "telemetry.sqlite-wal": Place("file", "recent writes of telemetry.sqlite", _DELETED),
    "telemetry.sqlite-shm": Place("file", "index of the write-ahead log", _NONE),
    "segments": Place("folder", "sealed rows, one folder per table", _REWRITTEN),
    "derived": Place("folder", "indexes and stamps", _DERIVED),
    "derived/verified.sqlite": Place("file", "which segment files were checked, no content", _NONE),
    "derived/ids": Place("folder", "keyed ids and where their rows stand", _DERIVED),
    "tmp": Place("folder", "drafts and scratch copies, one folder per process", _DROPPED),
    ".STORE.restoring": Place(
        "folder beside the store", "a store that is restored or imported, until it takes its place", _DROPPED
    ),
    "tmp/pins.lock": Place("file", "shared lock of readers", _NONE),
    "tmp/writers.lock": Place("file", "shared lock of writers with drafts", _NONE),
    "tmp/maker.lock": Place("file", "lock of whoever makes the shard", _NONE),
    "tmp/writer.json": Place("file", "who holds the write transaction", _NONE),
    "meta": Place("table", "format version, key fingerprint, counters", _NONE),
    "commits": Place("table", "commit log: versions, operations, running links", _NONE),
    "segment_files": Place("table", "sealed files; constants of omitted columns", _REWRITTEN),
    "hot": Place("table", "rows of small commits as canonical bytes", _DELETED),
    "idempotency": Place("table", "digests of commands", _NONE),
    "texts": Place("table", "policies, profiles and contracts by digest", _NONE),
    "conflicts": Place("table", "refused commands: references and versions", _NONE),
    "erased_rows": Place("table", "commitments of rows that are gone; no content", _NONE),
    "erasures": Place("table", "ledger of erasures: what was asked by reference, counts", _NONE),
    "garbage": Place("table", "replaced segment files that wait for their readers", _NONE),
    "snapshots": Place("table", "verified states: versions, digests, counts", _NONE),
    "holds": Place("table", "legal holds by reference", _NONE),
    "leases": Place("table", "who works on which job, with an epoch", _NONE),
    "copies": Place("table", "backups and exports that were made", _NONE),
    "runs": Place("table", "receipts: counts and times", _NONE),
    "keys": Place("key table", "erasure key", "destroying a data key erases what it opens"),
    "packet_receipts": Place("telemetry table", "packet receipts: references and scores, no text", _DELETED),
    "stamps": Place("stamp table", "file identities that were verified", _NONE),
}


def place(folder: Path, name: str, *parts: str) -> Path:
    """Return the path of the registered place `name` under `folder`, or of `parts` inside it.

    Raises LookupError for a name that is not registered, or parts below a file.
    """
    known = PLACES.get(name)
    if known is None or not known.kind.endswith(("file", "folder")):
        raise LookupError(f"{name} is no registered path of a store")
    if parts and known.kind != "folder":
        raise LookupError(f"{name} is a file: nothing stands below it")
    return folder.joinpath(name, *parts)


def table(name: str) -> str:
    """Return the SQL name of a registered table.  Raises LookupError for any other."""
    known = PLACES.get(name)
    if known is None or not known.kind.endswith("table"):
        raise LookupError(f"{name} is no registered table of a store")
    return name
