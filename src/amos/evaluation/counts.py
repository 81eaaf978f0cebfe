"""Count what was judged, by stage; counts of several cases add up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from amos.admission.values_text import fold_text
from amos.evaluation.cases import allowed_outcomes
from amos.evaluation.judging import Judged, is_written
from amos.evaluation.matching import Line, Pair, folded, shared_ratio

Key = tuple[str, ...]
Counts = Counter[Key]

FIELDS = ("subject", "property", "polarity", "memory_class", "modality")
_CUT = 0x1A


def counts_of(judged: Judged) -> Counts:
    """Return the counts of one case; see `measures` for what they become."""
    found: Counts = Counter()
    found["cases",] = 1
    found["right",] = int(judged.is_right)
    found["harmful",] = int(bool(judged.harms))
    found["outcomes", str(judged.case.expected.admission), judged.outcome] = 1
    for key in (
        *_claims(judged),
        *_writes(judged),
        *_fields(judged),
        *_confidences(judged),
        *_refusals(judged),
        *_span_faults(judged),
    ):
        found[key] += 1
    return found


def _claims(judged: Judged) -> Iterator[Key]:
    """Yield hits and misses of finding where a claim stands, and of reading it."""
    for place, gold in enumerate(judged.golds):
        pair = judged.pairs.get(place)
        yield ("claims", "hit" if pair is not None and pair.is_read else "missed")
        if pair is not None and not pair.is_read:
            yield ("claims", "false")
        if gold.span is None:
            continue
        if pair is None or not pair.is_located:
            yield ("spans", "missed")
            if pair is not None:
                yield ("spans", "false")
            continue
        yield ("spans", "hit")
        if shared_ratio(gold.span, pair.line["span"]) == 1:
            yield ("spans", "exact")
    for _ in judged.unlisted:
        yield ("claims", "unjudged" if judged.is_open else "unlisted")
        if not judged.is_open:
            yield ("claims", "false")
            yield ("spans", "false")


def _writes(judged: Judged) -> Iterator[Key]:
    """Yield what was written and whether it should have been, and what should have been written."""
    good: set[int] = set()
    for place, gold in enumerate(judged.golds):
        pair = judged.pairs.get(place)
        is_good = pair is not None and is_written(pair.line) and pair.is_read and gold.may_be_written
        if gold.is_required:
            yield ("writes", "required")
            if is_good:
                yield ("writes", "found")
        if is_good and pair is not None:
            good.add(id(pair.line))
    allowed = allowed_outcomes(judged.case.expected)
    for line in _stated(judged):
        if is_written(line):
            yield ("writes", "admitted")
            if id(line) in good or (judged.is_open and line["outcome"] in allowed):
                yield ("writes", "appropriate")


def _stated(judged: Judged) -> list[Line]:
    return [*(pair.line for pair in judged.pairs.values()), *judged.unlisted]


def _fields(judged: Judged) -> Iterator[Key]:
    """Yield per field of a claim that was found whether it agrees; names are compared as written."""
    for pair in judged.pairs.values():
        if not pair.is_located:
            continue
        for name in FIELDS:
            if getattr(pair.gold.claim, name) is not None:
                yield ("fields", name, "stated")
                if _agrees(name, pair):
                    yield ("fields", name, "agreed")


def _agrees(name: str, pair: Pair) -> bool:
    stated, found = str(getattr(pair.gold.claim, name)), str(pair.line[name] or "")
    return folded(stated) == folded(found) if name in ("subject", "property") else stated == found


def _confidences(judged: Judged) -> Iterator[Key]:
    if judged.is_open:
        return
    read = {id(pair.line) for pair in judged.pairs.values() if pair.is_read}
    for line in _stated(judged):
        if line["confidence"] is not None:
            yield ("confidence", str(line["confidence"]), "correct" if id(line) in read else "wrong")


def _refusals(judged: Judged) -> Iterator[Key]:
    for line in judged.lines:
        if not is_written(line):
            yield ("refusals", line["outcome"], line["reasons"][0])


def _span_faults(judged: Judged) -> Iterator[Key]:
    """Yield per cited span whether the text gives the same excerpt again."""
    content = judged.case.content
    for line in judged.lines:
        if line["span"] is not None:
            fault = span_fault(content, line)
            yield ("evidence", "valid" if fault is None else fault)


def span_fault(content: bytes, line: Line) -> str | None:
    """Return what is wrong with the evidence of a line, or None.

    content: bytes of the text as delivered; what was cut before storing differs by cut bytes only.
    """
    start, end = line["span"]
    if not 0 <= start < end <= len(content):
        return "out_of_range"
    cited, excerpt = content[start:end], str(line["excerpt"]).encode()
    if len(excerpt) != len(cited):
        return "other_length"
    if any(stored not in (said, _CUT) for stored, said in zip(excerpt, cited, strict=True)):
        return "other_text"
    return None if fold_text(excerpt.decode()) else "empty"


def merged(parts: Iterable[Counts]) -> Counts:
    """Return the sum of counts."""
    total: Counts = Counter()
    for part in parts:
        total.update(part)
    return total
