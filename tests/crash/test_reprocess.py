"""Kill the promotion of a run at named steps of its commit: the old reading stands, or the new one."""

import json

import pytest

from amos.api import Store
from dying import run
from rereading import Partial, ingest_with

pytestmark = pytest.mark.crash

APPLIER = """
import sys
from amos.api import Store
with Store.open(sys.argv[1]) as store:
    getattr(store, sys.argv[2])(sys.argv[3])
"""
TEXTS = (
    "I live in Ghent.",
    "My locker is B12.",
    "My badge is 88-401 and my floor is 3.",
    "I like walnut bread.",
)
STEPS = {
    "commit.rows_inserted": False,
    "commit.before_sqlite_commit": False,
    "commit.after_sqlite_commit": True,
}


def state_of(folder):
    with Store.open(folder) as store:
        report = store.verify(deep=True)
        assert report.ok, report.problems
        return report.state_digest


@pytest.fixture
def told(tmp_path):
    """Return the folder of a store that was read by the lesser extractor."""
    talk = tmp_path / "talk.jsonl"
    lines = [{"id": str(number), "role": "user", "text": text} for number, text in enumerate(TEXTS)]
    talk.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    with Store.create(tmp_path / "store") as store:
        ingest_with(store, [talk], Partial())
    return tmp_path / "store"


@pytest.mark.parametrize(("failpoint", "is_durable"), STEPS.items())
def test_killed_while_it_is_applied_or_taken_back(told, failpoint, is_durable):
    with Store.open(told) as store:
        run_id = store.reprocess()["run_id"]
    before = state_of(told)
    assert run(APPLIER, told, "apply_run", run_id, failpoint=failpoint).was_killed
    assert (state_of(told) != before) is is_durable
    with Store.open(told) as store:
        applied = store.apply_run(run_id) if not is_durable else store.reprocess()
    assert applied["is_empty"] is is_durable
    after = state_of(told)
    assert after != before
    assert run(APPLIER, told, "revert", run_id, failpoint=failpoint).was_killed
    assert state_of(told) == (before if is_durable else after)
