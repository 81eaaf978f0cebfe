"""A worker that was stopped and wakes up too late commits nothing; locks of the dead are gone with them."""

import os
import signal
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from amos.journal.store import Shard
from committed_rows import commit, new_shard, story

pytestmark = pytest.mark.crash

TESTS = str(Path(__file__).parents[1])
WORKER = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from amos.journal.refusals import LeaseLost
from amos.journal.store import Shard
from committed_rows import commit, story
with Shard.open(Path(sys.argv[1])) as shard:
    lease = shard.take_lease("tidy", now=datetime.now(UTC), lasts_seconds=0.2)
    print("taken", lease.epoch, flush=True)
    sys.stdin.readline()
    try:
        commit(shard, story(1, 1), lease=lease)
    except LeaseLost as refusal:
        print("refused", refusal.conflict.expected_version, refusal.conflict.actual_version, flush=True)
    else:
        print("committed", flush=True)
"""
HOLDER = """
import sys, time
from pathlib import Path
from amos.journal.store import Shard
with Shard.open(Path(sys.argv[1])) as shard, shard.exclusive("endless import"):
    print("holding", flush=True)
    time.sleep(600)
"""


@pytest.fixture
def started():
    """Return the function that starts a program on a store; what is left of them is ended."""
    running = []
    yield lambda *arguments: running.append(program(*arguments)) or running[-1]
    for one in running:
        one.kill()
        one.communicate()


def program(code, root):
    known = {"PYTHONPATH": TESTS, "PATH": os.environ.get("PATH", "")}
    if "PYTHONPATH" in os.environ:
        known["PYTHONPATH"] += os.pathsep + os.environ["PYTHONPATH"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    return subprocess.Popen([sys.executable, "-c", code, str(root)], env=known, text=True, **pipes)


def test_a_worker_that_slept_through_its_lease_is_fenced_off(tmp_path, started):
    new_shard(tmp_path).close()
    root = tmp_path / "store"
    worker = started(WORKER, root)
    assert worker.stdout.readline() == "taken 1\n"
    worker.send_signal(signal.SIGSTOP)
    with Shard.open(root) as shard:
        lease = shard.take_lease("tidy", now=datetime(2100, 1, 1, tzinfo=UTC))
        assert lease.epoch == 2
        assert commit(shard, story(0, 1), lease=lease) == 1
        worker.send_signal(signal.SIGCONT)
        out, _ = worker.communicate("\n", timeout=60)
        assert out == "refused 1 2\n"
        assert [entry.operation for entry in shard.records().commits] == ["ingest", "command_rejected"]
        assert [entry.target_ref for entry in shard.conflicts()] == ["lease:tidy"]


def test_the_lock_of_a_killed_writer_is_gone_with_it(tmp_path, started):
    new_shard(tmp_path).close()
    root = tmp_path / "store"
    holder = started(HOLDER, root)
    assert holder.stdout.readline() == "holding\n"
    holder.send_signal(signal.SIGKILL)
    holder.wait(timeout=60)
    with Shard.open(root) as shard:
        assert commit(shard, story(0, 1)) == 1
