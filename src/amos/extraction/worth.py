"""Which matches are worth a claim: idle talk gets a reason, passing states get their class."""

from __future__ import annotations

import functools
import re

from amos.extraction.grammar import Grammar, Meaning
from amos.patterns import pattern_of
from amos.schemas.vocabulary import MemoryClass, Reason

_ENDURING_HEADS = pattern_of(
    r"(?:hobby|hobbies|job|passion|sport|work|task|role|dream|speciality|specialty|pastime|favourite \w+"
    r"|weakness|strength|activity|exercise|interest|interests|course|major|subject|habit)$"
)
_RECORDS = ("record", "background", "reputation", "conscience")
"""What stays as it is even where it is clean or bad."""
_ACTIVITY = pattern_of(r"[a-z]{3,}ing", re.IGNORECASE)
_NO_ACTIVITY = frozenset(
    "king ring string spring thing nothing something anything everything morning evening".split()
)

_NO_LAST_WORD = frozenset("the a an my our your his her their all of to and".split())

_NOUNS_IN_LY = frozenset(
    "family assembly supply reply ally belly jelly lily fly rally monopoly anomaly gully holly".split()
)


_WITH_TO = frozenset(("preference", "decision"))
"""Families whose value may be something to do: "to read outside"."""


_DEGREES = frozenset(
    "very really so quite pretty hugely extremely incredibly absolutely totally particularly especially "
    "rather too most truly deeply highly fairly super equally vitally critically".split()
)
"""What only says how much: "very | important"."""
_OF_OTHERS = frozenset(("like.when", "like.when_plain", "avoid.when"))
"""Patterns whose value is what somebody else does: "I like it when | you answer briefly"."""
_PLACED = frozenset(("home", "work", "workplace"))
"""Families whose value may be "the old town": a name, not one of several that were shown."""


def is_activity(word: str) -> bool:
    """Tell whether a word reads as what somebody is doing ("watching")."""
    return _ACTIVITY.fullmatch(word) is not None and word.casefold() not in _NO_ACTIVITY


_COLOURS = frozenset(
    "red green blue yellow white black grey gray orange purple pink brown amber teal turquoise violet beige "
    "navy silver gold golden cream maroon".split()
)
_STUFFS = frozenset(
    "wool silk cotton linen leather wood wooden metal steel plastic glass oak pine paper cork felt velvet "
    "brass copper stone concrete bamboo electric manual diesel petrol hybrid gas solar wireless wired".split()
)


def are_alike(first: str, second: str) -> bool:
    """Tell whether two values in plain words are of one make: two colours, two stuffs, two things."""
    one, other = first.casefold().split(), second.casefold().split()
    if not one or not other:
        return False
    if one[0] in ("a", "an", "the") and other[0] in ("a", "an", "the"):
        return True
    return any(one[-1] in family and other[-1] in family for family in (_COLOURS, _STUFFS))


@functools.lru_cache(maxsize=4)
def worth_of(grammar: Grammar) -> Worth:
    """Return the look-ups of a grammar, made once."""
    return Worth(grammar)


class Worth:
    """The grammar's vetoes and passing states, ready for look-up."""

    def __init__(self, grammar: Grammar) -> None:
        columns: dict[str, dict[str, str]] = {}
        for veto in grammar.vetoes:
            for text in veto.texts:
                columns.setdefault(veto.column, {}).setdefault(text, veto.reason)
        self._properties = columns.get("property", {})
        self._values = columns.get("value", {})
        self._heads = columns.get("value_head", {})
        self._starts = columns.get("value_start", {})
        self._families: dict[str, dict[str, str]] = {}
        for text, reason in columns.get("family", {}).items():
            family, _, words = text.partition(" ")
            self._families.setdefault(family, {})[words] = reason
        self._passing = grammar.passing
        self._passing_heads = grammar.passing_heads

    def veto(self, meaning: Meaning, property_name: str, thing: str, value: str, subject: str) -> str | None:
        """Return the reason that keeps a claim out, None when nothing does.

        property_name, thing: cleaned; thing is the noun of a thing of the author, else empty.
        """
        folded = value.casefold()
        words = folded.split(" ")
        start = folded if len(words) < 3 else f"{words[0]} {words[1]}"
        found = self._properties.get(thing)
        if found is None and meaning.property == "@property":
            found = self._properties.get(property_name)
        if found is None and words[0] in _DEGREES and len(words) > 1 and meaning.shape != "episode":
            found = self._values.get(" ".join(words[1:]))
        if meaning.shape == "statement" and meaning.subject == "other":
            found = found or self._values.get(folded)
        if found is None and meaning.shape not in ("statement", "episode"):
            is_to_do = words[0] == "to" and meaning.family in _WITH_TO
            is_free = is_to_do or meaning.name in _OF_OTHERS
            found = None if is_free else self._heads.get(words[0])
            found = found or self._values.get(folded)
            if found is None and meaning.family not in _PLACED:
                found = self._starts.get(start)
        openings = self._families.get(meaning.family)
        if found is None and openings is not None:
            found = openings.get(words[0]) or openings.get(start)
        if found is not None:
            return found
        is_statement = meaning.shape in ("statement", "habit") and meaning.family != "passion"
        if is_statement and self._is_idle(words, subject, value):
            return Reason.LOW_VALUE.value
        return None

    def _is_idle(self, words: list[str], subject: str, value: str) -> bool:
        """Tell whether a statement only says what goes on or how somebody feels."""
        is_passing = words[0] in self._passing_heads or value.casefold() in self._passing
        if words[0] in _DEGREES and len(words) > 1:
            is_passing = is_passing or words[1] in self._passing_heads or " ".join(words[1:]) in self._passing
        last = subject.rsplit(" ", 1)[-1]  # as written: "crew A" and "Emily" are names
        if last in _NO_LAST_WORD or (last.endswith("ly") and last.islower() and last not in _NOUNS_IN_LY):
            return True  # "appreciate the | support": the verb was none
        return is_passing or is_activity(words[0]) or is_activity(subject.split(" ", 1)[0])

    def class_of(self, meaning: Meaning, property_name: str, value: str) -> str:
        """Return the memory class by the value: what somebody is doing or feels will pass."""
        if meaning.family != "own" or meaning.memory_class != MemoryClass.DURABLE_FACT:
            return meaning.memory_class
        if property_name.endswith(_RECORDS):
            return meaning.memory_class
        words = value.casefold().split(" ")
        is_doing = len(words) > 1 and is_activity(words[0]) and not _ENDURING_HEADS.search(property_name)
        if is_doing or words[0] in self._passing_heads or value.casefold() in self._passing:
            return MemoryClass.TEMPORARY_STATE.value
        return meaning.memory_class
