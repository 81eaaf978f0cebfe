"""Answer SQL over the tables in sight, inside a DuckDB that can reach nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

import pyarrow as pa

from amos.errors import CapacityError, UsageError
from amos.flow.sight import Sight
from amos.flow.sql_bounds import Running, bounded_memory
from amos.flow.tables import visible_table
from amos.schemas.state import TABLES

MEMORY_LIMIT = "1GB"
TIME_LIMIT_SECONDS = 60
_ALLOCATED_BYTES = 3 << 29
"""What the whole process may allocate for a query: the engine's limit and half as much for the answer."""
LONGEST_QUERY = 65_536
"""Characters; a longer text can keep the parser busy beyond any time limit."""
_EXPLAIN = re.compile(r"\s*EXPLAIN\b(\s+ANALYZE\b|\s*\([^()]*\))?", re.IGNORECASE)
_TABLES_ADVICE = f"Tables: {', '.join(TABLES)}; `DESCRIBE atoms` names the columns of one."
_COMMENT = re.compile(r"\s*(?:--[^\n]*(?:\n|$)|/\*.*?\*/)", re.DOTALL)
_READING_ADVICE = "Give a SELECT statement; what changes memory goes through `amos ingest`."
_PIVOT_ADVICE = "Give the values, inside a SELECT: SELECT * FROM (PIVOT … ON … IN (…))."
_SETTINGS = (
    "SET temp_directory = ''",  # else it spills into the current folder
    "SET secret_directory = ''",  # this one and the next would name the caller's home folder
    "SET extension_directory = ''",
    "SET TimeZone = 'UTC'",
    "SET enable_external_access = false",
    "SET python_enable_replacements = false",
    "SET lock_configuration = true",
)


def query_tables(sight: Sight, query: str, *, seconds: float = TIME_LIMIT_SECONDS) -> pa.Table:
    """Return the rows of one reading SQL statement over what is in sight.

    Raises UsageError for anything but one reading statement or for a faulty one, CapacityError
    beyond `seconds` or the memory limit.
    """
    import duckdb

    connection = duckdb.connect(
        ":memory:",
        config={
            "memory_limit": MEMORY_LIMIT,
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "allow_community_extensions": False,
        },
    )
    columns: dict[str, list[str]] = {}
    with _as_failures(duckdb, columns), ExitStack() as until_asked:
        until_asked.enter_context(connection)
        _require_reading(connection, query)
        for name in _named_tables(query):
            table = visible_table(sight, name)
            columns[name] = table.schema.names
            connection.register(name, table)
        _silence(connection)
        for setting in _SETTINGS:
            connection.execute(setting)
        until_asked.pop_all()  # from here on the query's own thread closes it
        return _answer(connection, query, seconds)


def _silence(connection: Any) -> None:
    """Turn the progress bar off where it is on; in a notebook it is off and naming it needs a package."""
    row = connection.execute("SELECT current_setting('enable_progress_bar')").fetchone()
    if row and row[0]:
        connection.execute("SET enable_progress_bar = false")


def _require_reading(connection: Any, query: str) -> None:
    if len(query) > LONGEST_QUERY:
        raise UsageError(
            f"the query has {len(query):,} characters, more than {LONGEST_QUERY:,}", advice="Ask in parts."
        )
    statements = connection.extract_statements(query)
    if not statements:
        raise UsageError("no query was given", advice="Give one SELECT statement, in quotes.")
    if len(statements) != 1:
        raise UsageError(
            f"{len(statements)} statements were given; one is answered",
            advice="Give one SELECT statement, in quotes.",
        )
    kind = statements[0].type.name
    if kind == "EXPLAIN":
        kind = _explained(connection, query)
    if kind != "SELECT":
        word = _first_word(query) or kind
        raise UsageError(
            f"{word} is not answered: the tables can only be read",
            advice=_PIVOT_ADVICE if word in ("PIVOT", "UNPIVOT") else _READING_ADVICE,
        )


def _first_word(query: str) -> str:
    """Return the word that a query begins with, in capitals, behind comments."""
    while found := _COMMENT.match(query):
        query = query[found.end() :]
    word = re.match(r"\s*([A-Za-z_]+)", query)
    return word[1].upper() if word else ""


def _explained(connection: Any, query: str) -> str:
    """Return the kind of the statement that is to be explained: ANALYZE would carry it out."""
    rest = _EXPLAIN.sub("", query, count=1)
    inner = connection.extract_statements(rest)
    return str(inner[0].type.name) if len(inner) == 1 else "EXPLAIN"


def _named_tables(query: str) -> list[str]:
    """Return the tables whose name occurs in the query; all of them when none does."""
    words = set(re.findall(r"[a-z_]+", query.lower()))
    return [name for name in TABLES if name in words] or list(TABLES)


def _asked(connection: Any, query: str) -> pa.Table:
    with connection:
        return connection.sql(query).to_arrow_table()


def _answer(connection: Any, query: str, seconds: float) -> pa.Table:
    with bounded_memory(_ALLOCATED_BYTES):
        running = Running(lambda: _asked(connection, query), connection.interrupt)
        try:
            return running.result(seconds)
        except TimeoutError:
            running.stop()
            raise CapacityError(
                f"the query ran longer than {seconds:g} s", advice="Ask for less, for example with LIMIT."
            ) from None
        except KeyboardInterrupt:
            running.stop()
            raise


@contextmanager
def _as_failures(duckdb: Any, columns: Mapping[str, list[str]]) -> Iterator[None]:
    """Turn what DuckDB raises into an error with advice; columns: of the tables that the query names."""
    try:
        yield
    except (duckdb.OutOfMemoryException, MemoryError, pa.ArrowMemoryError) as cause:
        raise CapacityError(
            f"the query needs more than {MEMORY_LIMIT} of memory", advice="Ask for fewer rows or columns."
        ) from cause
    except duckdb.PermissionException as cause:
        raise UsageError(
            "the query reaches for a file or the network, which SQL here cannot",
            code="authorization_denied",
            advice=_TABLES_ADVICE,
        ) from cause
    except duckdb.Error as cause:
        first = str(cause).strip().splitlines()[0]
        is_column = isinstance(cause, duckdb.BinderException) and "column" in first
        advice = _columns_advice(columns) if is_column else _TABLES_ADVICE
        raise UsageError(f"the query cannot be answered: {first}", advice=advice) from cause


def _columns_advice(columns: Mapping[str, list[str]]) -> str:
    """Return the columns of the tables that a query names; of none where it names no table."""
    if len(columns) == len(TABLES):
        return _TABLES_ADVICE
    return "; ".join(f"columns of {table}: {', '.join(names)}" for table, names in columns.items()) + "."
