"""Sealed rows: immutable Parquet files, checked before their first use."""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from amos.errors import IntegrityError
from amos.schemas.buffers import ColumnArrays, column_arrays
from amos.schemas.catalog import SegmentEntry
from amos.schemas.state import stored
from amos.storage.failpoints import reach
from amos.storage.files import disk_errors, draft_folder, place_file
from amos.storage.places import place
from amos.storage.stamps import Stamps, stamp_of

GROUP_ROWS = 20_000
_OPEN_FILES = 32
_LONGEST_CONSTANT = 256
"""Bytes or items of the longest value that moves to the catalog: long texts stay in one place."""
_REPETITIVE = frozenset(
    [
        "format",
        "kind",
        "role",
        "trust",
        "author",
        "author_id",
        "channel",
        "zone",
        "conversation_id",
        "session",
        "scope_project",
        "scope_user",
        "scope_agent",
        "scope_session",
        "scope_task",
        "scope_tool_environment",
        "purposes",
        "extractor",
        "pattern",
        "type",
        "memory_class",
        "subject_id",
        "polarity",
        "modality",
        "gate",
        "outcome",
        "action",
        "reasons",
        "policy",
        "lifecycle_state",
        "health_status",
        "layer",
        "retention_class",
        "relation",
        "derivation",
        "reason",
        "status",
        "event_type",
        "schema_version",
        "actor",
        "projection_status",
        "result_status",
        "authorization_context",
    ]
)
"""Columns whose values repeat so much that a dictionary pays."""
_STEADY = {
    **dict.fromkeys(
        ["event_time", "observed_at", "ingest_time", "started_at", "occurred_at", "accepted_at"],
        "DELTA_BINARY_PACKED",
    ),
    **dict.fromkeys(["turn", "graph_version", "row_number"], "DELTA_BINARY_PACKED"),
    **dict.fromkeys(["delivery_key", "event_text", "locator"], "DELTA_BYTE_ARRAY"),
}
"""Columns that change little from row to row: only the differences are written."""


class Built(NamedTuple):
    """A segment before it has a place: the file's bytes and what the catalog must know."""

    payload: bytes
    sha256: bytes
    constants: str
    groups: str
    row_count: int


def build_segment(rows: pa.Table, *, keep: str) -> Built:
    """Return the Parquet file of `rows`; columns of one value go to `constants`, `keep` never does."""
    constants: dict[str, Any] = {}
    names = []
    for field in rows.schema:
        arrays = column_arrays(rows.column(field.name))
        if field.name != keep and _is_constant(arrays):
            constants[field.name] = _plain_value(arrays)
        else:
            names.append(field.name)
    sink = pa.BufferOutputStream()
    bare = rows.select(names).replace_schema_metadata(None)
    pq.write_table(bare, sink, row_group_size=GROUP_ROWS, **parquet_options(names))
    payload = sink.getvalue().to_pybytes()
    groups = [min(GROUP_ROWS, len(rows) - start) for start in range(0, len(rows), GROUP_ROWS)]
    return Built(
        payload,
        hashlib.sha256(payload).digest(),
        json.dumps(constants, sort_keys=True),
        json.dumps(groups),
        len(rows),
    )


def parquet_options(names: Sequence[str]) -> dict[str, Any]:
    """Return how segments with the columns `names` are written."""
    return {
        "compression": "zstd",
        "compression_level": 1,
        "use_dictionary": [
            path for name in names if name in _REPETITIVE for path in (name, f"{name}.list.element")
        ],
        "column_encoding": {name: _STEADY[name] for name in names if name in _STEADY} or None,
        "write_page_checksum": True,
        "write_statistics": False,
        "store_schema": False,
    }


def _is_constant(column: ColumnArrays) -> bool:
    if column.valid is not None:
        return not column.valid.any()
    if column.kind == "int":
        return bool((column.values == column.values[:1]).all())
    if column.rows < 2:  # one text gains nothing by standing in the catalog
        return False
    assert column.offsets is not None
    if column.offsets[1] - column.offsets[0] > _LONGEST_CONSTANT:
        return False
    if column.kind == "texts":
        return _repeats(column.offsets, None) and _is_constant_list(column)
    return _repeats(column.offsets, column.values)


def _repeats(offsets: Any, values: Any) -> bool:
    """Return whether all runs between `offsets` are equal; without values, equally long."""
    sizes = np.diff(offsets)
    if len(sizes) == 0 or not (sizes == sizes[0]).all():
        return len(sizes) == 0
    if values is None or sizes[0] == 0:
        return True
    table = values[offsets[0] : offsets[-1]].reshape(len(sizes), sizes[0])
    return bool((table == table[0]).all())


def _is_constant_list(column: ColumnArrays) -> bool:
    assert column.offsets is not None
    assert column.inner is not None
    inner = column.inner[column.offsets[0] : column.offsets[-1] + 1]
    per_row = int(column.offsets[1] - column.offsets[0])
    if per_row == 0:
        return True
    sizes = np.diff(inner).reshape(column.rows, per_row)
    return bool((sizes == sizes[0]).all()) and _repeats(inner[::per_row], column.values)


def _plain_value(column: ColumnArrays) -> Any:
    """Return the one value of a constant column as JSON: numbers, hex text or lists of them."""
    if column.valid is not None:
        return None
    if column.kind == "int":
        return int(column.values[0])
    assert column.offsets is not None
    start, stop = int(column.offsets[0]), int(column.offsets[1])
    if column.kind == "bytes":
        return column.values[start:stop].tobytes().hex()
    if column.kind == "ints":
        return column.values[start:stop].tolist()
    assert column.inner is not None
    cuts = column.inner[start : stop + 1].tolist()
    return [column.values[a:b].tobytes().hex() for a, b in pairwise(cuts)]


def constant_column(kind: pa.DataType, value: Any, count: int) -> pa.Array:
    """Return `count` times the catalog's `value` as a column of type `kind`."""
    if value is None:
        return pa.nulls(count, kind)
    return pa.repeat(_scalar(kind, value), count)


def _scalar(kind: pa.DataType, value: Any) -> pa.Scalar:
    if pa.types.is_list(kind):
        items = [_raw(kind.value_type, item) for item in value]
        return pa.scalar(items, kind)
    if pa.types.is_timestamp(kind):
        return pa.scalar(value, pa.int64()).cast(kind)
    return pa.scalar(_raw(kind, value), kind)


def _raw(kind: pa.DataType, value: Any) -> Any:
    if pa.types.is_boolean(kind):
        return bool(value)
    if not isinstance(value, str):
        return value
    raw = bytes.fromhex(value)
    return raw.decode() if pa.types.is_string(kind) else raw


def segment_name(table: str, first: int, last: int, sha256: bytes) -> str:
    """Return the path of a segment relative to its shard."""
    return f"segments/{table}/{first}-{last}-{sha256.hex()}.parquet"


def place_segment(shard: Path, table: str, versions: tuple[int, int], built: Built) -> SegmentEntry:
    """Write a segment durably; it becomes visible when a commit names it."""
    file = segment_name(table, *versions, built.sha256)
    path = place(shard, "segments", table, Path(file).name)
    with disk_errors(path):
        path.parent.mkdir(exist_ok=True)
        place_file(path, built.payload, drafts=draft_folder(shard))
    reach("segment.placed")
    return SegmentEntry(
        0, table, *versions, built.row_count, len(built.payload), built.sha256, file,
        built.constants, built.groups,
    )  # fmt: skip


class SegmentReader:
    """Reads columns of segments of one shard; each file is verified before its first use."""

    def __init__(self, shard: Path) -> None:
        self._shard = shard
        self._stamps = Stamps(shard)
        self._checked: set[str] = set()
        self._open: OrderedDict[str, pq.ParquetFile] = OrderedDict()

    def trust(self, entry: SegmentEntry) -> None:
        """Take a file that this process has just written as verified."""
        self._checked.add(entry.file)
        self._stamps.add(entry.file, stamp_of(self.path(entry)))

    def path(self, entry: SegmentEntry) -> Path:
        """Return where a segment's file stands."""
        return place(self._shard, "segments", *Path(entry.file).parts[1:])

    def verify(self, entry: SegmentEntry) -> None:
        """Hash the whole file.  Raises IntegrityError when it is missing or differs."""
        path = self.path(entry)
        digest = hashlib.sha256()
        try:
            with path.open("rb") as stream:
                while block := stream.read(1 << 20):
                    digest.update(block)
        except FileNotFoundError as cause:
            raise IntegrityError(f"{entry.file} is missing", path=entry.file) from cause
        if digest.digest() != entry.sha256:
            raise IntegrityError(
                f"{entry.file}: SHA-256 is {digest.hexdigest()}, the catalog says {entry.sha256.hex()}",
                path=entry.file,
            )

    def scrub(self, entry: SegmentEntry) -> None:
        """Hash the whole file, and take it as verified when it is what was written; see `verify`."""
        try:
            stamp = stamp_of(self.path(entry))
        except FileNotFoundError as cause:
            raise IntegrityError(f"{entry.file} is missing", path=entry.file) from cause
        self.verify(entry)
        self._stamps.add(entry.file, stamp)
        self._checked.add(entry.file)

    def _ensure_checked(self, entry: SegmentEntry) -> None:
        if entry.file in self._checked:
            return
        path = self.path(entry)
        try:
            stamp = stamp_of(path)
        except FileNotFoundError as cause:
            raise IntegrityError(f"{entry.file} is missing", path=entry.file) from cause
        if not self._stamps.holds(entry.file, stamp):
            self.verify(entry)
            self._stamps.add(entry.file, stamp)
        self._checked.add(entry.file)

    def _parquet(self, entry: SegmentEntry) -> pq.ParquetFile:
        found = self._open.get(entry.file)
        if found is None:
            self._ensure_checked(entry)
            found = pq.ParquetFile(self.path(entry), page_checksum_verification=True, memory_map=True)
            self._open[entry.file] = found
            while len(self._open) > _OPEN_FILES:
                self._open.popitem(last=False)[1].close()
        self._open.move_to_end(entry.file)
        return found

    def read(self, entry: SegmentEntry, columns: Sequence[str], *, group: int | None = None) -> pa.Table:
        """Return columns of a segment, or of one of its row groups, in the order asked for.

        Raises IntegrityError when the file, a page or the row count is not what was written.
        """
        constants = json.loads(entry.constants)
        wanted = [name for name in columns if name not in constants]
        counts = json.loads(entry.groups)
        count = entry.row_count if group is None else counts[group]
        table = self._read_stored(entry, wanted, group) if wanted else None
        if table is not None and len(table) != count:
            raise IntegrityError(f"{entry.file} holds {len(table)} rows, not {count}", path=entry.file)
        schema = stored(entry.table)
        fields = [schema.field(name) for name in columns]
        arrays = [
            constant_column(field.type, constants[field.name], count)
            if field.name in constants
            else _typed(table.column(field.name), field.type)  # type: ignore[union-attr]
            for field in fields
        ]
        return pa.Table.from_arrays(arrays, schema=pa.schema(fields))

    def _read_stored(self, entry: SegmentEntry, names: list[str], group: int | None) -> pa.Table:
        try:
            file = self._parquet(entry)
            if group is None:
                return file.read(columns=names)
            return file.read_row_group(group, columns=names)
        except (OSError, pa.ArrowException) as cause:
            raise IntegrityError(f"{entry.file} cannot be read: {cause}", path=entry.file) from cause

    def close(self) -> None:
        """Close files and keep what was verified."""
        while self._open:
            self._open.popitem()[1].close()
        self._stamps.save()


def _typed(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    return column if column.type == kind else column.cast(kind)
