import numpy as np
import pytest

from amos.errors import IntegrityError, SchemaError
from amos.journal import rows as row_bytes
from amos.journal.rows import (
    blob_rows,
    check_rows,
    commitments,
    encode_table,
    pack_blob,
    stored_commitments,
    unpack_blobs,
    with_storage_columns,
)
from amos.schemas.catalog import HotEntry
from committed_rows import rows_of, story


def blob(table, rows, version=1):
    salts = np.arange(16 * len(rows), dtype=np.uint8).reshape(-1, 16)
    return salts, HotEntry(version, table, len(rows), pack_blob(*encode_table(table, rows, salts)))


def test_blobs_of_several_commits_decode_together():
    early, late = story(0, 2)[0].rows, story(2, 1)[0].rows
    (salts, first), (_, second) = blob("sources", early, 4), blob("sources", late, 9)
    found = unpack_blobs("sources", [first, second])
    assert found.slice(0, 2).equals(with_storage_columns("sources", early, salts, 4))
    assert found["graph_version"].to_pylist() == [4, 4, 9]
    assert found["row_number"].to_pylist() == [0, 1, 0]


def test_commitments_can_be_recomputed_from_stored_rows():
    rows = story(0, 3)[1].rows
    salts, entry = blob("candidates", rows)
    expected = commitments("candidates", *encode_table("candidates", rows, salts))
    assert np.array_equal(stored_commitments("candidates", unpack_blobs("candidates", [entry])), expected)


def test_value_by_value_and_column_by_column_write_the_same_bytes(monkeypatch):
    for group in story(0, 3):
        salts = np.arange(16 * len(group.rows), dtype=np.uint8).reshape(-1, 16)
        monkeypatch.setattr(row_bytes, "VALUE_BY_VALUE_ROWS", 200)
        buffer, offsets = encode_table(group.table, group.rows, salts)
        monkeypatch.setattr(row_bytes, "VALUE_BY_VALUE_ROWS", 0)
        again, edges = encode_table(group.table, group.rows, salts)
        assert (buffer.tobytes(), offsets.tolist()) == (again.tobytes(), edges.tolist())


@pytest.mark.parametrize("most", [0, 200])
def test_null_is_refused_where_a_column_must_not_be_null(monkeypatch, most):
    monkeypatch.setattr(row_bytes, "VALUE_BY_VALUE_ROWS", most)
    rows = rows_of("lineage", 1, relation=[None])
    with pytest.raises(SchemaError, match="relation is null"):
        encode_table("lineage", rows, np.zeros((1, 16), np.uint8))


def test_a_commitment_depends_on_table_salt_and_row():
    rows = rows_of("lineage", 1)
    salt = np.zeros((1, 16), np.uint8)
    one = commitments("lineage", *encode_table("lineage", rows, salt)).tobytes()
    assert commitments("lineage", *encode_table("lineage", rows, salt + 1)).tobytes() != one
    assert commitments("edges", *encode_table("lineage", rows, salt)).tobytes() != one
    other = rows_of("lineage", 1, relation=["corrects"])
    assert commitments("lineage", *encode_table("lineage", other, salt)).tobytes() != one


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda _: b"", "unknown blob version"),
        (lambda raw: b"\x09" + raw[1:], "unknown blob version"),
        (lambda raw: raw[:1] + b"\x05" + raw[2:], "5 rows where 1"),
        (lambda raw: raw[:-1], "not as long as its rows"),
        (lambda raw: raw + b"x", "not as long as its rows"),
    ],
)
def test_blobs_that_do_not_add_up_are_refused(change, reason):
    _, entry = blob("sources", story(0, 1)[0].rows)
    with pytest.raises(IntegrityError, match=reason):
        blob_rows(entry._replace(body=change(entry.body)))


def test_numbers_too_wide_for_their_column_are_refused():
    _, entry = blob("sources", story(0, 1)[0].rows)
    raw = bytearray(entry.body)
    revision = 9 + 16 + 1 + 21 + 1  # header, salt, version byte, source id, presence of the revision
    assert raw[revision : revision + 8] == (1).to_bytes(8, "little")
    raw[revision + 6] = 1
    with pytest.raises(IntegrityError, match="does not fit int32"):
        unpack_blobs("sources", [entry._replace(body=bytes(raw))])


def test_columns_are_taken_by_schema_and_order():
    rows = rows_of("lineage", 1)
    assert check_rows("lineage", rows).equals(rows)
    with pytest.raises(SchemaError, match="order counts"):
        check_rows("lineage", rows.select(rows.column_names[::-1]))
