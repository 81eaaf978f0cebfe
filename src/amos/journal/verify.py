"""Verify a shard: that its files, chain and rows are what was committed, and agree with each other."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import NamedTuple, Protocol

import pyarrow as pa

from amos.errors import EngineError, IntegrityError
from amos.journal.chain_check import Promises, check_chain, promises
from amos.journal.findings import VerifyReport
from amos.journal.reference_check import check_contents, check_decisions, check_spans, check_versions
from amos.journal.row_check import check_rows_of, erased_by_table, missing_rows
from amos.journal.rows import stored, unpack_blobs
from amos.journal.snapshot import Snapshot
from amos.schemas.catalog import ErasedRow, HotEntry, Records, SegmentEntry, text_digest
from amos.schemas.state import PRIMARY_KEYS, TABLES, VERSION_COLUMNS

Progress = Callable[[str, int, int], None]
"""Called with a phase, what is done and the total."""


class Verifiable(Protocol):
    """What verification needs of a shard."""

    def pin(self, version: int | None = None) -> Snapshot:
        """Return a snapshot."""

    def records(self) -> Records:
        """Return the catalog's rows."""

    def orphans(self) -> list[str]:
        """Return files no commit names."""

    def check_segment(self, entry: SegmentEntry) -> None:
        """Hash a file."""

    def read_segment(self, entry: SegmentEntry) -> pa.Table:
        """Read a file."""

    def check_catalog(self) -> list[str]:
        """Check the catalog's own structure."""

    def erased_rows(self) -> list[tuple[ErasedRow, int]]:
        """Return the rows that are gone, each with the commit that took it."""

    def texts(self) -> list[tuple[bytes, str, str]]:
        """Return the kept texts: digest, kind, body."""


class _Unit(NamedTuple):
    """Rows of whole commits of one table, and where they stand."""

    table: str
    where: str
    first: int
    last: int
    load: Callable[[], pa.Table]


def verify_shard(
    shard: Verifiable,
    *,
    progress: Progress | None = None,
    digest: Callable[[Snapshot], str] | None = None,
) -> VerifyReport:
    """Check everything that can be checked without re-running extraction; changes nothing.

    digest: computes the state digest for the report.  Damage becomes rows of the report, never an
    exception.
    """
    began = time.perf_counter()
    report = VerifyReport(mode="fast", graph_version=None)
    try:
        _verify(shard, report, progress or (lambda *_: None), digest)
    except EngineError as cause:
        report.add("unreadable", cause.path or "shard", cause.message)
    report.seconds = time.perf_counter() - began
    return report


def _verify(
    shard: Verifiable,
    report: VerifyReport,
    progress: Progress,
    digest: Callable[[Snapshot], str] | None,
) -> None:
    for detail in shard.check_catalog():
        report.add("catalog_damaged", "shard.sqlite", detail)
    records = shard.records()
    head = records.commits[-1].graph_version if records.commits else 0
    report.graph_version = head or None
    report.checked["commits"] = len(records.commits)
    for digest_kept, kind, body in shard.texts():
        if text_digest(body) != digest_kept:
            report.add("text_changed", f"{kind} {digest_kept.hex()}", "its digest is not that of its body")
    for file in shard.orphans():
        report.add("segment_orphan", file, "no commit names it; the next write removes it")
    sound = list(_sound_segments(shard, records, report, progress))
    expected = _check_events(shard, records, sound, report)
    _check_tables(shard, records, sound, expected, (report, progress))
    if report.ok:
        # rows are known to be what was committed: now whether they agree
        with shard.pin(head) as snapshot:
            _check_references(snapshot, report, progress)
            report.state_digest = digest(snapshot) if digest else None


def _sound_segments(
    shard: Verifiable, records: Records, report: VerifyReport, progress: Progress
) -> Iterator[SegmentEntry]:
    """Yield the segments whose whole file hashes to what the catalog says."""
    total = sum(entry.byte_count for entry in records.segments)
    for entry in records.segments:
        report.checked["segments"] += 1
        report.checked["bytes"] += entry.byte_count
        try:
            shard.check_segment(entry)
        except IntegrityError as cause:
            kind = "segment_missing" if "is missing" in cause.message else "segment_damaged"
            report.add(kind, entry.file, cause.message)
        else:
            yield entry
        progress("files", report.checked["bytes"], total)


def _units(shard: Verifiable, records: Records, sound: list[SegmentEntry], table: str) -> list[_Unit]:
    """Return the readable places of one table's rows, in commit order."""
    found = [
        _Unit(table, entry.file, entry.first_version, entry.last_version, _segment_loader(shard, entry))
        for entry in sound
        if entry.table == table
    ]
    blobs = [entry for entry in records.hot if entry.table == table]
    try:
        rows = unpack_blobs(table, blobs) if blobs else None
    except IntegrityError:
        found += [_hot_unit([entry]) for entry in blobs]  # one by one, to name the damaged ones
    else:
        if rows is not None:
            found.append(_hot_unit(blobs)._replace(load=lambda: rows))
    return sorted(found, key=lambda unit: unit.first)


def _segment_loader(shard: Verifiable, entry: SegmentEntry) -> Callable[[], pa.Table]:
    return lambda: shard.read_segment(entry)


def _hot_unit(entries: list[HotEntry]) -> _Unit:
    table, first, last = entries[0].table, entries[0].graph_version, entries[-1].graph_version
    return _Unit(table, f"hot rows of {table}", first, last, lambda: unpack_blobs(table, entries))


def _read_units(units: list[_Unit], report: VerifyReport) -> Iterator[pa.Table]:
    for unit in units:
        try:
            rows = unit.load()
            rows.validate(full=True)
        except (IntegrityError, pa.ArrowInvalid) as cause:
            kind = "hot_damaged" if unit.where.startswith("hot rows") else "segment_damaged"
            report.add(kind, f"{unit.where}, commits {unit.first} to {unit.last}", str(cause))
        else:
            yield rows


def _check_events(
    shard: Verifiable, records: Records, sound: list[SegmentEntry], report: VerifyReport
) -> Promises:
    parts = list(_read_units(_units(shard, records, sound, "events"), report))
    events = pa.concat_tables([stored("events").empty_table(), *parts]).sort_by(
        [("graph_version", "ascending"), ("row_number", "ascending")]
    )
    report.checked["events"] = len(events)
    report.problems += check_chain(records.commits, events)
    expected, problems = promises(events)
    report.problems += problems
    return expected


def _check_tables(
    shard: Verifiable,
    records: Records,
    sound: list[SegmentEntry],
    expected: Promises,
    reporting: tuple[VerifyReport, Progress],
) -> None:
    report, progress = reporting
    total = sum(entry.row_count for entry in records.segments if entry.table != "events")
    total += sum(entry.row_count for entry in records.hot if entry.table != "events")
    erased = erased_by_table(shard.erased_rows())
    if erased:
        report.checked["erased"] = sum(len(rows) for commits in erased.values() for rows in commits.values())
    for table in TABLES:
        if table == "events":
            continue
        for rows in _read_units(_units(shard, records, sound, table), report):
            if len(rows):
                report.problems += check_rows_of(table, rows, expected, erased.get(table, {}))
            report.checked["rows"] += len(rows)
            progress("rows", report.checked["rows"], total)
    report.problems += missing_rows(expected, erased)


def _check_references(snapshot: Snapshot, report: VerifyReport, progress: Progress) -> None:
    report.problems += check_decisions(
        snapshot.table("sources", ["source_id"]),
        snapshot.table("candidates", ["candidate_id", "source_id"]),
        snapshot.current("decisions", ["decision_id", "candidate_id", "source_id", "reasons"]),
    )
    for table, version in VERSION_COLUMNS.items():
        key = PRIMARY_KEYS[table]
        report.problems += check_versions(table, snapshot.table(table, [key, version]))
    cited = {"candidates": "candidate_id", "atoms": "atom_id"}
    checked = dict.fromkeys(cited, 0)
    columns = ["source_id", "revision", "content", "content_digest"]
    for part in snapshot.tables("sources", columns):
        report.problems += check_contents(part)
        for table, key in cited.items():
            wanted = [key, "source_id", "source_revision", "spans"]
            citing = snapshot.lookup(table, "source_id", part["source_id"], wanted)
            rows, spans, problems = check_spans(table, citing, part)
            checked[table] += rows
            report.checked["spans"] += spans
            report.problems += problems
        progress("spans", sum(checked.values()), sum(snapshot.counts()[table] for table in cited))
    for table, rows in checked.items():
        missing = snapshot.counts()[table] - rows
        if missing > 0:
            report.add("span_without_source", table, f"{missing} rows cite no stored source")
