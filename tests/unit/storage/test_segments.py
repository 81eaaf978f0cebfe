from datetime import timedelta

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from amos.errors import IntegrityError
from amos.journal.rows import with_storage_columns
from amos.schemas.state import PRIMARY_KEYS, stored
from amos.storage import segments
from amos.storage.segments import SegmentReader, build_segment, place_segment
from committed_rows import NOW, new_shard, rows_of, story


def sealed_rows(table="sources", count=3):
    rows = story(0, count)[0].rows if table == "sources" else rows_of(table, count)
    salts = np.arange(16 * count, dtype=np.uint8).reshape(count, 16)
    return with_storage_columns(table, rows, salts, 4)


@pytest.fixture
def folder(tmp_path):
    with new_shard(tmp_path) as shard:
        return shard.folder


def placed(folder, rows, table="sources"):
    built = build_segment(rows, keep=PRIMARY_KEYS[table])
    return place_segment(folder, table, (4, 4), built)


@pytest.mark.parametrize("table", ["sources", "candidates", "decisions", "atoms", "disputes"])
@pytest.mark.parametrize("count", [1, 3])
def test_a_segment_gives_back_its_rows(folder, table, count):
    rows = sealed_rows(table, count)
    entry = placed(folder, rows, table)
    assert SegmentReader(folder).read(entry, stored(table).names).equals(rows)


def test_columns_of_one_value_stand_in_the_catalog_only(folder):
    rows = sealed_rows()
    entry = placed(folder, rows)
    reader = SegmentReader(folder)
    assert '"graph_version": 4' in entry.constants
    assert '"author": null' in entry.constants
    inside = reader._parquet(entry).schema_arrow.names
    assert "content" in inside
    assert "graph_version" not in inside
    assert reader.read(entry, ["graph_version", "author"]).to_pydict() == {
        "graph_version": [4, 4, 4],
        "author": [None, None, None],
    }


@pytest.mark.parametrize(
    ("values", "is_constant"),
    [
        (pa.array(["ab", "ab"]), True),
        (pa.array(["ab", "ba"]), False),
        (pa.array(["", ""]), True),
        (pa.array([None, None], pa.string()), True),
        (pa.array([None, "a"]), False),
        (pa.array([1, 1]), True),
        (pa.array([1, 2]), False),
        (pa.array([["a", "bc"], ["a", "bc"]]), True),
        (pa.array([["a", "bc"], ["ab", "c"]]), False),
        (pa.array([["a"], []]), False),
        (pa.array([[1, 2], [1, 2]]), True),
        (pa.array([[], []], pa.list_(pa.string())), True),
    ],
)
def test_a_column_is_constant_when_all_rows_are_equal(values, is_constant):
    assert segments._is_constant(segments.column_arrays(values)) is is_constant


def test_row_groups_are_read_one_by_one(folder, monkeypatch):
    monkeypatch.setattr(segments, "GROUP_ROWS", 2)
    rows = sealed_rows(count=5)
    entry = placed(folder, rows)
    reader = SegmentReader(folder)
    assert entry.groups == "[2, 2, 1]"
    assert reader.read(entry, ["content", "salt"], group=1).equals(
        rows.slice(2, 2).select(["content", "salt"])
    )


def test_a_flipped_byte_is_found_before_the_first_use(folder):
    entry = placed(folder, sealed_rows())
    path = folder / entry.file
    raw = bytearray(path.read_bytes())
    raw[len(raw) // 2] ^= 1
    path.write_bytes(raw)
    with pytest.raises(IntegrityError, match="SHA-256"):
        SegmentReader(folder).read(entry, ["content"])


def test_a_verified_file_is_hashed_once_until_it_changes(folder, monkeypatch):
    entry = placed(folder, sealed_rows())
    reader = SegmentReader(folder)
    reader.read(entry, ["content"])
    reader.close()
    hashed = []
    monkeypatch.setattr(SegmentReader, "verify", lambda _self, one: hashed.append(one.file))
    SegmentReader(folder).read(entry, ["content"])
    assert hashed == []
    path = folder / entry.file
    path.write_bytes(path.read_bytes())  # same bytes, another modification time
    SegmentReader(folder).read(entry, ["content"])
    assert hashed == [entry.file]


def test_damage_to_the_stamps_only_costs_another_hash(folder):
    entry = placed(folder, sealed_rows())
    (folder / "derived/verified.sqlite").write_bytes(b"not a database")
    reader = SegmentReader(folder)
    assert len(reader.read(entry, ["content"])) == 3
    reader.close()


def test_a_missing_segment_is_named(folder):
    entry = placed(folder, sealed_rows())
    (folder / entry.file).unlink()
    with pytest.raises(IntegrityError, match="is missing"):
        SegmentReader(folder).read(entry, ["content"])


def test_columns_that_change_little_cost_almost_nothing():
    count = 20_000
    rows = rows_of("candidates", count, event_time=[NOW + timedelta(minutes=n) for n in range(count)])
    stored_rows = with_storage_columns("candidates", rows, np.zeros((count, 16), np.uint8), 3)
    file = pq.ParquetFile(pa.BufferReader(build_segment(stored_rows, keep="candidate_id").payload))
    group = file.metadata.row_group(0)
    sizes = {
        group.column(k).path_in_schema: group.column(k).total_compressed_size
        for k in range(file.metadata.num_columns)
    }
    assert sizes["event_time"] < 1_000
    assert sizes["row_number"] < 1_000
