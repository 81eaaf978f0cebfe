"""Kill a decision, and the purge of what nobody decided: whole or not at all."""

import pytest

from amos.api import Store
from amos.flow.review_cases import QueueFilter
from dying import run
from households import line, write_lines

pytestmark = pytest.mark.crash

REVIEWER = """
import sys
from amos.api import Store
with Store.open(sys.argv[1]) as store:
    words = {"value": "D99"} if sys.argv[2] == "edit" else {}
    print(store.decide(sys.argv[2], *sys.argv[3:], note="on the phone", key="k1", **words)["decided"])
"""
STEPS = ("commit.begun", "commit.rows_inserted", "commit.before_sqlite_commit", "commit.after_sqlite_commit")
TALK = (
    line("r1", "My locker is B12.", 1),
    line("r2", "I think my locker is C40.", 2),
    line("r3", "I have diabetes.", 3),
)


@pytest.fixture
def waiting(tmp_path):
    """Return the folder of a store and the references of the two claims that wait in it."""
    with Store.create(tmp_path / "mem") as store:
        store.ingest(write_lines(tmp_path / "talk.jsonl", *TALK), format="messages")
        rows = store.review().rows
    return tmp_path / "mem", [row["ref"] for row in sorted(rows, key=lambda row: row["event_time"])]


@pytest.mark.parametrize("verdict", ["approve", "edit", "reject"])
@pytest.mark.parametrize("failpoint", STEPS)
def test_a_killed_decision_was_made_whole_or_not_at_all(waiting, failpoint, verdict):
    folder, refs = waiting
    chosen = refs[:1] if verdict == "edit" else refs
    assert run(REVIEWER, folder, verdict, *chosen, failpoint=failpoint).was_killed
    happened = failpoint == "commit.after_sqlite_commit"
    words = {"value": "D99"} if verdict == "edit" else {}
    with Store.open(folder) as store:
        assert store.verify(deep=True).problems == []
        assert len(store.review().rows) == len(refs) - len(chosen) * happened
        assert [len(store.show_review(ref)["records"]) for ref in chosen] == [int(happened)] * len(chosen)
        again = store.decide(verdict, *chosen, note="on the phone", key="k1", **words)
        assert (again["decided"], again["replayed"]) == ((0, len(chosen)) if happened else (len(chosen), 0))
        assert [len(store.show_review(ref)["records"]) for ref in chosen] == [1] * len(chosen)
        assert store.verify(deep=True).problems == []
        assert len(store.review(QueueFilter()).rows) == len(refs) - len(chosen)


EXPIRER = """
import sys
from datetime import timedelta
from amos.api import Store
from amos.clock import utc_now
from amos.flow.review_expire import Expiring
from amos.flow.rules import default_policy
from amos.identity import random_id
with Store.open(sys.argv[1]) as store:
    later = utc_now() + timedelta(days=31)
    policy = default_policy()[0]
    work = Expiring(shard=store.shard, actor="a", run_id=random_id(), policy=policy, now=lambda: later)
    print(work.expire()["status"])
"""
PURGING = (
    "rewrite.drafted",
    "replace.named",
    "commit.before_sqlite_commit:2",  # the first commit seals the hot tail
    "commit.after_sqlite_commit:2",
    "garbage.before_unlink",
    "purge.files_gone",
    "purge.log_truncated",
)


@pytest.mark.parametrize("failpoint", PURGING)
def test_a_killed_purge_of_expired_claims_did_not_happen_or_is_finished(waiting, failpoint):
    folder, refs = waiting
    assert run(EXPIRER, folder, failpoint=failpoint).was_killed
    happened = failpoint.startswith(("purge.", "garbage.", "commit.after_sqlite_commit:2"))
    with Store.open(folder) as store:
        assert store.verify(deep=True).problems == []
        assert len(store.review().rows) == len(refs) * (not happened)
        assert store.shard.garbage() == []
    assert run(EXPIRER, folder)[:2] == (0, "nothing" if happened else "purged")
    with Store.open(folder) as store:
        assert store.review().rows == []
        assert store.verify(deep=True).problems == []
