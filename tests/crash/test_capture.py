"""Kill a capture, and a pass over replies: each commit whole or not at all, and the same call finishes it."""

import pytest

from amos.api import Store
from dying import run
from households import line, write_lines

pytestmark = pytest.mark.crash

AGENT = """
import sys
from amos.api import Store
with Store.open(sys.argv[1]) as store:
    if sys.argv[2] == "capture":
        store.capture({"id": "i1", "prompt": "What now?", "response": sys.argv[3], "session": "s1"})
    else:
        store.reinforce(["i1"])
"""
ANSWER = "As you like rye bread with butter, bake one."
STEPS = ("commit.begun", "commit.rows_inserted", "commit.before_sqlite_commit", "commit.after_sqlite_commit")


@pytest.fixture
def folder(tmp_path):
    with Store.create(tmp_path / "mem") as store:
        store.ingest(
            write_lines(tmp_path / "talk.jsonl", line("r1", "I like rye bread with butter.", 1)),
            format="messages",
        )
    return tmp_path / "mem"


def references(store):
    (row,) = store.list().rows
    return row["reference_count"]


@pytest.mark.parametrize("failpoint", STEPS)
def test_a_killed_pass_noted_everything_or_nothing(folder, failpoint):
    with Store.open(folder) as store:
        store.capture({"id": "i1", "prompt": "What now?", "response": ANSWER}, reinforce=False)
    assert run(AGENT, folder, "reinforce", failpoint=failpoint).was_killed
    happened = failpoint == "commit.after_sqlite_commit"
    with Store.open(folder) as store:
        assert store.verify(deep=True).problems == []
        assert references(store) == int(happened)
        assert store.reinforce(["i1"])["written"] == int(not happened)
        assert references(store) == 1
        assert store.verify(deep=True).problems == []


@pytest.mark.parametrize("failpoint", [*STEPS, "commit.before_sqlite_commit:2"])
def test_a_killed_capture_is_there_whole_or_not_at_all(folder, failpoint):
    assert run(AGENT, folder, "capture", ANSWER, failpoint=failpoint).was_killed
    happened = failpoint in ("commit.after_sqlite_commit", "commit.before_sqlite_commit:2")
    with Store.open(folder) as store:
        assert store.verify(deep=True).problems == []
        assert len(store.interactions()["interactions"]) == int(happened)
        assert references(store) == 0
        again = store.capture({"id": "i1", "prompt": "What now?", "response": ANSWER, "session": "s1"})
        assert again["sources"]["linked"] == int(happened)
        assert references(store) == 1
