"""Find where a message opens a pretence, and what it covers: "Let's pretend:", "Let's play a game."."""

from __future__ import annotations

import re

from amos.extraction.frames_found import BEFORE, Kind, Rule
from amos.extraction.frames_play import blocks_behind, sentences_from, to_the_end
from amos.patterns import pattern_of

_START = r"(?:\A|[.!?\n(\"“„>*]\s{0,3})"
"""Where a sentence begins."""
_SOFT = r"(?:(?:please|now|so|well|ok|okay|just|only|simply|then|today|first),? )"
_INVITE = (
    r"(?:(?:let's|lets|let us|can we|could we|shall we|may we|should we|we can|we could|we should"
    r"|why don't we|i want (?:you |us )?to|i'd like (?:you |us )?to|(?:it's )?time (?:to|for)) )"
)
_ASKED = rf"(?:{BEFORE}{_SOFT}{{0,2}}{_INVITE}{_SOFT}?)"
_URGED = rf"(?:{_ASKED}|{_START}{_SOFT}{{0,2}})"
_STOP = r"\s{0,2}(?:[;:,.!?…–—\n]|-\s)"
"""Ends the clause that opens a pretence; what follows is pretended."""
_AWHILE = r"(?:for (?:a|one|just a) (?:moment|minute|second|sec|while|bit))"
_KINDS = r"(?:time|scenario|mode|session|exercise|prompt|part|game|scene|world|story|case|example)"
_HOW = (
    rf"(?: (?:{_AWHILE}|{_KINDS}|this|something|things|the following|the scene|with me|together|now|today"
    r"|tonight|again|here|once|only|a (?:bit|little)|on|begins|starts)){0,3}"
)
_PRETENCE = r"(?:pretend|make[- ]believe|role[ -]?play|play[- ]?act|improvi[sz]e|fantasi[sz]e|dream)"
_PRETENDING = r"(?:pretending|role[ -]?playing|play[- ]?acting|improvi[sz]ing|playing pretend)"
_UNREAL = (
    r"(?:make[- ]believe|pretend|imaginary|made[- ]up|fictional|fictitious|hypothetical|invented|fantasy)"
)
_PIECE = (
    r"(?:improv|role[ -]?play|make[- ]believe|hypothetical|thought experiment|what[- ]if|skit|scene|scenario)"
)

_OPENED = pattern_of(
    rf"{_URGED}{_PRETENCE}{_HOW}(?={_STOP})"
    rf"|{_URGED}(?:imagine|picture|suppose|consider|visuali[sz]e)"
    rf"(?:(?: (?:this|the following|(?:this|the|a) {_KINDS}|with me|{_AWHILE})){{1,3}}(?={_STOP})"
    r"|(?=\s{0,2}[:\n]))"
    rf"|{_ASKED}play (?:(?:a|another|one more) (?:[\w-]{{1,16}} ){{0,2}}game|pretend|make[- ]believe|house"
    rf"|doctors?|school|shop|store|dress[- ]up)(?={_STOP})"
    rf"|{_ASKED}play [^.;:!?\n]{{1,40}}(?=:)"
    rf"|{_URGED}(?:do|run|try|act out|play out|stage|rehearse|simulate|start|enact|consider|run through|take)"
    rf" (?:a|an|some|another|the|this|one|my|our)(?: [\w-]{{1,16}}){{0,2}}?"
    rf" (?:{_PIECE}|{_UNREAL} [\w-]{{1,16}})"
    rf"(?: {_KINDS})?(?={_STOP})"
    rf"|(?:{_START}(?:this|all (?:of )?this|the following|what follows)|\A\s*it)(?:'s| is| will be)"
    rf"(?: (?:only|just|all|purely|pure|a|an)){{0,3}} (?:{_PRETENCE}|{_UNREAL}|{_PIECE}|fiction)"
    rf"{_HOW}(?={_STOP})"
    rf"|{_START}(?:{_SOFT}|we(?:'re| are) |all |still ){{0,3}}{_PRETENDING}{_HOW}(?={_STOP})"
    rf"|{BEFORE}you(?:'ll| will)? (?:be|play) (?:the|a|an|my) [^.;:!?\n]{{1,40}}?(?:,| and|, and)"
    r" i(?:'ll| will)? (?:be|play) (?:the|a|an|your) [\w-]{1,20}"
    rf"|{BEFORE}i(?:'ll| will)? (?:be|play) (?:the|a|an|your) [^.;:!?\n]{{1,40}}?(?:,| and|, and)"
    r" you(?:'ll| will)? (?:be|play) (?:the|a|an|my) [\w-]{1,20}",
    re.IGNORECASE,
)
"""Clauses after which all is pretended."""
_HEADING = pattern_of(
    rf"{_START}(?:(?:a|an|the|some|our|my|new|quick|little|here's|here is|here comes|{_UNREAL}) ){{0,3}}"
    rf"(?:{_UNREAL}(?= {_KINDS})|{_PIECE}|make[- ]believe|hypothetically(?: speaking)?|theoretically)"
    rf"(?: {_KINDS}){{0,2}}\s{{0,2}}(?:[:–—\n]|-\s)",
    re.IGNORECASE,
)
"""Headings of a piece that is not real."""
_WITHIN = pattern_of(
    rf"{BEFORE}(?:{_SOFT}|{_INVITE}){{0,3}}pretend (?!to(?!\w))\w"
    rf"|{BEFORE}(?:in|within|for) (?:a|an|our|my|this|the|that|some) (?:[\w-]{{1,16}} )?{_UNREAL} \w"
    rf"|{BEFORE}(?:(?:just|only|purely) )?for (?:play|pretend|make[- ]believe|the sake of argument)(?!\w)"
    r"|(?<!\w)(?:stell(?:t|en)? (?:dir|euch|sie sich|wir uns)(?: mal)? vor|tun wir(?: mal)? so"
    r"|nehmen wir(?: mal)? an|angenommen"
    r"|imaginons|faisons semblant|supposons|faisons comme si"
    r"|imaginemos|supongamos|finjamos|hagamos como (?:si|que))(?!\w)",
    re.IGNORECASE,
)
"""What makes the rest of its own sentence pretended."""
_UNREAL_STEMS = (
    "make believe", "make-believe", "pretend", "imaginary", "made up", "made-up", "fiction", "fictitious",
    "hypothetical", "invented", "fantasy",
)  # fmt: skip
_PIECE_STEMS = (
    "improv", "role play", "role-play", "roleplay", "thought experiment", "what if", "what-if", "skit",
    "scene", "scenario", "theoretically",
)  # fmt: skip
RULES = (
    Rule(
        to_the_end(_OPENED, Kind.PLAYED),
        stems=(
            *_UNREAL_STEMS, *_PIECE_STEMS, "play", "fantasi", "dream", "imagin", "picture", "suppose",
            "consider", "visuali", "you be ", "you'll be ", "you will be ",
        ),
    ),
    Rule(blocks_behind(_HEADING), stems=(*_UNREAL_STEMS, *_PIECE_STEMS)),
    Rule(
        sentences_from(_WITHIN),
        stems=(
            *_UNREAL_STEMS, "for play", "sake of argument", "stell", "tun wir", "nehmen wir", "angenommen",
            "imaginons", "faisons", "supposons", "imaginemos", "supongamos", "finjamos", "hagamos",
        ),
    ),
)  # fmt: skip
"""Ranges that are pretended because the message says so."""
