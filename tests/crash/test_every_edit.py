"""Every edit of a store behind its back is named by verification, or changes nothing that it tells."""

import os
import sqlite3
from pathlib import Path

import pytest

from amos.errors import IntegrityError
from amos.journal.store import Shard
from amos.journal.verify import verify_shard
from edited_stores import (
    SHARD,
    answers,
    copied,
    entries_of,
    is_named_or_harmless,
    is_settled,
    make_full_store,
    readings,
)

pytestmark = pytest.mark.crash

TABLES = (
    "meta", "commits", "segment_files", "hot", "idempotency", "texts", "runs", "erased_rows", "erasures",
    "snapshots", "holds", "conflicts", "leases", "copies", "garbage",
)  # fmt: skip
BESIDE = ("conflicts", "copies", "garbage", "holds", "leases", "runs", "snapshots")
BYTES_PER_FILE = 4
BYTES_OF_CATALOG = 32
WHOLE_EVERY = 256
REPLACED_STEP = 16
REPLACED_FILES = 3


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    return make_full_store(tmp_path_factory.mktemp("original"))


@pytest.fixture(scope="module")
def told(original):
    return answers(original)


@pytest.fixture
def root(original, tmp_path):
    return copied(original, tmp_path)


def connected(root):
    connection = sqlite3.connect(root / SHARD / "shard.sqlite", isolation_level=None)
    connection.execute("PRAGMA journal_mode = DELETE")
    return connection


def changed(value):
    """Return the value with its smallest part changed, of the same type."""
    if isinstance(value, int):
        return value + 1
    if isinstance(value, bytes):
        return bytes([value[0] ^ 1]) + value[1:] if value else b"\x01"
    if isinstance(value, str):
        return value[:-1] + ("0" if value[-1:] != "0" else "1")
    return None if value is None else value


def cells(root, table, limit):
    """Return the columns of a table of the catalog, and some of its rows."""
    connection = connected(root)
    columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
    rows = connection.execute(f"SELECT * FROM {table} LIMIT {limit}").fetchall()
    connection.close()
    return columns, rows


def condition(columns, row):
    """Return SQL that finds exactly this row, and its values."""
    return " AND ".join(f"{name} IS ?" for name in columns), list(row)


def unnamed_cells(root, told, table, limit):
    """Change every cell of some rows of a table, one after another; return those that nobody notices."""
    columns, rows = cells(root, table, limit)
    found = []
    for row in rows:
        for place, name in enumerate(columns):
            other = changed(row[place])
            if other == row[place]:
                continue
            edited = [*row[:place], other, *row[place + 1 :]]
            if not edit_is_seen(root, told, table, columns, row, edited):
                found.append((table, name, row[place], other))
    return found


def edit_is_seen(root, told, table, columns, row, edited):
    where, values = condition(columns, row)
    put = f"UPDATE {table} SET {', '.join(f'{name} = ?' for name in columns)} WHERE "
    connection = connected(root)
    try:
        connection.execute(put + where, [*edited, *values])
    except sqlite3.IntegrityError:
        return True  # the catalog's own rules refuse it
    finally:
        connection.close()
    seen = is_named_or_harmless(root, told)
    connection = connected(root)
    where, values = condition(columns, edited)
    connection.execute(put + where, [*row, *values])
    connection.close()
    return seen


@pytest.mark.parametrize("table", TABLES)
def test_a_changed_cell_of_the_catalog_is_named_or_harmless(root, told, table):
    assert unnamed_cells(root, told, table, 9 if table == "meta" else 1) == []


@pytest.mark.nightly
@pytest.mark.parametrize("table", TABLES)
def test_any_changed_cell_of_the_catalog_is_named_or_harmless(root, told, table):
    assert unnamed_cells(root, told, table, 1000) == []


@pytest.mark.parametrize("table", TABLES)
def test_a_removed_row_of_the_catalog_is_named_or_harmless(root, told, table):
    columns, rows = cells(root, table, 1000)
    chosen = {rows[0], rows[-1], rows[len(rows) // 2]}
    for row in chosen:
        where, values = condition(columns, row)
        connection = connected(root)
        connection.execute(f"DELETE FROM {table} WHERE {where}", values)
        connection.close()
        assert is_named_or_harmless(root, told), row
        connection = connected(root)
        connection.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(columns))})", row)
        connection.close()


@pytest.mark.parametrize("table", BESIDE)
@pytest.mark.parametrize("edit", ["remove", "change"])
def test_an_edit_of_a_row_beside_the_memory_is_named(root, table, edit):
    columns, rows = cells(root, table, 1)
    where, values = condition(columns, rows[0])
    number = columns.index(next(name for name in columns if name.endswith("_us")))
    connection = connected(root)
    if edit == "remove":
        connection.execute(f"DELETE FROM {table} WHERE {where}", values)
    else:
        sql = f"UPDATE {table} SET {columns[number]} = {columns[number]} + 1 WHERE {where}"
        connection.execute(sql, values)
    connection.close()
    with Shard.open(root, read_only=True) as shard:
        assert verify_shard(shard).problems


def test_another_time_of_creation_is_named(root):
    connection = connected(root)
    connection.execute("UPDATE meta SET value = '2020-01-01T00:00:00+00:00' WHERE name = 'created_at'")
    connection.close()
    with Shard.open(root, read_only=True) as shard:
        assert [problem.where for problem in verify_shard(shard).problems] == ["meta created_at"]


SWAP_EVENTS = """
UPDATE hot SET body = (SELECT body FROM hot AS other WHERE other.table_name = hot.table_name
AND other.rowid != hot.rowid) WHERE table_name = 'events'
"""
SWAP_COMMITMENTS = """
UPDATE erased_rows SET commitment = (SELECT commitment FROM erased_rows AS other
WHERE other.table_name != erased_rows.table_name LIMIT 1)
"""
ONE_MORE_ERASED = """
INSERT INTO erased_rows SELECT table_name, graph_version, row_number + 1, commitment, erased_by
FROM erased_rows LIMIT 1
"""
ERASED_ELSEWHERE = """
INSERT INTO erased_rows SELECT 'disputes', 1, 0, commitment, erased_by FROM erased_rows LIMIT 1
"""
ROWS_OF_NO_EVENT = """
INSERT INTO hot SELECT graph_version, 'lineage', row_count, body FROM hot WHERE table_name = 'sources'
"""
EMPTY_COMMIT = """
INSERT INTO commits SELECT graph_version + 1, operation, actor, run_id, accepted_us, skew_us, 0, link
FROM commits ORDER BY graph_version DESC LIMIT 1
"""


@pytest.mark.parametrize(
    "sql",
    [
        SWAP_EVENTS,
        SWAP_COMMITMENTS,
        ONE_MORE_ERASED,
        ERASED_ELSEWHERE,
        ROWS_OF_NO_EVENT,
        EMPTY_COMMIT,
        "INSERT INTO idempotency VALUES (x'00', x'00', 1)",
        "DELETE FROM hot WHERE graph_version = (SELECT max(graph_version) FROM hot)",
        "DELETE FROM commits WHERE graph_version = (SELECT max(graph_version) FROM commits)",
        "UPDATE segment_files SET first_version = first_version + 1, last_version = last_version + 1",
        "UPDATE snapshots SET event_count = event_count - 1",
        "INSERT OR REPLACE INTO meta VALUES ('retained_from', 3)",
    ],
)
def test_swapped_inserted_and_cut_rows_are_named(root, sql):
    connection = connected(root)
    connection.execute(sql)
    connection.close()
    with Shard.open(root, read_only=True) as shard:
        assert verify_shard(shard, is_deep=True).problems


def files_of(root):
    """Return every file that may hold something, the catalog's first."""
    names = sorted(path for path in root.rglob("*") if path.is_file() and path.stat().st_size)
    return [path for path in names if not path.name.endswith((".lock", "-shm", "-wal"))]


def unnamed_bytes(root, told, path, positions, *, whole_every=1):
    """Flip a bit of each byte in turn; return the flips that nobody notices.

    whole_every: each so many bytes, and wherever the file alone does not tell, the whole store is verified.
    """
    whole, before = path.read_bytes(), readings(path)
    found = []
    for count, position in enumerate(positions):
        raw = bytearray(whole)
        raw[position] ^= 1 << position % 8
        path.write_bytes(raw)
        is_quick = count % whole_every and is_settled(root, path, before)
        if not is_quick and not is_named_or_harmless(root, told):
            found.append((path.name, position))
        path.write_bytes(whole)
    return found


def spread(size, count):
    """Return `count` positions over a file, the same in every run."""
    step = max(1, size // count)
    return range(step // 2, size, step)


def class_of(root, path):
    """Return what kind of file of a store a path is."""
    if path.suffix != ".parquet":
        return {"shard.sqlite": "catalog", "keys.sqlite": "key"}.get(path.name, "other")
    return "segment" if path.relative_to(root / SHARD).as_posix() in entries_of(root) else "replaced"


def sampled_files(root):
    """Return every file that may hold something; of replaced ones, which nothing opens, only a few."""
    files = files_of(root)
    replaced = [path for path in files if class_of(root, path) == "replaced"]
    assert len(replaced) > REPLACED_FILES
    return [path for path in files if path not in replaced[REPLACED_FILES:]]


def test_a_flipped_bit_of_any_file_is_named_or_harmless(root, told):
    connected(root).close()
    for path in sampled_files(root):
        count = BYTES_OF_CATALOG if path.name == "shard.sqlite" else BYTES_PER_FILE
        positions = spread(path.stat().st_size, count)
        assert unnamed_bytes(root, told, path, positions, whole_every=count // 2) == []


@pytest.mark.nightly
@pytest.mark.parametrize("kind", ["catalog", "key", "other", "segment", "replaced"])
def test_every_flipped_byte_of_every_file_is_named_or_harmless(root, told, kind):
    connected(root).close()
    chosen = [path for path in files_of(root) if class_of(root, path) == kind]
    part, parts = map(int, os.environ.get("AMOS_SWEEP", "0/1").split("/"))
    # nothing opens a file that was replaced: a part of its bytes shows it
    step = parts * (REPLACED_STEP if kind == "replaced" else 1)
    assert chosen
    for path in chosen:
        positions = range(part, path.stat().st_size, step)
        assert unnamed_bytes(root, told, path, positions, whole_every=WHOLE_EVERY) == []


def test_damage_to_what_is_derived_changes_no_answer(root, told):
    stamps = root / SHARD / "derived/verified.sqlite"
    connection = sqlite3.connect(stamps)
    for wrong in ("replace(stamp, '1', 'q')", "''", "cast(x'ff' AS text)", "'1 2 3 4 5'"):
        connection.execute(f"UPDATE stamps SET stamp = {wrong}")
        connection.commit()
        assert answers(root) == told, wrong
    connection.close()
    stamps.write_bytes(b"no database at all")
    assert answers(root) == told


def test_text_of_the_catalog_that_is_no_text_is_damage(root):
    connection = connected(root)
    connection.execute("UPDATE commits SET operation = cast(x'ff' AS text)")
    connection.close()
    with Shard.open(root, read_only=True) as shard:
        with pytest.raises(IntegrityError, match="no UTF-8"):
            shard.records()
        assert verify_shard(shard).problems


def test_a_file_that_is_cut_off_or_gone_is_named_or_harmless(root, told):
    connected(root).close()
    for path in sampled_files(root):
        whole = path.read_bytes()
        for kept in (len(whole) - 1, len(whole) // 2, 0):
            path.write_bytes(whole[:kept])
            assert is_named_or_harmless(root, told), (path.name, kept)
        path.unlink()
        assert is_named_or_harmless(root, told), path.name
        path.write_bytes(whole)
    assert answers(Path(root)) == told
