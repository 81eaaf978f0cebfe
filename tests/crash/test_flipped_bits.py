"""After a compaction and an erasure, a flipped bit in any file is found, or changes nothing that is told."""

import random
import shutil

import apsw
import pytest

from amos.errors import EngineError
from amos.journal.store import Shard
from amos.journal.verify import verify_shard
from damaged_stores import flip
from failing_disks import compaction, erasure, in_parts

pytestmark = pytest.mark.crash

FEW, MANY = 4, 400


@pytest.fixture
def root(tmp_path):
    root = in_parts(tmp_path)
    for operation in (compaction, erasure):
        with Shard.open(root) as shard:
            operation(shard)
    return root


def answers(root):
    """Return every row of every table, and what is still known of erased ones."""
    with Shard.open(root, read_only=True) as shard, shard.pin() as snapshot:
        rows = {name: snapshot.table(name).to_pylist() for name in sorted(snapshot.counts())}
        return rows, shard.erased_rows(), shard.erasures(), shard.garbage()


def is_found(root):
    """Return whether opening or verifying tells of damage."""
    try:
        with Shard.open(root, read_only=True) as shard:
            return bool(verify_shard(shard).problems)
    except (EngineError, apsw.Error, OSError):
        return True


def unseen(root, count):
    """Flip single bits in copies of the store; return the flips that changed answers and were not found."""
    before = answers(root)
    chance = random.Random(4711)
    missed, tried = [], set()
    files = [path for path in sorted(root.rglob("*")) if path.is_file() and path.stat().st_size]
    for path in files:
        raw = path.read_bytes()
        for position in sorted({chance.randrange(len(raw)) for _ in range(count)}):
            copy = root.with_name("flipped")
            shutil.copytree(root, copy)
            place = path.relative_to(root)
            (copy / place).write_bytes(flip(raw, position))
            tried.add(path.suffix)
            if not is_found(copy) and answers(copy) != before:
                missed.append((str(place), position))
            shutil.rmtree(copy)
    assert {".parquet", ".sqlite"} <= tried
    return missed


def test_no_flipped_bit_changes_an_answer_unseen(root):
    assert unseen(root, FEW) == []


@pytest.mark.nightly
def test_none_of_many_flipped_bits_changes_an_answer_unseen(root):
    assert unseen(root, MANY) == []
