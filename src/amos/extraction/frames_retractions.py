"""Find what a message takes back of itself: jokes, lies, sarcasm, wishes to have it forgotten."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator

from amos.extraction.frames_found import Frame, Kind, Rule, paragraph_end, successive
from amos.patterns import pattern_of

_CLAUSE = r"(?:\A|[.!?,;:\n(…–—-]\s{0,3}|(?<!\w)(?:but|lol|haha|nah|ok|and) )"
_CLOSE = r"(?=\s{0,3}(?:[.!?,;:\n)…–—-]|\Z|lol|haha|[^\w\s]))"
_JOKE = pattern_of(
    rf"{_CLAUSE}(?:(?:i'm |i am |i was )?(?:just|only|totally|obviously) (?:kidding|joking)(?! (?:around"
    rf"|with|aside|about))"
    rf"|(?:i'm |i am |i was )?(?:kidding|joking){_CLOSE}|april fools?{_CLOSE}|yeah,? right(?=[.!]|\s*\Z)"
    rf"|(?:that|this|it)(?:'s| was| is)(?: just| only| all| obviously)? (?:a joke|sarcasm){_CLOSE}"
    rf"|(?:war |das war |ist )?(?:nur|bloß) (?:ein(?:en)? )?(?:witz|spaß|scherz){_CLOSE}"
    rf"|(?:je plaisante|je rigole|es broma|era broma){_CLOSE})"
    r"|(?<![\w.])j/?k(?=\s{0,3}(?:[.!?,;:\n)…–—-]|\Z|lol|haha|i(?!\w)|[^\w\s]))"
    r"|(?<!\w)(?:said|says) (?:no ?one|no-one|nobody)(?!\w)(?! (?:i|we|about|that|in my))",
    re.IGNORECASE,
)
_NOT = pattern_of(
    r"(?:lol|haha|ha),? not(?=\s*(?:[.!]|\Z))|[.!]\s{1,3}[Nn]ot[.!]?\s*\Z|"
    r"[.!,…–—-]\s{0,3}(?:NOT(?=\s{0,2}(?:[.!]|\n|\Z))|[Nn]ot!)|(?<=\s)NOT(?:!|\.?\s*\Z)"
)
_SARCASM = pattern_of(
    r"(?<!\S)/(?:s|sarcasm)(?=\s{0,2}(?:[.!?\n]|\Z))|[#*(]sarcas(?:m|tic)(?!\w)", re.IGNORECASE
)
_UNTRUE = pattern_of(
    rf"{_CLAUSE}(?:(?:that|which|this)(?:'s| was| is) (?:just |all |actually |such "
    rf"|of course )?(?:a lie|a fib"
    rf"|not true|untrue|made up)|(?:that|this) (?:isn't|wasn't) (?:true|actually true)|(?:actually,? )?i lied"
    rf"|i made (?:that|it|this) (?:all )?up|(?:well,? |but |or )?not really(?=\s{{0,2}}(?:[.!\n]|\Z))"
    rf"|(?:das war gelogen|c'était un mensonge|era mentira)){_CLOSE}",
    re.IGNORECASE,
)
_CALLED_OFF = pattern_of(
    rf"{_CLAUSE}(?:never ?mind|scratch that|strike that|forget (?:it|that)|ignore that|cancel that"
    rf"|disregard that|(?:no,? )?on second thoughts?,? no|change of plans?|plans? (?:have )?changed){_CLOSE}"
    r"|(?<!\w)(?:not|isn't|aren't|won't|don't|doesn't|can't)(?: [^\s.!?,;]{1,20}){0,8} after all"
    r"(?=\s{0,2}(?:[.!?,;\n]|\Z))",
    re.IGNORECASE,
)
"""What was said a moment ago is off."""
_GROAN = pattern_of(
    r"(?:\A|[.!?\n]\s{0,3})(?:oh,? (?:joy|great|wonderful|fantastic|perfect|brilliant|lovely|goody|super|yay)"
    r"|(?:great|wonderful|fantastic|lovely|brilliant|perfect|yay|wow),? (?:just what i (?:needed|wanted)"
    r"|another|yet another|more)(?!\w)|just what i (?:needed|wanted)|lucky me|just (?:great|perfect"
    r"|wonderful|brilliant)(?=[.!,])|how (?:wonderful|lovely|delightful)(?=[.!,]))(?!\w)",
    re.IGNORECASE,
)
"""A groan: the likes behind it, in its paragraph, are not meant."""
_EYE_ROLL = pattern_of("\U0001f644")
_FORGET = pattern_of(
    r"(?:\A|[.!?;:,\n(–—-]\s{0,3}|(?<!\w)(?:please|and|you|now|so|to|should|just) )(?:"
    r"(?:forget|unlearn|unremember)(?: about)?(?: the fact)?(?: that)?"
    r"|stop (?:remembering|saying|storing|assuming|thinking|believing)(?: the fact)?(?: that)?"
    r"|(?:remove|delete|erase|drop|wipe) (?:from (?:your |the )?(?:memory|notes) )?(?:the "
    r"|that )?(?:fact |note |memory "
    r"|entry )?that|vergiss,? dass|oublie que|olvida que) "
    r"(?=(?:i|i'm|i've|my|we|our|he|she|they|his|her|their|ich|mein|meine|je|j'|mon|ma|mi|me)(?![\w])"
    r"|(?-i:[A-Z][a-z]))",
    re.IGNORECASE,
)
_CLAUSE_END = pattern_of(
    r"[.!?](?=\s|\Z)|[\n;]|,? (?:but|because|since) |,(?= (?:i|my|we|it|instead|now)(?!\w))", re.IGNORECASE
)
_SENTENCE_END = pattern_of(
    r"(?<!\bDr)(?<!\bMr)(?<!\bMs)(?<!\bSt)(?<!\bMrs)(?<!\bProf)(?<!\betc)(?<!\.[a-z])[.!?…]+[\"'”)]*(?=\s"
    r"|\Z)|\n+"
)
_BLANK_LINE = pattern_of(r"\n[ \t]*\n")
_EMPTY_SENTENCES = 4  # marks and line ends between what is said and what takes it back
_NEAR = 256


def _backwards(pattern: re.Pattern[str], kind: Kind) -> Callable[[str], Iterator[Frame]]:
    """Return the search for what each match takes back."""

    def find(text: str) -> Iterator[Frame]:
        marks = [match.start() for match in pattern.finditer(text)]
        if marks:
            starts = [0, *(match.end() for match in _SENTENCE_END.finditer(text))]
            for at in marks:
                yield Frame(_meant_from(text, starts, at), at + 1, kind)

    return find


def _find_sarcasm(text: str) -> Iterator[Frame]:
    marks = [match.start() for match in _SARCASM.finditer(text)]
    if marks:
        starts = [0, *(match.end() for match in _BLANK_LINE.finditer(text))]
        for at in marks:
            yield Frame(starts[bisect_right(starts, at) - 1], at, Kind.JOKED)


def _find_groans(text: str) -> Iterator[Frame]:
    for match, end in successive(_GROAN, text, _paragraph_end):
        yield Frame(match.start(), end, Kind.MOCKED)


def _paragraph_end(text: str, match: re.Match[str]) -> int:
    return paragraph_end(text, match.end())


def _find_forgotten(text: str) -> Iterator[Frame]:
    for match, end in successive(_FORGET, text, _clause_end):
        yield Frame(match.end(), end, Kind.UNWANTED)


def _meant_from(text: str, starts: list[int], at: int) -> int:
    """Return the start of the sentence that the words at `at` take back: their own, or the one before."""
    place = bisect_right(starts, at) - 1
    for first in range(place, max(place - _EMPTY_SENTENCES, -1), -1):
        if any(map(str.isalnum, text[max(starts[first], at - _NEAR) : at])):
            return starts[first]
    return starts[place]


def _clause_end(text: str, match: re.Match[str]) -> int:
    found = _CLAUSE_END.search(text, match.end())
    return found.start() if found else len(text)


_JOKE_STEMS = (
    "kidding", "joking", "jk", "j/k", "april fool", "yeah right", "yeah, right", "a joke", "sarcasm",
    "witz", "spaß",
    "scherz", "plaisante", "rigole", "broma", "said no", "says no",
)  # fmt: skip
_UNTRUE_STEMS = (
    "a lie", "a fib", "not true", "untrue", "made up", "isn't true", "wasn't true", "actually true", "i lied",
    "i made that", "i made it", "i made this", "not really", "gelogen", "mensonge", "mentira",
)  # fmt: skip
_FORGET_STEMS = (
    "forget ", "unlearn ", "unremember ", "stop remembering", "stop saying", "stop storing", "stop assuming",
    "stop thinking", "stop believing", "remove", "delete", "erase", "drop", "wipe", "vergiss", "oublie",
    "olvida",
)  # fmt: skip
_OFF_STEMS = (
    "never mind", "nevermind", "scratch that", "strike that", "forget it", "forget that", "ignore that",
    "cancel that", "disregard that", "second thought", "change of plan", "changed", "after all",
)  # fmt: skip
_GROAN_STEMS = (
    "oh ", "oh,", "just what i", "another", " more", ", more", "lucky me", "just great", "just perfect",
    "just wonderful", "just brilliant", "how wonderful", "how lovely", "how delightful",
)  # fmt: skip
RULES = (
    Rule(_backwards(_JOKE, Kind.JOKED), stems=_JOKE_STEMS),
    Rule(
        _backwards(_NOT, Kind.JOKED), marks=("NOT", "Not", "not!", "lol not", "lol, not", "ha not", "ha, not")
    ),
    Rule(_backwards(_CALLED_OFF, Kind.WITHDRAWN), stems=_OFF_STEMS),
    Rule(_find_groans, stems=_GROAN_STEMS),
    Rule(_backwards(_UNTRUE, Kind.WITHDRAWN), stems=_UNTRUE_STEMS),
    Rule(_backwards(_EYE_ROLL, Kind.MOCKED), marks=("\U0001f644",)),
    Rule(_find_sarcasm, stems=("/s", "sarcas")),
    Rule(_find_forgotten, stems=_FORGET_STEMS),
)
"""Ranges that a message takes back, each up to the words that do so."""
