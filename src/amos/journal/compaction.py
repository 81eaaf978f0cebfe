"""What a compaction did, or would do, to the segments of a shard."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from amos.schemas.catalog import SegmentEntry


class Merge(NamedTuple):
    """Neighbouring segments of one table that become one; `written` is 0 while only planned."""

    table: str
    segments: int
    rows: int
    read_bytes: int
    written_bytes: int


class Compaction(NamedTuple):
    """All merges, and segments per table before and after."""

    merges: list[Merge]
    before: dict[str, int]
    after: dict[str, int]
    removed_files: int

    def as_record(self) -> dict[str, Any]:
        """Return the compaction as plain values, for JSON."""
        return {
            "merges": [merge._asdict() for merge in self.merges],
            "segments_before": self.before,
            "segments_after": self.after,
            "removed_files": self.removed_files,
        }


def merge_of(run: Sequence[SegmentEntry], made: SegmentEntry | None) -> Merge:
    """Return what merging `run` into `made` did."""
    return Merge(
        run[0].table,
        len(run),
        sum(entry.row_count for entry in run),
        sum(entry.byte_count for entry in run),
        0 if made is None else made.byte_count,
    )


def segments_per_table(entries: Iterable[SegmentEntry]) -> dict[str, int]:
    """Return how many segments each table has."""
    counts: dict[str, int] = {}
    for entry in entries:
        counts[entry.table] = counts.get(entry.table, 0) + 1
    return counts
