"""Check what a catalog says beside the chain: names and sizes of files, counters, promises, ledgers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.compute as pc

from amos.journal.chain_check import Mark
from amos.journal.events import promise_digest
from amos.journal.findings import Problem
from amos.journal.ledger import parse_groups
from amos.journal.promises import Taking, json_field
from amos.schemas.catalog import (
    CopyEntry,
    ErasureEntry,
    GarbageEntry,
    HoldEntry,
    Layout,
    RunEntry,
    SegmentEntry,
    SnapshotEntry,
    text_digest,
)
from amos.schemas.state import TABLES

_REF_BYTES = 16


class CatalogSource(Protocol):
    """What these checks read of a shard."""

    def meta(self, name: str) -> Any: ...  # noqa: D102
    def labels(self) -> tuple[str, str]: ...  # noqa: D102
    def texts(self) -> list[tuple[bytes, str, str]]: ...  # noqa: D102
    def runs(self) -> list[RunEntry]: ...  # noqa: D102
    def garbage(self) -> list[GarbageEntry]: ...  # noqa: D102
    def erasures(self) -> list[ErasureEntry]: ...  # noqa: D102
    def snapshots(self) -> list[SnapshotEntry]: ...  # noqa: D102
    def copies(self) -> list[CopyEntry]: ...  # noqa: D102
    def holds(self) -> list[HoldEntry]: ...  # noqa: D102
    def promises(self) -> Iterator[list[tuple[bytes, bytes, int]]]: ...  # noqa: D102


class Kept:
    """What events say of things that the catalog keeps beside rows: texts and promises."""

    def __init__(self) -> None:
        self.text_refs: set[bytes] = set()
        self.promises: set[bytes] = set()
        self.unstated: set[int] = set()

    def add(self, events: pa.Table) -> None:
        """Take in what some events say."""
        refs = pc.list_flatten(events.column("payload_refs"))
        self.text_refs |= set(pc.unique(refs).to_pylist())
        held = events.filter(pc.is_valid(events.column("idempotency_key")))
        if not len(held):
            return
        stated = json_field(held.column("expected_versions"), "promise").to_pylist()
        for version, digest in zip(held.column("graph_version").to_pylist(), stated, strict=True):
            if digest is None:  # commits of format 1 did not say
                self.unstated.add(version)
            else:
                self.promises.add(bytes.fromhex(digest))


def check_segment_entries(segments: Sequence[SegmentEntry]) -> Iterator[Problem]:
    """Yield entries whose name, table or counts contradict one another, and those that overlap."""
    for entry in segments:
        name = (
            f"segments/{entry.table}/{entry.first_version}-{entry.last_version}-{entry.sha256.hex()}.parquet"
        )
        if entry.table not in TABLES or entry.file != name:
            yield Problem(
                "catalog_changed", entry.file, "its name is not that of its table, commits and digest"
            )
        if not _counts_agree(entry):
            yield Problem("catalog_changed", entry.file, "its row groups do not add up to its rows")
    in_order = sorted(segments, key=lambda entry: (entry.table, entry.first_version, entry.last_version))
    for early, late in pairwise(in_order):
        if early.table == late.table and late.first_version <= early.last_version:
            yield Problem("catalog_changed", late.file, f"it overlaps {early.file}")


def _counts_agree(entry: SegmentEntry) -> bool:
    try:
        constants = json.loads(entry.constants)
        return sum(parse_groups(entry)) == entry.row_count and isinstance(constants, dict)
    except ValueError:
        return False


def check_meta(source: CatalogSource, layout: Layout) -> Iterator[Problem]:
    """Yield counters and labels that are not those of the shard."""
    counted = {"hot_blobs": len(layout.hot), "hot_bytes": sum(len(entry.body) for entry in layout.hot)}
    for name, count in counted.items():
        if source.meta(name) != count:
            yield Problem(
                "counter_changed", f"meta {name}", f"it says {source.meta(name)}, there are {count}"
            )
    for name in ("seal_count", "erase_count"):
        if not isinstance(source.meta(name), int):
            yield Problem("counter_changed", f"meta {name}", "it is no number")
    for name, label in zip(("tenant", "workspace"), source.labels(), strict=True):
        if source.meta(name) != label:
            yield Problem("catalog_changed", f"meta {name}", f"it says {source.meta(name)!r}, not {label!r}")


def check_texts(source: CatalogSource, kept: Kept) -> Iterator[Problem]:
    """Yield kept texts that are not those of their digests, and those that events name and are gone."""
    known = set()
    for digest, kind, body in source.texts():
        known.add(digest[:_REF_BYTES])
        if text_digest(body) != digest:
            yield Problem("text_changed", f"{kind} {digest.hex()}", "its digest is not that of its body")
    for ref in sorted(kept.text_refs - known):
        yield Problem("text_missing", f"text {ref.hex()}", "an event names it and it is not kept")


def check_promises(source: CatalogSource, kept: Kept) -> Iterator[Problem]:
    """Yield idempotency rows that no commit made, and promises of commits that are not kept."""
    missing = set(kept.promises)
    for page in source.promises():
        for scope, digest, version in page:
            found = bytes.fromhex(promise_digest(scope, digest))
            if found in missing:
                missing.discard(found)
            elif version not in kept.unstated:
                yield Problem("promise_changed", f"idempotency {scope.hex()}", "no commit made this promise")
    for lost in sorted(missing):
        yield Problem(
            "promise_missing", f"idempotency promise {lost.hex()}", "a commit made it, no row keeps it"
        )


def check_snapshots(entries: Sequence[SnapshotEntry], marks: Mapping[int, Mark]) -> Iterator[Problem]:
    """Yield registered snapshots that contradict the history."""
    for entry in entries:
        mark = marks.get(entry.graph_version)
        where = f"snapshot {entry.graph_version}"
        if mark is None:
            yield Problem("snapshot_changed", where, "there is no such commit")
        elif (mark.events, mark.link) != (entry.event_count, entry.link):
            yield Problem("snapshot_changed", where, "its event count or link is not that of the history")


def check_retention(retained_from: int, taking: Sequence[Taking]) -> Iterator[Problem]:
    """Yield a bound of retention that is not the one that events of dropped history state."""
    stated = [
        json.loads(event.payload).get("below") for event in taking if event.event_type == "segment_compacted"
    ]
    oldest = max((below for below in stated if isinstance(below, int)), default=0)
    if retained_from != oldest:
        yield Problem(
            "catalog_changed", "meta retained_from", f"it says {retained_from}, the events say {oldest}"
        )


def check_erasures(entries: Sequence[ErasureEntry], taking: Sequence[Taking], head: int) -> Iterator[Problem]:
    """Yield ledger entries that contradict the history, and erasures that no entry tells of."""
    told = {entry.graph_version for entry in entries}
    for version in sorted({event.version for event in taking if event.event_type == "erased"} - told):
        yield Problem(
            "erasure_missing", f"commit {version}", "it took rows, and the ledger of erasures has no entry"
        )
    for entry in entries:
        where = f"erasure {entry.erasure_id.hex()}"
        if entry.status not in ("purging", "purged") or not 0 < entry.graph_version <= head:
            yield Problem("erasure_changed", where, f"status {entry.status}, commit {entry.graph_version}")
        elif (entry.finished_us is None) != (entry.status == "purging"):
            yield Problem("erasure_changed", where, "its status and its end contradict each other")
        if not (_is_object(entry.request) and _is_object(entry.report)):
            yield Problem("erasure_changed", where, "its request or report is no JSON object")


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


def check_bookkeeping(source: CatalogSource, layout: Layout) -> Iterator[Problem]:
    """Yield rows beside the memory that cannot be what was written."""
    for run in source.runs():
        if not _is_object(run.receipt) or run.finished_us < run.started_us:
            yield Problem(
                "run_changed", f"run {run.run_id.hex()}", "its receipt or its times cannot be right"
            )
    live = {entry.file for entry in layout.segments}
    for entry in source.garbage():
        if entry.file in live:
            yield Problem("garbage_changed", entry.file, "a commit names it, and it is noted as garbage")
        elif not entry.file.startswith("segments/"):
            yield Problem("garbage_changed", entry.file, "it is no segment")
    for copy in source.copies():
        if not 0 <= copy.graph_version <= layout.head:
            yield Problem("copy_changed", f"copy {copy.copy_id.hex()}", f"no version {copy.graph_version}")
    for hold in source.holds():
        if hold.released_us is not None and hold.released_us < hold.placed_us:
            yield Problem("hold_changed", f"hold {hold.hold_id.hex()}", "released before it was placed")
