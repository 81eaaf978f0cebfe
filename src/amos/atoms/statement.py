"""Render the English statement of a claim; it is shown, never stored as truth."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import msgspec

from amos.schemas.labels import Label, possessive
from amos.schemas.vocabulary import AtomType

_SAID_BY_AUTHOR = (
    "i ", "i'", "i’", "my ", "we ", "our ", "me ", "ich ", "mein ", "meine ", "wir ", "je ", "j'", "mon ",
    "ma ", "yo ", "mi ", "mis ",
)  # fmt: skip
_VERBS = {
    ("preference", "positive"): "likes",
    ("preference", "negative"): "avoids",
    ("goal", "positive"): "wants",
    ("goal", "negative"): "does not want",
    ("commitment", "positive"): "promised",
    ("commitment", "negative"): "promised not",
}
_WITH_TO = {"goal", "commitment"}
_HABITS = {
    "drink": "drinks", "eat": "eats", "use": "uses", "wear": "wears", "play": "plays", "speak": "speaks",
    "study": "studies", "teach": "teaches", "keep": "keeps", "grow": "grows", "collect": "collects",
    "drive": "drives", "ride": "rides", "take": "takes", "rent": "rents", "raise": "raises",
    "breed": "breeds", "brew": "brews", "read": "reads", "cook": "cooks", "bake": "bakes", "own": "owns",
}  # fmt: skip
_FIRST_PERSON = re.compile(r"(?<![\w-])(?:my|our|me|us|mine|ours|myself)(?![\w-])", re.IGNORECASE)
_SECOND_HAND = {
    "my": "their", "our": "their", "me": "them", "us": "them", "mine": "theirs", "ours": "theirs",
    "myself": "themselves",
}  # fmt: skip


_AUTHORS_OWN = {"goal", "commitment", "possession", "activity", *_HABITS}
"""Properties that people state of themselves alone, so that "my" in their value is theirs."""


def statement_of(kind: str, payload: str | bytes, polarity: str, subject: Label) -> str:
    """Return one sentence for a claim of atom type `kind` about `subject`.

    payload: the canonical JSON of the claim (`property`, `value`, `claim` and typed fields).
    """
    fields = msgspec.json.decode(payload)
    if kind == AtomType.ACTION_OUTCOME and "action_ref" in fields:
        return _as_sentence(_outcome(fields))
    name = _capital(subject.text)
    holder_property = fields.get("property")
    if holder_property == "outcome" and subject.speaker is not None and "summary" in fields:
        return _as_sentence(f"{_capital(subject.speaker)}: {fields['summary']}")
    value = fields.get("value")
    is_own = holder_property in _AUTHORS_OWN or (subject.is_author and holder_property == "preference")
    if isinstance(value, str) and is_own:
        value = _FIRST_PERSON.sub(lambda match: _SECOND_HAND[match[0].lower()], value)
    if holder_property is None:
        return _as_sentence(_unkeyed(name, fields.get("claim") or value or "", subject.speaker))
    if fields.get("article") and polarity == "positive":
        value = f"{fields['article']} {value}"
    conditions = fields.get("applicability") or {}
    if conditions.get("request"):
        return _as_sentence(_asked(name, polarity, str(value), conditions))
    if holder_property in _HABITS and fields.get("claim"):
        verb = f"does not {holder_property}" if polarity == "negative" else _HABITS[holder_property]
        return _as_sentence(f"{name} {verb} {value}")
    return _as_sentence(_of_property(name, kind, polarity, holder_property, str(value)))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def statements(
    kinds: Iterable[str], payloads: Iterable[str], polarities: Iterable[str], subjects: Iterable[Label]
) -> list[str]:
    """Return `statement_of` for each row of four equally long columns."""
    rows = zip(kinds, payloads, polarities, subjects, strict=True)
    return [statement_of(kind, payload, polarity, subject) for kind, payload, polarity, subject in rows]


def _of_property(name: str, kind: str, polarity: str, holder_property: str, value: str) -> str:
    if holder_property in {"preference", "goal", "commitment"}:
        return _verb_phrase(name, kind, polarity, value)
    if kind == "procedure":
        return f"{name}: {holder_property}: {value}"
    return _keyed(name, holder_property, value, is_negative=polarity == "negative")


def _outcome(fields: dict[str, Any]) -> str:
    """Return what became of a call: which tool, how it ended, and the code or name that says so."""
    detail, sign = fields.get("detail"), fields["sign"]
    verb = _ENDINGS.get(fields["status"], fields["status"])
    told = f"{fields['tool']} {verb}"
    if sign in _CODED:
        return f"{told} ({_CODED[sign]} {detail})"
    return f"{told} ({detail})" if sign == "exception" else told


_ENDINGS = {"blocked": "was blocked", "partial": "succeeded in part"}
_CODED = {"exit_code": "exit code", "http_status": "HTTP"}


def _asked(name: str, polarity: str, value: str, conditions: dict[str, Any]) -> str:
    when = conditions.get("time_of_day")
    wanted = f"no {value}" if polarity == "negative" else value
    return f"{name} asks for {wanted} this {when}" if when else f"{name} asks for {wanted}"


def _unkeyed(name: str, claim: str, speaker: str | None) -> str:
    if claim.lower().startswith(_SAID_BY_AUTHOR):
        return f"{name}: {claim}"
    if speaker is not None:
        return f"{_capital(speaker)}: {claim}"
    return claim[:1].upper() + claim[1:]


def _verb_phrase(name: str, kind: str, polarity: str, value: str) -> str:
    if kind == "goal" and polarity == "positive" and value.split(" ", 1)[0].endswith("ing"):
        return f"{name} is {value}"
    verb = _VERBS.get((kind, polarity), "likes" if polarity == "positive" else "avoids")
    if kind in _WITH_TO and not value.lower().startswith(("to ", "that ")):
        return f"{name} {verb} to {value}"
    return f"{name} {verb} {value}"


def _keyed(name: str, holder_property: str, value: str, *, is_negative: bool) -> str:
    """Return what is said of a property: in its own words where it has such, else "... is ..."."""
    if holder_property == "possession":
        return f"{name} has no {value}" if is_negative else f"{name} has {value}"
    if holder_property in _PHRASES and (
        holder_property != "activity" or value.split(" ", 1)[0].endswith("ing")
    ):
        return f"{name} {_PHRASES[holder_property][is_negative]} {value}"
    if holder_property.startswith(("has ", "owns ")) or holder_property.endswith(" ownership"):
        return f"{name} {'does not have' if is_negative else 'has'} {value}"
    return f"{_possessive(name)} {holder_property} is {'not ' if is_negative else ''}{value}"


_PHRASES = {
    "activity": ("is", "is not"),
    "visited place": ("has been to", "has never been to"),
    "ability": ("can", "cannot"),
    "membership": ("is a member of", "is not a member of"),
}
"""How a property is said, where "... is ..." says it badly: of a positive and of a negative claim."""
_OWN_FORM = {
    "her": "Her", "his": "His", "its": "Its", "their": "Their", "she": "Her", "he": "His", "they": "Their",
}  # fmt: skip
"""Pronouns that stand for a subject nobody has named yet."""


def _possessive(name: str) -> str:
    if name.lower() in _OWN_FORM:
        return _OWN_FORM[name.lower()]
    return possessive(name)


def _as_sentence(text: str) -> str:
    text = text.strip()
    return text if text.endswith((".", "!", "?", "。")) else f"{text}."
