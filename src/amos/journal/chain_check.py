"""Check the chain: commits without gaps, every event's checksum, and the links between them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from amos.journal.events import CHECKED, FIRST_LINK, next_link
from amos.journal.findings import Problem
from amos.kernels.canonical import encode_rows
from amos.kernels.hashing import sha256_rows
from amos.schemas.buffers import column_arrays
from amos.schemas.catalog import CommitEntry


class Promise(NamedTuple):
    """What one event says of the rows of a table in a commit."""

    event: int
    payload: str
    rows: int
    digest: bytes


Promises = dict[tuple[str, int], list[Promise]]
"""By (table, graph version), in the order in which the rows follow one another."""


def event_checksums(events: pa.Table) -> list[bytes]:
    """Return the checksum of every event, recomputed from its columns."""
    columns = [column_arrays(events.column(name)) for name in CHECKED]
    buffer, offsets = encode_rows(columns, len(events))
    return [row.tobytes() for row in sha256_rows(buffer, offsets)]


def check_chain(commits: Sequence[CommitEntry], events: pa.Table) -> Iterator[Problem]:
    """Yield what is wrong with the commit log and its events.

    commits: oldest first.  events: all stored events, in commit order.
    """
    yield from _check_versions(commits)
    versions = events.column("graph_version").to_numpy()
    starts = np.searchsorted(versions, [commit.graph_version for commit in commits], "left")
    stops = np.searchsorted(versions, [commit.graph_version for commit in commits], "right")
    found = _Stored(events)
    link, accepted = FIRST_LINK, -(2**63)
    for commit, start, stop in zip(commits, starts.tolist(), stops.tolist(), strict=True):
        where = f"commit {commit.graph_version}"
        if stop - start != commit.event_count:
            yield Problem("event_count", where, f"{stop - start} events, the log says {commit.event_count}")
        if commit.accepted_us < accepted:
            yield Problem("time_backwards", where, "accepted before the commit below it")
        accepted = max(accepted, commit.accepted_us)
        for row in range(start, stop):
            yield from found.check(row, commit, link)
            link = next_link(link, found.recomputed[row])
        if link != commit.link:
            yield Problem("link_broken", where, "the running link differs from the one in the commit log")
            link = commit.link
    known = {commit.graph_version for commit in commits}
    for version in sorted(set(versions.tolist()) - known):
        yield Problem("event_without_commit", f"version {version}", "events stand where no commit is logged")


class _Stored:
    """Stored events, column by column as Python values."""

    def __init__(self, events: pa.Table) -> None:
        self.recomputed = event_checksums(events)
        self.checksums = events.column("checksum").to_pylist()
        self.links = events.column("previous_event_hash").to_pylist()
        self.versions = events.column("version").to_pylist()
        self.times = events.column("accepted_at").cast(pa.int64()).to_pylist()
        self.occurred = events.column("occurred_at").cast(pa.int64()).to_pylist()
        self.actors = events.column("actor").to_pylist()
        self.payloads = events.column("payload").to_pylist()

    def check(self, row: int, commit: CommitEntry, link: bytes) -> Iterator[Problem]:
        """Yield what is wrong with one event whose previous link must be `link`."""
        where = f"event {row + 1}, commit {commit.graph_version}"
        if self.recomputed[row] != self.checksums[row]:
            yield Problem("event_changed", where, "its checksum differs from its columns")
        if self.links[row] != link:
            yield Problem("link_broken", where, "the link before it differs")
        differing = self._differing(row, commit)
        if differing:
            yield Problem("event_changed", where, f"{', '.join(differing)} differ from the commit log")

    def _differing(self, row: int, commit: CommitEntry) -> list[str]:
        """Name what an event and its commit both state, and state differently."""
        said = (
            ("version", self.versions[row], commit.graph_version),
            ("time", self.times[row], commit.accepted_us),
            ("skew", self.times[row] - self.occurred[row], commit.skew_us),
            ("actor", self.actors[row], commit.actor),
            ("operation", _operation(self.payloads[row]), commit.operation),
        )
        return [name for name, event, logged in said if event != logged]


@lru_cache(maxsize=256)
def _operation(payload: str) -> object:
    """Return the operation that a payload names; None where it cannot be read."""
    try:
        return json.loads(payload)["operation"]
    except (ValueError, KeyError, TypeError):
        return None


def _check_versions(commits: Sequence[CommitEntry]) -> Iterator[Problem]:
    expected = 1
    for commit in commits:
        if commit.graph_version != expected:
            yield Problem(
                "commit_missing", f"commit {expected}", f"the next one logged is {commit.graph_version}"
            )
        expected = commit.graph_version + 1


def promises(events: pa.Table) -> tuple[Promises, list[Problem]]:
    """Return what the events promise of the rows, and the events whose payload cannot be read."""
    found: Promises = {}
    problems = []
    columns = [events.column(name).to_pylist() for name in ("graph_version", "payload", "payload_digest")]
    for row, (version, payload, digest) in enumerate(zip(*columns, strict=True)):
        try:
            content = json.loads(payload)
            if "rows" not in content and "operation" in content:
                continue  # an event without rows
            table, rows = str(content["table"]), int(content["rows"])
        except (ValueError, KeyError, TypeError) as cause:
            problems.append(
                Problem("event_changed", f"event {row + 1}, commit {version}", f"payload: {cause}")
            )
            continue
        found.setdefault((table, version), []).append(Promise(row + 1, payload, rows, digest))
    return found, problems


def kept(promise: Promise, root: bytes) -> bool:
    """Return whether rows with the Merkle root `root` are the ones that the event promised."""
    return hashlib.sha256(promise.payload.encode() + root).digest() == promise.digest
