"""Typed fields of a claim beyond subject, property and value, as canonical JSON."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

import msgspec

from amos.extraction.conditions import due_inside
from amos.extraction.lexicon import CUES
from amos.kernels.features import BY, DATE, EVERY, NEXT, NOW, UNTIL
from amos.patterns import pattern_of

_STEP = pattern_of(r"\s*(?:^|(?<=\s))\d{1,2}[.)](?!\d)\s*")
_RECIPIENT = pattern_of(
    r"\b(?:to|for|with)\s+((?:[A-Z][\w'-]+)(?:\s+[A-Z][\w'-]+)?)"
    r"|^(?:call|email|ask|remind|text|ping)\s+([A-Z][\w'-]+)"
)
_STRONG = pattern_of(
    r"\b(?:strongly|absolutely|really|deeply|totally|always|adore|adores|hate|hates|loathe|loathes|despise"
    r"|despises|detest|detests|can['’]?t stand|cannot stand|obsessed|crazy about|huge fan|big fan|so much"
    r"|(?<=i )much prefer)\b",
    re.IGNORECASE,
)
_MILD = pattern_of(
    r"\b(?:slightly|somewhat|mildly|kinda|kind of|sort of|rather like|a bit|a little|not really"
    r"|don['’]?t mind)\b",
    re.IGNORECASE,
)
_TIMES_OF_DAY = ("morning", "afternoon", "evening", "night")


class Parts(NamedTuple):
    """What a payload is made of: cleaned texts and the negation of the claim.

    condition: the exception of a taste, or on what a promise falls due; empty when none is stated.
    """

    span: str
    value: str
    property: str | None
    scope: str
    time_text: str | None
    time_kind: int
    is_negative: bool
    confidence: int
    condition: str = ""


def _statement(parts: Parts) -> dict[str, object]:
    return {"claim": parts.span}


def _strength(said: str) -> str:
    """Return strong, mild or stated: how much of a taste its own words say."""
    if _STRONG.search(said):
        return "strong"
    return "mild" if _MILD.search(said) else "stated"


def _preference(parts: Parts) -> dict[str, object]:
    fields: dict[str, object] = {"strength": _strength(parts.span)}
    if parts.scope:
        fields["over" if not parts.is_negative else "context"] = parts.scope
    if parts.condition:
        fields["limit"] = parts.condition
    return fields


def _goal(parts: Parts) -> dict[str, object]:
    fields: dict[str, object] = {"description": parts.value, "goal_status": "active"}
    if parts.time_text and parts.time_kind in (BY, NEXT, DATE, UNTIL):
        fields["target_date"] = parts.time_text
    return fields


def _commitment(parts: Parts) -> dict[str, object]:
    fields: dict[str, object] = {"description": parts.value, "commitment_status": "open"}
    recipient = _RECIPIENT.search(parts.value)
    if recipient:
        fields["recipient"] = recipient[1] or recipient[2]
    if parts.time_text and parts.time_kind in (BY, NEXT, DATE, UNTIL, NOW):
        fields["due"] = parts.time_text
    elif parts.condition or due_inside(parts.value):
        fields["due"] = parts.condition or due_inside(parts.value)
    return fields


def _habit(parts: Parts) -> dict[str, object]:
    fields = _statement(parts)
    if parts.time_text and parts.time_kind == EVERY:
        fields["frequency"] = parts.time_text
    return fields


def _episode(parts: Parts) -> dict[str, object]:
    return {"claim": parts.span, "summary": parts.span}


def _outcome(parts: Parts) -> dict[str, object]:
    fields: dict[str, object] = {"summary": parts.span, "outcome": parts.value}
    if parts.scope:
        fields["purpose"] = parts.scope
    return fields


def steps_of(text: str) -> list[str]:
    """Return the steps of an enumerated or comma-separated text."""
    pieces = _STEP.split(text) if _STEP.match(text) else re.split(r",\s*(?:then\s+|and\s+)?|\s+then\s+", text)
    return [piece.strip(" \t\r\n.,;") for piece in pieces if piece.strip(" \t\r\n.,;")]


def _procedure(parts: Parts) -> dict[str, object]:
    return {"steps": steps_of(parts.value), "trigger_context": parts.property or ""}


_SHAPES: dict[str, Callable[[Parts], dict[str, object]]] = {
    "statement": _statement,
    "preference": _preference,
    "constraint": _preference,
    "goal": _goal,
    "commitment": _commitment,
    "habit": _habit,
    "episode": _episode,
    "outcome": _outcome,
    "procedure": _procedure,
}


def payload_of(shape: str, parts: Parts) -> str | None:
    """Return the payload of a claim of `shape` as canonical JSON, null when there is nothing to add."""
    build = _SHAPES.get(shape)
    if build is None:
        return None
    return msgspec.json.encode(build(parts), order="sorted").decode()


def applicability_of(message_cues: int) -> str:
    """Return when and for what a request holds, as canonical JSON."""
    conditions: dict[str, object] = {"request": True}
    for name in _TIMES_OF_DAY:
        if message_cues & CUES[name]:
            conditions["time_of_day"] = name
    return msgspec.json.encode(conditions, order="sorted").decode()
