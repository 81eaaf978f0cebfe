"""Check what a catalog says beside the chain: names and sizes of files, counters, promises, ledgers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import pyarrow as pa
import pyarrow.compute as pc

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
    def differing(self) -> list[str]: ...  # noqa: D102
    def promises(self) -> Iterator[list[tuple[bytes, bytes, int]]]: ...  # noqa: D102

    key: bytes


class Told(NamedTuple):
    """An event that tells of a row beside the memory: of which commit, when it occurred, what it says."""

    event_type: str
    version: int
    occurred_us: int
    content: dict[str, Any]


_TELLING = pa.array(["snapshot_registered", "hold_placed", "hold_released"])


class Kept:
    """What events say of things that the catalog keeps beside rows: texts, promises, snapshots, holds."""

    def __init__(self) -> None:
        self.text_refs: set[bytes] = set()
        self.promises: set[bytes] = set()
        self.unstated: set[int] = set()
        self.told: list[Told] = []

    def add(self, events: pa.Table) -> None:
        """Take in what some events say."""
        refs = pc.list_flatten(events.column("payload_refs"))
        self.text_refs |= set(pc.unique(refs).to_pylist())
        self._add_told(events.filter(pc.is_in(events.column("event_type"), value_set=_TELLING)))
        held = events.filter(pc.is_valid(events.column("idempotency_key")))
        if not len(held):
            return
        stated = json_field(held.column("expected_versions"), "promise").to_pylist()
        for version, digest in zip(held.column("graph_version").to_pylist(), stated, strict=True):
            if digest is None:  # commits of format 1 did not say
                self.unstated.add(version)
            else:
                self.promises.add(bytes.fromhex(digest))

    def _add_told(self, events: pa.Table) -> None:
        names = ("event_type", "graph_version", "payload")
        columns = (events.column(name).to_pylist() for name in names)
        times = events.column("occurred_at").cast(pa.int64()).to_pylist()
        for kind, version, payload, occurred in zip(*columns, times, strict=True):
            if is_object(payload):
                self.told.append(Told(kind, version, occurred, json.loads(payload)))


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
        if not (is_object(entry.request) and is_object(entry.report)):
            yield Problem("erasure_changed", where, "its request or report is no JSON object")


def is_object(text: str) -> bool:
    """Return whether a text is that of a JSON object."""
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False
