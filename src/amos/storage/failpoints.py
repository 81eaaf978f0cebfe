"""Named steps of durable writes, at which a test can kill the process.

`AMOS_FAILPOINT=name[:n]` ends the process without any clean-up at the n-th pass.  Unset, a step
costs one comparison.
"""

from __future__ import annotations

import itertools
import os
import signal

FAILPOINTS: dict[str, str] = {
    "create.folders_made": "the folders stand, nothing is in them",
    "create.key_written": "the erasure key is durable, the catalog is not made yet",
    "create.catalog_drafted": "the catalog is whole, under its temporary name",
    "create.catalog_made": "the catalog is durable, the store's settings are not written yet",
    "file.drafted": "a draft is written and synced, under its temporary name",
    "file.renamed": "the draft has its final name, the folder is not synced yet",
    "segment.placed": "a segment is durable, no commit names it yet",
    "commit.begun": "the write transaction is open, nothing is inserted",
    "commit.rows_inserted": "all rows are inserted, the transaction is open",
    "commit.before_sqlite_commit": "everything is ready, the next step makes it visible",
    "commit.after_sqlite_commit": "the commit is durable, the caller does not know yet",
    "seal.segments_placed": "the hot tail stands in segments too, the transaction is open",
    "seal.hot_removed": "the hot rows are deleted, the transaction is open",
    "rewrite.drafted": "a rewritten segment is written and synced, under its temporary name",
    "rewrite.placed": "a rewritten segment is durable, nothing names it yet",
    "replace.named": "the catalog names the new segments, the transaction is open",
    "garbage.before_unlink": "a replaced file is about to go",
    "purge.files_gone": "no file holds erased content, the log is not truncated yet",
    "purge.log_truncated": "the log is truncated, the ledger still says purging",
    "upgrade.before_commit": "an older catalog has what one step adds, the transaction is open",
    "upgrade.step_done": "one step of an upgrade is durable, the next has not begun",
    "backup.catalog_copied": "the catalog's copy is whole, under its temporary name",
    "backup.segments_copied": "every segment stands in the backup, its catalog is still the earlier one",
    "backup.named": "the backup holds the new state, earlier files are still beside it",
    "restore.built": "the restored shard is whole and verified, beside the place it will take",
    "restore.moved_aside": "the shard that was there has another name, its place is empty",
    "repair.file_copied": "a segment from a backup is whole, under its temporary name",
    "repair.before_commit": "what a repair derived is written, the transaction is open",
    "export.drafted": "an export is whole, under its temporary name",
    "export.renamed": "an export has its final name, the store does not know yet",
    "clean.before_remove": "an orphan was found and is about to go",
}

_ARMED = os.environ.get("AMOS_FAILPOINT")
_passes = itertools.count(1)  # counts right when several threads pass


def reach(name: str) -> None:
    """Pass the step `name`; end the process here when it is the armed one."""
    if _ARMED is not None:
        _maybe_die(name, _ARMED)


def _maybe_die(name: str, armed: str) -> None:
    if name not in FAILPOINTS:
        raise KeyError(f"{name} is no registered failpoint")
    wanted, _, count = armed.partition(":")
    if name == wanted and next(_passes) == int(count or 1):
        os.kill(os.getpid(), signal.SIGKILL)
