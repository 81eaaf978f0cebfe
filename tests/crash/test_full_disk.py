"""A disk that fills up under a compaction or an erasure, and one that loses power."""

import shutil
import subprocess
from pathlib import Path

import pytest

from amos.errors import CapacityError
from amos.journal.store import Shard
from amos.journal.verify import verify_shard
from amos.moves import back_up
from failing_disks import compaction, erasure, in_parts, outcome, told

pytestmark = pytest.mark.crash


def mounted(options, source, where):
    """Mount something; skip where that is not permitted."""
    where.mkdir()
    program = shutil.which("mount")
    done = program and subprocess.run(
        [program, *options, source, where], capture_output=True, check=False, text=True
    )
    if not done or done.returncode:
        pytest.skip("mounting needs permission")
    return where


@pytest.fixture
def small_disk(tmp_path):
    """Mount two megabytes of memory as a disk, where that is allowed."""
    where = mounted(["-t", "tmpfs", "-o", "size=2m"], "tmpfs", tmp_path / "disk")
    yield where
    subprocess.run(["umount", where], check=True)


@pytest.mark.parametrize("spare", [0, 4096, 20_480])
@pytest.mark.parametrize("operation", [compaction, erasure], ids=lambda one: one.__name__)
def test_a_full_disk_stops_the_work_and_loses_nothing(tmp_path, small_disk, operation, spare):
    prepared = in_parts(tmp_path)
    states = told(prepared), outcome(prepared, operation)
    root = shutil.copytree(prepared, small_disk / "store")
    ballast = small_disk / "ballast"
    ballast.write_bytes(b"")
    with Shard.open(root) as shard:
        shard.pin().close()
        fill(ballast, spare)
        with pytest.raises(CapacityError, match="no space left"):
            operation(shard)
    ballast.unlink()
    assert told(root) in states
    with Shard.open(root) as shard:
        operation(shard)
    assert told(root) == states[1]


def fill(path, spare):
    """Let a file take all of the disk but `spare` bytes."""
    left = shutil.disk_usage(path.parent).free - spare
    path.write_bytes(bytes(left))


def test_a_store_on_a_full_disk_is_read_verified_and_backed_up_elsewhere(tmp_path, small_disk):
    root = Path(shutil.copytree(in_parts(tmp_path), small_disk / "store"))
    for path in root.rglob("shard.sqlite-*"):
        path.unlink()
    (small_disk / "ballast").write_bytes(b"")
    fill(small_disk / "ballast", 0)
    catalog = root / "default/default/shard.sqlite"
    before = catalog.read_bytes()
    with Shard.open(root, read_only=True) as shard:
        assert verify_shard(shard).problems == []
    assert not back_up(root, tmp_path / "copy", with_keys=True)["registered"]
    assert catalog.read_bytes() == before
    assert told(tmp_path / "copy") == told(tmp_path / "store")
