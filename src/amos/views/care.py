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
    yield from _dropped_lines(record["dropped"], is_dry=is_dry)
    if record["removed_files"]:
        yield f"Removed {plural(record['removed_files'], 'replaced file')}."


def _dropped_lines(dropped: Record | None, *, is_dry: bool) -> Iterator[str]:
    if dropped is None:
        return
    verb = "Would drop" if is_dry else "Dropped"
    for table, count in dropped["rows"].items():
        yield f"{verb} {plural(count, 'superseded row')} of {table}."
    if dropped["rows"]:
        tense = "could then" if is_dry else "can now"
        yield f"Graph versions below {dropped['retained_from']} {tense} no longer be asked."
    else:
        yield "No superseded rows to drop."


def snapshot_lines(record: Record) -> Iterator[str]:
    """Yield what was registered, or that nothing new was there."""
    version = record["graph_version"]
    if not record["is_new"]:
        yield f"Graph version {version} is registered already; nothing was committed since."
        return
    rows = sum(record["rows"].values())
    yield f"Registered graph version {version}: {plural(rows, 'row')}, {plural(record['events'], 'event')}."
    yield f"state digest {record['state_digest']}"
