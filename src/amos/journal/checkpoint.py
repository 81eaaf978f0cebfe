"""Checkpoints: how far a history was, in a small file kept apart from the store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from amos.errors import InputError
from amos.journal.chain_check import Mark
from amos.journal.check_export import DifferenceError, inner, split_of
from amos.journal.findings import Problem

FORMAT = 1
_ADVICE = "Name a file that `amos verify --checkpoint FILE` wrote."


class Checkpoint(NamedTuple):
    """The history of a shard up to a commit.  shard: tenant and workspace."""

    shard: str
    graph_version: int
    event_count: int
    link: bytes
    root: bytes


class Walk(Protocol):
    """What a walk through a history found."""

    @property
    def marks(self) -> Mapping[int, Mark]: ...  # noqa: D102
    @property
    def events(self) -> int: ...  # noqa: D102


def checkpoint_record(checkpoint: Checkpoint, made_at: str) -> dict[str, Any]:
    """Return a checkpoint as it is written to its file."""
    return {
        "amos_checkpoint": FORMAT,
        "shard": checkpoint.shard,
        "graph_version": checkpoint.graph_version,
        "event_count": checkpoint.event_count,
        "link": checkpoint.link.hex(),
        "root": checkpoint.root.hex(),
        "made_at": made_at,
    }


def read_checkpoint(record: Any, path: str) -> Checkpoint:
    """Return the checkpoint in a decoded file.  Raises InputError when it is none."""
    try:
        form = int(record["amos_checkpoint"])
        counts = int(record["graph_version"]), int(record["event_count"])
        digests = bytes.fromhex(record["link"]), bytes.fromhex(record["root"])
        shard = str(record["shard"])
    except (KeyError, TypeError, ValueError) as cause:
        message = f"{path} is no checkpoint: {cause!r}"
        raise InputError(message, code="not_a_checkpoint", path=path, advice=_ADVICE) from cause
    if form != FORMAT:
        raise InputError(
            f"{path} is of format {form}, this version reads {FORMAT}", path=path, advice=_ADVICE
        )
    return Checkpoint(shard, *counts, *digests)


def check_since(earlier: Checkpoint, walk: Walk, head: int) -> Iterator[Problem]:
    """Yield how the history differs from what it was at an earlier checkpoint."""
    where = f"checkpoint at graph version {earlier.graph_version}"
    mark = walk.marks.get(earlier.graph_version)
    if mark is None:
        detail = f"the newest graph version is {head}: commits that were there are gone"
        yield Problem("history_rolled_back", where, detail)
        return
    if mark.events != earlier.event_count:
        detail = f"{mark.events} events where there were {earlier.event_count}"
        yield Problem("history_rewritten", where, detail)
    if mark.root != earlier.root:
        yield Problem("history_rewritten", where, "the tree over its events has another root")
    elif mark.link != earlier.link:
        yield Problem("history_rewritten", where, "the running link is another one")


def check_consistency(old_size: int, old_root: bytes, size: int, root: bytes, path: Sequence[bytes]) -> None:
    """Raise DifferenceError unless the older tree is the beginning of the newer; RFC 9162, section 2.1.4."""
    if not 0 < old_size <= size:
        raise DifferenceError(f"a tree of {old_size} leaves is no beginning of one of {size}")
    beside = iter(path)

    def roots(old: int, size: int, *, is_whole: bool) -> tuple[bytes, bytes]:
        if old == size:
            node = old_root if is_whole else next(beside, b"")
            return node, node
        split = split_of(size)
        if old <= split:
            early, late = roots(old, split, is_whole=is_whole)
            return early, inner(late, next(beside, b""))
        early, late = roots(old - split, size - split, is_whole=False)
        left = next(beside, b"")
        return inner(left, early), inner(left, late)

    if roots(old_size, size, is_whole=True) != (old_root, root) or next(beside, None) is not None:
        raise DifferenceError("the path does not lead from the older root to the newer")


def check_successor(later: Mapping[str, Any], earlier: Checkpoint) -> None:
    """Raise DifferenceError unless a later checkpoint's record proves to go on from an earlier one."""
    since = later.get("since")
    if earlier.event_count == 0:
        return
    if since is None or since["event_count"] != earlier.event_count:
        raise DifferenceError("the later checkpoint holds no proof about the earlier one")
    path = [bytes.fromhex(node) for node in since["path"]]
    later_root = bytes.fromhex(later["root"])
    check_consistency(earlier.event_count, earlier.root, later["event_count"], later_root, path)
