"""Turn matches into drafts of claims: texts, subject, modality, cues; one pass in order of place."""

from __future__ import annotations

import re

from amos.extraction.conditions import limit_after, pair_after
from amos.extraction.drafts import Draft, mark_withdrawn
from amos.extraction.fragments import is_fragment
from amos.extraction.grammar import Grammar, Meaning
from amos.extraction.hypotheses import generalised
from amos.extraction.idle import OWNED, idle_reason, is_soon
from amos.extraction.lists import is_all
from amos.extraction.matches import Match, Origin
from amos.extraction.needs import is_meant, is_renounced
from amos.extraction.payloads import Parts, applicability_of, payload_of, steps_of
from amos.extraction.sensitive import is_sensitive
from amos.extraction.standing import Standings
from amos.extraction.stated_values import further_items, owned_pair, stated_value
from amos.extraction.subjects import Subject, ages, amounts, names_person
from amos.extraction.timing import class_of, is_appointment
from amos.extraction.trimming import denied_from
from amos.extraction.wording import (
    clean_property,
    clean_value,
    statement_of,
)
from amos.extraction.worth import worth_of
from amos.kernels import rows as layout
from amos.kernels.features import EVERY, NO_TIME
from amos.kernels.match import SCOPE, SUBJECT_CAPTURE, VALUE
from amos.patterns import pattern_of
from amos.schemas.vocabulary import Cue, MemoryClass, Reason

_NO_LONGER = int(Cue.NO_LONGER)
_PRONOUN = int(Cue.PRONOUN)
_THIRD_PARTY = int(Cue.THIRD_PARTY)
_FORMER = int(Cue.FORMER)
_HEDGED = int(Cue.HEDGED)
_SENSITIVE = int(Cue.SENSITIVE)
_LISTED = frozenset(("preference", "possession", "allergy"))
"""Properties whose further items in a list are claims of their own, like those of habits."""
_HOUR = r"(?:[01]?\d|2[0-4])"
_SURE_HOUR = rf"{_HOUR}(?:[:.]\d\d(?: ?[ap]m)?| ?[ap]m| o'clock)"
_CLOCK = pattern_of(
    rf"(?:at|around|by) {_HOUR}(?:[:.]\d\d)?(?: ?[ap]m)?(?: o'clock)?"
    rf"|between {_HOUR}(?:[:.]\d\d)?(?: ?[ap]m)? and {_SURE_HOUR}",
    re.IGNORECASE,
)
_NEW_CLAUSE = pattern_of(r",\s(?:so|but|yet|because|'cause)\s")
"""What begins another clause than the statement's own."""
_EITHER = pattern_of(
    r"(?:either )?[\w.'’-]{1,16} or [\w.'’-]{1,16}(?:,.*)?"
    r"|(?:either )?(?:an?|the) [\w.'’ -]{1,32} or (?:an?|the) [\w.'’ -]{1,32}(?:,.*)?"
)
"""A value that leaves open which: "A or B"."""
_CUT = b"\x1a"
_CLAUSE_MARKS = (b". ", b"! ", b"? ", b"\n", b"; ", b", ", b" and ", b" but ", b" und ", b" et ", b" y ")
_COUNTRY = pattern_of(r", [A-Z][a-z]{3,16}(?=[.!]?\s*\Z)")
"""Names the country behind a town, at the end of a text."""
_REACH = 24
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
        if drafted.veto is not None and not is_all(drafted.value or ""):
            return [drafted]  # "everything" says nothing either, but "everything | but olives" does
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
        if first.property == "possession" and not items.more:
            base, items = owned_pair(match, origin)
        elif first.meaning.shape == "habit" and " to " in (first.value or ""):
            return []  # "a whiteboard to keep track, | see goals": what it is for goes on, not the list
        signed = [(item, first.is_negative) for item in items.more]
        signed += [(item, not first.is_negative) for item in items.but_not]
        drafts = []
        for (start, end), is_negative in signed:
            said = origin.content[base + start : base + end].decode()
            value = listed_value(said, first.property or "")
            touches = is_sensitive("", value, is_other=first.subject.is_person)
            drafts.append(
                first._replace(
                    value=value,
                    end=base + end,
                    payload=owned_fields(said) if first.property == "possession" else first.payload,
                    is_negative=is_negative,
                    cues=first.cues & ~_SENSITIVE | (_SENSITIVE if touches else 0),
                    veto=self._worth.veto(first.meaning, first.property or "", "", value, first.subject.name),
                )
            )
        return drafts

    def _assemble(
        self, match: Match, meaning: Meaning, origin: Origin, before: Draft | None, recent: Draft | None
    ) -> Draft | None:
        start, end = cited_span(match, meaning, origin)
        standing = self._standings.of(match, meaning, origin, before, recent)
        subject, property_name = standing.subject, standing.property
        if meaning.property and not property_name:
            return None
        value, is_time, kind, list_end, is_denied = stated_value(match, meaning, origin, property_name or "")
        end = max(end, list_end)
        if meaning.family == "own" and property_name == "location" and _CLOCK.fullmatch(value):
            property_name = "time"
        elif meaning.family == "own":
            held = ages(subject, property_name, value) or amounts(subject, property_name, value)
            subject, property_name = held or (subject, property_name)
        if meaning.shape == "statement":
            end = end_of_statement(origin, start, end)
        time_text, name = match.text(layout.ROW_WHEN) or None, property_name or ""
        memory_class = self._class(meaning, name, value, kind, time_text or "", is_time=is_time)
        is_negative = (meaning.is_negative != match.is_negated) != is_denied
        keyed = bool(property_name)
        is_plain = meaning.shape == "none" and bool(value) and not is_negative
        span = "" if is_plain else statement_of(origin.content[start:end].decode())
        veto = self._veto(match, meaning, subject, name, value, span)
        if meaning.family in OWNED and is_appointment(value):
            memory_class = MemoryClass.TEMPORARY_STATE.value
            veto = veto if kind != NO_TIME else Reason.LOW_VALUE.value
        is_left = is_left_behind(before, name) and b" still " in origin.content[start:end]
        is_idle = is_left or (is_time and is_soon(match.capture(VALUE)))
        if is_idle or (veto is None and is_fragment(meaning, match, name, value, span, origin, end)):
            veto = Reason.LOW_VALUE.value
        value, end, condition = _with_rest(origin, meaning, value, end, is_kept=veto is None)
        cues = claim_cues(standing.cues, subject, name, value, span, is_negative=is_negative)
        if _CUT in origin.content and _stands_by_cut(origin.content, start, end):
            cues |= _HEDGED
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

    def _class(
        self, meaning: Meaning, property_name: str, value: str, kind: int, time_text: str, *, is_time: bool
    ) -> str:
        """Return the memory class of a claim by its value, else by its time."""
        memory_class = self._worth.class_of(meaning, property_name, value)
        if memory_class != meaning.memory_class:
            return memory_class
        return class_of(meaning, kind, time_text, property_name, is_value=is_time)

    def _veto(
        self, match: Match, meaning: Meaning, subject: Subject, property_name: str, value: str, span: str
    ) -> str | None:
        """Return the reason that keeps a claim out for what it says, None when nothing does."""
        thing = clean_property(match.capture(SUBJECT_CAPTURE)) if subject.kind == "thing" else ""
        is_negative = meaning.is_negative != match.is_negated
        return self._worth.veto(meaning, property_name, thing, value, subject.name) or idle_reason(
            meaning, property_name, value, subject.name, span, is_negative=is_negative
        )


def _with_rest(
    origin: Origin, meaning: Meaning, value: str, end: int, *, is_kept: bool
) -> tuple[str, int, str]:
    """Return the value with country and condition behind it, where it then ends, and the condition."""
    if meaning.family == "home":
        country = _COUNTRY.match(origin.content[end : end + _REACH].decode(errors="ignore"))
        if country is not None:
            value, end = value + country.group(), end + len(country.group())
    limit = limit_after(origin, meaning.shape, end) if is_kept and value else end
    if limit == end:
        return value, end, ""
    condition = clean_value(origin.content[end:limit].decode())
    return (f"{value} {condition}", limit, condition) if condition else (value, end, "")


def _stands_by_cut(content: bytes, start: int, end: int) -> bool:
    """Tell whether something was cut out of the claim's clause: what is left may not be all it says."""
    first = max(content.rfind(mark, 0, start) for mark in _CLAUSE_MARKS)
    marks = [place for mark in _CLAUSE_MARKS if (place := content.find(mark, end)) >= 0]
    return _CUT in content[first + 1 : min(marks, default=len(content))]


def is_left_behind(before: Draft | None, property_name: str) -> bool:
    """Tell whether a place is told after a past: "my bus was late and my lunch is still at home"."""
    return before is not None and bool(before.cues & _FORMER) and property_name == "location"


def typed_fields(
    match: Match, meaning: Meaning, span: str, value: str, property_name: str | None, kind: int,
    condition: str, *, is_negative: bool,
) -> str | None:  # fmt: skip
    """Return the payload of a claim, None where its pattern has no fields beyond property and value."""
    if meaning.shape == "none":
        return None if property_name != "possession" else owned_fields(match.with_article(VALUE))
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


def owned_fields(said: str) -> str | None:
    """Return the article of a thing that somebody has, which its value goes without, as a payload."""
    article = said.split(" ", 1)[0].casefold()
    return f'{{"article":"{article}"}}' if article in ("a", "an") else None


def listed_value(text: str, property_name: str) -> str:
    """Return a further item of a list as its property keeps values: what one has goes without article."""
    value = clean_value(text)
    return value.removeprefix("a ").removeprefix("an ") if property_name == "possession" else value


def cited_span(match: Match, meaning: Meaning, origin: Origin) -> tuple[int, int]:
    """Return the bytes of the claim, with the time expression that follows it directly."""
    start, end = match.span(layout.ROW_START) or (0, 0)
    if meaning.family == "remembered":
        start, _ = match.capture_span(VALUE) or (start, end)
    when = match.span(layout.ROW_WHEN)
    if when is not None and when[0] >= end and not origin.content[end : when[0]].strip():
        end = when[1]
    return start, end


def end_of_statement(origin: Origin, start: int, end: int) -> int:
    """Return the byte after a statement without a new clause and without the "not ..." that only denies."""
    text = origin.content[start:end].decode()
    broken = _NEW_CLAUSE.search(text)
    if broken is not None:
        text = text[: broken.start()]
        end = start + len(text.encode())
    if " not " not in text:
        return end
    place = denied_from(text)
    return end if place < 0 else start + len(text[:place].encode())


def _last_word_of(subject: Subject) -> str:
    """Return what a statement is about: the "therapy" of "Sven's therapy"."""
    return subject.name.casefold().rsplit("'s ", 1)[-1] if "'s " in subject.name else ""


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
    if property_name and " or " in value and _EITHER.fullmatch(value):
        cues |= _HEDGED
    is_other = subject.is_person or (subject.kind in ("other", "person") and "'s " in subject.name)
    is_other = is_other or (subject.kind == "author" and names_person(property_name))
    is_thing = subject.kind == "thing" and not subject.is_person
    held = property_name or _last_word_of(subject)
    if is_sensitive(held, value or folded, is_other=is_other, is_thing=is_thing):
        cues |= _SENSITIVE
    return cues
