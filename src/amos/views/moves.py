"""What backing up, restoring, exporting and importing did, as people read it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from amos.views.plain import amount, plural, visible

Record = Mapping[str, Any]


def backup_lines(record: Record) -> Iterator[str]:
    """Yield what a backup holds, and what was copied."""
    version = record["graph_version"] or 0
    if record["dry_run"]:
        yield f"Would back up graph version {version}: {_size(record)}."
        return
    yield f"Backed up graph version {version} to {record['place']}: {_size(record)}."
    new = f"{plural(record['segments_written'], 'new segment')} ({amount(record['bytes_written'])})"
    yield f"Copied the catalog and {new}."
    if record["segments_removed"]:
        yield f"Removed {plural(record['segments_removed'], 'segment')} that the store no longer has."
    if record["with_keys"]:
        yield "The key is in it: whoever has the backup can read and change everything."
    else:
        yield "The key is not in it: keep a copy of keys.sqlite elsewhere, nothing opens without it."
    if not record["registered"]:
        yield "The store could not note where it is: no `amos forget` will name this copy."


def restore_lines(record: Record) -> Iterator[str]:
    """Yield what was restored, and what was forgotten again."""
    verb = "Would restore" if record["dry_run"] else "Restored"
    yield f"{verb} graph version {record['backup_version'] or 0} to {record['place']}: {_size(record)}."
    erased = sum(record["erased_again"].values())
    if erased or record["tombstones"]:
        forgotten = f"{plural(erased, 'row')} and {plural(record['tombstones'], 'tombstone')}"
        yield f"Forgotten again, as since the backup: {forgotten}."
    for folder in record["unread"]:
        yield f"Not read, so that what was forgotten in it since the backup is back: {folder}."
    if not record["ledgers"] and not record["unread"]:
        yield "No store of its key was at hand: what was forgotten since is back. Name one with `-s`."
    yield f"It verifies, with state digest {record['state_digest']}."
    if record["moved_aside"]:
        verb = "would be" if record["dry_run"] else "was"
        yield f"What stood there {verb} moved to {record['moved_aside']}: delete it when you are sure."


def written_lines(record: Record) -> Iterator[str]:
    """Yield where an export went, and what it leaves out."""
    yield f"{record['place']}: {plural(record['rows'], 'row')}, {amount(record['bytes'])}."
    if record.get("state_digest"):
        yield f"State digest {record['state_digest']}."
    if record["format"] == "parquet":
        if record["keyed"]:
            yield "The key is in it, wrapped."
        elif record["tombstones"]:
            count = plural(record["tombstones"], "tombstone")
            yield f"No key in it: {count} not transferable, except to a store of the same key."
        else:
            yield "No key in it: tombstones not transferable."
    for what in record["left_out"]:
        yield f"Left out: {what}."
    if not record["registered"]:
        yield "The store could not note where it is: no `amos forget` will name this copy."


def import_lines(record: Record) -> Iterator[str]:
    """Yield what an import brought, and how the state compares."""
    would = "Would become" if record["dry_run"] else "It is"
    if record["mode"] == "adopted":
        yield f"The export verifies. {would} this store, with {plural(record['rows'], 'row')}."
        yield f"State digest {record['state_digest']}."
        return
    counts = record["sources"]
    told = f"{counts['new']:,} new, {counts['linked']:,} were here, {counts['rejected']:,} refused"
    yield f"Read {plural(record['records_read'], 'record')}: {told}, {counts['unreadable']:,} without text."
    yield from _beside_lines(record)
    if record["dry_run"]:
        return
    reviews = record["reviews"]
    if any(reviews.values()):
        came = f"{reviews['repeated']:,} came along, {reviews['linked']:,} were here"
        yield f"Decisions of people: {came}, {reviews['refused']:,} do not fit what is stored here."
    outcomes = record["outcomes"]
    if any(outcomes.values()):
        came = f"{outcomes['repeated']:,} came along, {outcomes['linked']:,} were here"
        yield f"Outcomes of packets: {came}, {outcomes['refused']:,} do not fit what is stored here."
    if record["state_digest_equal"]:
        yield "The state is that of the export."
    for what, count in record["differs_by"].items():
        yield f"Differs from the export by {what}: {count:,}."


def _beside_lines(record: Record) -> Iterator[str]:
    """Yield what becomes of the bans and the legal holds of an export."""
    left = record["tombstones"]["not_transferable"]
    if left:
        count = plural(left, "tombstone")
        yield f"{count} of the export: its own key alone applies them, they do not come along."
    holds = record["holds"]
    if record["dry_run"]:
        if holds["found"]:
            count = plural(holds["found"], "legal hold")
            yield f"{count} in the export: what they protect is looked for here when it is imported."
        return
    if holds["repeated"] or holds["linked"] or holds["refused"]:
        yield f"Legal holds: {holds['repeated']:,} came along, {holds['linked']:,} were here."
    for hold in holds["lost"]:
        thing = hold["ref"] or "everything"
        told = f"{hold['hold_id']} ({visible(hold['reason'])})"
        yield f"Legal hold {told} did not come along: what it protects is not here ({visible(thing)})."


def _size(record: Record) -> str:
    return f"{plural(record['segments'], 'segment')}, {amount(record['bytes'])}"
