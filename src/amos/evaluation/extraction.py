"""Evaluate extraction and admission on cases, by the same path that `propose` and `ingest` take."""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec

from amos.evaluation.cases import BadCase, Case, CaseFile
from amos.evaluation.counts import Counts, counts_of, merged
from amos.evaluation.judging import Judged, judge
from amos.evaluation.matching import Line
from amos.evaluation.measures import measures
from amos.extraction.registry import fallback_reasons
from amos.flow.prepare import Rules
from amos.flow.proposing import Proposal, propose_lines
from amos.schemas.vocabulary import Reason
from amos.sources.messages import Message
from amos.sources.reading import read_stream_alone

SLICES = ("kind", "memory_class", "channel", "language", "extractor", "policy", "tenant", "privacy_class")
Progress = Callable[[int], None]
Readable = tuple[Case, Proposal]
_STEP = 2_000


@dataclass(frozen=True, kw_only=True)
class Wish:
    """What a report is to hold.  has_failures: each case that is not fully right, too.

    progress: told how many more cases were done.
    """

    now: datetime
    has_failures: bool = False
    progress: Progress | None = None


def evaluate_cases(file: CaseFile, rules: Sequence[Rules], wish: Wish) -> dict[str, Any]:
    """Return the report of every extractor on the cases; lines that are no case stand in `bad`."""
    readable, unreadable = _readable(file.cases)
    runs = [_run(readable, one, wish) for one in rules]
    bad = sorted((*file.bad, *unreadable), key=lambda one: (one.file, one.line))
    return {
        "cases": {"read": file.line_count, "evaluated": len(readable), "bad": len(bad)},
        "bad": [one._asdict() for one in bad],
        "unknown_fields": dict(sorted(file.unknown_fields.items())),
        "runs": runs,
    }


def _run(readable: Sequence[Readable], rules: Rules, wish: Wish) -> dict[str, Any]:
    began = time.perf_counter()
    judged = list(_judged(readable, rules, wish))
    counted = [counts_of(one) for one in judged]
    report: dict[str, Any] = {
        "extractor": rules.extractor.name,
        "policy": rules.policy.label,
        "fallbacks": fallback_reasons(rules.extractor),
        "all": measures(merged(counted)),
        "by": {name: _sliced(name, judged, counted, rules) for name in SLICES},
        "seconds": round(time.perf_counter() - began, 3),
    }
    if wish.has_failures:
        report["failures"] = [_failure(one) for one in judged if not one.is_right]
    return report


def _sliced(
    name: str, judged: Sequence[Judged], counted: Sequence[Counts], rules: Rules
) -> dict[str, dict[str, Any]]:
    parts: dict[str, list[Counts]] = {}
    for one, counts in zip(judged, counted, strict=True):
        parts.setdefault(_label(name, one, rules), []).append(counts)
    return {label: measures(merged(parts[label])) for label in sorted(parts)}


def _label(name: str, judged: Judged, rules: Rules) -> str:
    if name == "extractor":
        return rules.extractor.name
    if name == "policy":
        return rules.policy.label
    return judged.case.labels.get(name) or judged.privacy_class


def _judged(readable: Sequence[Readable], rules: Rules, wish: Wish) -> Iterator[Judged]:
    for start in range(0, len(readable), _STEP):
        part = readable[start : start + _STEP]
        lines: dict[str, list[Line]] = {}
        for line in propose_lines((proposal for _, proposal in part), rules=rules, now=wish.now):
            lines.setdefault(line["id"], []).append(line)
        yield from (judge(case, lines.get(case.id, [])) for case, _ in part)
        if wish.progress is not None:
            wish.progress(len(part))


def _readable(cases: Sequence[Case]) -> tuple[list[Readable], list[BadCase]]:
    """Return the cases as the reader of `messages` lines understands them, and those that it cannot read."""
    written = io.BytesIO(b"".join(msgspec.json.encode(case.message) + b"\n" for case in cases))
    found: list[Readable] = []
    bad: list[BadCase] = []
    for case, message in zip(cases, read_stream_alone(written, name="cases"), strict=True):
        refusals = tuple(one.code for one in message.problems if one.is_lost)
        if message.blocks:
            found.append((case, Proposal(id=case.id, blocks=message.blocks, own_count=1)))
        elif refusals and set(refusals) <= set(Reason):
            found.append((case, Proposal(id=case.id, blocks=[], own_count=0, refusals=refusals)))
        else:
            bad.append(_unreadable(case, message))
    return found, bad


def _unreadable(case: Case, message: Message) -> BadCase:
    first = message.problems[0]
    return BadCase(case.file, case.line, case.id, first.code, first.message)


def _failure(judged: Judged) -> dict[str, Any]:
    case, expected = judged.case, judged.case.expected
    return {
        "id": case.id,
        "line": case.line,
        "kind": case.labels["kind"],
        "text": case.message["text"],
        "is_harmful": bool(judged.harms),
        "wrong": list(judged.wrong),
        "expected": {
            "admission": [str(expected.admission), *map(str, expected.admission_also)],
            "value": expected.value,
            "polarity": expected.polarity,
            "memory_class": expected.memory_class,
        },
        "decided": [
            {name: line[name] for name in ("outcome", "reasons", "statement", "value", "span", "confidence")}
            for line in judged.lines
        ],
    }
