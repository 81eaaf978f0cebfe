"""Kill an erasure at every named step: nothing of it happened, or it is finished by the next writer."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from amos.api import Store
from amos.storage.failpoints import FAILPOINTS
from dying import run
from forgotten import traces_of

pytestmark = pytest.mark.crash

TESTS = str(Path(__file__).parents[1])
FORGETTER = """
import sys
from amos.api import Store
with Store.open(sys.argv[1]) as store:
    print(store.forget(*sys.argv[2:])["status"])
"""
STEPS = [
    *sorted(name for name in FAILPOINTS if name.startswith(("rewrite.", "replace.", "purge.", "garbage."))),
    "seal.hot_removed",
    "commit.rows_inserted",
    "commit.before_sqlite_commit:2",  # the first commit seals the hot tail
    "commit.after_sqlite_commit:2",
]
DURABLE = ("purge.", "garbage.", "commit.after_sqlite_commit:2")


@pytest.fixture
def told(tmp_path):
    """Return the folder of a store that knows two things, and the reference of one of them."""
    talk = tmp_path / "talk.jsonl"
    lines = [
        {"id": "1", "role": "user", "text": "I live in Zanzibar."},
        {"id": "2", "role": "tool", "text": "hit: I live in Zanzibar, my locker is B12."},
        {"id": "3", "role": "user", "text": "My locker is B12."},
    ]
    talk.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    with Store.create(tmp_path / "store") as store:
        store.ingest([talk], format="messages")
        rows = store.list().rows
    talk.unlink()
    return tmp_path / "store", next(row["atom_id"] for row in rows if "Zanzibar" in row["statement"])


@pytest.mark.parametrize("failpoint", STEPS)
def test_a_killed_erasure_did_not_happen_or_is_finished(told, failpoint):
    folder, ref = told
    assert run(FORGETTER, folder, ref, failpoint=failpoint).was_killed  # nothing was acknowledged
    happened = failpoint.startswith(DURABLE)
    with Store.open(folder, read_only=True) as reader:
        assert reader.show(ref)["found"] is not happened
        assert (reader.search("Zanzibar").rows == []) is happened
    with Store.open(folder) as writer:
        assert [entry.status for entry in writer.shard.erasures()] == ["purged"] * happened
        assert writer.shard.garbage() == []
        assert writer.verify().problems == []
        assert (traces_of(folder, "Zanzibar") == []) is happened
        if not happened:
            assert writer.forget(ref)["status"] == "purged"
            assert traces_of(folder, "Zanzibar") == []


def test_a_reader_in_another_process_makes_it_pending_and_is_named(told):
    folder, ref = told
    hold = (
        "import sys; from amos.api import Store\n"
        "pin = Store.open(sys.argv[1], read_only=True).shard.pin()\n"
        "print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", hold, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as reader:
        assert reader.stdout.readline() == "held\n"
        with Store.open(folder) as store:
            report = store.forget(ref, wait_seconds=0)
            assert (report["status"], report["waiting_for"]) == ("pending", [reader.pid])
            assert str(reader.pid) in report["residual"][0]["why"]
            assert store.search("Zanzibar").rows == []  # out of sight of everybody who comes now
            assert traces_of(folder, "Zanzibar") != []
        reader.stdin.close()
    with Store.open(folder):
        assert traces_of(folder, "Zanzibar") == []
