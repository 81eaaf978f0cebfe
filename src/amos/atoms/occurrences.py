"""Occurrences: who takes part in them in which role, and which is known to come before which."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from amos.schemas.vocabulary import AtomType

OCCURRING = (str(AtomType.EPISODE), str(AtomType.ACTION_OUTCOME))
"""Types of atoms that happened, rather than held."""

_NAME = r"[A-Z][\w'’-]*(?: [A-Z][\w'’-]*)*"
_SOMEBODY = rf"(?:{_NAME}|(?:my|our|the|a|an) [a-z][\w-]*(?: {_NAME})?)"
_COMPANIONS = re.compile(rf"\bwith ({_SOMEBODY}(?:(?:, | and |, and ){_SOMEBODY})*)")
_JOINT = re.compile(r", and |, | and ")
_PLACE = re.compile(rf"\b(?:to|in|at|from|near|through) ((?:the )?{_NAME})")
_CALENDAR = re.compile(
    r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|January|February|March|April|May|June|July|August"
    r"|September|October|November|December|Christmas|Easter"
)


class Participant(NamedTuple):
    """Who or what takes part, and how."""

    role: str
    name: str


class Occurrence(NamedTuple):
    """When something happened, as far as it is known, in microseconds; a moment begins when it ends."""

    key: bytes
    start_us: int | None
    end_us: int | None


def participants_of(kind: str, fields: dict[str, Any], subject: str) -> list[Participant]:
    """Return the participants of an occurrence, by what its own words name.

    kind: atom type.  fields: its payload.  subject: its readable subject.  A place is one that is named, not
    a day or a month.
    """
    if kind == AtomType.ACTION_OUTCOME:
        return [
            Participant("agent", subject),
            Participant("instrument", str(fields["tool"])),
            Participant("action", str(fields["action_ref"])),
        ]
    if "outcome" in fields:
        found = [Participant("theme", subject)]
        purpose = fields.get("purpose")
        return [*found, Participant("purpose", str(purpose))] if purpose else found
    said = str(fields.get("claim") or fields.get("value") or "")
    found = [Participant("agent", subject)]
    for match in _COMPANIONS.finditer(said):
        found += [Participant("companion", name) for name in _JOINT.split(match[1]) if name]
    found += [
        Participant("place", match[1]) for match in _PLACE.finditer(said) if not _CALENDAR.match(match[1])
    ]
    return found


def precedes(one: Occurrence, other: Occurrence) -> bool:
    """Tell whether `one` is known to be over when `other` begins.

    Irreflexive and transitive, so that nothing comes before itself; two of one moment are in no order.
    """
    if one.end_us is None or other.start_us is None or one.end_us > other.start_us:
        return False
    is_one_moment = one.start_us == one.end_us == other.start_us == other.end_us
    return not is_one_moment


def next_after(one: Occurrence, others: Iterable[Occurrence]) -> list[Occurrence]:
    """Return those of `others` that `one` precedes with none known to lie between, in order of key."""
    later = [other for other in others if other.key != one.key and precedes(one, other)]
    ended = min((other.end_us for other in later if other.end_us is not None), default=None)
    lasted = any(other.end_us == ended and other.start_us != ended for other in later)
    return sorted(
        (other for other in later if not _is_behind(other, ended, lasted=lasted)), key=lambda found: found.key
    )


def _is_behind(other: Occurrence, ended_us: int | None, *, lasted: bool) -> bool:
    """Tell whether what ended first, at `ended_us`, precedes `other`; lasted: it was more than a moment."""
    if ended_us is None or other.start_us is None or other.start_us < ended_us:
        return False
    is_moment = other.start_us == other.end_us
    return other.start_us > ended_us or not is_moment or lasted


def follower_in(told: Sequence[bytes], one: bytes) -> bytes | None:
    """Return what was told next after `one`: succession in a talk, which is neither order nor cause."""
    place = told.index(one)
    return told[place + 1] if place + 1 < len(told) else None
