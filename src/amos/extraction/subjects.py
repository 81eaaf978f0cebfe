"""Whom or what a claim is about: the author, a thing of theirs, a person, a pronoun, something else."""

from __future__ import annotations

import functools
import re
from typing import NamedTuple

from amos.extraction.wording import clean_property, clean_subject, one_spelling
from amos.patterns import pattern_of
from amos.schemas.vocabulary import Trust

AUTHOR = "user"
_VOICES = {Trust.UNTRUSTED_WEB.value: "page author", Trust.TOOL.value: "tool"}
_AGENT = "agent"
_QUOTED_VOICE = "quoted speaker"
_SYSTEM = "system"

_PERSONS = frozenset(
    "mother mom mum father dad sister brother wife husband partner son daughter cousin boss friend kid "
    "aunt uncle grandma grandpa grandmother grandfather roommate flatmate landlord neighbour neighbor "
    "colleague girlfriend boyfriend fiancé fiancée nephew niece manager dentist doctor lawyer therapist "
    "teacher coach godmother stepson stepdaughter twin mother-in-law father-in-law ex parents kids children "
    "vet accountant tutor nurse neighbours neighbors coworker co-worker teammate mentor client student "
    "baby toddler tenant supervisor assistant nanny babysitter".split()
)
_WITHOUT_MARK = frozenset(
    "dentists doctors sisters brothers moms mums dads wifes husbands partners sons daughters bosses cats "
    "dogs neighbours neighbors landlords friends vets lawyers cousins managers teachers".split()
)


_ANIMALS = frozenset(
    "dog dogs cat cats puppy puppies kitten kittens horse pony hamster rabbit parrot tortoise goat goats hen "
    "hens budgie canary ferret twins grandson granddaughter grandkids grandchildren".split()
)
_AGE = pattern_of(
    r"(?:\d{1,3}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
    r"(?:(?:, | and |, and )(?:\d{1,3}))*(?: (?:years?|yrs?|months?|weeks?)(?: old)?)?",
    re.IGNORECASE,
)


_NUMBER = r"[€$£]?\d+(?:[.,]\d+)*(?: ?(?:k|%|€|\$|£)(?!\w))?"
_AMOUNT = pattern_of(
    rf"(?:between|around|about|under|over|above|below) {_NUMBER}(?: (?:and|to|or) {_NUMBER})?"
    r"(?: (?!away|from|in|on|at|of)[a-z]{1,12}(?: (?:a|per|each) [a-z]{1,12})?)?",
    re.IGNORECASE,
)
"""A quantity that begins like a place."""


class Subject(NamedTuple):
    """kind: author, thing, person, pronoun or other.  name: readable.  is_person: somebody else."""

    kind: str
    name: str
    is_person: bool


def find_subject(
    kind: str,
    text: str,
    property_name: str | None,
    before: Subject | None,
    *,
    trust: str,
    is_other_voice: bool,
) -> tuple[Subject, str | None]:
    """Return the subject of a claim and its property, from the pattern's kind and capture.

    "My sister's locker" makes the sister the subject.  A pronoun takes the one person or thing of
    the same sentence.  What another voice says of itself is about that voice, never the user.
    """
    voice = _QUOTED_VOICE if is_other_voice else _VOICES.get(trust)
    name = clean_subject(text)
    if kind == "author" and trust == Trust.AGENT and not is_other_voice:
        return Subject("author", _AGENT, is_person=False), property_name
    if kind == "author":
        return _authors(property_name, voice)
    if kind == "thing":
        return _thing(name, voice), property_name
    if kind == "pronoun" and before is not None and before.kind in ("thing", "person"):
        return before, property_name
    subjects = {
        "person": Subject("person", name, is_person=True),
        "pronoun": Subject("pronoun", name.casefold(), is_person=True),
        "other": Subject("other", name or voice or _SYSTEM, is_person=False),
    }
    return subjects[kind], property_name


@functools.lru_cache(maxsize=8192)
def names_person(property_name: str) -> bool:
    """Tell whether a property is somebody close to the author: "student Tim"."""
    return any(word.casefold() in _PERSONS for word in property_name.split())


def ages(subject: Subject, property_name: str | None, value: str) -> tuple[Subject, str] | None:
    """Return whose age a claim "my sister is 34" gives and the property, None when it is no such claim."""
    if subject.kind != "author" or not property_name:
        return None
    head = property_name.rsplit(" ", 1)[-1]
    if (head not in _PERSONS and head not in _ANIMALS) or not _AGE.fullmatch(value):
        return None
    return _thing(property_name, None), "age"


def amounts(subject: Subject, property_name: str | None, value: str) -> tuple[Subject, str | None] | None:
    """Return whose amount "my budget is between 400 and 500" gives and its property, None without one."""
    owned = subject.name.removeprefix(f"{AUTHOR}'s ")
    if subject.kind != "thing" or property_name != "location" or not _AMOUNT.fullmatch(value):
        return None
    return _authors(clean_property(owned), None)


def _authors(property_name: str | None, voice: str | None) -> tuple[Subject, str | None]:
    holder, _, rest = (property_name or "").rpartition("'s ")
    if holder and rest:
        return _thing(holder, voice), rest
    return Subject("other" if voice else "author", voice or AUTHOR, bool(voice)), property_name


def _thing(name: str, voice: str | None) -> Subject:
    """Return the subject "user's ...", or the other voice's."""
    words = [one_spelling(word) for word in name.split()]
    if words and words[-1].casefold() in _WITHOUT_MARK:
        words[-1] = words[-1][:-1]
    is_person = any(word.casefold().removesuffix("'s") in _PERSONS for word in words)
    return Subject("other" if voice else "thing", f"{voice or AUTHOR}'s {' '.join(words)}", is_person)
