"""What a catalog says beside its rows, as plain records, and a shard made of records and rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import apsw
import pyarrow as pa

from amos.errors import InputError
from amos.storage.catalog import Catalog
from amos.storage.folders import make_shard
from amos.storage.places import table
from amos.storage.rewriting import write_rows
from amos.storage.tallies import Tallies
from amos.storage.upgrades import FORMAT, new_tables

_UNTIL = {
    "commits": "graph_version",
    "texts": None,
    "runs": None,
    "conflicts": None,
    "idempotency": "graph_version",
    "erased_rows": "erased_by",
    "erasures": "graph_version",
    "snapshots": "graph_version",
    "holds": None,
    "copies": None,
}
"""Tables that go with an export, and the column that says from which commit on a row counts."""

_META = ("retained_from", "erase_count")
"""Values of `meta` that tell of the history; the others are of the files or of the shard's name."""

_KEYED = ("idempotency",)
"""Tables that mean nothing without the key."""

Record = tuple[str, dict[str, Any]]
"""The table of a catalog's row, and its values by column; bytes stand as {"hex": text}."""


def catalog_records(shard: Path, *, version: int, is_keyed: bool, format_number: int) -> Iterator[Record]:
    """Yield what the catalog said at graph version `version`, table by table."""
    later = {name for number in range(format_number + 1, FORMAT + 1) for name in new_tables(number)}
    catalog = Catalog(shard, read_only=True)
    try:
        with catalog.reading():
            for name in _META:
                value = catalog.meta(name)
                if value is not None and format_number > 1:
                    yield "meta", {"name": name, "value": value}
            for name, column in _UNTIL.items():
                if name in later or (name in _KEYED and not is_keyed):
                    continue
                names = _columns(catalog, name)
                limit = f" WHERE {column} <= {int(version)}" if column else ""
                for row in catalog.rows(f"SELECT * FROM {table(name)}{limit}"):  # noqa: S608 - registered names
                    yield name, {key: _plain(value) for key, value in zip(names, row, strict=True)}
    finally:
        catalog.close()


def _columns(catalog: Catalog, name: str) -> list[str]:
    return [row[1] for row in catalog.rows(f"PRAGMA table_info({table(name)})")]


def _plain(value: Any) -> Any:
    return {"hex": value.hex()} if isinstance(value, bytes) else value


def _raw(value: Any) -> Any:
    return bytes.fromhex(value["hex"]) if isinstance(value, dict) else value


def plant_shard(
    root: Path,
    labels: tuple[str, str],
    *,
    key: bytes | None,
    records: Iterable[Record],
    tables: Mapping[str, tuple[tuple[int, int], Iterator[pa.Table]]],
    now: datetime,
) -> Path:
    """Make the shard `labels` (tenant, workspace) under `root` of records and stored rows; return its folder.

    key: its erasure key, a random one when None.  tables: by name the versions of the first and last
    commit, and the rows in commit order.  Nothing is checked but the shape: verify it before it is used.
    Raises InputError for records that no catalog can hold.
    """
    shard = make_shard(root, *labels, now, key)
    entries = [write_rows(shard, name, versions, parts) for name, (versions, parts) in tables.items()]
    catalog = Catalog(shard)
    try:
        with catalog.writing("import"):
            _insert(catalog, records)
            for entry in entries:
                if entry is not None:
                    catalog.insert_segment(entry)
            Tallies(catalog).count_anew()
    finally:
        catalog.close()
    return shard


def _insert(catalog: Catalog, records: Iterable[Record]) -> None:
    known: dict[str, list[str]] = {}
    for name, row in records:
        if name == "meta":
            _insert_meta(catalog, row)
            continue
        if name not in _UNTIL:
            raise InputError(f"the export names a table {name!r} that no catalog has")
        columns = known.setdefault(name, _columns(catalog, name))
        if sorted(row) != sorted(columns):
            raise InputError(f"the export's rows of {name} have other columns than the catalog")
        marks = ", ".join("?" * len(columns))
        try:
            values = [_raw(row[column]) for column in columns]
            catalog.rows(f"INSERT INTO {table(name)} VALUES ({marks})", values)  # noqa: S608
        except (ValueError, KeyError, TypeError, apsw.ConstraintError) as cause:
            raise InputError(f"a row of {name} in the export cannot be read: {cause}") from cause


def _insert_meta(catalog: Catalog, row: dict[str, Any]) -> None:
    name, value = row.get("name"), row.get("value")
    if name not in _META or type(value) is not int or value < 0:
        raise InputError(f"the export says something of its catalog that cannot be: {name!r}")
    catalog.rows(f"INSERT OR REPLACE INTO {table('meta')} VALUES (?, ?)", (name, value))  # noqa: S608
