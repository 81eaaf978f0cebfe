"""Work on a store that a disk can fail, and what the store must hold afterwards."""

import errno
import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import apsw
import pytest

from amos.journal.store import Shard
from amos.journal.verify import verify_shard
from committed_rows import NOW, RUN, commit, new_shard, story

LATER = NOW.replace(year=NOW.year + 1)
TESTS = str(Path(__file__).parent)
CHILD = """
import sys
from pathlib import Path
from amos.journal.store import Shard
import failing_disks
with Shard.open(Path(sys.argv[1])) as shard:
    getattr(failing_disks, sys.argv[2])(shard)
    print("acknowledged", flush=True)
"""


def small_commit(shard):
    """Commit rows that stay hot."""
    commit(shard, story(200, 2))


def large_commit(shard):
    """Commit rows that go into segments of their own."""
    commit(shard, story(200, 2, width=1 << 19))


def seal(shard):
    """Commit rows that move the hot tail into segments."""
    shard._log.seal_blobs = 0
    commit(shard, story(200, 2))


def compaction(shard):
    """Merge everything and remove the replaced files."""
    shard.compact(now=NOW, most=1)
    shard.collect_garbage(now=LATER)


def erasure(shard):
    """Take six atoms out of every file."""
    if not shard.erasures():
        with shard.pin() as snapshot:
            doomed = {"atoms": snapshot.table("atoms").slice(0, 6)}
        terms = {"operation": "forget", "actor": "tester", "run_id": RUN, "now": NOW}
        shard.erase((), doomed=doomed, request="{}", base=shard.head, reads={}, **terms)
    shard.purge(wait_seconds=0)


OPERATIONS = (small_commit, large_commit, seal, compaction, erasure)


def in_parts(folder):
    """Make a store of several segments per table with a hot tail behind them; return its root."""
    with new_shard(folder) as shard:
        for number in range(3):
            commit(shard, story(number * 10, 4))
            shard._log.seal_all()
            shard._refresh()
        commit(shard, story(90, 2))
    return folder / "store"


def told(root):
    """Open for writing, verify, and return the ids of all sources and atoms."""
    with Shard.open(root) as shard:
        assert [str(one) for one in verify_shard(shard).problems] == []
        assert shard.orphans() == {}
        assert {entry.status for entry in shard.erasures()} <= {"purged"}
        with shard.pin() as snapshot:
            keys = {"sources": "source_id", "atoms": "atom_id"}
            return {name: snapshot.table(name, [key])[key].to_pylist() for name, key in keys.items()}


def outcome(root, operation):
    """Return what a store tells after the operation went well."""
    copy = Path(shutil.copytree(root, root.with_name(f"{root.name}-{operation.__name__}")))
    with Shard.open(copy) as shard:
        operation(shard)
    try:
        return told(copy)
    finally:
        shutil.rmtree(copy)


def in_child(root, operation, *wrapping):
    """Run an operation in a process of its own behind the command `wrapping`; return how it ended."""
    known = {"PATH": os.environ.get("PATH", ""), "PYTHONDONTWRITEBYTECODE": "1"}
    known["PYTHONPATH"] = os.pathsep.join([TESTS, *sys.path])
    command = [*wrapping, sys.executable, "-c", CHILD, root, operation.__name__]
    return subprocess.run(
        [str(word) for word in command], env=known, capture_output=True, check=False, text=True
    )


class FailingDisk(apsw.VFS):
    """The system's disk, of which chosen calls fail: `sync`, `write` or `rename`, from the n-th on.

    lasting: every later call of that kind fails too.
    """

    def __init__(self, kind, number, code, *, lasting):
        self.kind, self.code, self.lasting = kind, code, lasting
        self.left, self.failed = number, False
        self.usual = apsw.vfs_names()[0]
        super().__init__(f"failing-{id(self)}", self.usual, makedefault=True)

    def xOpen(self, name, flags):  # noqa: N802 - SQLite's word
        return FailingFile(self, name, flags)

    def reach(self, kind):
        """Count a call; return whether it fails."""
        if kind == self.kind:
            self.left -= 1
            if self.left == 0 or (self.lasting and self.left < 0):
                self.failed = True
                return True
        return False

    def os_error(self, kind, path):
        """Raise OSError when a call of this kind fails now."""
        if self.reach(kind):
            raise OSError(self.code, os.strerror(self.code), str(path))

    def sqlite_error(self, kind):
        """Raise what SQLite hears from a disk when a call of this kind fails now."""
        if self.reach(kind):
            raise apsw.FullError() if self.code == errno.ENOSPC else apsw.IOError()


class FailingFile(apsw.VFSFile):
    """One file of SQLite on a failing disk."""

    def __init__(self, disk, name, flags):
        self.disk = disk
        super().__init__(disk.usual, name, flags)

    def xWrite(self, content, offset):  # noqa: N802
        self.disk.sqlite_error("write")
        super().xWrite(content, offset)

    def xSync(self, flags):  # noqa: N802
        self.disk.sqlite_error("sync")
        super().xSync(flags)


@contextmanager
def failing(kind, number, code, *, lasting=False):
    """Let the n-th call of a kind fail inside the block; yield the disk, which says whether it came to it."""
    disk = FailingDisk(kind, number, code, lasting=lasting)
    sync, replace = os.fsync, Path.replace

    def failing_sync(descriptor):
        disk.os_error("sync", descriptor)
        sync(descriptor)

    def failing_replace(path, target):
        disk.os_error("rename", path)
        return replace(path, target)

    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(os, "fsync", failing_sync)
            patch.setattr(Path, "replace", failing_replace)
            yield disk
    finally:
        disk.unregister()
