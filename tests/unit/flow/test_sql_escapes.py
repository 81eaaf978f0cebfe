"""SQL of a guest reaches the tables in sight and nothing else: no file, network or setting."""

import socket
from pathlib import Path

import pytest

from amos.api import Store
from amos.errors import CapacityError, IntegrityError, UsageError
from amos.flow.sql import LONGEST_QUERY
from remembered import Remembered, told

OUT_OF_REACH = """
SELECT * FROM read_text('notes.csv')
SELECT * FROM read_text('../../../../../../etc/passwd')
SELECT * FROM read_blob('{root}/amos.toml')
SELECT * FROM read_csv('notes.csv')
SELECT * FROM read_csv_auto('notes.csv')
SELECT * FROM sniff_csv('notes.csv')
SELECT * FROM read_json('notes.json')
SELECT * FROM read_ndjson_objects('notes.json')
SELECT * FROM read_parquet('{root}/default/default/segments/**/*.parquet')
SELECT * FROM parquet_scan('x.parquet')
SELECT * FROM parquet_metadata('x.parquet')
SELECT * FROM parquet_schema('x.parquet')
SELECT * FROM glob('/**')
FROM 'notes.csv'
FROM 'x.parquet'
FROM 'https://host.invalid/x.parquet'
FROM 's3://bucket/x.parquet'
SELECT * FROM read_csv('http://host.invalid/x.csv')
SELECT * FROM sqlite_scan('{root}/default/default/shard.sqlite', 'commits')
SELECT * FROM '{root}/default/default/shard.sqlite'
SELECT * FROM duckdb_secrets()
SELECT * FROM duckdb_extensions()
SELECT getenv('HOME')
SELECT * FROM (SELECT * FROM read_text('notes.csv')) AS t JOIN atoms ON true
SELECT (SELECT content FROM read_text('notes.csv'))
WITH t AS (FROM read_text('notes.csv')) SELECT * FROM t
FROM query('SELECT * FROM read_text(''notes.csv'')')
FROM query_table('notes.csv')
FROM json_execute_serialized_sql(json_serialize_sql('SELECT * FROM read_text(''notes.csv'')'))
SELECT * FROM store
SELECT * FROM guest
""".strip().splitlines()

NOT_READING = """
ATTACH ':memory:' AS other
ATTACH '{root}/default/default/shard.sqlite' AS shard (TYPE sqlite)
DETACH memory
COPY atoms TO 'out.csv'
COPY (SELECT 1) TO 'out.parquet' (FORMAT parquet)
COPY atoms FROM 'notes.csv'
EXPORT DATABASE 'out'
IMPORT DATABASE 'out'
INSTALL httpfs
FORCE INSTALL httpfs FROM 'http://host.invalid'
LOAD httpfs
LOAD '{root}/x.duckdb_extension'
SET memory_limit = '900GB'
SET enable_external_access = true
SET GLOBAL lock_configuration = false
RESET memory_limit
PRAGMA enable_profiling
PRAGMA database_list
CALL pragma_version()
CHECKPOINT
VACUUM
USE memory
BEGIN
PREPARE p AS SELECT 1
EXECUTE p
CREATE TABLE t (a INT)
CREATE TEMP VIEW v AS SELECT 1
CREATE MACRO m(a) AS a
CREATE SECRET s (TYPE s3)
CREATE OR REPLACE VIEW atoms AS SELECT 1
INSERT INTO atoms SELECT * FROM atoms
UPDATE atoms SET statement = 'x'
DELETE FROM atoms
DROP VIEW atoms
ALTER VIEW atoms RENAME TO other
EXPLAIN COPY (SELECT 1) TO 'out.csv'
EXPLAIN ANALYZE COPY (SELECT 1) TO 'out.csv'
EXPLAIN ANALYZE CREATE TABLE t AS SELECT 1
EXPLAIN (ANALYZE) CREATE TABLE t AS SELECT 1
EXPLAIN ANALYZE DELETE FROM atoms
SELECT 1; SELECT 2
SELECT 1; COPY atoms TO 'out.csv'
EXPLAIN SELECT 1; DROP VIEW atoms
""".strip().splitlines()

TOO_MUCH = [
    "SELECT * FROM repeat('x', 100000000000)",
    "SELECT string_agg(repeat('x', 1000000), '') FROM range(10000)",
]

NESTED = [
    "SELECT " + "(" * 20_000 + "1" + ")" * 20_000,
    "SELECT " + "1+" * 30_000 + "1",
    "SELECT " + "[" * 30_000 + "]" * 30_000,
    "SELECT NULL::INT" + "[]" * 20_000,
    "SELECT * FROM " + "(SELECT * FROM " * 3_000 + "(SELECT 1)" + ")" * 3_000,
]


@pytest.fixture(scope="module")
def memory(tmp_path_factory):
    folder = tmp_path_factory.mktemp("guest")
    with Store.create(folder / "store") as store:
        remembered = Remembered(folder, store)
        remembered.hear(told("a", "My bay is C3."), told("b", "I like rye bread."))
        yield remembered


@pytest.fixture
def work(tmp_path, monkeypatch):
    """Work in a folder with files that a guest would like to read."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.csv").write_text("secret,a\nhidden,b\n")
    (tmp_path / "notes.json").write_text('{"secret": "hidden"}\n')
    return tmp_path


def contents(*folders):
    """Return what stands in the folders, the reader's lock memory aside."""
    return {
        path: path.read_bytes()
        for folder in folders
        for path in sorted(Path(folder).rglob("*"))
        if path.is_file() and not path.name.endswith(("-shm", "-wal"))
    }


@pytest.mark.parametrize("query", [*OUT_OF_REACH, *NOT_READING])
def test_an_escape_is_refused_and_leaves_nothing(memory, work, query):
    store = guest = memory.store  # noqa: F841 - Python values that a query must not see
    before = contents(work, memory.store.root)
    with pytest.raises(UsageError) as refused:
        memory.store.sql(query.format(root=memory.store.root))
    assert "hidden" not in str(refused.value)
    assert refused.value.advice
    assert contents(work, memory.store.root) == before


@pytest.mark.parametrize("query", TOO_MUCH)
def test_a_query_that_needs_too_much_is_ended(memory, work, query):
    with pytest.raises(CapacityError):
        memory.store.sql(query)
    assert set(contents(work)) == {work / "notes.csv", work / "notes.json"}


@pytest.mark.parametrize("query", NESTED)
def test_nesting_is_bounded(memory, query):
    with pytest.raises(UsageError):
        memory.store.sql(query)


def test_a_query_too_long_for_the_parser_is_refused_before_it_is_read(memory):
    ctes = ", ".join(f"c{number} AS (SELECT {number})" for number in range(5_000))
    query = f"WITH {ctes} SELECT 1"
    assert len(query) > LONGEST_QUERY
    with pytest.raises(UsageError, match="characters"):
        memory.store.sql(query)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM duckdb_settings()",
        "SELECT * FROM pg_catalog.pg_settings",
        "SELECT current_setting('secret_directory') || current_setting('extension_directory') AS a",
        "SELECT * FROM duckdb_databases()",
        "SELECT current_user, session_user",
    ],
)
def test_nothing_of_the_machine_is_told(memory, query):
    said = str(memory.store.sql(query).to_pylist())
    for own in (str(Path.home()), str(memory.store.root), socket.gethostname()):
        assert own not in said


def test_what_one_query_defines_is_gone_for_the_next(memory):
    assert memory.store.sql("SELECT * FROM duckdb_tables() WHERE NOT internal").num_rows == 0
    assert memory.store.sql("EXPLAIN ANALYZE SELECT * FROM atoms").num_rows == 1
    assert memory.store.sql("explain (analyze, format json) select 1").num_rows == 1


def test_a_table_is_read_from_verified_files_only(tmp_path):
    with Store.create(tmp_path / "store") as store:
        Remembered(tmp_path, store).hear(told("a", "My bay is C3."))
        store.shard._log.seal_all()
    (file,) = (tmp_path / "store").glob("default/default/segments/atoms/*.parquet")
    raw = bytearray(file.read_bytes())
    raw[len(raw) // 2] ^= 1
    file.write_bytes(bytes(raw))
    with Store.open(tmp_path / "store", read_only=True) as store, pytest.raises(IntegrityError):
        store.sql("SELECT * FROM atoms")
