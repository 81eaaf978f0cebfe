"""Kill the run that lets something forgotten back in: the end of its ban is noted with it, or not at all."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from amos.api import Store
from amos.flow.look import Wanted

pytestmark = pytest.mark.crash

TESTS = str(Path(__file__).parents[1])
INGESTER = """
import sys
from datetime import UTC, datetime
import amos.api
amos.api.utc_now = lambda: datetime(3000, 1, 1, tzinfo=UTC)
with amos.api.Store.open(sys.argv[1]) as store:
    print(store.ingest([sys.argv[2]], format="messages")["tombstones_expired"])
"""
STEPS = ["commit.rows_inserted", "commit.before_sqlite_commit", "commit.after_sqlite_commit"]


def write(path, number):
    line = {"id": f"m{number}", "conversation": "talk", "turn": number, "role": "user"}
    path.write_text(json.dumps({**line, "text": "I live in Zanzibar."}), encoding="utf-8")
    return path


def ingest(folder, path, failpoint=None):
    """Run `ingest` in the year 3000, killed at `failpoint`; return exit status and what it printed."""
    known = {"PYTHONPATH": os.pathsep.join([TESTS, *sys.path]), "PATH": os.environ.get("PATH", "")}
    done = subprocess.run(
        [sys.executable, "-c", INGESTER, str(folder), str(path)],
        env={**known, **({"AMOS_FAILPOINT": failpoint} if failpoint else {})},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout.strip()


def state(folder):
    """Return the versions of tombstones and the reasons of decisions that stand."""
    with Store.open(folder, read_only=True) as store:
        versions = {row["version"] for row in store.list(Wanted(kind="tombstones")).rows}
        reasons = [row["reasons"] for row in store.list(Wanted(kind="decisions")).rows]
        assert store.verify(deep=True).problems == []
    return versions, any("tombstone_expired" in one for one in reasons)


@pytest.mark.parametrize("failpoint", STEPS)
def test_a_killed_return_notes_the_end_of_the_ban_or_did_not_happen(tmp_path, failpoint):
    folder = tmp_path / "store"
    with Store.create(folder) as store:
        store.ingest([write(tmp_path / "a.jsonl", 1)], format="messages")
        store.forget(store.list().rows[0]["atom_id"], expires="2999-01-01")
    again = write(tmp_path / "b.jsonl", 2)
    assert ingest(folder, again, failpoint) == (-signal.SIGKILL, "")
    happened = failpoint == "commit.after_sqlite_commit"
    assert state(folder) == (({2}, True) if happened else ({1}, False))
    code, printed = ingest(folder, again)
    assert (code, int(printed) > 0) == (0, not happened)
    assert state(folder) == ({2}, True)
