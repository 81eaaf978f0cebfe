"""Find what a message only plays: roles, characters, first-person fiction, examples, test inputs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from amos.extraction.frames_found import BEFORE, Frame, Kind, Rule, paragraph_end, successive, words_after
from amos.patterns import pattern_of

_FICTION = (
    r"(?:poems?|story|stories|songs?|haiku|limerick|rap|monologue|scene|sonnet|ballad|verses?|lyrics"
    r"|fairy ?tale"
    r"|novel|screenplay|sketch|skit|diary entry|short story|fan ?fiction|tale|chapter)"
)
_PLAY = pattern_of(
    rf"(?:{BEFORE}|(?<!\w)(?:let's|let us|can we|could we|shall we|want you to|please) )role[ -]?play(?:ing)?"
    r"(?=\s{0,2}[:,.!\n–—-]|\s(?:as|with me|this|that|where|in which|scenario|session|time)(?!\w))"
    r"|(?<!\w)in (?:this|the|our) role[ -]?play(?!\w)"
    rf"|{BEFORE}(?:(?:let's|let us|please|now|so|ok|okay),? ){{0,2}}(?:pretend|imagine)(?: that)?"
    r" (?:you|i|we|to be|your|you're|i'm|(?:a|an) (?:world|scene|scenario|person|character|user|story"
    r"|place))(?!\w)"
    r"|(?<!\w)my (?:(?:d&d|dnd|rpg|game|gaming|sims?|player|main|fictional|new|stage|online) )?(?:character"
    r"|persona|avatar|protagonist|alter ego)(?:'s name)?(?: (?:in|from"
    r"|for) [^\s.!?]{1,20}(?: [^\s.!?]{1,20}){0,3}?)?"
    r"(?:'s| (?:is|was|lives?|says?|would|has|will|wants?|loves?|hates?|likes?|speaks?))(?!\w)",
    re.IGNORECASE,
)
_ROLE = pattern_of(
    rf"(?:{BEFORE}|(?<!\w)(?:please|you to|you will|you should|you must|now|can you) )(?:act"
    rf"|behave)(?: to me)?"
    r" (?:as|like)(?: if| though)? (?:a|an|my|the|you)(?!\w)",
    re.IGNORECASE,
)
_COMPOSED = pattern_of(
    rf"(?:{BEFORE}|(?<!\w)(?:please|you|me|to) )(?:write|compose|create|make up|draft|generate|continue|tell)"
    rf"(?: (?:me|us))? (?:a|an|some|the|another|this|my)(?: [^\s:.!?]{{1,20}}){{0,3}}? {_FICTION}(?!\w)"
    r"[^\n:.!?]{0,100}?(?:(?:in|from) (?:the )?first[- ]person|from the (?:perspective|point of view)"
    r"|as if (?:i|you)"
    r"|\s?:|\s?\n)",
    re.IGNORECASE,
)
_WORK = (
    rf"(?:{_FICTION}|bio|biography|letter|e-?mail|speech|caption|profile|paragraph|essay|blurb|toast|joke|script"
    r"|dialogue|cv|r[eé]sum[eé]|gedicht|geschichte|lied|brief|po[eè]me|histoire|chanson|lettre|poema|cuento"
    r"|historia|canci[oó]n|carta)"
)
_WITHIN_WORK = pattern_of(
    r"(?<!\w)(?:a|an|another|some|the|my|me|us|ein|eine|einen|un|une|una)"
    rf" (?:[^\s:.!?]{{1,20}} ){{0,3}}?{_WORK}"
    r"(?: [^\s:.!?,]{1,20}){0,6}?,? (?:where|in which|about how|saying|that says|in dem|in der|où"
    r"|dans (?:lequel|laquelle)|donde|en (?:el|la) que)(?!\w)",
    re.IGNORECASE,
)
_MEANT_FOR = pattern_of(
    rf"{BEFORE}for (?:the|a|an|my|our|this|your) (?:[^\s:.!?,]{{1,16}} )?(?:quiz|game|test|play|story"
    rf"|novel|book"
    r"|script|exercise|role|skit|scene|sketch|demo|sample|example|improv|audition|screenplay|homework)"
    r"\s{0,2}[:\n]",
    re.IGNORECASE,
)
_MEANT_FOR_ACTING = pattern_of(
    rf"{BEFORE}for (?:the|a|an|my|our|this|your) (?:[^\s:.!?,]{{1,16}} )?(?:quiz|skit|scene|sketch|improv),",
    re.IGNORECASE,
)
_EXAMPLE = pattern_of(
    r"(?:\A|[.!?;,\n(]\s{0,3})(?:(?:here(?:'s| is| are)|a|an|the|my|some"
    r"|our) ){0,2}(?:[^\s:.!?,]{1,16} ){0,2}?"
    r"(?:for example|for instance|zum beispiel|par exemple|por ejemplo|examples?|samples?"
    r"|(?:test|demo|dummy|mock|fake|sample) (?:inputs?|data|messages?|cases?|sentences?|texts?|profile"
    r"|bio|user)"
    r"|placeholder|user stor(?:y|ies)|(?:system )?prompt)(?! (?:dialog|conversation|chat|transcript))"
    r"(?: [^\s:.!?,]{1,16}){0,4}?\s{0,2}:",
    re.IGNORECASE,
)
_SUCH_AS = pattern_of(r"(?<!\w)(?:e\.g\.|e\.g|eg\.)[,:]?\s", re.IGNORECASE)
_STAGE_DIRECTION = pattern_of(
    r"\A\s*(?:\((?!\s*(?:i|my|our|we)(?!\w))[^()\n]{1,2000}\)|\[\s?(?:scene|cut|int|ext|time)(?!\w)[^\[\]]{1,2000}\])\s*\Z",
    re.IGNORECASE,
)
"""All of a message in brackets, about others: what a script tells the players to do."""
_SENTENCE_END = pattern_of(r"[.!?](?=\s|\Z)|\n|[)\]]")


def to_the_end(pattern: re.Pattern[str], kind: Kind) -> Callable[[str], Iterator[Frame]]:
    """Return the search for all from the first match on."""

    def find(text: str) -> Iterator[Frame]:
        match = pattern.search(text)
        if match is not None:
            yield Frame(match.start(), len(text), kind)

    return find


def blocks_behind(pattern: re.Pattern[str]) -> Callable[[str], Iterator[Frame]]:
    """Return the search for the blocks that the pattern opens."""

    def find(text: str) -> Iterator[Frame]:
        for opener, end in successive(pattern, text, _block_end):
            yield Frame(opener.end(), end, Kind.PLAYED)

    return find


def sentences_from(pattern: re.Pattern[str]) -> Callable[[str], Iterator[Frame]]:
    """Return the search for matches with the rest of their sentence."""

    def find(text: str) -> Iterator[Frame]:
        for match, end in successive(pattern, text, _sentence_end):
            yield Frame(match.start(), end, Kind.PLAYED)

    return find


def _block_end(text: str, opener: re.Match[str]) -> int:
    """Return the end of what stands behind `opener`: its paragraph; all of it when it begins a line below."""
    start, is_below = words_after(text, opener.end())
    return len(text) if is_below else paragraph_end(text, start)


def _sentence_end(text: str, match: re.Match[str]) -> int:
    found = _SENTENCE_END.search(text, match.end())
    return found.start() if found else len(text)


_ROLES_IN_STORIES = (
    "user", "admin", "administrator", "visitor", "customer", "guest", "member", "editor", "moderator",
    "subscriber", "shopper", "buyer", "seller", "operator", "viewer", "tester",
)  # fmt: skip
_STORY = pattern_of(
    r"(?<!\w)as an? (?:(?:logged[- ]in|registered|new|returning|guest|first[- ]time|admin|premium) )?"
    rf"(?:{'|'.join(_ROLES_IN_STORIES)}),? i(?:'d| would)?"
    r" (?:want|need|like|can|should|wish|expect|am able|must)(?!\w)",
    re.IGNORECASE,
)
_PLAY_STEMS = (
    "role play", "role-play", "roleplay", "pretend", "imagine", "character", "persona", "avatar",
    "protagonist",
    "alter ego",
)  # fmt: skip
_FICTION_STEMS = (
    "poem", "story", "stories", "song", "haiku", "limerick", " rap", "monologue", "scene", "sonnet", "ballad",
    "verse", "lyrics", "fairy", "novel", "screenplay", "sketch", "skit", "diary", "fiction", "tale",
    "chapter",
)  # fmt: skip
_WITHIN_STEMS = (
    "where i", "where my", "in which", "about how", "saying ", "that says", "in dem ", "in der ", " où ",
    "lequel", "laquelle", "donde ", "en el que", "en la que",
)  # fmt: skip
_EXAMPLE_STEMS = (
    "example", "sample", "for instance", "beispiel", "exemple", "ejemplo", "test ", "demo", "dummy", "mock",
    "fake",
    "placeholder", "user stor", "prompt",
)  # fmt: skip
_PURPOSE_STEMS = (
    "quiz", "game", "test", "play", "story", "novel", "book", "script", "exercise", "role", "skit", "scene",
    "sketch", "demo", "sample", "example", "improv", "audition", "homework",
)  # fmt: skip
RULES = (
    Rule(to_the_end(_PLAY, Kind.PLAYED), stems=_PLAY_STEMS),
    Rule(to_the_end(_ROLE, Kind.ROLED), stems=("act as", "act like", "act to me", "behave")),
    Rule(blocks_behind(_COMPOSED), stems=_FICTION_STEMS),
    Rule(sentences_from(_WITHIN_WORK), stems=_WITHIN_STEMS),
    Rule(blocks_behind(_EXAMPLE), stems=_EXAMPLE_STEMS, needs_opening=True),
    Rule(blocks_behind(_MEANT_FOR), stems=_PURPOSE_STEMS, needs_opening=True),
    Rule(blocks_behind(_MEANT_FOR_ACTING), stems=("quiz", "skit", "scene", "sketch", "improv")),
    Rule(to_the_end(_STAGE_DIRECTION, Kind.PLAYED), marks=("(", "[")),
    Rule(sentences_from(_SUCH_AS), stems=("e.g", "eg.")),
    Rule(
        sentences_from(_STORY),
        stems=tuple(f"{role}{joint}i" for role in _ROLES_IN_STORIES for joint in (" ", ", ")),
    ),
)
"""Ranges that are played or given as examples."""
