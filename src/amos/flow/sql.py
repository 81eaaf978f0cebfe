"""Answer SQL over the tables in sight, inside a DuckDB that can reach nothing else."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

from amos.errors import CapacityError, UsageError
from amos.flow.sight import Sight
from amos.flow.tables import visible_table
from amos.schemas.state import TABLES

MEMORY_LIMIT = "1GB"
TIME_LIMIT_SECONDS = 60
_READING = frozenset({"SELECT", "EXPLAIN"})
_TABLES_ADVICE = f"Tables: {', '.join(TABLES)}; `DESCRIBE atoms` names the columns of one."
_SETTINGS = (
    "SET TimeZone = 'UTC'",
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
            "enable_external_access": False,
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "allow_community_extensions": False,
        },
    )
    with connection, _as_failures(duckdb, seconds), _interrupted_after(connection, seconds):
        _require_reading(connection, query)
        for name in _named_tables(query):
            connection.register(name, visible_table(sight, name))
        _silence(connection)
        for setting in _SETTINGS:
            connection.execute(setting)
        table: pa.Table = connection.sql(query).to_arrow_table()
        return table


def _silence(connection: Any) -> None:
    """Turn the progress bar off where it is on; in a notebook it is off and naming it needs a package."""
    row = connection.execute("SELECT current_setting('enable_progress_bar')").fetchone()
    if row and row[0]:
        connection.execute("SET enable_progress_bar = false")


def _require_reading(connection: Any, query: str) -> None:
    statements = connection.extract_statements(query)
    if len(statements) != 1:
        raise UsageError(
            f"{len(statements)} statements were given; one is answered",
            advice="Give one SELECT statement, in quotes.",
        )
    kind = statements[0].type.name
    if kind not in _READING:
        raise UsageError(
            f"{kind} is not answered: the tables can only be read",
            advice="Give a SELECT statement; what changes memory goes through `amos ingest`.",
        )


def _named_tables(query: str) -> list[str]:
    """Return the tables whose name occurs in the query; all of them when none does."""
    words = set(re.findall(r"[a-z_]+", query.lower()))
    return [name for name in TABLES if name in words] or list(TABLES)


@contextmanager
def _interrupted_after(connection: Any, seconds: float) -> Iterator[None]:
    timer = threading.Timer(seconds, connection.interrupt)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


@contextmanager
def _as_failures(duckdb: Any, seconds: float) -> Iterator[None]:
    """Turn what DuckDB raises into an error with advice."""
    try:
        yield
    except duckdb.InterruptException as cause:
        raise CapacityError(
            f"the query ran longer than {seconds:g} s", advice="Ask for less, for example with LIMIT."
        ) from cause
    except duckdb.OutOfMemoryException as cause:
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
        raise UsageError(f"the query cannot be answered: {first}", advice=_TABLES_ADVICE) from cause
