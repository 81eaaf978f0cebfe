"""Kill the run that lets something forgotten back in: the end of its ban is noted with it, or not at all."""

import json

import pytest

from amos.api import Store
from amos.flow.look import Wanted
from dying import run

pytestmark = pytest.mark.crash

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
    assert run(INGESTER, folder, again, failpoint=failpoint).was_killed
    happened = failpoint == "commit.after_sqlite_commit"
    assert state(folder) == (({2}, True) if happened else ({1}, False))
    done = run(INGESTER, folder, again)
    assert (done.status, int(done.out) > 0) == (0, not happened)
    assert state(folder) == ({2}, True)
