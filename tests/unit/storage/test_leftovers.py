"""What dead processes left goes, whoever has their numbers now; what living ones write stays."""

import os
import subprocess
import sys
import time

import pytest

from amos.journal.store import Shard
from amos.storage import leftovers
from committed_rows import commit, new_shard, story
from damaged_stores import drafts_of

HOUR = 3600


@pytest.fixture
def shard(tmp_path):
    with new_shard(tmp_path) as opened:
        commit(opened, story(0, 1))
        yield opened


@pytest.fixture
def living():
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    yield process
    if process.poll() is None:
        process.communicate(b"\n")


def clear(shard):
    leftovers.clean_orphans(shard.folder, shard._named_files, lambda: True)


def test_drafts_of_a_dead_process_go(shard, living):
    living.communicate(b"\n")
    folder = drafts_of(shard, living.pid)
    clear(shard)
    assert not folder.exists()


def test_drafts_of_a_living_process_stay(shard, living):
    folder = drafts_of(shard, living.pid)
    clear(shard)
    assert folder.exists()


def test_drafts_older_than_the_process_of_their_number_go(shard, living):
    folder = drafts_of(shard, living.pid, age=HOUR)
    clear(shard)
    assert not folder.exists()


def test_drafts_of_an_earlier_process_of_the_own_number_go_with_the_next_opening(shard):
    folder = drafts_of(shard, os.getpid(), age=24 * HOUR)
    Shard.open(shard.folder.parents[1]).close()
    assert not folder.exists()


def test_where_the_start_of_a_process_is_unknown_age_counts(shard, living, monkeypatch):
    monkeypatch.setattr(leftovers, "_started", lambda _: 0.0)
    young, old = drafts_of(shard, living.pid, age=HOUR), drafts_of(shard, 1, age=25 * HOUR)
    clear(shard)
    assert (young.exists(), old.exists()) == (True, False)


def test_a_process_that_cannot_be_looked_at_began_long_ago():
    assert leftovers._started(2**30) == 0.0
    assert 0 < time.time() - leftovers._started(os.getpid()) < 24 * HOUR
