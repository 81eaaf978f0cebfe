"""Check what a catalog keeps beside the memory against the events that tell of it, and against its sums."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from amos.identity import id_text
from amos.journal.catalog_check import CatalogSource, Told, is_object
from amos.journal.chain_check import Mark
from amos.journal.events import canonical_json
from amos.journal.findings import Problem
from amos.journal.holds import hold_digest
from amos.schemas.catalog import HoldEntry, Layout, SnapshotEntry

_KIND_OF = {
    "conflicts": "conflict_changed",
    "copies": "copy_changed",
    "erasures": "erasure_changed",
    "garbage": "garbage_changed",
    "holds": "hold_changed",
    "leases": "lease_changed",
    "meta": "counter_changed",
    "runs": "run_changed",
    "snapshots": "snapshot_changed",
}


def check_snapshots(
    entries: Sequence[SnapshotEntry], marks: Mapping[int, Mark], told: Iterable[Told]
) -> Iterator[Problem]:
    """Yield registered snapshots that contradict the history or the event that registered them."""
    registered = [one for one in told if one.event_type == "snapshot_registered"]
    stated = {one.content.get("graph_version"): one for one in registered}
    for entry in entries:
        mark = marks.get(entry.graph_version)
        where = f"snapshot {entry.graph_version}"
        if mark is None:
            yield Problem("snapshot_changed", where, "there is no such commit")
        elif (mark.events, mark.link) != (entry.event_count, entry.link):
            yield Problem("snapshot_changed", where, "its event count or link is not that of the history")
        elif entry.graph_version not in stated:
            yield Problem("snapshot_changed", where, "no event registered it")
        elif not _is_registered(entry, stated[entry.graph_version]):
            yield Problem("snapshot_changed", where, "it is not what its event registered")
    kept = {entry.graph_version for entry in entries}
    for version in sorted(one for one in stated if isinstance(one, int) and one not in kept):
        detail = f"commit {stated[version].version} registered it, and the catalog does not keep it"
        yield Problem("snapshot_missing", f"snapshot {version}", detail)


def _is_registered(entry: SnapshotEntry, event: Told) -> bool:
    said = event.content
    return (entry.created_us, entry.event_count, entry.state_digest, entry.content) == (
        event.occurred_us,
        said.get("events"),
        said.get("state"),
        canonical_json(said.get("counts")),
    )


def check_holds(entries: Sequence[HoldEntry], told: Iterable[Told], key: bytes) -> Iterator[Problem]:
    """Yield holds that are not those which events placed and released.

    key: of the shard; without it what a hold protects cannot be compared, only that it is there.
    """
    placed: dict[str, Told] = {}
    ends: dict[str, int] = {}
    for one in told:
        name = str(one.content.get("hold"))
        if one.event_type == "hold_placed":
            placed[name] = one
        elif one.event_type == "hold_released":
            ends[name] = one.occurred_us
    for entry in entries:
        name = id_text("holds", entry.hold_id)
        event = placed.get(name)
        if entry.released_us != ends.get(name):
            ended = "an event released it" if name in ends else "no event released it"
            yield Problem("hold_changed", f"hold {name}", f"{ended}, and the catalog says otherwise")
        elif name not in ends and not _is_placed(entry, event, key):
            yield Problem("hold_changed", f"hold {name}", "no event placed it so")
    kept = {id_text("holds", entry.hold_id) for entry in entries}
    for name in sorted(placed.keys() - ends.keys() - kept):
        detail = f"commit {placed[name].version} placed it, and the catalog does not keep it"
        yield Problem("hold_missing", f"hold {name}", detail)


def _is_placed(entry: HoldEntry, event: Told | None, key: bytes) -> bool:
    if event is None:
        return False
    stated = event.content.get("terms")
    if (entry.kind, entry.placed_us) != (event.content.get("kind"), event.occurred_us):
        return False
    return stated is None or not key or stated == hold_digest(entry, key)


def check_tallies(source: CatalogSource, known: Iterable[Problem]) -> Iterator[Problem]:
    """Yield tables that hold other rows than were written, unless one of their rows is known."""
    named = {problem.kind.rpartition("_")[0] for problem in known}
    for name in source.differing():
        where = "meta created_at" if name == "meta" else f"table {name}"
        if _KIND_OF[name].rpartition("_")[0] not in named:
            yield Problem(_KIND_OF[name], where, "a row was changed, added or removed behind its back")


def check_bookkeeping(source: CatalogSource, layout: Layout) -> Iterator[Problem]:
    """Yield rows beside the memory that cannot be what was written."""
    for run in source.runs():
        if not is_object(run.receipt) or run.finished_us < run.started_us:
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
