"""Claims before their time is resolved, and which of them a later one of the same text takes back."""

from __future__ import annotations

from typing import NamedTuple

from amos.extraction.grammar import Meaning
from amos.extraction.subjects import Subject
from amos.schemas.vocabulary import Cue, Reason

_SELF_CORRECTED = int(Cue.SELF_CORRECTED)
_CORRECTION = int(Cue.CORRECTION)
_BACK_TO = frozenset(("it", "them", "that"))


class Draft(NamedTuple):
    """A claim of a text before its time expression is resolved; spans are bytes of the stored text.

    is_dated: the value is a time expression, so that it is equal to the day that it names.
    """

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
    time_text: str | None
    time_kind: int
    payload: str | None
    cues: int
    veto: str | None
    is_dated: bool = False


def withdrawn(draft: Draft) -> Draft:
    """Return a claim marked as taken back."""
    return draft._replace(cues=draft.cues | _SELF_CORRECTED, veto=draft.veto or Reason.SELF_CORRECTION.value)


def is_taken_back(draft: Draft, following: Draft | None) -> bool:
    """Tell whether the next claim turns a taste round: "I don't like tea, I love it"."""
    return (
        following is not None
        and draft.property == following.property == "preference"
        and following.value in _BACK_TO
        and following.is_negative != draft.is_negative
        and following.subject.name == draft.subject.name
    )


def mark_withdrawn(drafts: list[Draft]) -> list[Draft]:
    """Mark the claims of one text that a later one of it corrects: same slot, other value."""
    if len(drafts) < 2:
        return drafts
    latest: dict[tuple[str, str], Draft] = {}
    kept: list[Draft] = []
    following: Draft | None = None
    for draft in reversed(drafts):
        if is_taken_back(draft, following):
            kept.append(withdrawn(draft))
            continue
        following = draft
        slot = (draft.subject.name, draft.property or "")
        later = latest.get(slot)
        is_withdrawn = (
            later is not None
            and draft.property is not None
            and draft.meaning.arity == "single"
            and later.value != draft.value
            and bool(later.cues & _CORRECTION)
            and (later.sentence != draft.sentence or later.meaning.needs == "replaced")
        )
        if is_withdrawn:
            kept.append(withdrawn(draft))
            continue
        latest.setdefault(slot, draft)
        kept.append(draft)
    return kept[::-1]
