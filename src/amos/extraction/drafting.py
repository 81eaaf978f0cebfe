"""Turn matches into drafts of claims: texts, subject, modality, cues; one pass in order of place."""

from __future__ import annotations

from amos.extraction.drafts import Draft
from amos.extraction.grammar import Grammar, Meaning
from amos.extraction.lexicon import CUES
from amos.extraction.matches import Match, Origin
from amos.extraction.moods import kept_cues, modality_of
from amos.extraction.payloads import Parts, applicability_of, payload_of, steps_of
from amos.extraction.sensitive import is_sensitive
from amos.extraction.subjects import Subject, find_subject
from amos.extraction.timing import DATED_KINDS, DUE_KINDS, class_of
from amos.extraction.wording import (
    clean_property,
    clean_value,
    phone_property,
    statement_of,
    without_time_lead,
)
from amos.extraction.worth import Worth
from amos.kernels import rows as layout
from amos.kernels.features import DENIED, FROM, NEXT, NOW, PAST
from amos.kernels.match import PROPERTY, SCOPE, SUBJECT_CAPTURE, TAIL_CAPTURE, VALUE
from amos.kernels.words import CUT, PASTED, QUOTED
from amos.schemas.vocabulary import Cue, MemoryClass, Trust

_REQUEST = CUES["request"]
_IRONY_MARK = CUES["irony_mark"]
_NAMED_BY = {"@property": PROPERTY, "@scope": SCOPE, "@value": VALUE}
_RELATIVE = frozenset({PAST, NEXT, NOW})
_ENDINGS = ("no longer", "anymore", "any more", "any longer", "no more")


class Drafter:
    """Makes drafts of the matches of one batch, in order; remembers the sentence it is in."""

    def __init__(self, grammar: Grammar) -> None:
        self._meanings = grammar.meanings
        self._worth = Worth(grammar)
        self._previous: Draft | None = None
        self._told: tuple[int, int] | None = None

    def draft(self, numbers: list[int], origin: Origin) -> Draft | None:
        """Return the claim of one match, None when the match claims nothing."""
        meaning = self._meanings[numbers[layout.ROW_PATTERN]]
        match = Match(numbers, origin)
        place = (origin.row, numbers[layout.ROW_SENTENCE])
        before = (
            self._previous
            if self._previous and (self._previous.row, self._previous.sentence) == place
            else None
        )
        if meaning.type == "episode":
            self._told = place
        if not is_meant(match, meaning, origin, before):
            return None
        drafted = self._assemble(match, meaning, origin, place, before)
        if drafted is not None and drafted.memory_class == MemoryClass.TEMPORARY_STATE:
            is_report = self._told == place and drafted.time_text is None
            if is_report and meaning.memory_class != MemoryClass.TEMPORARY_STATE:
                drafted = drafted._replace(memory_class=MemoryClass.EPISODE.value)
        self._previous = drafted or self._previous
        return drafted

    def _assemble(
        self, match: Match, meaning: Meaning, origin: Origin, place: tuple[int, int], before: Draft | None
    ) -> Draft | None:
        start, end = cited_span(match, origin)
        value, is_time = value_text(match)
        subject, property_name = whose(match, meaning, origin, before)
        if meaning.property and not property_name:
            return None
        time_text = match.text(layout.ROW_WHEN) or None
        thing = clean_property(match.capture(SUBJECT_CAPTURE)) if subject.kind == "thing" else ""
        veto = self._worth.veto(meaning, property_name or "", thing, value, subject.name)
        memory_class = self._worth.class_of(meaning, property_name or "", value)
        if memory_class == meaning.memory_class:
            memory_class = class_of(
                meaning, match.kind, time_text or "", property_name or "", is_value=is_time
            )
        is_negative = meaning.is_negative != match.is_negated
        keyed = bool(property_name)
        span = statement_of(origin.content[start:end].decode())
        cues = claim_cues(match, meaning, subject, property_name or "", value, span, is_negative=is_negative)
        parts = Parts(
            span=span,
            value=value,
            property=property_name,
            scope=clean_value(match.capture(SCOPE)) if match.capture(SCOPE) else "",
            time_text=time_text,
            time_kind=match.kind,
            is_negative=is_negative,
            confidence=meaning.confidence,
        )
        kept_value = "; ".join(steps_of(value)) if meaning.shape == "procedure" else value
        return Draft(
            row=origin.row,
            sentence=place[1],
            meaning=meaning,
            memory_class=memory_class,
            subject=subject,
            property=property_name if keyed else None,
            value=kept_value if keyed else None,
            is_negative=is_negative,
            modality=modality_of(match.cues | (origin.cues & _IRONY_MARK), match.flags, meaning.modality),
            applicability=applicability_of(match.message_cues) if meaning.shape == "constraint" else None,
            start=start,
            end=end,
            more_spans=(),
            time_text=time_text,
            time_kind=match.kind,
            payload=payload_of(meaning.shape, parts),
            cues=cues,
            veto=veto,
        )


def is_meant(match: Match, meaning: Meaning, origin: Origin, before: Draft | None) -> bool:
    """Tell whether the conditions of the pattern hold: nothing cut or denied, its needs met."""
    if match.flags & CUT or match.cues & DENIED:
        return False
    if origin.trust == Trust.AGENT and not meaning.is_for_agents:
        return False
    if not meaning.needs:
        return True
    needs = {
        "request": bool(match.cues & _REQUEST),
        "due": match.kind in DUE_KINDS,
        "time": match.kind in DATED_KINDS,
        "previous": before is not None and before.subject.kind == "author",
        "succession": before is not None and match.kind == FROM,
    }
    return needs[meaning.needs]


def cited_span(match: Match, origin: Origin) -> tuple[int, int]:
    """Return the bytes of the claim, with the time expression that follows it directly."""
    start, end = match.span(layout.ROW_START) or (0, 0)
    when = match.span(layout.ROW_WHEN)
    if when is not None and when[0] >= end and not origin.content[end : when[0]].strip():
        end = when[1]
    return start, end


def value_text(match: Match) -> tuple[str, bool]:
    """Return the cleaned value and whether it is itself a time expression.

    A second piece that follows the value ("when the summary comes | first") is joined to it.
    """
    span = match.capture_span(VALUE)
    if span is None:
        return "", False
    text = match.capture(VALUE)
    when = match.span(layout.ROW_WHEN)
    is_time = when is not None and when[0] <= span[0] and span[1] <= when[1]
    if is_time:
        return clean_value(without_time_lead(text)), True
    tail = match.capture_span(TAIL_CAPTURE)
    if tail is not None and tail[0] >= span[1]:
        return f"{clean_value(text)} {clean_value(match.capture(TAIL_CAPTURE))}", False
    return clean_value(text), False


def whose(match: Match, meaning: Meaning, origin: Origin, before: Draft | None) -> tuple[Subject, str | None]:
    """Return the subject and the property that the claim speaks of."""
    if meaning.is_inherited and before is not None:
        return before.subject, before.property
    place = _NAMED_BY.get(meaning.property)
    wanted = meaning.property if place is None else match.capture(place)
    property_name = clean_property(wanted) if wanted else None
    if property_name:
        property_name = phone_property(property_name, match.capture(VALUE))
    if property_name and meaning.shape == "procedure":
        property_name += " steps"
    is_other_voice = bool(match.flags & (QUOTED | PASTED))
    return find_subject(
        meaning.subject, match.capture(SUBJECT_CAPTURE), property_name, before.subject if before else None,
        trust=origin.trust, is_other_voice=is_other_voice,
    )  # fmt: skip


def claim_cues(
    match: Match, meaning: Meaning, subject: Subject, property_name: str, value: str, span: str, *,
    is_negative: bool,
) -> int:  # fmt: skip
    """Return the bits of Cue of a claim."""
    cues = kept_cues(match.cues, match.flags) | meaning.cues
    folded = span.casefold()
    if is_negative and any(ending in folded for ending in _ENDINGS):
        cues |= Cue.NO_LONGER
    if subject.kind == "pronoun":
        cues |= Cue.PRONOUN
    if subject.is_person:
        cues |= Cue.THIRD_PARTY
    if is_sensitive(property_name, value or folded, is_other=subject.is_person):
        cues |= Cue.SENSITIVE
    if match.kind in _RELATIVE:
        cues |= Cue.RELATIVE_TIME
    return int(cues)
