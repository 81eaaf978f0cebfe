"""Sums over the rows that a catalog keeps beside the memory, so that verification notices other ones.

A sum is taken modulo 2**256 over the SHA-256 of each row, so that a row that comes or goes changes it alone.
A catalog that was written before there were sums gets one with the first row that is written.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from amos.storage.catalog import Catalog

KEYS = {
    "conflicts": "conflict_id",
    "copies": "copy_id",
    "erasures": "erasure_id",
    "garbage": "file",
    "holds": "hold_id",
    "leases": "job",
    "runs": "run_id",
    "snapshots": "graph_version",
}
"""The tables that have a sum, each with its primary key."""

_CREATED = "tally_created"
_MODULUS = 1 << 256
_WIDTH = 32

Row = Sequence[Any]


def first_tallies(labels: Mapping[str, Any]) -> dict[str, bytes]:
    """Return what `meta` of a catalog without rows says; labels: with `created_at`."""
    empty = {f"tally_{name}": bytes(_WIDTH) for name in KEYS}
    return {**empty, _CREATED: _sum("meta", [(labels.get("created_at"),)])}


class Tallies:
    """Writes rows of one open catalog with their sums; every write runs inside `catalog.writing`."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def put(self, table: str, rows: Iterable[Row]) -> None:
        """Write rows, each in place of the one with its key."""
        given = list(rows)
        if not given:
            return
        place = self._columns(table).index(KEYS[table])
        before = [old for row in given for old in self._held(table, row[place])]
        total = self._stated(table)
        marks = ", ".join("?" * len(given[0]))
        self._catalog.write_all(f"INSERT OR REPLACE INTO {table} VALUES ({marks})", given)  # noqa: S608
        self._state(table, total, before, given)

    def drop(self, table: str, condition: str, values: Row) -> None:
        """Take away the rows that fit a condition in SQL."""
        before = self._catalog.rows(f"SELECT * FROM {table} WHERE {condition}", values)  # noqa: S608
        total = self._stated(table)
        self._catalog.rows(f"DELETE FROM {table} WHERE {condition}", values)  # noqa: S608
        self._state(table, total, before, [])

    def count_anew(self, tables: Iterable[str] = KEYS) -> None:
        """Take the rows as they stand."""
        for table in tables:
            if table == "meta":
                self._write(_CREATED, self._creation())
            else:
                self._write(f"tally_{table}", self._found(table))

    def differing(self) -> list[str]:
        """Return the tables whose rows are not those that were written; `meta` for the time of creation."""
        stated = {name: self._catalog.meta(f"tally_{name}") for name in KEYS}
        found = [name for name, total in stated.items() if total is not None and total != self._found(name)]
        created = self._catalog.meta(_CREATED)
        if created is not None and created != self._creation():
            found.append("meta")
        return found

    def _creation(self) -> bytes:
        return _sum("meta", [(self._catalog.meta("created_at"),)])

    def _columns(self, table: str) -> list[str]:
        return [row[1] for row in self._catalog.rows(f"PRAGMA table_info({table})")]

    def _held(self, table: str, key: Any) -> list[tuple[Any, ...]]:
        sql = f"SELECT * FROM {table} WHERE {KEYS[table]} = ?"  # noqa: S608 - registered names
        return self._catalog.rows(sql, (key,))

    def _stated(self, table: str) -> int:
        stated = self._catalog.meta(f"tally_{table}")
        return int.from_bytes(self._found(table) if stated is None else stated)

    def _found(self, table: str) -> bytes:
        return _sum(table, self._catalog.rows(f"SELECT * FROM {table}"))  # noqa: S608 - registered names

    def _state(self, table: str, total: int, gone: Iterable[Row], come: Iterable[Row]) -> None:
        total += sum(_number(table, row) for row in come) - sum(_number(table, row) for row in gone)
        self._write(f"tally_{table}", (total % _MODULUS).to_bytes(_WIDTH))

    def _write(self, name: str, total: bytes) -> None:
        self._catalog.rows("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, total))


def _sum(table: str, rows: Iterable[Row]) -> bytes:
    return (sum(_number(table, row) for row in rows) % _MODULUS).to_bytes(_WIDTH)


def _number(table: str, row: Row) -> int:
    values = [{"hex": value.hex()} if isinstance(value, bytes) else value for value in row]
    text = json.dumps(values, separators=(",", ":"), ensure_ascii=False)
    said = f"amos/beside/1/{table}/{text}".encode(errors="surrogatepass")
    return int.from_bytes(hashlib.sha256(said).digest())
