"""Pair the claims that a person reads in a text with those that the engine proposes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from amos.admission.values import normalise_value
from amos.admission.values_text import canonical_text
from amos.evaluation.cases import Case, Expected, MoreClaim, Span, allowed_outcomes
from amos.schemas.vocabulary import Outcome

Line = Mapping[str, Any]
"""One output line of `propose`."""

WRITTEN = frozenset({Outcome.COMMIT, Outcome.LINK})
PUT_FORWARD = frozenset({*WRITTEN, Outcome.QUARANTINE})
"""Outcomes of claims that the engine stands by: in memory, or held for a person."""

_ARTICLE = re.compile(r"\b(?:the|an|a)\s+(?=\S)")


class Gold(NamedTuple):
    """A claim that a careful person reads.

    is_required: it must be written.  may_be_written: it may be.
    """

    claim: Expected | MoreClaim
    span: Span | None
    is_required: bool
    may_be_written: bool


class Pair(NamedTuple):
    """A claim of the person and the line of the engine that comes closest to it.

    is_located: the spans overlap, or the person named none.  is_read: also value and polarity agree.
    """

    gold: Gold
    line: Line
    is_located: bool
    is_read: bool


def gold_claims(case: Case) -> list[Gold]:
    """Return the claims that the case expects, the first one first; none where it expects none."""
    expected = case.expected
    is_required = expected.admission in WRITTEN
    found = []
    if expected.value is not None or expected.span is not None or expected.span_bytes is not None:
        first = Gold(expected, _span(expected, case), is_required, bool(allowed_outcomes(expected) & WRITTEN))
        found.append(first)
    is_banned = Outcome.COMMIT in expected.admission_never
    for more in expected.more:
        must = is_required if more.admission is None else more.admission in WRITTEN
        may = not is_banned if more.admission is None else must
        found.append(Gold(more, _span(more, case), must, may))
    return found


def _span(claim: Expected | MoreClaim, case: Case) -> Span | None:
    if claim.span_bytes is not None or claim.span is None:
        return claim.span_bytes
    start = case.content.index(claim.span.encode())
    return start, start + len(claim.span.encode())


def pair_claims(golds: Sequence[Gold], lines: Sequence[Line]) -> dict[int, Pair]:
    """Return by place in `golds` the pair of each claim that some line comes near, one to one.

    lines: claims put forward.  The best pairs are made first; a line belongs to one claim only.
    """
    ranked = sorted(
        (_closeness(gold, line), -place, -row)
        for place, gold in enumerate(golds)
        for row, line in enumerate(lines)
    )
    pairs: dict[int, Pair] = {}
    taken: set[int] = set()
    for closeness, minus_place, minus_row in reversed(ranked):
        place, row = -minus_place, -minus_row
        if place in pairs or row in taken or not (closeness.has_overlap or closeness.is_read):
            continue
        taken.add(row)
        gold = golds[place]
        is_located = closeness.has_overlap or gold.span is None
        pairs[place] = Pair(gold, lines[row], is_located, closeness.is_read)
    return pairs


class _Closeness(NamedTuple):
    """How near a line comes to a claim; the larger, the nearer."""

    is_read: bool
    has_overlap: bool
    has_value: bool
    shared: float


def _closeness(gold: Gold, line: Line) -> _Closeness:
    shared = shared_ratio(gold.span, line["span"])
    has_value = gold.claim.value is None or value_found(gold.claim.value, line)
    is_turned = gold.claim.polarity is not None and gold.claim.polarity != line["polarity"]
    has_place = shared > 0 or gold.span is None
    return _Closeness(has_place and has_value and not is_turned, shared > 0, has_value, shared)


def shared_ratio(one: Sequence[int] | None, other: Sequence[int] | None) -> float:
    """Return the bytes that two half-open ranges share over those that they cover together, 0 to 1."""
    if one is None or other is None:
        return 0.0
    shared = min(one[1], other[1]) - max(one[0], other[0])
    return max(shared, 0) / (max(one[1], other[1]) - min(one[0], other[0]))


def value_found(value: object, line: Line) -> bool:
    """Return whether a line states `value`: equal by type, or in its value, statement or excerpt."""
    wanted = str(value)
    if line["value"] is not None and normalise_value(wanted) == normalise_value(str(line["value"])):
        return True
    return any(stands_in(wanted, text) for text in _said(line))


def _said(line: Line) -> Iterator[str]:
    return (str(line[name]) for name in ("value", "statement", "excerpt") if line[name] is not None)


def stands_in(part: str, text: str) -> bool:
    """Return whether `part` stands in `text` as whole words, whatever case, articles and spelling are."""
    wanted = folded(part)
    return bool(wanted) and re.search(rf"(?<!\w){re.escape(wanted)}(?!\w)", folded(text)) is not None


@lru_cache(maxsize=4096)
def folded(text: str) -> str:
    """Return text in one case and spelling, without articles."""
    return _ARTICLE.sub("", canonical_text(text))
