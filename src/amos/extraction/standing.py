"""What a match says whatever its value: whose it is, of which property, how it is put forward."""

from __future__ import annotations

from typing import NamedTuple

from amos.extraction.drafts import Draft
from amos.extraction.grammar import Meaning
from amos.extraction.lexicon import CUES
from amos.extraction.matches import Match, Origin
from amos.extraction.moods import kept_cues, modality_of
from amos.extraction.subjects import Subject, find_subject
from amos.extraction.wording import clean_property, phone_property
from amos.kernels.features import NEXT, NOW, PAST
from amos.kernels.match import PROPERTY, SCOPE, SUBJECT_CAPTURE, VALUE
from amos.kernels.words import PASTED, QUOTED
from amos.schemas.vocabulary import Cue

_IRONY_MARK = CUES["irony_mark"]
_RELATIVE_TIME = int(Cue.RELATIVE_TIME)
_RELATIVE = frozenset({PAST, NEXT, NOW})
_NAMED_BY = {"@property": PROPERTY, "@scope": SCOPE, "@value": VALUE}
_GENITIVES = ("'s", "’s")
_PHONES = ("phone", "number")
"""Properties whose name depends on their value."""


class Standing(NamedTuple):
    """cues: bits of Cue that clause, place, pattern and time expression give."""

    subject: Subject
    property: str | None
    modality: str
    cues: int


class Standings:
    """Finds the standing of matches; those that read the same in a batch are looked at once."""

    def __init__(self) -> None:
        self._known: dict[tuple[object, ...], Standing] = {}

    def of(
        self, match: Match, meaning: Meaning, origin: Origin, before: Draft | None, recent: Draft | None
    ) -> Standing:
        """Return the standing of `match`; before, recent: the draft before it in sentence and text."""
        place = _NAMED_BY.get(meaning.property)
        named = b"" if place is None else match.read(place)
        subject = match.read(SUBJECT_CAPTURE)
        irony = origin.cues & _IRONY_MARK
        key = (match.pattern, named, subject, match.cues, match.flags, match.kind, origin.trust, irony)
        standing = self._known.get(key)
        if standing is not None:
            return standing
        property_name = clean_property((named.decode() if place is not None else meaning.property) or "")
        found, whole_name = whose(match, meaning, origin, before, recent, property_name or None)
        cues = kept_cues(match.cues, match.flags) | meaning.cues
        standing = Standing(
            subject=found,
            property=whole_name,
            modality=modality_of(match.cues | irony, match.flags, meaning.modality),
            cues=cues | _RELATIVE_TIME if match.kind in _RELATIVE else cues,
        )
        if not _depends_on_more(meaning, property_name):
            self._known[key] = standing
        return standing


def _depends_on_more(meaning: Meaning, property_name: str) -> bool:
    """Tell whether subject or property come of earlier drafts, or the property's name of the value."""
    if meaning.is_inherited or meaning.subject == "pronoun":
        return True
    return property_name in _PHONES or property_name.endswith(_GENITIVES)


def whose(
    match: Match, meaning: Meaning, origin: Origin, before: Draft | None, recent: Draft | None,
    property_name: str | None,
) -> tuple[Subject, str | None]:  # fmt: skip
    """Return the subject and the property that the claim speaks of; property_name: as cleaned."""
    if meaning.is_inherited and before is not None:
        return before.subject, before.property
    is_other_voice = bool(match.flags & (QUOTED | PASTED))
    if property_name and property_name.endswith(_GENITIVES):
        holder = property_name[:-2]  # "my size is M; my brother's is XL"
        subject, _ = find_subject(
            "thing", holder, None, None, trust=origin.trust, is_other_voice=is_other_voice
        )
        return subject, recent.property if recent is not None else None
    if property_name in _PHONES:
        property_name = phone_property(property_name, match.capture(VALUE))
    if property_name and meaning.shape == "procedure":
        property_name += " steps"
    return find_subject(
        meaning.subject, match.capture(SUBJECT_CAPTURE), property_name, before.subject if before else None,
        trust=origin.trust, is_other_voice=is_other_voice,
    )  # fmt: skip
