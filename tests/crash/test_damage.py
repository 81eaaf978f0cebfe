"""Single bits and whole pieces lost on disk are found by verification."""

import shutil
from pathlib import Path

import pytest

from damaged_stores import execute, flip, hot_blobs, kinds, make_store

pytestmark = pytest.mark.crash


@pytest.fixture
def root(tmp_path):
    return Path(make_store(tmp_path))


@pytest.mark.parametrize("where", [4, 0.3, 0.6, 0.95])
def test_a_flipped_bit_in_any_segment_is_found(root, where):
    for path in sorted((root / "default/default/segments").rglob("*.parquet")):
        raw = path.read_bytes()
        path.write_bytes(flip(raw, where if isinstance(where, int) else int(len(raw) * where)))
        assert "segment_damaged" in kinds(root), path.name
        path.write_bytes(raw)
    assert kinds(root) == set()


def test_a_flipped_bit_anywhere_in_a_hot_blob_is_found(root):
    for row, table, body in hot_blobs(root):
        for position in range(0, len(body), max(1, len(body) // 12)):
            execute(root, "UPDATE hot SET body = ? WHERE rowid = ?", flip(body, position), row)
            assert kinds(root), (table, position)
        execute(root, "UPDATE hot SET body = ? WHERE rowid = ?", body, row)
    assert kinds(root) == set()


def test_a_lost_hot_blob_is_found(root):
    for row, table, _ in hot_blobs(root):
        copy = root.parent / "copy"
        shutil.copytree(root, copy)
        execute(copy, "DELETE FROM hot WHERE rowid = ?", row)
        assert kinds(copy) & {"rows_missing", "event_count"}, table
        shutil.rmtree(copy)
