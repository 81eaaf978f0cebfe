"""What a run did, in numbers that reconcile: every record read is in exactly one count."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec.structs import replace

from amos.extraction.screen import apply_cuts, screen
from amos.schemas.vocabulary import Reason, Trust
from amos.sources.block import Batch, Problem
from amos.sources.faults import NOTES

REFUSALS = frozenset({str(Reason.TENANT_BOUNDARY)})
"""Problems of records that could be read and may not enter this shard: nothing of them is kept."""

SHOWN_ERRORS = 200
"""Problems, and notes, kept in the receipt; all of them are counted."""
SHOWN_FIELDS = 100
"""Different fields without a meaning that are named; of more it is said that there are more."""
_MORE_FIELDS = "…"
_PLAIN_NAME = re.compile(r"[\w.\- ]{1,64}")
SHOWN_CUTS = 200
"""Places of cuts that a dry run lists; all cuts are counted."""


@dataclass(kw_only=True)
class Receipt:
    """What one ingest run read, stored and decided; every record is in exactly one count."""

    records_read: int = 0
    sources: Counter[str] = field(default_factory=Counter)
    blocks: int = 0
    decisions: Counter[str] = field(default_factory=Counter)
    decided_claims: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    formats: Counter[str] = field(default_factory=Counter)
    trusts: Counter[str] = field(default_factory=Counter)
    cuts: Counter[str] = field(default_factory=Counter)
    cuts_by_trust: dict[str, Counter[str]] = field(default_factory=dict)
    cut_places: list[dict[str, Any]] = field(default_factory=list)
    cut_bytes: int = 0
    unstable_ids: int = 0
    atoms_written: int = 0
    tombstones_expired: int = 0
    errors: list[Problem] = field(default_factory=list)
    errors_total: int = 0
    conflicts: int = 0
    notes: list[Problem] = field(default_factory=list)
    notes_total: int = 0
    unknown_fields: set[str] = field(default_factory=set)
    fallback_reasons: dict[str, int] = field(default_factory=dict)
    graph_version: int | None = None
    seconds: float = 0.0

    def as_record(self) -> dict[str, Any]:
        """Return the object that `amos ingest --json` prints."""
        fates = ("new", "linked", "rejected", "unreadable")
        outcomes = ("commit", "link", "quarantine", "ignore", "reject")
        messages = sum(self.decisions.values()) - self.decided_claims
        return {
            "records_read": self.records_read,
            "sources": {fate: self.sources[fate] for fate in fates},
            "blocks": self.blocks,
            "decisions": {outcome: self.decisions[outcome] for outcome in outcomes},
            "decided": {"claims": self.decided_claims, "messages": messages},
            "reasons": dict(self.reasons.most_common()),
            "formats": dict(self.formats),
            "trusts": dict(self.trusts),
            "cuts": dict(self.cuts),
            "cuts_by_trust": {rule: dict(counts) for rule, counts in self.cuts_by_trust.items()},
            "cut_bytes": self.cut_bytes,
            "unstable_ids": self.unstable_ids,
            "atoms_written": self.atoms_written,
            "tombstones_expired": self.tombstones_expired,
            "errors": _as_rows(self.errors),
            "errors_total": self.errors_total,
            "conflicts": self.conflicts,
            "notes": _as_rows(self.notes),
            "notes_total": self.notes_total,
            "unknown_fields": sorted(map(_safe_name, self.unknown_fields)),
            "fallback_reasons": self.fallback_reasons,
            "graph_version": self.graph_version,
            "seconds": round(self.seconds, 6),
        }

    def count_batch(self, batch: Batch) -> None:
        """Count the records of `batch`, and those that could not be read."""
        self.records_read += batch.record_count
        self.formats[batch.format] += batch.record_count
        self._add_unknown(batch.unknown_fields)
        problems = [one for one in batch.problems if one.code not in NOTES]
        self.errors_total += len(problems)
        self.errors.extend(screened(problems[: SHOWN_ERRORS - len(self.errors)]))
        if len(problems) < len(batch.problems):
            notes = [one for one in batch.problems if one.code in NOTES]
            self.notes_total += len(notes)
            self.notes.extend(screened(notes[: SHOWN_ERRORS - len(self.notes)]))
        refused = sum(problem.code in REFUSALS for problem in batch.problems if problem.is_lost)
        self.sources["rejected"] += refused
        self.sources["unreadable"] += sum(problem.is_lost for problem in batch.problems) - refused
        if refused:
            self.reasons[str(Reason.TENANT_BOUNDARY)] += refused

    def _add_unknown(self, names: set[str]) -> None:
        """Keep the names of fields without a meaning; where they are without number, that is said."""
        for name in sorted(names):
            if len(self.unknown_fields) >= SHOWN_FIELDS:
                self.unknown_fields.add(_MORE_FIELDS)
                return
            self.unknown_fields.add(name)

    def count_conflicts(self, locators: list[str], paths: Mapping[str, str]) -> None:
        """Count the records at `locators`, whose ids belong to other stored texts, and list them.

        paths: path as it was given, by the name that a locator begins with.
        """
        records = list(dict.fromkeys(locators))
        self.conflicts += len(records)
        self.errors_total += len(records)
        for locator in records[: SHOWN_ERRORS - len(self.errors)]:
            file, number = _place(locator, paths)
            self.errors.append(
                Problem(
                    file=file,
                    record=number,
                    code=str(Reason.DELIVERY_CONFLICT),
                    message="another text is stored under its id; this one stayed out",
                    is_lost=False,
                )
            )

    def count_forgotten(self, blocks: int) -> None:
        """Count blocks that a tombstone kept out: nothing of them is stored."""
        if blocks:
            self.reasons[str(Reason.TOMBSTONED)] += blocks

    def count_cuts(self, findings: pa.Table, raw: pa.Table) -> None:
        """Count what a screen cut, by rule and by the trust of what it was cut from.

        findings: FINDINGS.  raw: the RAW rows that `source_row` numbers.
        """
        cuts = findings.filter(pc.equal(findings["action"], "cut"))
        if cuts.num_rows == 0:
            return
        found = raw.select(["trust", "locator"]).take(cuts["source_row"]).to_pylist()
        for cut, source in zip(cuts.to_pylist(), found, strict=True):
            self.cuts[cut["rule"]] += 1
            self.cuts_by_trust.setdefault(cut["rule"], Counter())[source["trust"]] += 1
            if len(self.cut_places) < SHOWN_CUTS:
                place = {name: cut[name] for name in ("field", "start", "end", "rule", "reason")}
                self.cut_places.append({"locator": source["locator"], **place})


def _safe_name(name: str) -> str:
    """Return a field's name where it is one, and not a text that somebody put there."""
    return name if name == _MORE_FIELDS or _PLAIN_NAME.fullmatch(name) else "(odd name)"


def _as_rows(problems: list[Problem]) -> list[dict[str, Any]]:
    return [
        {"file": one.file, "record": one.record, "code": one.code, "message": one.message} for one in problems
    ]


_RECORD = re.compile(r"\d{1,18}")


def _place(locator: str, paths: Mapping[str, str]) -> tuple[str, int]:
    """Return file and record number of a locator; names may hold the mark that ends them."""
    at = locator.find("#")
    while at >= 0:
        given = paths.get(locator[:at])
        if given is not None:
            number = _RECORD.match(locator, at + 1)
            return given, int(number[0]) if number else 0
        at = locator.find("#", at + 1)
    return locator, 0


def screened(problems: list[Problem]) -> list[Problem]:
    """Return the problems with every secret that a message quotes from its record cut out."""
    if not problems:
        return []
    count = len(problems)
    told = pa.table(
        {
            "text": pa.array([one.message for one in problems], pa.string()),
            "trust": pa.repeat(str(Trust.TRUSTED_USER), count),
            "kind": pa.repeat("text", count),
            "flags": pa.array(np.zeros(count, np.int32)),
        }
    )
    findings = screen(told)
    if findings.num_rows == 0:
        return problems
    texts = apply_cuts(told, findings)[0]["text"].to_pylist()
    return [replace(one, message=text) for one, text in zip(problems, texts, strict=True)]
