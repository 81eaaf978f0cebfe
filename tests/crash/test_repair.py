"""Kill a repair at each named step: run again, it ends in the sound store."""

import shutil

import pytest

from amos.storage.failpoints import FAILPOINTS
from damaged_stores import execute, flip, make_store, report_of
from dying import run

pytestmark = pytest.mark.crash

REPAIR = """
import sys
from pathlib import Path
from amos.flow.repair import repair_shard
from amos.journal.store import Shard
import amos.flow.repair
amos.flow.repair.state_digest = lambda _: "d"
with Shard.open_as_is(Path(sys.argv[1])) as shard:
    told = repair_shard(shard, Path(sys.argv[2]) / "default/default", is_dry=False, progress=None)
sys.exit(0 if told["ok"] else 5)
"""


@pytest.mark.parametrize("failpoint", sorted(name for name in FAILPOINTS if name.startswith("repair.")))
def test_a_repair_that_was_killed_is_run_again(tmp_path, failpoint):
    root = make_store(tmp_path)
    backup = shutil.copytree(root, tmp_path / "backup")
    path = sorted((root / "default/default/segments").rglob("*.parquet"))[0]
    path.write_bytes(flip(path.read_bytes(), 90))
    execute(root, "UPDATE commits SET actor = 'stranger' WHERE graph_version = 2")
    assert run(REPAIR, root, backup, failpoint=failpoint).was_killed
    assert not report_of(root).ok
    assert run(REPAIR, root, backup).status == 0
    assert report_of(root).problems == []
