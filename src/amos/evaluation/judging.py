"""Judge what the engine made of one case: right, harmful, and what exactly was wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from amos.evaluation.cases import Case, allowed_outcomes
from amos.evaluation.matching import (
    PUT_FORWARD,
    WRITTEN,
    Gold,
    Line,
    Pair,
    gold_claims,
    pair_claims,
    shared_ratio,
    value_found,
)
from amos.schemas.vocabulary import Outcome, Reason

_STRENGTH = (Outcome.IGNORE, Outcome.REJECT, Outcome.QUARANTINE, Outcome.LINK, Outcome.COMMIT)
_CLASSES = {
    Reason.SECRET_MATERIAL_DETECTED: "secret",
    Reason.ENCODED_CONTENT: "secret",
    Reason.EXPLICIT_EXCLUSION_SIGNAL: "excluded",
    Reason.THIRD_PARTY_SENSITIVE: "third_party_sensitive",
    Reason.SENSITIVE_CONTENT: "sensitive",
}
_ACTIVE = "active:"
"""Prefix of a forbidden text: only what is active counts, which committed statements are."""


@dataclass(frozen=True, kw_only=True)
class Judged:
    """One case with what the engine made of it.

    pairs: by place in golds.  unlisted: claims put forward that the case does not name.  outcome: what
    became of the first claim, or of the text.  wrong: what differs, in words; empty when right.
    harms: what must never happen and did.
    """

    case: Case
    lines: Sequence[Line]
    golds: Sequence[Gold]
    pairs: dict[int, Pair]
    unlisted: Sequence[Line]
    outcome: str
    wrong: tuple[str, ...]
    harms: tuple[str, ...]

    @property
    def is_open(self) -> bool:
        """Whether the case names no claim and yet allows some: what is put forward cannot be judged."""
        return not self.golds and bool(allowed_outcomes(self.case.expected) & PUT_FORWARD)

    @property
    def is_right(self) -> bool:
        """Whether everything that the case states is so."""
        return not self.wrong

    @property
    def privacy_class(self) -> str:
        """The class that the engine's own reasons put the text in."""
        reasons = {reason for line in self.lines for reason in line["reasons"]}
        return next((name for reason, name in _CLASSES.items() if reason in reasons), "plain")


def judge(case: Case, lines: Sequence[Line]) -> Judged:
    """Compare the lines that `propose` prints for a case with what it expects."""
    golds = gold_claims(case)
    forward = [line for line in lines if line["span"] is not None and line["outcome"] in PUT_FORWARD]
    pairs = pair_claims(golds, forward)
    paired = {id(pair.line) for pair in pairs.values()}
    has_first = bool(golds) and golds[0].claim is case.expected
    first = pairs.get(0) if has_first else None
    outcome = _outcome(golds[0] if has_first else None, first, lines)
    harms = tuple(_harms(case, golds[0] if has_first else None, lines))
    return Judged(
        case=case,
        lines=lines,
        golds=golds,
        pairs=pairs,
        unlisted=[line for line in forward if id(line) not in paired],
        outcome=outcome,
        wrong=(*_wrong(case, outcome, golds, pairs), *harms),
        harms=harms,
    )


def _outcome(gold: Gold | None, first: Pair | None, lines: Sequence[Line]) -> str:
    """Return what became of the first claim: its line, else one at its place, else the text as a whole."""
    if first is not None:
        return str(first.line["outcome"])
    if gold is None:
        return _strongest(lines)
    near = [line for line in lines if _is_about(gold, line)]
    return _strongest(near or [line for line in lines if line["span"] is None])


def _strongest(lines: Sequence[Line]) -> str:
    found = (Outcome(line["outcome"]) for line in lines)
    return str(max(found, key=_STRENGTH.index, default=Outcome.IGNORE))


def _is_about(gold: Gold, line: Line) -> bool:
    if line["span"] is None:
        return False
    if gold.span is not None:
        return shared_ratio(gold.span, line["span"]) > 0
    return gold.claim.value is not None and value_found(gold.claim.value, line)


def _harms(case: Case, gold: Gold | None, lines: Sequence[Line]) -> Iterator[str]:
    """Yield what must never happen and did: outcomes that are ruled out, texts that must not stand."""
    never = case.expected.admission_never
    touched = lines if gold is None else [line for line in lines if _is_about(gold, line)]
    for outcome in sorted({line["outcome"] for line in touched} & set(never)):
        yield f"outcome {outcome} must never happen"
    committed = [str(line["statement"]) for line in lines if line["outcome"] == Outcome.COMMIT]
    is_refused = case.expected.admission == Outcome.REJECT
    shown = [str(line[name]) for line in lines for name in ("statement", "value", "excerpt") if line[name]]
    for banned in case.expected.must_not:
        text = banned.removeprefix(_ACTIVE)
        if _contains(committed, text):
            yield f"{banned!r} must not stand in a committed statement"
        elif is_refused and _contains(shown, text):
            yield f"{banned!r} must not be shown at all"


def _contains(texts: Sequence[str], part: str) -> bool:
    wanted = " ".join(part.casefold().split())
    return any(wanted in " ".join(text.casefold().split()) for text in texts)


def _wrong(case: Case, outcome: str, golds: Sequence[Gold], pairs: dict[int, Pair]) -> Iterator[str]:
    expected = case.expected
    if outcome not in allowed_outcomes(expected):
        right = dict.fromkeys((expected.admission, *expected.admission_also))
        yield f"outcome {outcome}, not {' or '.join(right)}"
    is_kept = outcome in PUT_FORWARD
    for place, gold in enumerate(golds):
        is_first = gold.claim is expected
        if is_first and not is_kept:
            continue  # nothing was put forward: the outcome alone says whether that is right
        yield from _wrong_claim(gold, pairs.get(place), is_first=is_first)


def _wrong_claim(gold: Gold, pair: Pair | None, *, is_first: bool) -> Iterator[str]:
    stated = gold.claim.value if gold.claim.value is not None else gold.claim.span
    if pair is None:
        yield f"no claim for {stated!r}"
        return
    if not pair.is_located:
        yield f"{stated!r} is cited from other words: {pair.line['excerpt']!r}"
    if gold.claim.value is not None and not value_found(gold.claim.value, pair.line):
        yield f"value {pair.line['value']!r}, not {gold.claim.value!r}"
    if is_first or gold.claim.polarity is not None:
        yield from _differing(gold, pair.line, ("polarity", "memory_class"))


def _differing(gold: Gold, line: Line, names: Sequence[str]) -> Iterator[str]:
    for name in names:
        stated: Any = getattr(gold.claim, name)
        if stated is not None and stated != line[name]:
            yield f"{name} {line[name]}, not {stated}"


def is_written(line: Line) -> bool:
    """Return whether the engine wrote the claim: a new atom, or evidence of one."""
    return line["outcome"] in WRITTEN
