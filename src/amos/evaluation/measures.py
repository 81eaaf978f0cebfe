"""Turn counts into rates: precision, recall, calibration; null where nothing can be divided."""

from __future__ import annotations

import math
from typing import Any

from amos.evaluation.counts import FIELDS, Counts

_Z = 1.959964
"""Two-sided 95 %."""
BIN_WIDTH = 10


def measures(counts: Counts) -> dict[str, Any]:
    """Return every stage of a set of cases: cases, spans, claims, fields, writes, calibration, evidence."""
    cases, right, harmful = counts["cases",], counts["right",], counts["harmful",]
    return {
        "cases": cases,
        "right": right,
        "right_ratio": ratio(right, cases),
        "right_interval": interval(right, cases),
        "harmful": harmful,
        "harmful_ratio": ratio(harmful, cases),
        "harmful_interval": interval(harmful, cases),
        "spans": _found(counts, "spans") | {"exact": counts["spans", "exact"]},
        "claims": _found(counts, "claims")
        | {name: counts["claims", name] for name in ("unlisted", "unjudged")},
        "fields": {name: _agreement(counts, name) for name in FIELDS},
        "writes": _writes(counts),
        "calibration": calibration(counts),
        "evidence": _evidence(counts),
        "refusals": _nested(counts, "refusals"),
        "outcomes": _nested(counts, "outcomes"),
    }


def ratio(part: int, whole: int) -> float | None:
    """Return part of whole with 4 decimals, None of nothing."""
    return round(part / whole, 4) if whole else None


def interval(part: int, whole: int) -> list[float] | None:
    """Return the 95 % interval of a share (Wilson 1927), None of nothing."""
    if not whole:
        return None
    share, square = part / whole, _Z * _Z / whole
    centre = (share + square / 2) / (1 + square)
    reach = _Z * math.sqrt(share * (1 - share) / whole + square / (4 * whole)) / (1 + square)
    return [round(max(centre - reach, 0.0), 4), round(min(centre + reach, 1.0), 4)]


def _found(counts: Counts, stage: str) -> dict[str, Any]:
    hit, false, missed = (counts[stage, name] for name in ("hit", "false", "missed"))
    return {
        "hit": hit,
        "false": false,
        "missed": missed,
        "precision": ratio(hit, hit + false),
        "recall": ratio(hit, hit + missed),
        "f1": ratio(2 * hit, 2 * hit + false + missed),
    }


def _agreement(counts: Counts, name: str) -> dict[str, Any]:
    stated, agreed = counts["fields", name, "stated"], counts["fields", name, "agreed"]
    return {"stated": stated, "agreed": agreed, "ratio": ratio(agreed, stated)}


def _writes(counts: Counts) -> dict[str, Any]:
    admitted, appropriate, required, found = (
        counts["writes", name] for name in ("admitted", "appropriate", "required", "found")
    )
    return {
        "admitted": admitted,
        "appropriate": appropriate,
        "required": required,
        "found": found,
        "precision": ratio(appropriate, admitted),
        "precision_interval": interval(appropriate, admitted),
        "recall": ratio(found, required),
    }


def calibration(counts: Counts) -> dict[str, Any]:
    """Return how often claims of a confidence are right, in bins of ten points.

    Confidence says how sure the extractor is; it is calibrated where a bin's two numbers agree.
    """
    bins: dict[int, list[int]] = {}
    squares = claims = 0
    for key, number in counts.items():
        if key[0] != "confidence":
            continue
        points, is_correct = int(key[1]), key[2] == "correct"
        held = bins.setdefault(min(points // BIN_WIDTH, 100 // BIN_WIDTH - 1), [0, 0, 0])
        held[0] += number
        held[1] += number * points
        held[2] += number * is_correct
        squares += number * (points - 100 * is_correct) ** 2
        claims += number
    rows = [_bin(place, *bins[place]) for place in sorted(bins)]
    gaps = sum(row["claims"] * abs(row["mean_confidence"] - row["correct_ratio"]) for row in rows)
    return {
        "claims": claims,
        "expected_error": round(gaps / claims, 4) if claims else None,
        "brier_score": round(squares / claims / 10_000, 4) if claims else None,
        "bins": rows,
    }


def _bin(place: int, claims: int, points: int, correct: int) -> dict[str, Any]:
    return {
        "from": place * BIN_WIDTH,
        "until": (place + 1) * BIN_WIDTH,
        "claims": claims,
        "mean_confidence": round(points / claims / 100, 4),
        "correct_ratio": ratio(correct, claims),
    }


def _evidence(counts: Counts) -> dict[str, Any]:
    found = {key[1]: number for key, number in counts.items() if key[0] == "evidence"}
    checked, valid = sum(found.values()), found.pop("valid", 0)
    return {
        "checked": checked,
        "valid": valid,
        "valid_ratio": ratio(valid, checked),
        "faults": dict(sorted(found.items())),
    }


def _nested(counts: Counts, stage: str) -> dict[str, dict[str, int]]:
    """Return counts by the second part of their key, then by the third, the largest first."""
    rows = sorted((key[1], -number, key[2]) for key, number in counts.items() if key[0] == stage and number)
    found: dict[str, dict[str, int]] = {}
    for outer, minus, inner in rows:
        found.setdefault(outer, {})[inner] = -minus
    return found
