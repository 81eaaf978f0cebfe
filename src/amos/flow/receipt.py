"""What a run did, in numbers that reconcile: every record read is in exactly one count."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from amos.sources.block import Batch, Problem

SHOWN_ERRORS = 200
"""Problems kept in the receipt; all of them are counted."""


@dataclass(kw_only=True)
class Receipt:
    """What one ingest run read, stored and decided; every record is in exactly one count."""

    records_read: int = 0
    sources: Counter[str] = field(default_factory=Counter)
    blocks: int = 0
    decisions: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    formats: Counter[str] = field(default_factory=Counter)
    trusts: Counter[str] = field(default_factory=Counter)
    cuts: Counter[str] = field(default_factory=Counter)
    cut_bytes: int = 0
    unstable_ids: int = 0
    atoms_written: int = 0
    errors: list[Problem] = field(default_factory=list)
    errors_total: int = 0
    graph_version: int | None = None
    seconds: float = 0.0

    def as_record(self) -> dict[str, Any]:
        """Return the object that `amos ingest --json` prints."""
        fates = ("new", "linked", "rejected", "unreadable")
        outcomes = ("commit", "link", "quarantine", "ignore", "reject")
        return {
            "records_read": self.records_read,
            "sources": {fate: self.sources[fate] for fate in fates},
            "blocks": self.blocks,
            "decisions": {outcome: self.decisions[outcome] for outcome in outcomes},
            "reasons": dict(self.reasons.most_common()),
            "formats": dict(self.formats),
            "trusts": dict(self.trusts),
            "cuts": dict(self.cuts),
            "cut_bytes": self.cut_bytes,
            "atoms_written": self.atoms_written,
            "errors": [
                {"file": one.file, "record": one.record, "code": one.code, "message": one.message}
                for one in self.errors
            ],
            "errors_total": self.errors_total,
            "graph_version": self.graph_version,
            "seconds": round(self.seconds, 6),
        }

    def count_batch(self, batch: Batch) -> None:
        """Count the records of `batch`, and those that could not be read."""
        self.records_read += batch.record_count
        self.formats[batch.format] += batch.record_count
        self.errors_total += len(batch.problems)
        self.errors.extend(batch.problems[: SHOWN_ERRORS - len(self.errors)])
        self.sources["unreadable"] += sum(problem.is_lost for problem in batch.problems)
