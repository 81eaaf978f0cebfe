"""Kill a backup and a restore at each named step: the earlier backup, and the store, stay whole."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import amos.api
from amos.copies.store import back_up
from amos.journal.store import Shard
from amos.journal.verify import verify_shard
from amos.moves import restore
from amos.storage.failpoints import FAILPOINTS
from committed_rows import NOW
from dying import run
from households import line, write_lines

pytestmark = pytest.mark.crash

SHARD = Path("default/default")
BACKUP = """
import sys
from pathlib import Path
from amos.copies.store import back_up
back_up(Path(sys.argv[1]), Path(sys.argv[2]))
"""
RESTORE = """
import sys
from amos.moves import restore
restore(sys.argv[1], sys.argv[2], replace=True)
"""


def tell(root, number):
    """Store one note in sealed rows; make the store where it is missing."""
    note = line(f"n{number}", f"My locker number is {number}.", number)
    with amos.api.Store.create(root) as store:
        store.shard._log.seal_blobs = 0
        store.ingest(write_lines(root.parent / f"{number}.jsonl", note), format="messages")


def head_of(root):
    with Shard.open(root) as shard:
        assert verify_shard(shard).problems == []
        return shard.head


@pytest.mark.parametrize("failpoint", sorted(name for name in FAILPOINTS if name.startswith("backup.")))
def test_a_killed_backup_leaves_the_earlier_or_the_new_one(tmp_path, failpoint):
    store = tmp_path / "store"
    tell(store, 1)
    back_up(store / SHARD, tmp_path / "copy", with_keys=True)
    tell(store, 2)
    with Shard.open(store) as shard:
        shard.compact(most=1, now=NOW)
    assert run(BACKUP, store / SHARD, tmp_path / "copy", failpoint=failpoint).was_killed
    receipt = restore(tmp_path / "copy", tmp_path / "again")
    assert receipt["graph_version"] == (2 if failpoint == "backup.named" else 1)
    made = back_up(store / SHARD, tmp_path / "copy")
    assert made.graph_version == 2
    assert restore(tmp_path / "copy", tmp_path / "third")["graph_version"] == 2
    assert list((tmp_path / "copy" / SHARD / "tmp").glob("[0-9]*")) == []


@pytest.mark.parametrize("failpoint", ["file.renamed", "backup.catalog_copied", "backup.segments_copied"])
def test_a_first_backup_that_was_killed_is_simply_run_again(tmp_path, failpoint):
    tell(tmp_path / "store", 1)
    assert run(BACKUP, tmp_path / "store" / SHARD, tmp_path / "copy", failpoint=failpoint).was_killed
    assert back_up(tmp_path / "store" / SHARD, tmp_path / "copy", with_keys=True).graph_version == 1
    assert head_of(tmp_path / "copy") == 1


@pytest.mark.parametrize("failpoint", sorted(name for name in FAILPOINTS if name.startswith("restore.")))
def test_a_killed_restore_is_simply_run_again(tmp_path, failpoint):
    tell(tmp_path / "store", 1)
    back_up(tmp_path / "store" / SHARD, tmp_path / "copy", with_keys=True)
    tell(tmp_path / "store", 2)
    assert run(RESTORE, tmp_path / "copy", tmp_path / "store", failpoint=failpoint).was_killed
    held = [path for path in (tmp_path / "store/default").iterdir() if (path / "shard.sqlite").exists()]
    assert len(held) == 1
    assert restore(tmp_path / "copy", tmp_path / "store", replace=True)["graph_version"] == 1
    assert head_of(tmp_path / "store") == 1
    assert [path.name for path in tmp_path.iterdir() if "restoring" in path.name] == []


WRITER = """
import sys
from pathlib import Path
import amos.api
from households import line, write_lines
root, folder = Path(sys.argv[1]), Path(sys.argv[2])
with amos.api.Store.open(root) as store:
    for number in range(2, 16):
        note = line(f"w{number}", f"My shelf number is {number}.", 1 + number % 28)
        store.shard._log.seal_blobs = number % 3
        store.ingest(write_lines(folder / "w.jsonl", note), format="messages")
"""


def test_backups_taken_while_a_writer_is_at_work_hold_whole_states(tmp_path):
    store = tmp_path / "store"
    tell(store, 1)
    (tmp_path / "notes").mkdir()
    known = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", WRITER, str(store), str(tmp_path / "notes")]
    with subprocess.Popen(command, env=known) as writer:
        versions = []
        while writer.poll() is None:
            versions.append(back_up(store / SHARD, tmp_path / "copy", with_keys=True).graph_version)
            assert head_of_copy(tmp_path / "copy") == versions[-1]
    assert writer.returncode == 0
    assert versions == sorted(versions)
    assert len(set(versions)) > 1


def head_of_copy(root):
    with Shard.open(root, read_only=True) as shard:
        assert verify_shard(shard).problems == []
        return shard.head
