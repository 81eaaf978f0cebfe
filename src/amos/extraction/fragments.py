"""Claims that are no whole statement: broken off, stammered, pointing at something, a noun read as verb."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable

from amos.extraction.grammar import Meaning
from amos.extraction.matches import Match, Origin
from amos.extraction.surroundings import has_no_place, is_broken_off, is_embedded, is_shown
from amos.extraction.worth import is_activity
from amos.kernels.features import NOW
from amos.kernels.match import SCOPE, SUBJECT_CAPTURE, VALUE
from amos.patterns import pattern_of

_FILLER = pattern_of(r"(?<![\w'’-])(?:uh|um|uhm|erm|mm|hmm|y'know|i mean)(?![\w'’-])|\{", re.IGNORECASE)
_STAMMER = pattern_of(
    r"(?<![\w'’-])(?!(?:that|had|very|really|so|much|bye|ha|no|yes|is) )(\w+),? \1(?![\w'’-])", re.IGNORECASE
)
_POINTERS = frozenset("this these those that here them it him her his their its your there".split())
_ADDRESSED = frozenset("you your yours you're".split())
_LOOSE_ENDS = frozenset(
    "in to of for the a an and like with from that because is are or at on my our their his as by about into "
    "we i you they which who sure ensure ensuring so very really said says think believe its just being "
    "something whatever stuff since ever".split()
)
_UNNAMED = frozenset("it this that them these those there him her you something anything everything".split())
_PRONOUNS = frozenset("it this that them these those there here".split())
_POINTING_ON = pattern_of(
    r"\b(?:this|that|these|those)(?: (?:for|in|on|at|to|with|since|from|as|all|every|by|and|or)\b|$)"
)
_OBJECTS = frozenset("it them him her you so something that those".split())
_TALKED_OF = frozenset(("it", "them"))
_CLAUSE_HEADS = frozenset("they we i he she it there you".split())
_HEARSAY = pattern_of(
    r"\b(?:is|are) (?:reported|said|believed|thought|supposed|going|about|meant|expected) to\b"
)
_STATES = pattern_of(
    r"(?:in (?:charge|trouble|love|order|place|need|shape|touch|progress|question|danger|doubt|pain|line"
    r"|good|great|bad|a good|a bad|a great|full|the process|the middle|the works|my heart|my mind)"
    r"|at (?:risk|stake|odds|ease|it)|on (?:track|board|fire|point|the line|the way|the rise|my mind)"
    r"|under (?:control|way|pressure)|around the corner|by my side|for me)(?!\w)",
    re.IGNORECASE,
)
"""Phrases that look like places."""
_CONSUMES = frozenset("use eat drink wear keep take rent own collect brew".split())
_LACKING = frozenset("in of for from generally across on at and per".split())
_NOUNS_TOO = frozenset("measures supports costs uses holds".split())
_AIMLESS = frozenset("making doing having getting going being taking giving using putting".split())
_AFTER_DOING = _LACKING | frozenset(
    "much better well worse badly quite great to even with as forward exactly back away up out over so "
    "very".split()
)
_OF_A_TALK = frozenset(
    "minutes seconds hours more sevens points options questions items meetings slides things choices "
    "story stories rather problems issues ideas reasons comments seats votes".split()
)
_TODAY = frozenset(("today", "tonight", "tomorrow", "now"))
_OTHERS_THINGS = frozenset("his her their its".split())
_SERIES = pattern_of(r",\s(?:and\s)?[a-z]+\s[a-z]")
_TRANSITIVE = frozenset("costs needs uses requires supports contains holds measures weighs".split())
_ASKED_OF_YOU = frozenset(("like.when", "like.when_plain", "avoid.when"))
"""Patterns for what the author wants of the other: "I like it when you answer briefly"."""
_TASTES = frozenset(
    ("preference", "possession", "habit", "pursuit", "passion", "acquired", "avoidance", "ability", "goal")
)
_PLURALS = frozenset(
    "people children kids men women police mice geese teeth feet folks twins parents".split()
)
_AUXILIARY = pattern_of(
    r"(?:do|does)(?:n['’]?t|\snot)?|never|not|had|will|can|must|should|may", re.IGNORECASE
)
_NO_BASE = frozenset(("are", "were", "have", "is"))
_ORDINALS = frozenset(
    "next final last first second third fourth fifth previous following same whole other only main".split()
)
_PASTIMES = frozenset(
    "hiking running swimming painting knitting sewing rowing fencing boxing climbing surfing skating skiing "
    "dancing singing drawing writing reading cooking baking gardening cycling jogging camping fishing "
    "sailing meditating volunteering journaling blogging coding programming woodworking quilting weaving "
    "kayaking birding acting composing sculpting foraging snowboarding bouldering crocheting".split()
)
_ARTICLES = frozenset(("a", "an", "the", "my", "our"))
_SHORTEST_WORD, _FEW_WORDS, _GOAL_HEAD, _MOST_CLAUSES = 3, 3, 4, 2


def is_fragment(
    meaning: Meaning, match: Match, property_name: str, value: str, span: str, origin: Origin, end: int
) -> bool:
    """Tell whether a claim is no whole statement.

    span: the words of the claim where more than its value is kept.  end: the byte after the claim.
    """
    said = span or value
    if _halts(said) or _is_filled(property_name):
        return True
    if is_broken_off(origin, end) or is_embedded(meaning, match, origin):
        return True
    if _is_half_described(value, origin, end):
        return True
    if meaning.shape == "statement":
        return _is_loose(meaning, match, said, origin)
    words = value.casefold().split()
    if meaning.subject == "thing" and has_no_place(property_name, match.capture(SUBJECT_CAPTURE)):
        return True
    is_run_on = said.split().count("I") > (_MOST_CLAUSES if meaning.shape == "episode" else 1)
    is_part = _is_stub(property_name, value, words) or _points(meaning, match, words) if words else False
    return is_run_on or is_part


def _halts(said: str) -> bool:
    """Tell whether somebody searches for words; a bare number is found."""
    return not said.isdigit() and (_FILLER.search(said) is not None or _STAMMER.search(said) is not None)


@functools.lru_cache(maxsize=8192)
def _is_filled(property_name: str) -> bool:
    return _FILLER.search(property_name) is not None


def _is_half_described(value: str, origin: Origin, end: int) -> bool:
    """Tell whether a value stops between two adjectives: "creating a safe | , quiet place"."""
    words = value.split()
    if len(words) < _FEW_WORDS or words[-2] not in ("a", "an"):
        return False
    return _SERIES.match(origin.content[end : end + 40].decode(errors="ignore")) is not None


def _is_stub(property_name: str, value: str, words: list[str]) -> bool:
    """Tell whether a value ends too early, or names no thing of the property's kind."""
    is_short = len(value) < _SHORTEST_WORD and value.islower() and value.isascii()
    if is_short or value.startswith("going to be") or (words[-1] in _LOOSE_ENDS and not value.isupper()):
        return True
    check = _KINDS.get(property_name)
    return check is not None and check(value, words)


def _is_no_place(value: str, words: list[str]) -> bool:
    return _STATES.match(value) is not None or not _POINTERS.isdisjoint(words)


def _is_no_activity(_: str, words: list[str]) -> bool:
    if words[0] in ("doing", "taking", "learning"):
        return len(words) == 1 or words[1] in _AFTER_DOING
    return len(words) == 1 and words[0] not in _PASTIMES


_PERFECT = pattern_of(r"(?!gera|gebä|gedi|gefä|gesch|gewä|gest|gede)ge[a-zäöü]{3,}(?:t|en)|[a-zäöü]{3,}iert")
"""How German says what was done: "einen Kuchen gebacken" is no cake that somebody has."""
_KINDS: dict[str, Callable[[str, list[str]], bool]] = {
    "location": _is_no_place,
    "activity": _is_no_activity,
    "employer": lambda value, words: value.islower() and words[0] not in _ARTICLES,
    "possession": lambda _, words: (
        (words[0] in ("anything", "something", "any") or not _OF_A_TALK.isdisjoint(words))
        or _PERFECT.fullmatch(words[-1]) is not None
    ),
    "preference": lambda _, words: len(words) == 1 and words[0] in _AIMLESS,
    "instruction": lambda _, words: len(words) == 1,
    "name": lambda _, words: words[-1] in ("dr", "mr", "mrs", "ms", "prof", "miss", "sir"),
    "field of study": lambda _, words: any(word.endswith(("'s", "’s")) for word in words),
    "habit": lambda _, words: words[0] in _LACKING or words[0] in ("within", "with", "to"),
    "visited place": lambda _, words: words[0] in ("a", "an", "that", "this"),
}
"""What no value of a property may look like."""


def _points(meaning: Meaning, match: Match, words: list[str]) -> bool:
    """Tell whether a value points at what only the talk around it names."""
    if meaning.shape == "episode":
        return words[0] in _OBJECTS or "there" in words
    if meaning.type == "goal":
        return not (_UNNAMED.isdisjoint(words[:_GOAL_HEAD]) and _ADDRESSED.isdisjoint(words))
    is_taste = meaning.family in _TASTES or meaning.property == "preference"
    if not is_taste or meaning.name in _ASKED_OF_YOU:
        return False
    if meaning.property == "preference" and (is_shown(match, words) or not _ADDRESSED.isdisjoint(words)):
        return True
    return _is_unnamed(match.capture(SCOPE), words)


def _is_unnamed(verb: str, words: list[str]) -> bool:
    """Tell whether what somebody likes or does is a pronoun, or the place or way of something unnamed."""
    if words[0] in _TODAY:
        return True
    if verb in _CONSUMES and (words[0] in _LACKING or (verb == "keep" and is_activity(words[0]))):
        return True
    if len(words) > 1 and words[1] in _OTHERS_THINGS:
        return True
    is_pointing = (
        words[0] in _POINTERS
        or "here" in words
        or words[-2:] == ["another", "one"]
        or words[-1] in _PRONOUNS
        or not _TALKED_OF.isdisjoint(words)
    )
    return is_pointing or _POINTING_ON.search(" ".join(words)) is not None


def _is_loose(meaning: Meaning, match: Match, said: str, origin: Origin) -> bool:
    """Tell whether a statement lacks a subject, a verb or an end of its own."""
    words = said.casefold().split()
    if len(words) < _FEW_WORDS or words[-1] in _LOOSE_ENDS or words[-1] in _PRONOUNS:
        return True
    if meaning.subject == "author":
        is_bare = meaning.family == "remembered" and match.capture(VALUE).count(" ") < _FEW_WORDS - 1
        is_pointing = "there" in words or (meaning.family == "passion" and not _TALKED_OF.isdisjoint(words))
        return is_bare or match.kind == NOW or is_pointing
    if not _TALKED_OF.isdisjoint(words) or _HEARSAY.search(said) or _is_ordinal(match):
        return True
    value = match.capture(VALUE).casefold().split()
    if len(value) > 1 and value[0].endswith("ly") and is_activity(value[1]):
        return True
    verb = words[-len(value) - 1] if 0 < len(value) < len(words) else ""
    is_cut = bool(value) and (
        value[0] in _CLAUSE_HEADS
        or (verb in _TRANSITIVE and value[0] in _LACKING)
        or (verb in _NOUNS_TOO and value[0] == "to")
    )
    return is_cut or _lacks_agreement(match, origin)


def _lacks_agreement(match: Match, origin: Origin) -> bool:
    """Tell whether the verb of a statement cannot be one: "our online | support | services"."""
    subject, value = match.capture_span(SUBJECT_CAPTURE), match.capture_span(VALUE)
    if subject is None or value is None:
        return False
    noun = origin.content[slice(*subject)].decode().split()
    said = origin.content[subject[1] : value[0]].decode().split()
    between = [word for word in said if word.casefold() not in ("no", "a", "an")]
    if between and between[0].casefold() == "not":
        return True
    if not noun or not between or any(_AUXILIARY.fullmatch(word) for word in between):
        return False
    last, verb = noun[-1].casefold(), between[-1].casefold()
    is_plural = last.endswith("s") or last in _PLURALS or "and" in noun
    is_base = verb.isalpha() and not verb.endswith(("s", "ed")) and verb not in _NO_BASE
    return (is_base and not is_plural) or (len(last) == 1 and noun[-1].islower())


def _is_ordinal(match: Match) -> bool:
    """Tell whether a statement is about the next, the last, ... of what is being gone through."""
    words = match.capture(SUBJECT_CAPTURE).casefold().split()
    return len(words) > 1 and (words[0] in _ORDINALS or (words[0] in ("the", "a") and words[1] in _ORDINALS))
