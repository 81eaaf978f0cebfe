"""The sample story, told from its rows: what came in, what was kept, what was refused and why."""

from __future__ import annotations

from typing import Any, NamedTuple

import pyarrow.compute as pc

from amos.flow.look import Wanted, list_rows, source_row
from amos.flow.paging import PageRequest
from amos.flow.sight import Sight, latest_by_id

QUESTIONS = ("favourite tea", "how high is the workbench", "who gets the humidity report")
"""What the demo asks; the samples answer each, two of them after a change of mind."""

_TOLD_REASONS = (
    "secret_material_detected",
    "explicit_exclusion_signal",
    "instruction_shaped_content",
    "sensitive_content",
    "third_party_sensitive",
    "untrusted_source_requires_review",
    "question",
    "hypothetical",
    "suspected_irony",
    "reported_speech",
    "quoted_other",
    "request_not_memory",
    "uncertain",
    "off_thread",
    "system_prompt",
)
"""Reasons that a newcomer should meet, in this order."""

_REFUSALS = ("reject", "quarantine", "ignore")
_MOST_REFUSALS = 10
_KEPT_PER_TYPE = 3


class Story(NamedTuple):
    """Some claims that were kept, and one refused source for each telling reason."""

    kept: list[dict[str, Any]]
    refused: list[dict[str, Any]]


def tell_story(sight: Sight) -> Story:
    """Return what a newcomer should see of a store."""
    return Story(kept_claims(sight), refusals(sight))


def kept_claims(sight: Sight) -> list[dict[str, Any]]:
    """Return the newest claims that hold, a few of each type, then what has been replaced."""
    every = list_rows(sight, Wanted(state="active", page=PageRequest(limit=1_000))).rows
    told: dict[str, set[str]] = {}
    kept = []
    for row in every:
        known = told.setdefault(row["type"], set())
        if row["statement"] not in known and len(known) < _KEPT_PER_TYPE:
            kept.append(row)
            known.add(row["statement"])
    replaced = list_rows(sight, Wanted(state="superseded", page=PageRequest(limit=2))).rows
    return [*sorted(kept, key=lambda row: str(row["type"])), *replaced]


def refusals(sight: Sight) -> list[dict[str, Any]]:
    """Return for each telling reason how often it was given, and one source it was given for."""
    decisions = sight.current("decisions", ["outcome", "reasons", "source_id"]).to_pylist()
    trusted = _said_by_users(sight)
    found: dict[str, list[dict[str, Any]]] = {}
    for row in sorted(decisions, key=lambda row: row["source_id"] not in trusted):
        if row["outcome"] in _REFUSALS and row["reasons"]:
            found.setdefault(row["reasons"][0], []).append(row)
    told = [reason for reason in _TOLD_REASONS if reason in found][:_MOST_REFUSALS]
    chosen = [found[reason][0]["source_id"] for reason in told]
    sources = latest_by_id(sight.snapshot, "sources", "source_id", chosen)
    return [_refusal(reason, found[reason], sources) for reason in told]


def _said_by_users(sight: Sight) -> set[bytes]:
    sources = sight.current("sources", ["source_id", "trust"])
    return set(sources.filter(pc.equal(sources["trust"], "trusted_user"))["source_id"].to_pylist())


def _refusal(reason: str, rows: list[dict[str, Any]], sources: dict[bytes, dict[str, Any]]) -> dict[str, Any]:
    source = source_row(sources[rows[0]["source_id"]])
    return {
        "outcome": rows[0]["outcome"],
        "reason": reason,
        "count": len(rows),
        "source_id": source["source_id"],
        "author": source["author"],
        "trust": source["trust"],
        "text": source["text"],
    }
