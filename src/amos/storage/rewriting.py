"""Write several segments of one table anew as one, with or without some of their rows, in flat memory."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from amos.errors import IntegrityError
from amos.schemas.buffers import column_arrays
from amos.schemas.catalog import SegmentEntry
from amos.schemas.state import PRIMARY_KEYS, stored
from amos.storage.failpoints import reach
from amos.storage.files import disk_errors, draft_folder, sync_folder
from amos.storage.places import place
from amos.storage.segments import GROUP_ROWS, SegmentReader, parquet_options, segment_name

_NUMBERS = count()
Keep = Callable[[pa.Table], npt.NDArray[np.bool_]]
"""Tells per stored row (all columns) whether it stays."""


def rewrite(
    shard: Path, files: SegmentReader, entries: Sequence[SegmentEntry], keep: Keep | None = None
) -> SegmentEntry | None:
    """Return one new segment with the rows of `entries`, durable but not yet named by a commit.

    entries: segments of one table, adjacent in commit order.  keep: which rows stay, all when None.
    None when no row stays.  Memory holds two row groups at a time.  The rows are read back and compared by
    count and digest before the file counts.
    """
    table = entries[0].table
    constants = _shared_constants(entries)
    names = [name for name in stored(table).names if name not in constants]
    draft = _draft(shard, table)
    with disk_errors(draft):
        groups, digest = _write(draft, _chosen(files, entries, keep), names, table)
        try:
            if not groups:
                return None
            _compare(draft, groups, digest, names)
            first = min(entry.first_version for entry in entries)
            last = max(entry.last_version for entry in entries)
            return _place(shard, draft, (table, first, last), groups, constants)
        finally:
            draft.unlink(missing_ok=True)


def write_rows(
    shard: Path, table: str, versions: tuple[int, int], parts: Iterator[pa.Table]
) -> SegmentEntry | None:
    """Return a new segment with the stored rows of `parts`, durable but not yet named; None without rows.

    versions: of the first and the last commit among them.  Memory holds two row groups at a time.
    """
    names = stored(table).names
    draft = _draft(shard, table)
    with disk_errors(draft):
        groups, digest = _write(draft, parts, names, table)
        try:
            if not groups:
                return None
            _compare(draft, groups, digest, names)
            place(shard, "segments", table).mkdir(parents=True, exist_ok=True)
            return _place(shard, draft, (table, *versions), groups, {})
        finally:
            draft.unlink(missing_ok=True)


def _draft(shard: Path, table: str) -> Path:
    """Return a path for a draft that nobody else of this process writes to."""
    return draft_folder(shard) / f"rewrite-{table}-{next(_NUMBERS)}.parquet"


def _shared_constants(entries: Sequence[SegmentEntry]) -> dict[str, Any]:
    """Return the columns that hold the same one value in all segments; ids are never left out."""
    first, *rest = (json.loads(entry.constants) for entry in entries)
    key = PRIMARY_KEYS[entries[0].table]
    return {
        name: value
        for name, value in first.items()
        if name != key and all(name in other and other[name] == value for other in rest)
    }


def _chosen(files: SegmentReader, entries: Sequence[SegmentEntry], keep: Keep | None) -> Iterator[pa.Table]:
    for entry in entries:
        names = stored(entry.table).names
        for group in range(len(json.loads(entry.groups))):
            rows = files.read(entry, names, group=group)
            if keep is not None:
                kept = keep(rows)
                rows = rows if kept.all() else rows.filter(pa.array(kept))
            if len(rows):
                yield rows


def _in_groups(parts: Iterator[pa.Table]) -> Iterator[pa.Table]:
    """Yield the rows again in tables of GROUP_ROWS, the last one shorter."""
    waiting: list[pa.Table] = []
    held = 0
    for part in parts:
        waiting.append(part)
        held += len(part)
        while held >= GROUP_ROWS:
            whole = pa.concat_tables(waiting)
            yield whole.slice(0, GROUP_ROWS).combine_chunks()
            held -= GROUP_ROWS
            waiting = [whole.slice(GROUP_ROWS)] if held else []
    if held:
        yield pa.concat_tables(waiting).combine_chunks()


def _write(
    draft: Path, parts: Iterator[pa.Table], names: Sequence[str], table: str
) -> tuple[list[int], bytes]:
    """Write and sync the draft; return the rows per group and the digest of what was written."""
    groups: list[int] = []
    digest = hashlib.sha256()
    bare = pa.schema([stored(table).field(name).remove_metadata() for name in names])
    with draft.open("wb") as stream:
        with pq.ParquetWriter(stream, bare, **parquet_options(names)) as writer:
            for rows in _in_groups(parts):
                plain = rows.select(names).cast(bare)
                writer.write_table(plain, row_group_size=GROUP_ROWS)
                _digest_into(digest, plain)
                groups.append(len(plain))
        stream.flush()
        os.fsync(stream.fileno())
    reach("rewrite.drafted")
    return groups, digest.digest()


def _digest_into(digest: Any, rows: pa.Table) -> None:
    """Add the values of `rows` to a running digest, however they are laid out in memory."""
    for column in rows.columns:
        if column.null_count:
            digest.update(np.packbits(column.is_null().to_numpy(zero_copy_only=False)))
            column = column.drop_null()
        arrays = column_arrays(column)
        if arrays.offsets is None:
            digest.update(np.ascontiguousarray(arrays.values))
            continue
        start, stop = int(arrays.offsets[0]), int(arrays.offsets[-1])
        digest.update(np.diff(arrays.offsets))
        if arrays.inner is not None:
            edges = arrays.inner[start : stop + 1]
            digest.update(np.diff(edges))
            start, stop = (int(edges[0]), int(edges[-1])) if len(edges) else (0, 0)
        digest.update(np.ascontiguousarray(arrays.values[start:stop]))


def _compare(draft: Path, groups: Sequence[int], digest: bytes, names: Sequence[str]) -> None:
    """Read the draft back.  Raises IntegrityError when it is not what was written."""
    found = hashlib.sha256()
    with pq.ParquetFile(draft, page_checksum_verification=True) as file:
        counts = [file.metadata.row_group(group).num_rows for group in range(file.metadata.num_row_groups)]
        if counts != list(groups):
            raise IntegrityError(f"{draft.name} holds {sum(counts)} rows, not {sum(groups)}", path=draft.name)
        for group in range(len(groups)):
            _digest_into(found, file.read_row_group(group, columns=list(names)).combine_chunks())
    if found.digest() != digest:
        raise IntegrityError(f"{draft.name} does not hold what was written", path=draft.name)


def _place(
    shard: Path,
    draft: Path,
    named: tuple[str, int, int],
    groups: Sequence[int],
    constants: dict[str, Any],
) -> SegmentEntry:
    """Name a draft: `named` is its table and the versions of its first and last commit."""
    table = named[0]
    with draft.open("rb") as stream:
        sha256 = hashlib.file_digest(stream, "sha256").digest()
    file = segment_name(table, named[1], named[2], sha256)
    path = place(shard, "segments", table, Path(file).name)
    size = draft.stat().st_size
    draft.replace(path)
    sync_folder(path.parent)
    reach("rewrite.placed")
    return SegmentEntry(
        0, *named, sum(groups), size, sha256, file,
        json.dumps(constants, sort_keys=True), json.dumps(list(groups)),
    )  # fmt: skip
