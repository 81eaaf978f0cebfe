"""Any sync, write or rename may fail: the store holds the old or the new state, and what was acknowledged."""

import errno
import itertools
import shutil
import subprocess
from pathlib import Path

import pytest

from amos.errors import EngineError
from amos.journal.store import Shard
from failing_disks import OPERATIONS, failing, in_parts, large_commit, outcome, told

pytestmark = pytest.mark.crash

CALLS = {"sync": errno.EIO, "write": errno.ENOSPC, "rename": errno.ENOSPC}
STEPS = {"sync": 4, "write": 40, "rename": 3}
"""How far apart the calls are that fail each time; at night every one does."""


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    return in_parts(tmp_path_factory.mktemp("prepared"))


def attempt(root, operation, disk_terms):
    """Run an operation on a failing disk; return (failed call reached, acknowledged).

    The state at the failure, as a power cut right after it leaves it, stands beside the store.
    """
    acknowledged = False
    with failing(**disk_terms) as disk:
        try:
            shard = Shard.open(root)
            try:
                operation(shard)
                acknowledged = True
            finally:
                subprocess.run(["cp", "-a", root, root.with_name("cut")], check=True)
                shard.close()
        except EngineError:  # a failing disk is never told in the words of a library
            pass
    return disk.failed, acknowledged


@pytest.fixture(scope="module")
def states(prepared):
    """Return what the store tells before and after each operation."""
    before = told(prepared)
    return {one: (before, outcome(prepared, one)) for one in OPERATIONS}


def fail_each(prepared, folder, operation, states, *, kind, step, lasting):
    """Let every `step`-th call of a kind fail in turn, each time on a fresh store; return how many did."""
    for number in itertools.count(step, step):
        root = Path(shutil.copytree(prepared, folder / str(number) / "store"))
        terms = {"kind": kind, "number": number, "code": CALLS[kind], "lasting": lasting}
        failed, acknowledged = attempt(root, operation, terms)
        for place in filter(Path.exists, (root, root.with_name("cut"))):
            assert told(place) in (states[1:] if acknowledged else states), (number, place.name)
        shutil.rmtree(root.parent)
        if not failed:
            assert acknowledged
            return number // step - 1
    raise AssertionError("the operation ends once no call fails")


@pytest.mark.parametrize("kind", sorted(CALLS))
@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.__name__)
def test_a_failed_call_leaves_the_old_or_the_new_state(prepared, states, tmp_path, operation, kind):
    fail_each(prepared, tmp_path, operation, states[operation], kind=kind, step=STEPS[kind], lasting=False)


@pytest.mark.nightly
@pytest.mark.parametrize("lasting", [False, True], ids=["once", "from then on"])
@pytest.mark.parametrize("kind", sorted(CALLS))
@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.__name__)
def test_every_call_may_fail(prepared, states, tmp_path, operation, kind, lasting):
    count = fail_each(prepared, tmp_path, operation, states[operation], kind=kind, step=1, lasting=lasting)
    assert count > 0 or (operation.__name__, kind) == ("small_commit", "rename")


def test_a_commit_whose_sync_failed_is_whole_when_a_power_cut_brings_it_back(prepared, states, tmp_path):
    root = Path(shutil.copytree(prepared, tmp_path / "store"))
    terms = {"kind": "sync", "number": 4, "code": errno.EIO, "lasting": False}
    assert attempt(root, large_commit, terms) == (True, False)
    old, new = states[large_commit]
    assert told(tmp_path / "cut") == new
    assert told(root) == old
