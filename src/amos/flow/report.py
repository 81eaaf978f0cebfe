"""What the ingest runs of a shard have done, run by run and in total."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from amos.clock import as_text
from amos.flow.sight import Sight
from amos.identity import id_text
from amos.schemas.catalog import CommitEntry, RunEntry

_ADDED = ("records_read", "blocks", "atoms_written", "cut_bytes", "errors_total")
_COUNTED = ("sources", "decisions", "reasons", "formats", "trusts", "cuts")


def report_ingest(sight: Sight, runs: Iterable[RunEntry]) -> dict[str, Any]:
    """Return every ingest run, their sum, and what is stored now by format, trust, outcome and reason.

    Runs count what they read for every scope, so a narrowed caller is told of none (`is_narrowed`).
    """
    is_narrowed = bool(sight.scope)
    receipts = [] if is_narrowed else [_run(entry) for entry in runs if entry.kind == "ingest"]
    return {
        "graph_version": sight.snapshot.version or None,
        "is_narrowed": is_narrowed,
        "runs": receipts,
        "total": _total(receipts),
        "stored": _stored(sight),
    }


def _run(entry: RunEntry) -> dict[str, Any]:
    return {
        "run_id": id_text("runs", entry.run_id),
        "started_at": as_text(entry.started_us),
        "finished_at": as_text(entry.finished_us),
        **json.loads(entry.receipt),
    }


def _total(receipts: list[dict[str, Any]]) -> dict[str, Any]:
    total: dict[str, Any] = {"runs": len(receipts)}
    total.update({name: sum(one.get(name, 0) for one in receipts) for name in _ADDED})
    for name in _COUNTED:
        counts: Counter[str] = Counter()
        for one in receipts:
            counts.update(one.get(name, {}))
        total[name] = dict(counts)
    by_trust: dict[str, Counter[str]] = {}
    for one in receipts:
        for rule, found in one.get("cuts_by_trust", {}).items():
            by_trust.setdefault(rule, Counter()).update(found)
    total["cuts_by_trust"] = {rule: dict(found) for rule, found in by_trust.items()}
    return total


def _stored(sight: Sight) -> dict[str, Any]:
    """Return what is in sight now: sources by format and trust, decisions by outcome and reason."""
    sources = sight.current("sources", ["format", "trust", "cut_bytes"])
    decisions = sight.current("decisions", ["outcome", "reasons"])
    first = pa.chunked_array([pc.list_element(part, 0) for part in decisions["reasons"].chunks], pa.string())
    return {
        "sources": sources.num_rows,
        "sources_by": _grouped(sources["format"], sources["trust"]),
        "cut_sources": int(pc.sum(pc.greater(sources["cut_bytes"], 0)).as_py() or 0),
        "decisions": decisions.num_rows,
        "decisions_by": _grouped(decisions["outcome"], first),
        "atoms": sight.current("atoms", ["atom_id"]).num_rows,
    }


def _grouped(outer: pa.ChunkedArray, inner: pa.ChunkedArray) -> dict[str, dict[str, int]]:
    """Return counts by the first column, then by the second, the largest first."""
    pairs = pa.table({"outer": outer, "inner": inner})
    counts = pairs.group_by(["outer", "inner"]).aggregate([([], "count_all")])
    ordered = counts.sort_by([("outer", "ascending"), ("count_all", "descending"), ("inner", "ascending")])
    found: dict[str, dict[str, int]] = {}
    for row in ordered.to_pylist():
        found.setdefault(row["outer"], {})[row["inner"]] = row["count_all"]
    return found


def state_of_run(commits: Sequence[CommitEntry]) -> dict[str, Any]:
    """Return what became of a run over kept sources, as its commits say, oldest first.

    The commits tell it, not the receipt, so that a run that was killed after its commit is known.
    """
    applied = [entry.graph_version for entry in commits if entry.operation == "reprocess"]
    is_applied, is_reverted = bool(applied), bool(commits) and commits[-1].operation == "revert"
    return {
        "applied": is_applied,
        "reverted": is_reverted,
        "graph_version": applied[-1] if applied else None,
    }


def run_rows(entries: Sequence[RunEntry], commits: Iterable[CommitEntry]) -> list[dict[str, Any]]:
    """Return all runs, newest first, each with what it did."""
    by_run: dict[bytes, list[CommitEntry]] = {}
    for commit in commits:
        by_run.setdefault(commit.run_id, []).append(commit)
    rows = []
    for entry in reversed(entries):
        receipt = json.loads(entry.receipt)
        if entry.kind == "reprocess":
            receipt |= state_of_run(by_run.get(entry.run_id, ()))
        rows.append(
            {
                "run_id": id_text("runs", entry.run_id),
                "kind": entry.kind,
                "started_at": as_text(entry.started_us),
                "finished_at": as_text(entry.finished_us),
                "graph_version": receipt.get("graph_version"),
                "did": {name: receipt[name] for name in _TOLD.get(entry.kind, ()) if name in receipt},
            }
        )
    return rows


_INGESTED = ("records_read", "sources", "decisions", "atoms_written", "errors_total")
_TOLD = {
    "ingest": _INGESTED,
    "import": _INGESTED,
    "reprocess": (
        "extractor", "sources", "added", "lost", "changed", "unchanged", "flipped", "refused_by_tombstone",
        "applied", "reverted",
    ),
}  # fmt: skip
