"""Formats of the catalog: what each adds, and how an older one becomes the newest."""

from __future__ import annotations

from importlib import resources

import apsw

FORMAT = 2
"""The format that this version writes."""


def statements(number: int) -> str:
    """Return the SQL that turns a catalog of format `number` - 1 into one of format `number`."""
    return resources.files("amos.storage").joinpath("formats", f"{number}.sql").read_text("utf-8")


def raise_format(connection: apsw.Connection, found: int) -> None:
    """Run the steps from format `found` (0: an empty file) to the newest, inside a transaction."""
    for number in range(found + 1, FORMAT + 1):
        connection.execute(statements(number))
    connection.pragma("user_version", FORMAT)
