"""Turn matches into drafts of claims: texts, subject, modality, cues; one pass in order of place."""

from __future__ import annotations

import re
from collections.abc import Callable

from amos.extraction.conditions import has_condition, limit_after, pair_after
from amos.extraction.drafts import Draft, mark_withdrawn
from amos.extraction.grammar import Grammar, Meaning
from amos.extraction.hypotheses import generalised
from amos.extraction.idle import OWNED, idle_reason, is_soon
from amos.extraction.lexicon import CUES
from amos.extraction.lists import is_item
from amos.extraction.matches import Match, Origin
from amos.extraction.payloads import Parts, applicability_of, payload_of, steps_of
from amos.extraction.sensitive import is_sensitive
from amos.extraction.standing import Standings
from amos.extraction.stated_values import further_items, stated_value
from amos.extraction.subjects import Subject, ages
from amos.extraction.timing import DATED_KINDS, DUE_KINDS, class_of, is_appointment
from amos.extraction.trimming import denied_from
from amos.extraction.wording import (
    clean_property,
    clean_value,
    kind_of_value,
    statement_of,
)
from amos.extraction.worth import are_alike, worth_of
from amos.kernels import rows as layout
from amos.kernels.features import DENIED, EVERY, FROM, NO_TIME
from amos.kernels.match import SCOPE, SUBJECT_CAPTURE, VALUE
from amos.kernels.words import CUT
from amos.schemas.vocabulary import Cue, MemoryClass, Reason, Trust

_NO_LONGER = int(Cue.NO_LONGER)
_PRONOUN = int(Cue.PRONOUN)
_THIRD_PARTY = int(Cue.THIRD_PARTY)
_FORMER = int(Cue.FORMER)
_SENSITIVE = int(Cue.SENSITIVE)
_REQUEST = CUES["request"]
_PROMISED = CUES["promised"]
_CORRECTION = CUES["correction"]
_LISTED = frozenset(("preference", "possession", "allergy"))
"""Properties whose further items in a list are claims of their own, like those of habits."""
_AGE = re.compile(r"[1-9]\d")
_CLOCK = re.compile(r"(?:at|around|by) \d{1,2}(?:[:.]\d\d)?(?: ?[ap]m)?(?: o'clock)?", re.IGNORECASE)
_COUNTED = re.compile(
    r"[1-9]\d{0,3} (?!more|other|times|percent|things?|minutes?|hours?|days?|weeks?|options?)[^\W\d_]{2,}"
)
_AFTER_AGE = frozenset((b"", b" ", b".", b",", b"!", b";", b")", b"\n"))
_ENDINGS = ("no longer", "anymore", "any more", "any longer", "no more")


class Drafter:
    """Makes drafts of the matches of a text, in order; remembers the sentence it is in."""

    def __init__(self, grammar: Grammar) -> None:
        self._meanings = grammar.meanings
        self._worth = worth_of(grammar)
        self._standings = Standings()
        self._previous: Draft | None = None
        self._told = -1

    def read(self, rows: list[list[int]], origin: Origin) -> tuple[list[Draft], bool]:
        """Return the drafts of one text, and whether any of its matches claims nothing.

        rows: its matches in order of place, at least one.
        """
        self._previous, self._told = None, -1
        drafts: list[Draft] = []
        is_left_out = False
        for numbers in rows:
            claimed = self._draft(numbers, origin)
            drafts.extend(claimed)
            is_left_out = is_left_out or not claimed
        return mark_withdrawn(drafts), is_left_out

    def _draft(self, numbers: list[int], origin: Origin) -> list[Draft]:
        """Return the claims of one match: one, more from a list, none when the match claims nothing."""
        meaning = self._meanings[numbers[layout.ROW_PATTERN]]
        match = Match(numbers, origin)
        sentence = numbers[layout.ROW_SENTENCE]
        recent = self._previous
        before = recent if recent is not None and recent.sentence == sentence else None
        if meaning.type == "episode":
            self._told = sentence
        if (
            meaning.needs == "replaced"
            and before is None
            and recent is not None
            and is_renounced(recent, match)
        ):
            before = recent
        if not is_meant(match, meaning, origin, before):
            return []
        drafted = self._assemble(match, meaning, origin, before, recent)
        if drafted is not None and drafted.memory_class == MemoryClass.TEMPORARY_STATE:
            is_report = self._told == sentence and drafted.time_text is None
            if is_report and meaning.memory_class != MemoryClass.TEMPORARY_STATE:
                drafted = drafted._replace(memory_class=MemoryClass.EPISODE.value)
        if drafted is None:
            return []
        self._previous = drafted
        if meaning.is_generalised:
            return [drafted, *generalised(drafted, match.capture_span(SUBJECT_CAPTURE))]
        if drafted.property not in _LISTED and meaning.shape != "habit":
            return [drafted]
        return [
            drafted,
            *self._further(drafted, match, origin),
            *self._second_of_pair(drafted, match, origin),
        ]

    def _second_of_pair(self, first: Draft, match: Match, origin: Origin) -> list[Draft]:
        """Return the claim of the second of two things at two times: "tea at noon and | water at night"."""
        span = match.capture_span(VALUE)
        pair = None if span is None else pair_after(origin, span[1])
        if pair is None:
            return []
        (start, item_end), (time_start, end) = pair
        item = clean_value(origin.content[start:item_end].decode())
        when = origin.content[time_start:end].decode()
        is_habit = first.meaning.shape == "habit"
        value = item if is_habit else f"{item} {when}"
        fields = Parts(
            span=statement_of(origin.content[start:end].decode()),
            value=value,
            property=first.property,
            scope="",
            time_text=when,
            time_kind=EVERY,
            is_negative=first.is_negative,
            confidence=first.meaning.confidence,
        )
        touches = is_sensitive("", value, is_other=first.subject.is_person)
        return [
            first._replace(
                value=value,
                end=end,
                time_text=when,
                payload=payload_of(first.meaning.shape, fields),
                cues=first.cues & ~_SENSITIVE | (_SENSITIVE if touches else 0),
                veto=self._worth.veto(first.meaning, first.property or "", "", item, first.subject.name),
            )
        ]

    def _further(self, first: Draft, match: Match, origin: Origin) -> list[Draft]:
        """Return the claims of the further items of a list of likes or dislikes."""
        base, items = further_items(match, origin)
        signed = [(item, first.is_negative) for item in items.more]
        signed += [(item, not first.is_negative) for item in items.but_not]
        drafts = []
        for (start, end), is_negative in signed:
            value = listed_value(origin.content[base + start : base + end].decode(), first.property or "")
            touches = is_sensitive("", value, is_other=first.subject.is_person)
            drafts.append(
                first._replace(
                    value=value,
                    end=base + end,
                    is_negative=is_negative,
                    cues=first.cues & ~_SENSITIVE | (_SENSITIVE if touches else 0),
                    veto=self._worth.veto(first.meaning, first.property or "", "", value, first.subject.name),
                )
            )
        return drafts

    def _assemble(
        self, match: Match, meaning: Meaning, origin: Origin, before: Draft | None, recent: Draft | None
    ) -> Draft | None:
        start, end = cited_span(match, origin)
        standing = self._standings.of(match, meaning, origin, before, recent)
        subject, property_name = standing.subject, standing.property
        if meaning.property and not property_name:
            return None
        value, is_time, kind, list_end, is_denied = stated_value(match, meaning, origin, property_name or "")
        end = max(end, list_end)
        if meaning.family == "own" and property_name == "location" and _CLOCK.fullmatch(value):
            property_name = "time"
        elif meaning.family == "own":
            subject, property_name = ages(subject, property_name, value) or (subject, property_name)
        if meaning.shape == "statement":
            end = end_of_statement(origin, start, end)
        is_left_behind = before is not None and bool(before.cues & _FORMER) and property_name == "location"
        time_text = match.text(layout.ROW_WHEN) or None
        thing = clean_property(match.capture(SUBJECT_CAPTURE)) if subject.kind == "thing" else ""
        memory_class = self._worth.class_of(meaning, property_name or "", value)
        if memory_class == meaning.memory_class:
            memory_class = class_of(meaning, kind, time_text or "", property_name or "", is_value=is_time)
        is_negative = (meaning.is_negative != match.is_negated) != is_denied
        keyed = bool(property_name)
        is_plain = meaning.shape == "none" and bool(value) and not is_negative
        span = "" if is_plain else statement_of(origin.content[start:end].decode())
        veto = self._worth.veto(meaning, property_name or "", thing, value, subject.name) or idle_reason(
            meaning, property_name or "", value, subject.name, span, is_negative=is_negative
        )
        if meaning.family in OWNED and is_appointment(value):
            memory_class = MemoryClass.TEMPORARY_STATE.value
            veto = veto if kind != NO_TIME else Reason.LOW_VALUE.value
        if is_left_behind and b" still " in origin.content[start:end]:
            veto = veto or Reason.LOW_VALUE.value  # "my bus was late and my lunch is still at home"
        if is_time and is_soon(match.capture(VALUE)):
            veto = Reason.LOW_VALUE.value
        limit = limit_after(origin, meaning.shape, end) if veto is None and value else end
        condition = clean_value(origin.content[end:limit].decode())
        if condition:
            value, end = f"{value} {condition}", limit
        cues = claim_cues(standing.cues, subject, property_name or "", value, span, is_negative=is_negative)
        kept_value = "; ".join(steps_of(value)) if meaning.shape == "procedure" else value
        return Draft(
            sentence=match.sentence,
            meaning=meaning,
            memory_class=memory_class,
            subject=subject,
            property=property_name if keyed else None,
            value=kept_value if keyed else None,
            is_negative=is_negative,
            modality=standing.modality,
            applicability=applicability_of(match.message_cues) if meaning.shape == "constraint" else None,
            start=start,
            end=end,
            time_text=time_text,
            time_kind=kind,
            payload=typed_fields(
                match, meaning, span, value, property_name, kind, condition, is_negative=is_negative
            ),
            cues=cues,
            veto=veto,
            is_dated=is_time and meaning.is_dated,
        )


def typed_fields(
    match: Match, meaning: Meaning, span: str, value: str, property_name: str | None, kind: int,
    condition: str, *, is_negative: bool,
) -> str | None:  # fmt: skip
    """Return the payload of a claim, None where its pattern has no fields beyond property and value."""
    if meaning.shape == "none":
        return None
    parts = Parts(
        span=span,
        value=value,
        property=property_name,
        scope=clean_value(match.capture(SCOPE)),
        time_text=match.text(layout.ROW_WHEN) or None,
        time_kind=kind,
        is_negative=is_negative,
        confidence=meaning.confidence,
        condition=condition,
    )
    return payload_of(meaning.shape, parts)


def is_meant(match: Match, meaning: Meaning, origin: Origin, before: Draft | None) -> bool:
    """Tell whether the conditions of the pattern hold: nothing cut or denied, its needs met."""
    if match.flags & CUT or match.cues & DENIED:
        return False
    if origin.trust == Trust.AGENT and not meaning.is_for_agents:
        return False
    if not meaning.needs:
        return True
    return _NEEDS[meaning.needs](match, origin, before)


def is_renounced(recent: Draft, match: Match) -> bool:
    """Tell whether a sentence of its own says what takes the place of what was denied right before.

    "Claire is no longer my manager; it's Ravi now.", "My mug isn't red. It's blue."
    """
    if not recent.is_negative or recent.meaning.arity != "single":
        return False
    denied, stated = recent.value or "", clean_value(match.capture(VALUE))
    kind = kind_of_value(stated)
    if kind_of_value(denied) != kind:
        return False
    return kind != "text" or are_alike(denied, stated)


def is_age(match: Match, origin: Origin) -> bool:
    """Tell whether the value is a bare number that reads as an age: "I'm 43", not "I'm 50% done"."""
    span = match.capture_span(VALUE)
    if span is None or not _AGE.fullmatch(match.capture(VALUE)):
        return False
    return origin.content[span[1] : span[1] + 1] in _AFTER_AGE


def listed_value(text: str, property_name: str) -> str:
    """Return a further item of a list as its property keeps values: what one has goes without article."""
    value = clean_value(text)
    return value.removeprefix("a ").removeprefix("an ") if property_name == "possession" else value


def gives_way(before: Draft, match: Match) -> bool:
    """Tell whether "it is ..." says what holds in place of the claim before it in the sentence.

    After "used to be", after a negation, or in a correction by a value of the same kind.
    """
    if before.property is None or before.value is None or before.meaning.arity != "single":
        return False
    if before.meaning.is_replaced or before.is_negative:
        return True
    kind = kind_of_value(before.value)
    return (
        bool(match.cues & _CORRECTION or before.cues & _FORMER)
        and kind not in ("text", "boolean")
        and kind == kind_of_value(clean_value(match.capture(VALUE)))
    )


def is_conditional(match: Match, origin: Origin) -> bool:
    """Tell whether the claim goes on with when it falls due: "I'll call | once the parcel is here"."""
    span = match.span(layout.ROW_START)
    return span is not None and has_condition(origin, span[1])


def takes_over(before: Draft, match: Match) -> bool:
    """Tell whether "but ..." names what holds in place of the value denied right before it."""
    if before.property is None or before.meaning.arity != "single" or not before.is_negative:
        return False
    return is_item(match.capture(VALUE))


def is_own_name(match: Match) -> bool:
    """Tell whether the value of "I'm ..." reads as a name: neither capitals throughout nor a people."""
    text = match.capture(VALUE)
    return not text.isupper() and len(text) > 1 and not text.endswith(_PEOPLES)


_PEOPLES = ("ish", "ese", "ian", "ican", "ist", "ard", "est")
"""How words end that say where from or of what kind somebody is, written like names."""
_NEEDS: dict[str, Callable[[Match, Origin, Draft | None], bool]] = {
    "request": lambda match, _, __: bool(match.cues & _REQUEST),
    "due": lambda match, origin, _: match.kind in DUE_KINDS or is_conditional(match, origin),
    "time": lambda match, _, __: match.kind in DATED_KINDS,
    "previous": lambda _, __, before: before is not None and before.subject.kind == "author",
    "succession": lambda match, _, before: before is not None and match.kind == FROM,
    "promised": lambda match, _, __: bool(match.cues & _PROMISED),
    "replaced": lambda match, _, before: before is not None and gives_way(before, match),
    "instead": lambda match, _, before: before is not None and takes_over(before, match),
    "name": lambda match, _, __: is_own_name(match),
    "number": lambda match, origin, _: is_age(match, origin),
    "count": lambda match, _, __: _COUNTED.match(match.capture(VALUE)) is not None,
}
"""What a pattern may need beyond its words, by the name that the grammar gives it."""


def cited_span(match: Match, origin: Origin) -> tuple[int, int]:
    """Return the bytes of the claim, with the time expression that follows it directly."""
    start, end = match.span(layout.ROW_START) or (0, 0)
    when = match.span(layout.ROW_WHEN)
    if when is not None and when[0] >= end and not origin.content[end : when[0]].strip():
        end = when[1]
    return start, end


def end_of_statement(origin: Origin, start: int, end: int) -> int:
    """Return the byte after a statement without the "not ..." that only denies an earlier one."""
    if b" not " not in origin.content[start:end]:
        return end
    text = origin.content[start:end].decode()
    place = denied_from(text)
    return end if place < 0 else start + len(text[:place].encode())


def claim_cues(
    standing: int, subject: Subject, property_name: str, value: str, span: str, *, is_negative: bool
) -> int:
    """Return the bits of Cue of a claim; standing: those that it has whatever it says."""
    cues = standing
    folded = span.casefold()
    if is_negative and any(ending in folded for ending in _ENDINGS):
        cues |= _NO_LONGER
    if subject.kind == "pronoun":
        cues |= _PRONOUN
    if subject.is_person:
        cues |= _THIRD_PARTY
    if is_sensitive(property_name, value or folded, is_other=subject.is_person):
        cues |= _SENSITIVE
    return cues
