"""Export everything as Parquet tables with a manifest of digests: without loss, in flat memory."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from amos.clock import as_text, to_us
from amos.copies.store import FORMAT, catalog_records
from amos.copies.wrapping import wrap_key
from amos.errors import SchemaError, UsageError
from amos.flow.digest import state_digest
from amos.flow.placing import write_synced
from amos.flow.sight import Sight
from amos.flow.standing import standing_bans
from amos.journal.store import Shard, Snapshot
from amos.schemas.state import TABLES, stored
from amos.views.plain import plural

KIND = "amos-export"
NO_KEY = "tombstones not transferable"
"""What a manifest says instead of a wrapped key."""

GROUP_ROWS = 20_000
_DERIVED = {
    "mentions": "reading the sources again finds them",
    "echoes": "`amos capture reinforce` finds them again",
}
"""Tables that follow from the sources, and how they are made again."""

_MISSING_IN = {
    1: ("tombstones", "echoes", "outcomes", "feedback", "mentions"),
    2: ("outcomes", "feedback", "mentions"),
    3: ("mentions",),
}
"""Tables that an older format does not have."""

Progress = Callable[[int, int], None]


@dataclass(frozen=True, kw_only=True)
class ParquetTerms:
    """How an export is made.  secret: wraps the erasure key; salt: 32 fresh random bytes for that.

    leave_out: what the format cannot hold is left out, also where nothing makes it again.
    """

    now: datetime
    secret: bytes | None = None
    salt: bytes = b""
    format_number: int = FORMAT
    scope: Mapping[str, str] = field(default_factory=dict)
    leave_out: bool = False


def export_parquet(
    shard: Shard, folder: Path, terms: ParquetTerms, *, progress: Progress | None = None
) -> dict[str, Any]:
    """Write every row version of every table, and the catalog, to the empty folder; return the manifest.

    A narrowed scope leaves out what is not in sight, and with it the journal; so does a format that cannot
    hold all of it.  Raises SchemaError when it cannot hold what nothing makes again.
    """
    with shard.pin() as snapshot:
        unheld = _unheld(shard, snapshot, terms)
        writer = _Writer(shard=shard, snapshot=snapshot, draft=folder, terms=terms, unheld=unheld)
        manifest = writer.write(progress)
        text = json.dumps(manifest, indent=2, ensure_ascii=False) + "\n"
        write_synced(folder / "manifest.json", text.encode())
    return manifest


def _unheld(shard: Shard, snapshot: Snapshot, terms: ParquetTerms) -> list[str]:
    """Return what the asked format cannot hold, in words; nothing for one that holds all.

    Raises SchemaError where something of it cannot be made again from the sources, unless that was asked for.
    """
    number = terms.format_number
    if not 1 <= number <= FORMAT:
        raise UsageError(f"there is no format {number}", advice=f"Formats are 1 to {FORMAT}.")
    counts = {name: snapshot.row_count(name) for name in _MISSING_IN.get(number, ())}
    rows = {name: count for name, count in counts.items() if count}
    history = bool(number == 1 and (shard.erased_rows() or shard.snapshots() or shard.holds()))
    if not rows and not history:
        return []
    derived = [
        f"{count} rows of {name}: {_DERIVED[name]}" for name, count in rows.items() if name in _DERIVED
    ]
    lost = [f"{count} rows of {name}" for name, count in rows.items() if name not in _DERIVED]
    standing = sum(hold.released_us is None for hold in shard.holds())
    if not terms.scope:
        if standing:
            lost.append(plural(standing, "legal hold"))
        if terms.secret is not None and "tombstones" not in rows and snapshot.row_count("tombstones"):
            lost.append("the key of its tombstones")
    if lost and not terms.leave_out:
        raise SchemaError(
            f"format {number} cannot hold {', '.join(lost)}",
            code="format_too_old",
            advice=f"Export in format {FORMAT}, without --format-version, or go without with --leave-out.",
        )
    told = (
        [] if terms.scope else [f"the journal and the commit log: they tell of more than format {number} has"]
    )
    return [*derived, *lost, *told]


@dataclass(kw_only=True)
class _Writer:
    shard: Shard
    snapshot: Snapshot
    draft: Path
    terms: ParquetTerms
    unheld: list[str]

    @property
    def is_whole(self) -> bool:
        return not self.terms.scope and not self.unheld

    def write(self, progress: Progress | None) -> dict[str, Any]:
        missing = _MISSING_IN.get(self.terms.format_number, ())
        names = [name for name in TABLES if name not in missing and (self.is_whole or name != "events")]
        total = sum(self.snapshot.row_count(name) for name in names)
        done = 0
        tables = {}
        for name in names:
            tables[name] = self._table(name)
            done += self.snapshot.row_count(name)
            if progress is not None:
                progress(done, total)
        catalog = self._catalog() if self.is_whole else None
        return self._manifest(tables, catalog)

    def _manifest(self, tables: dict[str, Any], catalog: dict[str, Any] | None) -> dict[str, Any]:
        version = self.snapshot.version
        secret, key = self.terms.secret, self.shard.key
        return {
            "kind": KIND,
            "format_version": self.terms.format_number,
            "made_at": as_text(to_us(self.terms.now)),
            "shard": "/".join(self.shard.folder.parts[-2:]),
            "graph_version": version or None,
            "state_digest": state_digest(self.snapshot) if self.is_whole else None,
            "complete": self.is_whole,
            "scope": dict(self.terms.scope),
            "left_out": self._left_out(),
            "tombstones": standing_bans(self.snapshot.current("tombstones"), to_us(self.terms.now)),
            "keys": wrap_key(key, secret, self.terms.salt) if secret and self.is_whole else NO_KEY,
            "tables": tables,
            "catalog": catalog,
        }

    def _left_out(self) -> list[str]:
        if self.is_whole:
            return ["packet receipts and other telemetry", "derived indexes: they are rebuilt"]
        if not self.terms.scope:
            return [*self.unheld, "packet receipts and other telemetry"]
        standing = sum(hold.released_us is None for hold in self.shard.holds())
        return [
            "rows out of the scope",
            "the journal and the commit log: they are of the whole shard",
            "packet receipts and other telemetry",
            *self.unheld,
            *([plural(standing, "legal hold")] if standing else []),
        ]

    def _table(self, name: str) -> dict[str, Any]:
        path = self.draft / f"{name}.parquet"
        rows = first = last = 0
        with path.open("wb") as stream:
            with pq.ParquetWriter(stream, _bare(name), **_OPTIONS) as writer:
                for part in self._parts(name):
                    writer.write_table(part.cast(_bare(name)), row_group_size=GROUP_ROWS)
                    versions = part["graph_version"]
                    first = first or versions[0].as_py()
                    last = versions[-1].as_py()
                    rows += part.num_rows
            stream.flush()
            os.fsync(stream.fileno())
        return {"file": path.name, "rows": rows, "versions": [first, last], **_size(path)}

    def _parts(self, name: str) -> Iterator[pa.Table]:
        sight = Sight(snapshot=self.snapshot, now=self.terms.now, scope=self.terms.scope)
        for part in self.snapshot.groups(name):
            kept = part if self.is_whole else sight.seen(name, part)
            if kept.num_rows:
                yield kept

    def _catalog(self) -> dict[str, Any]:
        path = self.draft / "catalog.jsonl"
        rows = 0
        records = catalog_records(
            self.shard.folder,
            version=self.snapshot.version,
            is_keyed=self.terms.secret is not None,
            format_number=self.terms.format_number,
        )
        with path.open("w", encoding="utf-8") as stream:
            for name, row in records:
                stream.write(json.dumps({"table": name, "row": row}, ensure_ascii=False) + "\n")
                rows += 1
            stream.flush()
            os.fsync(stream.fileno())
        return {"file": path.name, "rows": rows, **_size(path)}


_OPTIONS: dict[str, Any] = {
    "compression": "zstd",
    "compression_level": 3,
    "write_page_checksum": True,
    "store_schema": False,
}


def _bare(name: str) -> pa.Schema:
    return pa.schema([field.remove_metadata() for field in stored(name)])


def _size(path: Path) -> dict[str, Any]:
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    return {"bytes": path.stat().st_size, "sha256": digest}
