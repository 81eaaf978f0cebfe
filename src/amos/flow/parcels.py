"""Read our own exports: check what a Parquet export promises before a row of it counts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from amos.copies.store import FORMAT, Record
from amos.errors import InputError, IntegrityError, SchemaError
from amos.flow.export_parquet import KIND
from amos.schemas.catalog import HoldEntry
from amos.schemas.state import TABLES, stored

_ADVICE = "Transcripts and other products' exports are for `amos ingest`."
_LONGEST_MANIFEST = 1 << 20
_LARGEST_GROUP = 1 << 30
"""Unpacked bytes of the largest row group that is read: one holds at most 20,000 rows."""
_LONGEST_RECORD = 64 << 20


@dataclass(frozen=True, kw_only=True)
class Parcel:
    """A Parquet export whose files are what its manifest says."""

    folder: Path
    manifest: dict[str, Any]

    @property
    def is_complete(self) -> bool:
        """Whether journal and commit log are in it."""
        return bool(self.manifest["complete"])

    @property
    def rows(self) -> int:
        """How many stored rows it holds."""
        return sum(facts["rows"] for facts in self.manifest["tables"].values())

    def groups(self, table: str, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """Yield the rows of a table one row group at a time; nothing for a table that is not there."""
        facts = self.manifest["tables"].get(table)
        if facts is None:
            return
        schema = stored(table)
        names = list(columns or schema.names)
        wanted = pa.schema([schema.field(name) for name in names])
        try:
            with pq.ParquetFile(self.folder / facts["file"], page_checksum_verification=True) as file:
                for group in range(file.metadata.num_row_groups):
                    rows = file.read_row_group(group, columns=names).select(names)
                    yield rows.cast(wanted)
        except (OSError, pa.ArrowException) as cause:
            raise IntegrityError(f"{facts['file']} cannot be read: {cause}", path=str(self.folder)) from cause

    def holds(self) -> list[HoldEntry]:
        """Return the legal holds that the catalog tells of; one that is narrowed has no catalog.

        Raises InputError for one that is none.
        """
        try:
            found = [row for name, row in self.records() if name == "holds"] if self.is_complete else []
            return [HoldEntry(**{**row, "hold_id": bytes.fromhex(row["hold_id"]["hex"])}) for row in found]
        except (TypeError, KeyError, ValueError) as cause:
            raise InputError(f"a hold in the export cannot be read: {cause}") from cause

    def records(self) -> Iterator[Record]:
        """Yield the rows of the catalog."""
        path = self.folder / self.manifest["catalog"]["file"]
        with path.open("rb") as stream:
            while line := stream.readline(_LONGEST_RECORD):
                try:
                    found = json.loads(line)
                    yield found["table"], found["row"]
                except (ValueError, KeyError, TypeError, RecursionError) as cause:
                    raise InputError(
                        f"{path.name} holds a line that is none of ours", path=str(path)
                    ) from cause


def is_parcel(path: Path) -> bool:
    """Return whether `path` is a folder with a manifest of ours."""
    return path.is_dir() and (path / "manifest.json").is_file()


def open_parcel(folder: Path) -> Parcel:
    """Return an export, every file of which was hashed and has the columns of its table.

    Raises InputError when it is no export of ours, SchemaError when a newer version made it, IntegrityError
    when a file is missing or differs from the manifest.
    """
    manifest = _manifest(folder / "manifest.json")
    for name, facts in manifest["tables"].items():
        if name not in TABLES:
            raise SchemaError(f"the export has a table {name!r} that this version does not know")
        _check_file(folder, facts)
        _check_table(folder, name, facts)
    if manifest["complete"]:
        _check_file(folder, manifest["catalog"])
    return Parcel(folder=folder, manifest=manifest)


def _manifest(path: Path) -> dict[str, Any]:
    try:
        if path.stat().st_size > _LONGEST_MANIFEST:
            raise InputError(f"{path} is too long for a manifest", path=str(path))
        found = json.loads(path.read_bytes())
        is_own = found["kind"] == KIND
        number = found["format_version"]
        tables, _ = found["tables"], found["complete"]
        files = [*tables.values(), *([found["catalog"]] if found["complete"] else [])]
        shapes = [(str(one["file"]), int(one["rows"]), int(one["bytes"]), one["sha256"]) for one in files]
    except FileNotFoundError as cause:
        raise InputError(f"{path} is missing", path=str(path), advice=_advice(path.parent)) from cause
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as cause:
        raise InputError(f"{path} is no manifest of an export", path=str(path), advice=_ADVICE) from cause
    if not is_own or not shapes or type(number) is not int:
        raise InputError(f"{path} is no manifest of an export", path=str(path), advice=_ADVICE)
    if number > FORMAT:
        raise SchemaError(
            f"the export is of format {number}, this version reads up to {FORMAT}",
            code="newer_export",
            path=str(path),
        )
    result: dict[str, Any] = found
    return result


def _advice(folder: Path) -> str:
    """Return what a folder without a manifest is for."""
    if (folder / "backup.json").is_file():
        return f"It is a backup: make a store of it with `amos restore {folder} DESTINATION`."
    if (folder / "amos.toml").is_file():
        return f"It is a store: name it with `amos -s {folder}`, and copy it with `amos backup`."
    return _ADVICE


def _check_file(folder: Path, facts: dict[str, Any]) -> None:
    path = folder / Path(facts["file"]).name
    if facts["file"] != path.name:
        raise InputError(f"the manifest names a file outside of its folder: {facts['file']}")
    try:
        size = path.stat().st_size
        with path.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as cause:
        raise IntegrityError(f"{path.name} is missing from the export", path=str(path)) from cause
    if size != facts["bytes"] or digest != facts["sha256"]:
        raise IntegrityError(
            f"{path.name} is not the file that was exported: {size} bytes, SHA-256 {digest}",
            path=str(path),
            advice="Copy the export again; every file must arrive whole.",
        )


def _check_table(folder: Path, name: str, facts: dict[str, Any]) -> None:
    try:
        with pq.ParquetFile(folder / facts["file"]) as file:
            found, meta = file.schema_arrow, file.metadata
            largest = max((meta.row_group(n).total_byte_size for n in range(meta.num_row_groups)), default=0)
            rows = meta.num_rows
    except (OSError, pa.ArrowException) as cause:
        raise IntegrityError(f"{facts['file']} cannot be read: {cause}", path=str(folder)) from cause
    wanted = {field.name: field.type for field in stored(name)}
    if {field.name: field.type for field in found} != wanted:
        raise SchemaError(f"{facts['file']} has other columns than the table {name}")
    if rows != facts["rows"]:
        raise IntegrityError(f"{facts['file']} holds {rows} rows, the manifest says {facts['rows']}")
    if largest > _LARGEST_GROUP:
        raise InputError(f"{facts['file']} unpacks to {largest:,} bytes at once: more than is ever written")
