"""Kill a compaction and an erasure at every named step: old or new files, old or new state, verified."""

import pyarrow as pa
import pytest

from amos.journal.store import Shard
from amos.journal.verify import verify_shard
from committed_rows import NOW, commit, new_shard, story
from dying import run

pytestmark = pytest.mark.crash

COMPACTION = """
import sys
from pathlib import Path
from amos.journal.store import Shard
from committed_rows import NOW
with Shard.open(Path(sys.argv[1]) / "store") as shard:
    shard.compact(now=NOW, most=1)
    shard.collect_garbage(now=NOW.replace(year=NOW.year + 1))
"""
ERASURE = """
import sys
from pathlib import Path
from amos.journal.store import Shard
from committed_rows import NOW, RUN
with Shard.open(Path(sys.argv[1]) / "store") as shard:
    if not shard.erasures():
        with shard.pin() as snapshot:
            doomed = {name: snapshot.table(name).slice(0, 6) for name in ("atoms",)}
        shard.erase((), doomed=doomed, request="{}", base=shard.head, reads={}, operation="forget",
                    actor="tester", run_id=RUN, now=NOW)
    shard.purge()
"""
DROPPING = """
import sys
from pathlib import Path
from amos.flow.snapshotting import take_snapshot
from amos.journal.store import Shard
from committed_rows import NOW, RUN
who = {"actor": "tester", "run_id": RUN, "now": NOW}
with Shard.open(Path(sys.argv[1]) / "store") as shard:
    if not shard.snapshots():
        take_snapshot(shard, digest=lambda snapshot: str(snapshot.version), **who)
    shard.drop_history(operation="drop", **who)
"""
MERGING = [
    "file.drafted", "segment.placed", "seal.segments_placed", "seal.hot_removed", "rewrite.drafted",
    "rewrite.placed", "rewrite.placed:3", "replace.named", "commit.before_sqlite_commit:2",
    "commit.after_sqlite_commit:2", "garbage.before_unlink", "garbage.before_unlink:3",
]  # fmt: skip
ERASING = [
    "rewrite.drafted", "rewrite.placed", "replace.named", "commit.rows_inserted",
    "commit.before_sqlite_commit:2", "commit.after_sqlite_commit:2", "garbage.before_unlink",
    "purge.files_gone", "commit.after_sqlite_commit:3", "purge.log_truncated",
    "commit.before_sqlite_commit:4", "commit.after_sqlite_commit:4",
]  # fmt: skip


DROPS = [
    "commit.before_sqlite_commit:1", "commit.after_sqlite_commit:1", "rewrite.placed", "replace.named",
    "commit.before_sqlite_commit:3", "commit.after_sqlite_commit:3",
]  # fmt: skip


def in_parts(folder):
    """Make a shard of several segments per table with a hot tail behind them."""
    with new_shard(folder) as shard:
        for number in range(4):
            commit(shard, story(number * 10, 4))
            shard._log.seal_all()
            shard._refresh()
        commit(shard, story(90, 2))


def rows_of(folder):
    with Shard.open(folder / "store") as shard:
        assert [one.kind for one in verify_shard(shard).problems] == []
        assert shard.orphans() == {}
        with shard.pin() as snapshot:
            return {name: snapshot.table(name).to_pylist() for name in ("sources", "atoms")}


@pytest.mark.parametrize("failpoint", MERGING)
def test_a_killed_compaction_leaves_the_same_rows(tmp_path, failpoint):
    in_parts(tmp_path)
    before = rows_of(tmp_path)
    assert run(COMPACTION, tmp_path, failpoint=failpoint).was_killed
    assert rows_of(tmp_path) == before
    assert run(COMPACTION, tmp_path).status == 0
    assert rows_of(tmp_path) == before
    with Shard.open(tmp_path / "store") as shard:
        assert set(shard.compact(now=NOW).before.values()) == {1}


@pytest.mark.parametrize("failpoint", ERASING)
def test_a_killed_erasure_took_nothing_or_everything(tmp_path, failpoint):
    in_parts(tmp_path)
    before = rows_of(tmp_path)
    assert run(ERASURE, tmp_path, failpoint=failpoint).was_killed
    after = rows_of(tmp_path)
    gone = {"atoms": before["atoms"][6:]}
    assert after in (before, {**before, **gone})
    assert run(ERASURE, tmp_path).status == 0
    assert rows_of(tmp_path) == {**before, **gone}
    with Shard.open(tmp_path / "store") as shard:
        assert [entry.status for entry in shard.erasures()] == ["purged"]
        assert shard.garbage() == []


@pytest.mark.parametrize("failpoint", DROPS)
def test_dropped_history_went_whole_or_not_at_all(tmp_path, failpoint):
    with new_shard(tmp_path) as shard:
        for version in (1, 2, 3):
            rows = story(0, 4)[3]
            place = rows.rows.schema.get_field_index("version")
            column = pa.array([version] * 4, rows.rows.schema.field(place).type)
            again = rows._replace(rows=rows.rows.set_column(place, rows.rows.schema.field(place), column))
            commit(shard, [*story(0, 4)[:3], again] if version == 1 else [again])
        shard._log.seal_all()
    current = rows_of(tmp_path)["atoms"][8:]
    assert run(DROPPING, tmp_path, failpoint=failpoint).was_killed
    assert len(rows_of(tmp_path)["atoms"]) in (4, 12)
    assert run(DROPPING, tmp_path).status == 0
    assert rows_of(tmp_path)["atoms"] == current
    with Shard.open(tmp_path / "store") as shard:
        assert len(shard.snapshots()) == 1
        assert len(shard.erased_rows()) == 8
