"""Cut the power of an ext4 disk at random moments while a writer prints what it was promised."""

import fcntl
import os
import random
import shutil
import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest

from amos.journal.store import Shard
from committed_rows import new_shard
from failing_disks import TESTS, told

pytestmark = [pytest.mark.crash, pytest.mark.powercut]

ROUNDS = 12
SHUT_DOWN, WITHOUT_FLUSHING = 0x8004587D, 2
"""The request that makes ext4 stop at once, its journal unwritten (`EXT4_IOC_SHUTDOWN` of the kernel)."""

WRITER = """
import sys
from datetime import timedelta
from pathlib import Path
from amos.journal.store import Shard
from committed_rows import NOW, commit, story
with Shard.open(Path(sys.argv[1])) as shard:
    shard._log.seal_blobs = 12
    for number in range(shard.head, 100_000):
        print(commit(shard, story(10 * number, 2, width=(number % 4 == 0) << 18)), flush=True)
        if number % 9 == 8:
            shard.compact(now=NOW, most=2)
            shard.collect_garbage(now=NOW + timedelta(days=1))
"""


@pytest.fixture
def disk(tmp_path):
    """Mount a file as an ext4 disk; yield (file, where)."""
    if os.geteuid() != 0:
        pytest.skip("only root may mount a disk and cut its power")
    image, where = tmp_path / "image", tmp_path / "disk"
    where.mkdir()
    with image.open("wb") as stream:
        stream.truncate(256 << 20)
    for command in (["mkfs.ext4", "-q", "-F", image], ["mount", "-o", "loop", image, where]):
        if shutil.which(command[0]) is None:
            pytest.skip(f"{command[0]} is missing")
        done = subprocess.run(command, capture_output=True, check=False, text=True)
        if done.returncode:
            pytest.skip(f"no ext4 disk can be mounted here: {done.stderr.strip()}")
    yield image, where
    subprocess.run(["umount", where], check=True)


def cut(image, where, writer):
    """Stop the disk without a flush, end the writer, and mount the disk again."""
    descriptor = os.open(where, os.O_RDONLY)
    try:
        fcntl.ioctl(descriptor, SHUT_DOWN, struct.pack("I", WITHOUT_FLUSHING))
    finally:
        os.close(descriptor)
    writer.kill()
    lines = writer.communicate()[0].splitlines()
    subprocess.run(["umount", where], check=True)
    subprocess.run(["mount", "-o", "loop", image, where], check=True)
    return int(lines[-1]) if lines else 0


def test_what_was_promised_is_there_after_the_power_went(disk):
    image, where = disk
    new_shard(where).close()
    root = Path(where, "store")
    chance, promised = random.Random(20_260_501), 0
    known = {**os.environ, "PYTHONPATH": os.pathsep.join([TESTS, *sys.path])}
    for _ in range(ROUNDS):
        with subprocess.Popen(
            [sys.executable, "-c", WRITER, str(root)], env=known, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True,
        ) as writer:  # fmt: skip
            time.sleep(chance.uniform(1.0, 4.0))
            promised = max(promised, cut(image, where, writer))
        assert len(told(root)["sources"]) > 0 or promised == 0
        with Shard.open(root) as shard:
            assert shard.head >= promised
    assert promised > ROUNDS
