"""Formats of the catalog: what each adds, and how an older one becomes the newest.

A format is a number N.M.  N is the major format, in `user_version`: a program refuses a newer one.
M is the minor format, in `meta`: it adds tables and keys that an older program may leave alone, so
that the store stays readable and writable by the code before it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import resources

import apsw

from amos.storage.failpoints import reach
from amos.storage.places import table

FORMAT = 4
"""The major format that this version writes."""

MINOR = 0
"""The minor format that this version writes."""

_NEW_TABLE = re.compile(r"^CREATE TABLE (\w+) \(.*?^\) STRICT(?:, WITHOUT ROWID)?;", re.MULTILINE | re.DOTALL)
_NEW_COUNTER = re.compile(r"^INSERT INTO meta VALUES (\(.*\));$", re.MULTILINE)


def statements(number: int) -> str:
    """Return the SQL that turns a catalog of format `number` - 1 into one of format `number`."""
    return resources.files("amos.storage").joinpath("formats", f"{number}.sql").read_text("utf-8")


def new_tables(number: int) -> dict[str, str]:
    """Return by name the statements that make the tables which format `number` adds."""
    return {found[1]: found[0] for found in _NEW_TABLE.finditer(statements(number))}


def raise_format(connection: apsw.Connection, found: int) -> None:
    """Bring a catalog of format `found` (0: an empty file) to the newest, inside a transaction."""
    for number in range(found + 1, FORMAT + 1):
        _raise_once(connection, number)


def raise_step_by_step(connection: apsw.Connection, read_format: Callable[[], int]) -> None:
    """Bring an older catalog to the newest format, one transaction a step.

    read_format: asked inside each transaction, because another process may have been faster.
    Killed anywhere, the catalog stands at the last finished step and the next call goes on from there.
    """
    while read_format() < FORMAT:
        connection.execute("BEGIN IMMEDIATE")
        try:
            found = read_format()
            if found < FORMAT:
                _raise_once(connection, found + 1)
            reach("upgrade.before_commit")
            connection.execute("COMMIT")
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        reach("upgrade.step_done")


def _raise_once(connection: apsw.Connection, number: int) -> None:
    connection.execute(statements(number))
    if number == FORMAT:
        state_minor(connection)
    connection.pragma("user_version", number)


def state_minor(connection: apsw.Connection) -> None:
    """Say in `meta` which minor format wrote the catalog; a higher one that stands there stays."""
    connection.execute(
        f"INSERT INTO {table('meta')} VALUES ('minor_format', ?)"  # noqa: S608 - a registered name
        " ON CONFLICT (name) DO UPDATE SET value = max(value, excluded.value)",
        (MINOR,),
    )


def show_newer_tables(connection: apsw.Connection, found: int) -> None:
    """Let a catalog of the older format `found`, open for reading, be read like the newest.

    The tables that it lacks stand empty in the connection's own memory, and so do the counters that it
    lacks, beside those of the file; the file stays as it is.
    """
    counters: list[str] = []
    for number in range(found + 1, FORMAT + 1):
        counters += _NEW_COUNTER.findall(statements(number))
        for statement in new_tables(number).values():
            connection.execute(statement.replace("CREATE TABLE", "CREATE TEMP TABLE", 1))
    if counters:
        values = ", ".join(counters)
        connection.execute(f"CREATE TEMP VIEW meta AS SELECT * FROM main.meta UNION ALL VALUES {values}")  # noqa: S608
