"""Kill the recording of outcomes at each step of its commit: all or nothing, and the same call ends it."""

import json

import pytest

from amos.api import Store
from dying import run
from households import line, write_lines

pytestmark = pytest.mark.crash

AGENT = """
import json, sys
from amos.api import Store
with Store.open(sys.argv[1]) as store:
    store.record_outcomes(json.loads(sys.argv[2]))
"""
STEPS = ("commit.begun", "commit.rows_inserted", "commit.before_sqlite_commit", "commit.after_sqlite_commit")


@pytest.mark.parametrize("failpoint", STEPS)
def test_killed_outcomes_are_there_whole_or_not_at_all(tmp_path, failpoint):
    folder = tmp_path / "mem"
    with Store.create(folder) as store:
        path = write_lines(tmp_path / "talk.jsonl", line("r1", "I like rye bread with butter.", 1))
        store.ingest(path, format="messages")
        packet = store.packet("rye bread", record=True)
    (claim,) = [item.atom_id for item in packet.items if item.atom_id]
    rows = [{"packet_id": packet.packet_id, "label": label, "used": [claim]} for label in ("good", "helpful")]
    assert run(AGENT, folder, json.dumps(rows), failpoint=failpoint).was_killed
    happened = failpoint == "commit.after_sqlite_commit"
    with Store.open(folder) as store:
        assert store.verify(deep=True).problems == []
        assert store.list().rows[0]["utility"] == (0.53 if happened else 0.5)
        again = store.record_outcomes(rows)
        assert (again["recorded"], again["known"]) == ((0, 2) if happened else (2, 0))
        assert store.list().rows[0]["utility"] == 0.53
        assert store.verify(deep=True).problems == []
