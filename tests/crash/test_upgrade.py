"""Kill an upgrade at each of its steps: the store opens in the older or the newer format, whole."""

import shutil
from pathlib import Path

import apsw
import pytest

from amos.journal.store import Shard
from amos.journal.verify import verify_shard
from amos.storage.upgrades import FORMAT
from dying import run

pytestmark = pytest.mark.crash

FIXTURE = Path(__file__).parents[1] / "fixtures" / "store-format-1"
OPENER = """
import sys
from pathlib import Path
from amos.journal.store import Shard
Shard.open(Path(sys.argv[1]))
"""
LEFT = {"upgrade.before_commit": 1, "upgrade.step_done": 2}


@pytest.mark.parametrize("failpoint", sorted(LEFT))
def test_a_killed_upgrade_goes_on_from_where_it_stood(tmp_path, failpoint):
    root = Path(shutil.copytree(FIXTURE, tmp_path / "store"))
    assert run(OPENER, root, failpoint=failpoint).was_killed
    assert number_of(root) == LEFT[failpoint]
    with Shard.open(root, read_only=True) as shard:
        assert verify_shard(shard).problems == []
    with Shard.open(root) as shard:
        assert verify_shard(shard).problems == []
    assert number_of(root) == FORMAT


def number_of(root):
    connection = apsw.Connection(str(root / "default/default/shard.sqlite"))
    number = connection.pragma("user_version")
    connection.close()
    return number
