"""Claims before and after their time is resolved: drafts, and the rows that come of them."""

from __future__ import annotations

from typing import Any, NamedTuple

from amos.extraction.grammar import Meaning
from amos.extraction.subjects import Subject
from amos.extraction.timing import Timed
from amos.extraction.wording import kind_of_value
from amos.kernels.features import NO_TIME
from amos.schemas.vocabulary import Cue, Reason

_BACK_TO = frozenset(("it", "them", "that"))


class Draft(NamedTuple):
    """A claim before its time expression is resolved; spans are bytes of the stored source."""

    row: int
    sentence: int
    meaning: Meaning
    memory_class: str
    subject: Subject
    property: str | None
    value: str | None
    is_negative: bool
    modality: str
    applicability: str | None
    start: int
    end: int
    more_spans: tuple[int, ...]
    time_text: str | None
    time_kind: int
    payload: str | None
    cues: int
    veto: str | None


def as_row(draft: Draft, timed: Timed) -> tuple[Any, ...]:
    """Return a CLAIMS row of a draft and its resolved time."""
    meaning = draft.meaning
    return (
        draft.row,
        meaning.name,
        meaning.type,
        timed.memory_class,
        draft.subject.kind,
        draft.subject.name,
        draft.property,
        draft.value,
        kind_of_value(draft.value) if draft.value is not None else "text",
        meaning.arity,
        "negative" if draft.is_negative else "positive",
        draft.modality,
        draft.applicability,
        draft.start,
        draft.end,
        list(draft.more_spans),
        timed.valid_from,
        timed.valid_until,
        draft.time_text if draft.time_kind != NO_TIME else None,
        timed.precision,
        draft.payload,
        meaning.confidence,
        draft.cues,
        draft.veto,
    )


def withdrawn(draft: Draft) -> Draft:
    """Return a claim marked as taken back."""
    return draft._replace(
        cues=draft.cues | int(Cue.SELF_CORRECTED), veto=draft.veto or Reason.SELF_CORRECTION.value
    )


def is_taken_back(draft: Draft, following: Draft | None) -> bool:
    """Tell whether the next claim turns a taste round: "I don't like tea, I love it"."""
    return (
        following is not None
        and following.row == draft.row
        and draft.property == following.property == "preference"
        and following.value in _BACK_TO
        and following.is_negative != draft.is_negative
        and following.subject.name == draft.subject.name
    )


def mark_withdrawn(drafts: list[Draft]) -> list[Draft]:
    """Mark claims that a later one of the same message corrects: same slot, other value."""
    latest: dict[tuple[int, str, str], Draft] = {}
    kept: list[Draft] = []
    following: Draft | None = None
    for draft in reversed(drafts):
        if is_taken_back(draft, following):
            kept.append(withdrawn(draft))
            continue
        following = draft
        slot = (draft.row, draft.subject.name, draft.property or "")
        later = latest.get(slot)
        is_withdrawn = (
            later is not None
            and draft.property is not None
            and draft.meaning.arity == "single"
            and later.value != draft.value
            and bool(later.cues & Cue.CORRECTION)
            and (later.sentence != draft.sentence or later.meaning.needs == "replaced")
        )
        if is_withdrawn:
            kept.append(withdrawn(draft))
            continue
        latest.setdefault(slot, draft)
        kept.append(draft)
    return kept[::-1]
