"""Repair a shard: what is derivable is written again, what is not is said; no row is ever dropped."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from amos.flow.digest import state_digest
from amos.journal.findings import Problem, VerifyReport
from amos.journal.repairing import Remedy
from amos.journal.store import Shard
from amos.journal.verify import verify_shard

Progress = Callable[[str, int, int], None]

_FROM_BACKUP = "only a backup holds it: `amos repair --from BACKUP`, or `amos restore`"
_HOLD = (
    "what it protects is told by nothing else: `amos hold release` ends it, `amos hold place` places it anew"
)
_LOST = {
    "catalog_older": "put the shard.sqlite of these files back, or restore a backup; "
    "`amos repair --discard-newer` removes them",
    "history_rolled_back": "the newer commits are in no file of this store: restore a backup",
    "promise_missing": "a repeated command will be taken for a new one; only a backup knows of it",
    "promise_changed": "a repeated command will be taken for a new one; only a backup knows of it",
    "text_missing": "the text is nowhere else; what was decided under it stays as it is",
    "text_changed": "the text is nowhere else; what was decided under it stays as it is",
    "run_changed": "a receipt is told by nothing else; no memory depends on it",
    "copy_changed": "the list of copies is told by nothing else; no memory depends on it",
    "hold_changed": _HOLD,
    "hold_missing": _HOLD,
    "conflict_changed": "a refused command is told by nothing else; no memory depends on it",
    "snapshot_changed": "register the state again with `amos snapshot`",
}


def repair_shard(
    shard: Shard,
    backup: Path | None,
    *,
    is_dry: bool,
    discard_newer: bool = False,
    progress: Progress | None,
) -> dict[str, Any]:
    """Repair what can be repaired and return what was done, and what is left and why.

    shard: opened as it is.  backup: the folder of the same shard in a backup, or None.  discard_newer:
    segments that are later than the catalog go.
    """
    began = time.perf_counter()
    before = verify_shard(shard, digest=state_digest, progress=progress)
    done = _plan(shard, before, backup)
    if is_dry:
        after = before
        if discard_newer:
            newer = (problem.where for problem in before.problems if problem.kind == "catalog_older")
            done += [Remedy("orphan", file, "given up: it is later than the catalog") for file in newer]
    else:
        done = _apply(shard, before, backup)
        after = verify_shard(shard, digest=state_digest, progress=progress)
        unnamed = {"segment_orphan", "catalog_older"} if discard_newer else {"segment_orphan"}
        if after.problems and {problem.kind for problem in after.problems} <= unnamed:
            gone = shard.drop_orphans(also_newer=discard_newer)
            done += [Remedy("orphan", file, "removed: nothing names it") for file in gone]
            after = verify_shard(shard, digest=state_digest, progress=progress)
    return {
        "dry_run": is_dry,
        "ok": after.ok,
        "repaired": [remedy._asdict() for remedy in done],
        "left": [] if is_dry else [_left(problem) for problem in after.problems],
        "problems": [problem._asdict() for problem in before.problems],
        "state_digest": after.state_digest,
        "graph_version": after.graph_version,
        "seconds": round(time.perf_counter() - began, 3),
    }


def _plan(shard: Shard, report: VerifyReport, backup: Path | None) -> list[Remedy]:
    """Return what a repair would do, without doing it."""
    found = shard.plan_repair(backup).remedies()
    if _has(report, "catalog_damaged"):
        found.append(Remedy("catalog_index", "shard.sqlite", "SQLite's own indexes built anew"))
    if shard.erasures("purging"):
        found.append(Remedy("erasure", "ledger", "an erasure that was cut short brought to its end"))
    if not report.ok:
        found.append(Remedy("derived", "derived", "indexes and stamps removed, to be built anew"))
    return found


def _apply(shard: Shard, report: VerifyReport, backup: Path | None) -> list[Remedy]:
    done: list[Remedy] = []
    if _has(report, "catalog_damaged") and shard.rebuild_catalog_indexes():
        done.append(Remedy("catalog_index", "shard.sqlite", "SQLite's own indexes built anew"))
    repair = shard.plan_repair(backup)
    shard.apply_repair(repair)
    done += repair.remedies()
    if shard.erasures("purging") and shard.purge(wait_seconds=0).is_done:
        done.append(Remedy("erasure", "ledger", "an erasure that was cut short brought to its end"))
    if not report.ok:
        done += [Remedy("derived", file, "removed, to be built anew") for file in shard.drop_derived()]
    return done


def _has(report: VerifyReport, kind: str) -> bool:
    return any(problem.kind == kind for problem in report.problems)


def _left(problem: Problem) -> dict[str, str]:
    return {**problem._asdict(), "why": _LOST.get(problem.kind, _FROM_BACKUP)}
