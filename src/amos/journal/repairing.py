"""Plan a repair: what follows from the events, what a backup holds, and what nothing can bring back."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from amos.errors import IntegrityError
from amos.journal.catalog_check import CatalogSource, Kept, Told
from amos.journal.chain_check import digest_rows, event_checksums
from amos.journal.events import FIRST_LINK, canonical_json, next_link
from amos.journal.history_check import ROW_TABLES, HistorySource
from amos.journal.promises import TAKING, Promised, promised_by_table
from amos.journal.rows import stored_commitments, unpack_blobs
from amos.journal.streams import RowStream
from amos.kernels.merkle import merkle_roots
from amos.schemas.catalog import CommitEntry, HotEntry, Layout, SegmentEntry, SnapshotEntry

HotRows = Mapping[tuple[str, int], HotEntry]


class Remedy(NamedTuple):
    """One thing that a repair does: what for, where, and how."""

    kind: str
    where: str
    action: str


class Derived(NamedTuple):
    """What the events of a shard tell of its catalog.

    commits: rows of the commit log that differ or are missing.  meta: likewise values of `meta`.
    snapshots: likewise registered states.
    broken_at: number of the first event that does not follow from those before it; None when all do.
    """

    commits: list[CommitEntry]
    meta: dict[str, Any]
    snapshots: list[SnapshotEntry]
    promised: dict[str, list[Promised]]
    broken_at: int | None


def derive(
    source: HistorySource, catalog: CatalogSource, layout: Layout, sound: Sequence[SegmentEntry]
) -> Derived:
    """Return what follows from the events, as far as their chain holds by itself."""
    logged = _known([entry for page in source.commit_pages(until=2**62) for entry in page])
    stream = RowStream(source, "events", sound, layout.hot, lambda *_: None)
    promised: dict[str, list[Promised]] = {}
    commits: list[CommitEntry] = []
    kept = Kept()
    link, seen, below, broken_at = FIRST_LINK, 0, 0, None
    for events in stream.rest():
        found, taking, _ = promised_by_table(events, seen + 1)
        for table, said in found.items():
            promised.setdefault(table, []).append(said)
        kept.add(events)
        stated = [json.loads(one.payload).get("below") for one in taking if one.event_type in TAKING]
        below = max([below, *(one for one in stated if isinstance(one, int))])
        links = _links(events, link)
        seen += len(links) - 1
        commits += _commits(events.slice(0, len(links) - 1), links, logged, commits)
        link = links[-1]
        if len(links) <= len(events):
            broken_at = seen + 1
            break
    if broken_at is not None and commits:
        commits.pop()  # its last events may be missing
    changed = [entry for entry in commits if logged.get(entry.graph_version) != entry]
    meta = _meta(catalog, below if broken_at is None else None)
    snapshots = [] if broken_at is not None else _snapshots(catalog, kept.told, {**logged, **_known(changed)})
    return Derived(changed, meta, snapshots, promised, broken_at)


def _known(commits: Sequence[CommitEntry]) -> dict[int, CommitEntry]:
    return {entry.graph_version: entry for entry in commits}


def _snapshots(
    catalog: CatalogSource, told: Sequence[Told], logged: Mapping[int, CommitEntry]
) -> list[SnapshotEntry]:
    """Return the states that events registered and that the catalog keeps otherwise or not at all."""
    found = {}
    for event in told:
        said = event.content
        version: Any = said.get("graph_version")
        if event.event_type == "snapshot_registered" and version in logged:
            terms = event.occurred_us, said["state"], said["events"], logged[version].link
            found[version] = SnapshotEntry(version, *terms, canonical_json(said["counts"]))
    kept = set(catalog.snapshots())
    return [entry for entry in found.values() if entry not in kept]


def _links(events: pa.Table, link: bytes) -> list[bytes]:
    """Return the running links before the first event and after each one that follows soundly."""
    links = [link]
    pairs = zip(
        event_checksums(events),
        digest_rows(events.column("checksum")),
        digest_rows(events.column("previous_event_hash")),
        strict=True,
    )
    for recomputed, checksum, previous in pairs:
        if not np.array_equal(recomputed, checksum) or previous.tobytes() != links[-1]:
            break
        links.append(next_link(links[-1], checksum.tobytes()))
    return links


def _commits(
    events: pa.Table,
    links: Sequence[bytes],
    logged: Mapping[int, CommitEntry],
    earlier: list[CommitEntry],
) -> Iterator[CommitEntry]:
    """Yield the commits of some events; one that began in `earlier` takes its place there."""
    names = ("version", "actor", "payload", "authorization_context")
    columns = [events.column(name).to_pylist() for name in names]
    times = [events.column(name).cast(pa.int64()).to_pylist() for name in ("accepted_at", "occurred_at")]
    entry = earlier.pop() if earlier and len(events) and earlier[-1].graph_version == columns[0][0] else None
    for place, row in enumerate(zip(*columns, *times, strict=True)):
        version, actor, payload, authorization, accepted, occurred = row
        if entry is not None and entry.graph_version == version:
            entry = entry._replace(event_count=entry.event_count + 1, link=links[place + 1])
            continue
        if entry is not None:
            yield entry
        run = json.loads(authorization).get("run")
        known = logged.get(version)
        run_id = bytes.fromhex(run) if run is not None else bytes(16) if known is None else known.run_id
        operation = json.loads(payload)["operation"]
        terms = operation, actor, run_id, accepted, accepted - occurred
        entry = CommitEntry(version, *terms, 1, links[place + 1])
    if entry is not None:
        yield entry


def _meta(catalog: CatalogSource, below: int | None) -> dict[str, Any]:
    """Return the values of `meta` that are not what they must be."""
    wanted: dict[str, Any] = dict(zip(("tenant", "workspace"), catalog.labels(), strict=True))
    if below:
        wanted["retained_from"] = below
    for name in ("seal_count", "erase_count"):
        if not isinstance(catalog.meta(name), int):
            wanted[name] = 0
    return {name: value for name, value in wanted.items() if catalog.meta(name) != value}


def damaged_hot(layout: Layout, derived: Derived) -> list[tuple[str, int]]:
    """Return table and graph version of hot rows that are missing or are not those of their events."""
    held = {(entry.table, entry.graph_version): entry for entry in layout.hot}
    ranges = {
        table: [(one.first_version, one.last_version) for one in layout.segments if one.table == table]
        for table in ROW_TABLES
    }
    found = []
    for table, parts in derived.promised.items():
        for version in sorted({version for said in parts for version in said.versions.tolist()}):
            if table not in ranges or any(first <= version <= last for first, last in ranges[table]):
                continue
            entry = held.get((table, version))
            if entry is None or not keeps_promise(entry, derived):
                found.append((table, version))
    return found


def keeps_promise(entry: HotEntry, derived: Derived) -> bool:
    """Return whether hot rows are those that the events of their commit promise."""
    said = [
        part.chosen(np.flatnonzero(part.versions == entry.graph_version))
        for part in derived.promised.get(entry.table, [])
    ]
    said = [part for part in said if len(part.versions)]
    try:
        rows = unpack_blobs(entry.table, [entry])
        rows.validate(full=True)
        digests = stored_commitments(entry.table, rows)
    except (IntegrityError, pa.ArrowException, ValueError):
        return False
    sizes = np.concatenate([part.rows for part in said])
    if sizes.sum() != len(digests):
        return False
    roots, start = merkle_roots(digests, sizes), 0
    for part in said:
        stop = start + len(part.versions)
        if not part.are_kept(np.arange(len(part.versions)), roots[start:stop]).all():
            return False
        start = stop
    return True


def replacements(wanted: Sequence[tuple[str, int]], backup: HotRows, derived: Derived) -> list[HotEntry]:
    """Return hot rows of a backup that are what the events promise, for those that are wanted."""
    found = [backup[place] for place in wanted if place in backup]
    return [entry for entry in found if keeps_promise(entry, derived)]


def remedies(
    derived: Derived, counters: Sequence[str], files: Sequence[SegmentEntry], hot: Sequence[HotEntry]
) -> Iterator[Remedy]:
    """Yield what will be done, one remedy each."""
    for entry in files:
        yield Remedy("segment", entry.file, "copied from the backup: its SHA-256 is the catalog's")
    for commit in derived.commits:
        yield Remedy("commit_log", f"commit {commit.graph_version}", "written anew from its events")
    for rows in hot:
        where = f"hot rows of {rows.table}, commit {rows.graph_version}"
        yield Remedy("hot_rows", where, "copied from the backup: they are what their event promises")
    for state in derived.snapshots:
        yield Remedy("snapshot", f"snapshot {state.graph_version}", "registered again as its event says")
    for name in derived.meta:
        yield Remedy("counter", f"meta {name}", "set to what events and folders say")
    for name in counters:
        yield Remedy("counter", f"meta {name}", "counted anew")


def tally_remedies(tables: Sequence[str]) -> Iterator[Remedy]:
    """Yield what is done about tables beside the memory whose rows are not those that were written."""
    for name in tables:
        where = "meta created_at" if name == "meta" else f"table {name}"
        yield Remedy("counter", where, "taken as it stands: what it was is told by nothing else")
