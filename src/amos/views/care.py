"""What the care of a store did, as people read it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from amos.views.plain import amount, plural

Record = Mapping[str, Any]


def compact_lines(record: Record) -> Iterator[str]:
    """Yield one line per merge, and what is left."""
    is_dry = record["dry_run"]
    for merge in record["merges"]:
        verb = "would merge" if is_dry else "merged"
        size = amount(merge["read_bytes"])
        written = "" if is_dry else f", now {amount(merge['written_bytes'])}"
        files = plural(merge["segments"], "segment")
        yield f"{verb} {files} of {merge['table']} ({plural(merge['rows'], 'row')}, {size}{written})"
    before, after = sum(record["segments_before"].values()), sum(record["segments_after"].values())
    if not record["merges"]:
        yield f"Nothing to merge: {plural(before, 'segment')}, few enough per table."
    elif not is_dry:
        yield f"{plural(before, 'segment')} before, {after} now."
    if record["removed_files"]:
        yield f"Removed {plural(record['removed_files'], 'replaced file')}."
