"""Whose doing a claim is, by its payload: never guessed from a good outcome."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from amos.retrieval.profile import MILLION

Payload = Mapping[str, Any]

_AGENT_FIELDS = ("subject_agent", "agent", "agent_id")
_STATUS_FIELDS = ("success_status", "status", "outcome", "commitment_status")
_FAILED = frozenset({"failed", "failure", "partial", "abandoned", "rejected", "error"})
_BLOCKED = frozenset({"blocked", "denied", "unavailable"})
_SUCCEEDED = frozenset({"succeeded", "success", "fulfilled", "done", "ok"})
_LEARNED_FIELDS = (
    "correction_refs",
    "corrections",
    "correction",
    "learning_refs",
    "lesson",
    "rejected_claims",
)
_CONSTRAINT_FIELDS = ("external_constraints", "error_refs", "denied_tools")
_COUNTER_FIELDS = ("counterevidence_refs", "counterevidence")
_OF_LEVEL = {
    "primary": "self",
    "contributing": "shared_system",
    "reviewing": "shared_system",
    "observing": "other_agent",
    "blocked": "external",
}


def agent_of(payload: Payload) -> str | None:
    """Return the agent that a payload names, None where it names nobody."""
    named = (payload.get(name) for name in _AGENT_FIELDS)
    return next((str(one) for one in named if one), None)


def is_subject(payload: Payload, subject: str) -> bool:
    """Return whether a payload names this agent."""
    named = agent_of(payload)
    return named is not None and named.casefold() == subject.casefold()


def attribution_of(payload: Payload, subject: str | None) -> str:
    """Return whose doing it is: self, other_agent, shared_system, external or unknown."""
    named = agent_of(payload)
    if subject is not None and named is not None and named.casefold() != subject.casefold():
        return "other_agent"
    told = payload.get("attribution")
    if told in ("self", "other_agent", "shared_system", "external", "unknown"):
        return str(told)
    level = _OF_LEVEL.get(str(payload.get("responsibility_level")))
    if level is not None:
        return level
    return "self" if named is not None else "unknown"


def agency_match(payload: Payload, subject: str | None) -> int:
    """Return one where the agent meant is named, one half where nobody is, nothing for another agent."""
    named = agent_of(payload)
    if named is None:
        return MILLION // 2
    return MILLION if subject is None or is_subject(payload, subject) else 0


def attribution_confidence(payload: Payload, subject: str | None, confidence: int) -> int:
    """Return how sure it is whose doing it was: as told, else as the claim, nothing where it is unknown."""
    if attribution_of(payload, subject) == "unknown":
        return 0
    told = payload.get("agency_confidence")
    is_share = isinstance(told, int | float) and not isinstance(told, bool) and 0 <= told <= 1
    return round(told * MILLION) if is_share and told is not None else confidence


def learning(payload: Payload) -> int:
    """Return one where a payload tells of a correction or a lesson, 0.6 where it tells of a failure."""
    if any(payload.get(name) for name in _LEARNED_FIELDS):
        return MILLION
    return 600_000 if is_failure(payload) or is_blocked(payload) else 0


def is_failure(payload: Payload) -> bool:
    """Return whether it tells of something that failed."""
    return bool(_words(payload) & _FAILED)


def is_blocked(payload: Payload) -> bool:
    """Return whether it tells of something that was kept from happening."""
    return bool(_words(payload) & _BLOCKED) or any(payload.get(name) for name in _CONSTRAINT_FIELDS)


def is_success(payload: Payload) -> bool:
    """Return whether it tells of something that went well."""
    return bool(_words(payload) & _SUCCEEDED)


def _words(payload: Payload) -> set[str]:
    return {str(payload.get(name)).casefold() for name in _STATUS_FIELDS if payload.get(name) is not None}


def over_attribution(payload: Payload, subject: str | None) -> int:
    """Return one where a success is told as one's own and is somebody else's doing, or nobody knows whose."""
    is_own = attribution_of(payload, subject) in ("self", "shared_system")
    return MILLION if is_success(payload) and not is_own else 0


def counterevidence_of(payload: Payload) -> tuple[str, ...]:
    """Return the references that a payload names against itself."""
    found: list[str] = []
    for name in _COUNTER_FIELDS:
        value = payload.get(name)
        found += [str(one) for one in value] if isinstance(value, list) else ([str(value)] if value else [])
    return tuple(found)


def not_for(payload: Payload) -> tuple[str, ...]:
    """Return the phrases for which a procedure or capability says that it is not meant."""
    told = payload.get("not_for")
    return tuple(str(one) for one in told) if isinstance(told, list) else ((str(told),) if told else ())


def guardrails_of(kind: str, payload: Payload, *, is_disputed: bool) -> frozenset[str]:
    """Return which guardrails a claim of this type serves."""
    served = {
        "failures": is_failure(payload),
        "blocked_actions": is_blocked(payload),
        "corrections": any(payload.get(name) for name in _LEARNED_FIELDS),
        "limitations": kind == "limitation",
        "counterevidence": is_disputed or bool(counterevidence_of(payload)),
    }
    return frozenset(name for name, holds in served.items() if holds)


def has_values(payload: Payload, wanted: Mapping[str, Any]) -> bool:
    """Return whether a payload has every wanted value; of a list it must have one, and a list may hold it."""
    return all(_agrees(payload.get(name), value) for name, value in wanted.items())


def _agrees(found: Any, wanted: Any) -> bool:
    options = wanted if isinstance(wanted, list) else [wanted]
    given = found if isinstance(found, list) else [found]
    return any(_same(one, other) for one in given for other in options)


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, str) and isinstance(other, str):
        return one.casefold() == other.casefold()
    return type(one) is type(other) and one == other


def names_any(payload: Payload, names: Sequence[str]) -> bool:
    """Return whether the capability that a payload states is among `names`."""
    told = {
        str(payload.get(name)).casefold() for name in ("capability", "name", "value") if payload.get(name)
    }
    return bool(told & {name.casefold() for name in names})
