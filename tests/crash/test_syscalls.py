"""Kill or refuse a writer at its n-th system call: the store holds the old or the new state."""

import functools
import shutil
import signal
import subprocess

import pytest

from failing_disks import OPERATIONS, in_child, in_parts, outcome, told

pytestmark = pytest.mark.crash

CALLS = ("fsync", "fdatasync", "rename", "pwrite64", "write")
FAULTS = {"kill": "signal=SIGKILL", "EIO": "error=EIO", "ENOSPC": "error=ENOSPC"}
FEW = {
    ("small_commit", "fdatasync", "kill", 1),
    ("small_commit", "pwrite64", "ENOSPC", 3),
    ("large_commit", "rename", "EIO", 1),
    ("seal", "fsync", "EIO", 3),
    ("compaction", "write", "ENOSPC", 6),
    ("compaction", "rename", "kill", 2),
    ("erasure", "fdatasync", "EIO", 2),
    ("erasure", "pwrite64", "kill", 9),
}
"""What runs each time; every call of every operation runs at night."""


@functools.cache
def strace():
    """Return the start of a tracing command; skip where there is none or it may not trace."""
    path = shutil.which("strace")
    if path is None:
        pytest.skip("strace is not installed")
    tried = subprocess.run([path, "-f", "-o", "/dev/null", "true"], capture_output=True, check=False)
    if tried.returncode != 0:
        pytest.skip(f"strace may not trace here: {tried.stderr.decode().strip()}")
    return path, "-f", "-qq"


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    return in_parts(tmp_path_factory.mktemp("prepared"))


@pytest.fixture(scope="module")
def outcomes(prepared):
    """Return what the store tells before and after each operation."""
    before = told(prepared)
    return {one.__name__: (before, outcome(prepared, one)) for one in OPERATIONS}


def struck(prepared, folder, operation, call, fault, number):
    """Run an operation whose n-th call meets a fault; return (root, whether the fault came, process)."""
    root = shutil.copytree(prepared, folder / "store")
    log = folder / "calls"
    inject = f"inject={call}:{FAULTS[fault]}:when={number}"
    done = in_child(root, operation, *strace(), "-o", log, "-e", f"trace={call}", "-e", inject)
    text = log.read_text(errors="replace")
    return root, "(INJECTED)" in text or "killed by SIGKILL" in text, done


def check(states, root, fault, done):
    """Compare the store with its old and new state; what was acknowledged is there."""
    assert fault != "kill" or done.returncode == -signal.SIGKILL
    found = told(root)
    assert found in (states[1:] if "acknowledged" in done.stdout else states), (done.stdout, done.stderr)


@pytest.mark.parametrize(("name", "call", "fault", "number"), sorted(FEW))
def test_a_call_that_fails_leaves_the_old_or_the_new_state(
    prepared, outcomes, tmp_path, name, call, fault, number
):
    operation = next(one for one in OPERATIONS if one.__name__ == name)
    root, came, done = struck(prepared, tmp_path, operation, call, fault, number)
    assert came, done.stderr
    check(outcomes[name], root, fault, done)


@pytest.mark.nightly
@pytest.mark.parametrize("fault", sorted(FAULTS))
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.__name__)
def test_every_call_may_fail(prepared, outcomes, tmp_path, operation, call, fault):
    for number in range(1, 1000):
        folder = tmp_path / str(number)
        folder.mkdir()
        root, came, done = struck(prepared, folder, operation, call, fault, number)
        if not came:
            assert "acknowledged" in done.stdout, done.stderr
            break
        check(outcomes[operation.__name__], root, fault, done)
        shutil.rmtree(folder)
