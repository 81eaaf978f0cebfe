"""Kill a writer at every named step: the shard reopens in the old or the new state, verified."""

from pathlib import Path

import pytest

from amos.journal.store import Shard
from amos.journal.verify import verify_shard
from amos.storage.failpoints import FAILPOINTS
from committed_rows import commit, new_shard, story
from dying import run

pytestmark = pytest.mark.crash

WRITER = """
import sys
from pathlib import Path
from committed_rows import commit, new_shard, story
with new_shard(Path(sys.argv[1])) as shard:
    if "seal" in sys.argv:
        shard._log.seal_blobs = 0
    first = 100 * shard.head
    rows = story(first, 3) + story(first + 50, 2, width=1 << 19)
    if "exclusive" in sys.argv:
        from committed_rows import NOW, RUN
        with shard.exclusive() as writer:
            writer.commit(rows, operation="ingest", actor="tester", run_id=RUN, now=NOW)
    else:
        commit(shard, rows)
"""
CREATE = sorted(name for name in FAILPOINTS if name.startswith("create."))
REMOVING = ["clean.before_remove"]
COMMIT = sorted(name for name in FAILPOINTS if name.startswith(("file.", "segment.", "commit.", "seal.")))
DURABLE = {"commit.after_sqlite_commit"}


def leftovers(folder):
    """Return segment files no commit names, and draft folders."""
    shard = folder / "store/default/default"
    with Shard.open(folder / "store", read_only=True) as reader:
        orphans = reader.orphans()
    return [*orphans, *(path.name for path in (shard / "tmp").iterdir() if path.is_dir())]


def sources_of(folder):
    with Shard.open(folder / "store") as shard, shard.pin() as snapshot:
        assert verify_shard(shard).problems == []
        return snapshot.version, snapshot.table("sources").num_rows


@pytest.mark.parametrize("words", [("seal",), ("seal", "exclusive")], ids=["commit", "exclusive"])
@pytest.mark.parametrize("failpoint", COMMIT)
def test_a_killed_commit_leaves_the_old_or_the_new_state(tmp_path, failpoint, words):
    with new_shard(tmp_path) as shard:
        commit(shard, story(0, 2))
    assert run(WRITER, tmp_path, *words, failpoint=failpoint).was_killed
    assert sources_of(tmp_path) == ((2, 7) if failpoint in DURABLE else (1, 2))
    assert leftovers(tmp_path) == []
    assert run(WRITER, tmp_path, *words).status == 0
    assert sources_of(tmp_path)[1] in (7, 12)


@pytest.mark.parametrize("passes", [2, 3, 4])
def test_a_commit_killed_between_its_files_leaves_none_of_them(tmp_path, passes):
    with new_shard(tmp_path) as shard:
        commit(shard, story(0, 2))
    assert run(WRITER, tmp_path, "seal", failpoint=f"file.renamed:{passes}").was_killed
    assert leftovers(tmp_path) != []
    assert sources_of(tmp_path) == (1, 2)
    assert leftovers(tmp_path) == []


@pytest.mark.parametrize("failpoint", CREATE)
def test_a_store_killed_while_it_is_made_can_be_made_again(tmp_path, failpoint):
    assert run(WRITER, tmp_path, failpoint=failpoint).was_killed
    assert run(WRITER, tmp_path).status == 0
    assert sources_of(tmp_path) == (1, 5)


def test_a_clean_up_that_is_killed_is_finished_by_the_next(tmp_path):
    with new_shard(tmp_path) as shard:
        commit(shard, story(0, 2))
    assert run(WRITER, tmp_path, "seal", failpoint="segment.placed:2").was_killed
    assert leftovers(tmp_path) != []
    assert run(WRITER, tmp_path, failpoint="clean.before_remove").was_killed
    assert sources_of(tmp_path) == (1, 2)
    assert leftovers(tmp_path) == []


def test_every_failpoint_has_a_place_in_the_code():
    code = "".join(path.read_text() for path in (Path(__file__).parents[2] / "src").rglob("*.py"))
    assert [name for name in FAILPOINTS if f'reach("{name}")' not in code] == []
