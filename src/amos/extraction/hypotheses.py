"""What one good outcome may mean in general: a preference that nobody stated, too unsure to commit."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

import msgspec

from amos.extraction.drafts import Draft
from amos.extraction.grammar import Meaning
from amos.extraction.subjects import AUTHOR, Subject
from amos.kernels.features import NO_TIME
from amos.patterns import pattern_of
from amos.schemas.vocabulary import AtomType, MemoryClass

CONFIDENCE = 40
"""Below every minimum that makes sense: one success proves no taste, so a person decides."""
DERIVATION = "generalised_from_one_outcome"
_FAVOURABLE = pattern_of(
    r"(?:worked|helped)(?: (?:well|great|fine|wonders|perfectly|nicely|a lot|a bit|best|better))?"
    r"|(?:tasted|went|turned out) (?:well|great|fine|perfectly|nicely|good|best|better)"
    r"|did the trick",
    re.IGNORECASE,
)
_PREFERENCE = "preference"


def generalised(outcome: Draft, span: tuple[int, int] | None) -> list[Draft]:
    """Return the preference that a good outcome of a thing suggests, none where it suggests nothing.

    span: bytes that name the thing.  The hypothesis cites these alone and says how it was derived.
    """
    if span is None or outcome.subject.is_person or outcome.is_negative or outcome.value is None:
        return []
    if not _FAVOURABLE.fullmatch(outcome.value):
        return []
    derived = {"derivation": DERIVATION, "outcome": outcome.value, "strength": "hypothesis"}
    return [
        outcome._replace(
            meaning=_hypothesis(outcome.meaning),
            memory_class=MemoryClass.DURABLE_FACT.value,
            subject=Subject("author", AUTHOR, is_person=False),
            property=_PREFERENCE,
            value=outcome.subject.name,
            start=span[0],
            end=span[1],
            time_text=None,
            time_kind=NO_TIME,
            payload=msgspec.json.encode(derived, order="sorted").decode(),
        )
    ]


@cache
def _hypothesis(meaning: Meaning) -> Meaning:
    """Return the meaning of the hypothesis of an outcome: the same pattern, another claim."""
    return replace(
        meaning,
        name=f"{meaning.name}.hypothesis",
        type=AtomType.PREFERENCE.value,
        memory_class=MemoryClass.DURABLE_FACT.value,
        subject="author",
        property=_PREFERENCE,
        shape=_PREFERENCE,
        confidence=CONFIDENCE,
    )
