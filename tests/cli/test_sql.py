import json
import resource
import subprocess
import sys
import threading
from pathlib import Path

import pyarrow as pa
import pytest
from click.testing import CliRunner

from amos.cli import main
from amos.views.grid import grid_lines


def test_rows_are_json_lines_with_an_end(household):
    told = household(
        "sql", "SELECT outcome, count(*) AS n FROM decisions GROUP BY outcome ORDER BY outcome", "--json"
    )
    assert told.code == 0
    assert told.end == {"rows": len(told.rows), "truncated": False, "cursor": None}
    assert {row["outcome"] for row in told.rows} >= {"commit", "ignore", "reject"}


def test_people_get_a_table_with_a_count(household):
    out = household("sql", "SELECT statement, state FROM atoms WHERE state = 'active' ORDER BY 1").out
    assert "statement" in out
    assert "User's barn colour is green." in out
    assert out.splitlines()[-1] == "3 rows"


@pytest.mark.parametrize(
    "table",
    [
        "sources",
        "conversations",
        "entities",
        "candidates",
        "decisions",
        "atoms",
        "edges",
        "lineage",
        "disputes",
        "events",
    ],
)
def test_every_table_can_be_read(household, table):
    assert household("sql", f"SELECT count(*) AS n FROM {table}", "--json").rows[0]["n"] >= 0


def test_a_row_that_is_wide_is_whole_in_a_pipe(household):
    out = household("sql", "FROM atoms ORDER BY atom_id LIMIT 1").out
    header, _, row, count = out.splitlines()
    assert header.split()[:2] == ["atom_id", "version"]
    assert row.split()[0].startswith("atm_")
    assert count == "1 row"


@pytest.mark.parametrize("width", [20, 60, 80])
def test_rows_too_wide_for_a_terminal_become_blocks(width):
    table = pa.table({f"column_{number}": ["some words of text"] for number in range(12)})
    lines = list(grid_lines(table, width=width))
    assert lines[0] == "row 1"
    assert lines[1] == "  column_0   some words of text"
    assert len(lines) == 14


def test_cells_too_wide_for_a_terminal_are_folded():
    lines = list(grid_lines(pa.table({"a": ["word " * 30], "b": [7]}), width=60))
    assert max(map(len, lines)) <= 60
    assert sum(line.count("word") for line in lines) == 30
    assert any(line.endswith("7") for line in lines)


def test_ids_are_text_and_join(household):
    query = (
        "SELECT a.statement, s.content FROM atoms a JOIN sources s USING (source_id) WHERE a.state = 'active'"
    )
    rows = household("sql", query, "--json").rows
    assert {"My barn colour is green."} < {row["content"] for row in rows}


def test_payloads_are_json_text(household):
    query = "SELECT json_extract_string(payload, '$.value') AS value FROM atoms WHERE statement LIKE '%barn%'"
    assert household("sql", query, "--json").rows == [{"value": "green"}]


def test_scope_narrows_every_table(household_store, amos):
    for query in (
        "SELECT count(*) AS n FROM atoms WHERE statement LIKE '%plum%'",
        "SELECT count(*) AS n FROM sources WHERE content LIKE '%plum%'",
        "SELECT count(*) AS n FROM candidates WHERE payload LIKE '%plum%'",
        "SELECT count(*) AS n FROM edges",
        "SELECT count(*) AS n FROM lineage",
    ):
        told = amos("-s", household_store, "--project", "barn", "sql", query, "--json")
        assert told.rows == [{"n": 0}], query


def test_flagged_text_salts_and_keyed_digests_are_out_of_reach(household):
    rows = household("sql", "SELECT content, withheld FROM sources WHERE withheld IS NOT NULL", "--json").rows
    assert rows == [{"content": None, "withheld": "instruction_shaped_content"}]
    for column in ("salt", "delivery_digest"):
        assert household("sql", f"SELECT {column} FROM sources").code == 2


@pytest.mark.parametrize(
    "query",
    [
        "DELETE FROM atoms",
        "CREATE TABLE t AS SELECT 1",
        "INSERT INTO atoms SELECT * FROM atoms",
        "COPY atoms TO 'x.csv'",
        "ATTACH 'x.db'",
        "SET threads = 1",
        "INSTALL httpfs",
        "PRAGMA version",
        "SELECT 1; SELECT 2",
        "",
        "SELEKT 1",
        "SELECT * FROM nowhere",
        "SELECT * FROM read_csv('notes.csv')",
        "SELECT * FROM 'notes.parquet'",
        "SELECT * FROM glob('*')",
    ],
)
def test_whatever_is_no_single_reading_statement_is_exit_2(household, folder, query):
    (folder / "notes.csv").write_text("a,b\n1,2\n")
    told = household("sql", query, "--json")
    assert told.code == 2
    assert told.object["error"]["advice"]
    assert not (folder / "x.csv").exists()
    assert not (folder / "x.db").exists()


def test_values_without_a_json_form_become_text_or_null(household):
    query = (
        "SELECT 'NaN'::DOUBLE AS a, 1.50::DECIMAL(4,2) AS b, DATE '2026-05-01' AS c, 'x'::BLOB AS d, [1] AS e"
    )
    assert household("sql", query, "--json").rows == [
        {"a": "NaN", "b": "1.50", "c": "2026-05-01", "d": "eA==", "e": [1]}
    ]


def test_what_is_endless_or_lasts_is_text(household):
    query = (
        "SELECT '-inf'::DOUBLE AS a, NULL::DOUBLE AS b, INTERVAL '3.5 seconds' AS c, INTERVAL 0 DAY AS d,"
        " [INTERVAL 15 MONTH, INTERVAL '-2 days'] AS e"
    )
    assert household("sql", query, "--json").rows == [
        {"a": "-Infinity", "b": None, "c": "PT3.5S", "d": "PT0S", "e": ["P1Y3M", "P-2D"]}
    ]


@pytest.mark.parametrize("comment", ["-- what is one?", "--what is one?", "/* one */"])
def test_a_query_may_begin_with_a_comment(household, comment):
    assert household("sql", f"{comment}\nSELECT 1 AS a", "--json").rows == [{"a": 1}]
    assert "--json" in household("sql", "SELECT 1", "--jsn").err


def test_a_query_is_read_from_standard_input(household_store):
    done = CliRunner().invoke(main, ["-s", str(household_store), "sql", "-", "--json"], input="SELECT 1 AS a")
    assert json.loads(done.stdout.splitlines()[0]) == {"a": 1}


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("PIVOT atoms ON type", "PIVOT is not answered"),
        ("-- now\nCHECKPOINT", "CHECKPOINT is not answered"),
        ("/* so */ INSTALL spatial", "INSTALL is not answered"),
        ("", "no query was given"),
        ("-- nothing", "no query was given"),
        ("SELECT wrong FROM atoms", "columns of atoms: atom_id, "),
        ("SELECT a.wrong FROM atoms a", "columns of atoms: atom_id, "),
        ("SELECT 1 FROM spoons", "Tables: sources, "),
    ],
)
def test_what_is_not_answered_is_called_by_its_own_name(household, query, told):
    found = household("sql", query)
    assert (found.code, told in found.err) == (2, True), found.err


def test_columns_of_one_name_are_kept_apart(household):
    assert household("sql", "SELECT 1 AS a, 2 AS a", "--json").rows == [{"a": 1, "a:2": 2}]


@pytest.mark.parametrize("seconds", [0.0, 0.05])
def test_a_query_without_end_is_stopped(household_store, seconds):
    from amos.api import Store
    from amos.clock import utc_now
    from amos.errors import CapacityError
    from amos.flow.sight import Sight
    from amos.flow.sql import query_tables

    endless = "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT max(n) FROM t"
    with (
        Store.open(household_store, read_only=True) as store,
        store.shard.pin() as snapshot,
        pytest.raises(CapacityError, match="longer than"),
    ):
        query_tables(Sight(snapshot=snapshot, now=utc_now()), endless, seconds=seconds)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="what is allocated is not known here")
@pytest.mark.parametrize("query", ["SELECT range(1000000000)", "SELECT repeat('a', 2000000000)"])
def test_a_function_that_asks_for_too_much_memory_is_refused_at_once(household, query):
    limits = resource.getrlimit(resource.RLIMIT_DATA)
    told = household("sql", query, "--json")
    assert told.code == 7
    assert "memory" in told.object["error"]["message"]
    assert resource.getrlimit(resource.RLIMIT_DATA) == limits


def test_a_sort_that_needs_more_than_memory_writes_no_file(household, folder):
    query = "SELECT count(*) FROM (SELECT repeat('x', 400) || range AS b FROM range(4000000) ORDER BY b DESC)"
    told = household("sql", query)
    assert told.code == 7, told
    assert list(folder.iterdir()) == []


def test_a_query_that_hears_no_interruption_is_left_behind(monkeypatch):
    from amos.flow import sql_bounds

    monkeypatch.setattr(sql_bounds, "GRACE_SECONDS", 0.1)
    ended = threading.Event()
    running = sql_bounds.Running(ended.wait, lambda: None)
    with pytest.raises(TimeoutError):
        running.result(0.01)
    assert running.stop() is False
    ended.set()
    assert running.stop() is True


def test_a_query_that_closes_while_it_is_interrupted_is_waited_for():
    """An engine refuses to interrupt what has just closed."""
    from amos.flow.sql_bounds import Running

    ended = threading.Event()

    def interrupt():
        threading.Timer(0.2, ended.set).start()
        raise RuntimeError("closed")

    assert Running(ended.wait, interrupt).stop() is True


@pytest.mark.parametrize("hears", [True, False])
def test_a_query_out_of_time_ends_the_command_in_order(folder, hears):
    """A process of its own: an abort at its end would be a signal, not an exit code."""
    make = "from amos.cli import main; from amos.flow import sql, sql_bounds; "
    bounds = "sql.query_tables.__kwdefaults__['seconds'] = 1; "
    deaf = "" if hears else "sql_bounds.Running.stop = lambda self: False; "
    query = "SELECT sum(a.range * b.range) FROM range(10000000) a, range(10000000) b"
    subprocess.run([sys.executable, "-c", make + "main(['-s', 'store', 'init'])"], cwd=folder, check=True)
    code = f"{make}{bounds}{deaf}main(['-s', 'store', 'sql', {query!r}])"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False
    )
    assert (done.returncode, "longer than 1 s" in done.stderr) == (7, True), done


def test_what_a_query_raises_reaches_the_caller():
    from amos.flow.sql_bounds import Running

    def fail():
        raise LookupError("gone")

    with pytest.raises(LookupError, match="gone"):
        Running(fail, lambda: None).result(5)
