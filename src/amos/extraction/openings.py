"""Find openings that the grammar does not account for: what leads to a claim and may say that it is no fact.

A claim often has a lead: "by the way", "on Mondays", "you should know that".  A lead in which somebody else
speaks, nobody is said to say so, a part is played or a text is announced is another matter.
"""

from __future__ import annotations

import re

from amos.patterns import pattern_of

_SAYING = """
    say says said saying tell tells told goes going went read reads write writes wrote written sing
    sings sang insist insists insisted claim claims claimed list lists listed state states stated swear
    swears swore think thinks thought believe believes believed assume assumes assumed reckon reckons
    suggest suggests suggested show shows shout shouts shouted whisper whispers whispered repeat repeats
    repeated announce announces announced report reports reported argue argues argued notes noted sagt
    sagte sagen schreibt schrieb steht stand behauptet behauptete meint meinte glaubt dit disait écrit
    écrivait prétend raconte dice decía escribe escribió cuenta afirma
"""
_PLAYED = """
    fake pretend fictional imaginary made-up profile story novel dream dreams game film movie song play
    role-play roleplay life world universe scenario character persona ad advert sketch script fantasy
    fiction joke skit legend myth tale poem lyrics alias costume argument example rolle traum spiel
    roman rêve sueño juego
"""
_DENYING = """
    nobody no-one none hardly scarcely niemand keiner personne nadie not never nicht isn't wasn't don't
    doesn't didn't cannot can't couldn't
"""
_BINDING = "that whether if dass daß que"
_WORKING = """
    fix check translate proofread correct rewrite shorten improve polish edit rephrase reword summarise
    summarize paraphrase format korrigiere korrigier übersetze übersetz verbessere kürze formuliere
    corrige corrigez traduis traduisez reformule résume corrige traduce resume mejora reescribe
    sentiment classify sound nicer copy-paste copy-pasted copied pasted paste
"""
_TEXTS = """
    bio cv profile abstract caption headline review testimonial excerpt summary transcript letter memo
    speech email mail post message
"""
_NEEDED = (
    f"{_SAYING} {_PLAYED} {_DENYING} {_BINDING} {_TEXTS} {_WORKING} qu' no like contrary despite quote though"
    " would might could : - -- – —"
).split()
WORDS = frozenset((*_NEEDED, *(f"{word}'s" for word in _NEEDED)))
"""One of them stands before every claim whose lead is open, or a mark."""
ANNOUNCING = frozenset(
    """
    this das dies ceci esto follows following below folgende folgenden folgendes siguiente abajo with
    quote zitat ci-dessous
    """.split()
)
"""One of them stands in every sentence that announces a text."""


def _any(words: str) -> str:
    return rf"(?:{'|'.join(map(re.escape, words.split()))})"


_SAYS = _any(_SAYING)
_OWN = pattern_of(
    r"\b(?:i|i've|i'd|we|we've|you|me|us|ich|wir|je|yo|please|fact|truth|thing|point|reason|turns)\b",
    re.IGNORECASE,
)
_GOVERNED = pattern_of(rf"\b(?:{_any(_BINDING)}|as though|qu')(?: \w+ ?)?$", re.IGNORECASE)
"""Ends with what makes the claim's clause a part of another."""
_ADMITS = pattern_of(
    r"\b(?:it|it's|that's|this|so|such|now|given|except|provided|seeing|but|like|know|note|remember|mind"
    r"|notice"
    r"|see|forget|sure|glad|proud|happy|sad|afraid|write|record"
    r"|save|store|keep|add|put|log|jot|memori[sz]e|merke?|notiere?|speichere?|denk|vergiss|retiens|note[sz]?"
    r"|souviens|recuerda|apunta|anota|guarda)\b",
    re.IGNORECASE,
)
_SELF = pattern_of(r"\b(?:i|i've|i'd|we|we've|ich|wir|je|yo)\b", re.IGNORECASE)
_UNMEANT = pattern_of(
    r"\b(?:pretend(?:ed|ing)?|lied|lying|bluff(?:ed)?|fib(?:bed)?|joked?|dream(?:ed|t|s)?|imagin(?:e|ed|ing)"
    r"|wish(?:ed)?|den(?:y|ied)|could|would|might|far from|wrong|false|untrue|myth"
    r"|rumou?r|unlikely|uncertain|doubtful|questionable|debatable|lie|as if|as though"
    r"|vorgestellt|stell|geträumt|rêvé|soñé|imagina)\b",
    re.IGNORECASE,
)
_DENIED = pattern_of(
    rf"\b(?:{_any(_DENYING)}|no one|no means|no circumstances|no way|no point)\b", re.IGNORECASE
)
_OTHERS = pattern_of(
    rf"(?<!\bto )(?<!\bas )\b(?:{_SAYS}|(?:was|were|is|be) like)(?: \w+){{0,2}}[:,]?$", re.IGNORECASE
)
_OTHERS_AS = pattern_of(
    r"^as (?!i\b|we\b|you\b|said|mentioned|noted|for\b|a\b|an\b|the\b|of\b|it\b|such\b)[^,]{1,40}"
    rf"\b(?:would|might|could|{_SAYS})\b",
    re.IGNORECASE,
)
_PLAYS = pattern_of(
    r"\b(?:on|in|for|as|at|under|auf|in|dans|en)"
    r" (?!(?:my|this|daily|real|our|the) (?:(?:\w+ ){0,1}life|world)\b)(?:[\w'-]+ ){0,4}?"
    rf"{_any(_PLAYED)}\b(?:[^,.:;]{{0,24}})?[,:]?$",
    re.IGNORECASE,
)
_ANNOUNCED = pattern_of(
    r"\b(?:as follows|the following|below|folgende[ns]?|ci-dessous|siguiente|abajo|begins with|starts with"
    r"|quote|zitat)\b[^.!?\n]{0,24}[.:\n]\s{0,3}$"
    rf"|\b{_any(_WORKING)}\b[^.!?\n]*\b(?:this|das|dies|ceci|esto)\b[^.!?\n]{{0,24}}[?.:\n]\s{{0,3}}$"
    rf"|\b(?:this|das|dies|ceci|esto)\b[^.!?\n]{{0,40}}\b{_any(_WORKING)}\b[^.!?\n]{{0,24}}[?.:\n]\s{{0,3}}$",
    re.IGNORECASE,
)
"""Announces a text: what comes next may be its words."""
_HEADED = pattern_of(
    r"\b(?:[^\W\d_]+['’]s|the|a|an|his|her|their|der|die|das|le|la|el)"
    r" (?!(?:thing|point|fact|truth|problem|answer|reason|short|long|gist|news|latest|update|basics)\b)"
    r"[^:.!?,]{2,48}:(?!\d)"
    r"|\b(?:quot(?:e|es|ing)|citing|zitier\w*|cito|je cite|verbatim|word for word|wörtlich)\b"
    r"[^:.!?]{0,40}[:,]"
    r"|^(?:contrary to|despite what)\b[^:.!?]*,"
    rf"|^(?:please |bitte )?{_any(_WORKING)}\b[^:.!?]*:"
    r"|^(?!.*\b(?:remember|note|save|keep|know|delete|forget|store|skip|record|add|i|we)\b)"
    r"[^:]*\bthis\b[^:]*(?::| --?)$"
    rf"|^(?:the |a |an |my |his |her )?(?:\w+ )?{_any(_TEXTS)}\b[^:.!?]{{0,40}}(?:[:–—]| -(?: |$))"
    r"|\b(?:let's|lets|let us|picture|suppose|assume|imagine|act)\b[^.!?:]*:",
    re.IGNORECASE,
)
"""Names in front of a colon what the next words belong to: "the recruiter's pitch was: ..."."""
_TURN = pattern_of(r".*(?:;|[,\s](?:but|yet|aber|mais|pero|although)\s)", re.IGNORECASE | re.DOTALL)
_REACH = 200


def announces(sentence: str) -> bool:
    """Tell whether a sentence says that a text comes next."""
    return _ANNOUNCED.search(sentence) is not None


def is_open(lead: str, *, is_negative: bool) -> bool:
    """Tell whether what a sentence says before a claim leaves open whether its author states it."""
    own = _TURN.sub("", lead)[-_REACH:].strip()
    is_marked = own.endswith((",", ":"))
    piece = own if is_marked else own.rsplit(",", 1)[-1].strip()
    is_own = _SELF.search(own) is not None
    if _GOVERNED.search(piece):
        is_admitted = _OWN.search(piece) or _ADMITS.search(piece)
        return not is_admitted or _UNMEANT.search(piece) is not None
    if not (is_negative or is_marked) and len(piece) > len("no") + 1 and _DENIED.search(piece):
        return True
    if not is_own and _OTHERS.search(own):
        return True
    return any(pattern.search(own) for pattern in (_OTHERS_AS, _PLAYS, _HEADED))
