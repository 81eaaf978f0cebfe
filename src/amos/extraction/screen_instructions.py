"""Find text that tries to give an assistant orders from where nobody may: pages, tools, recalled text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from amos.extraction.screen_view import Hit
from amos.schemas.vocabulary import Reason

_MODEL = (
    r"(?:assistants?|a\.?i\.?|ai (?:agents?|models?|systems?)|llms?|language models?|chat ?bots?"
    r"|copilots?"
    r"|chatgpt|claude|gemini|agents?)"
)
_ANY = (
    r"(?:(?:all|any|every|the|your|my|our|these|those|of|previous|prior|above|earlier|preceding|former"
    r"|other|existing|original|system) ){0,5}"
)
_ORDERS = (
    r"(?:instructions?|prompts?|rules?|messages?|directions?|directives?|guidelines?|context|constraints?"
    r"|orders?|policy|policies)"
)
_KEEP = r"(?:remember|note|keep|record|store|save|memori[sz]e|add|write|bear|commit|log|retain)"
_RULES: tuple[tuple[str, str], ...] = (
    (
        "override",
        (
            rf"(?:ignor(?:e|ing)|disregard(?:ing)?|forget|override|bypass|discard|drop)"
            rf" {_ANY}(?:previous|prior"
            rf"|above|earlier|preceding|former"
            rf"|existing|original|system|other|your|all) {_ORDERS}"
            rf"|(?:ignor(?:e|ing)|disregard|forget) (?:everything|all that|anything) (?:above|before"
            rf"|you were"
            rf" told|you have been told|previously)"
            r"|ignoriere?n? (?:sie )?(?:alle |die )?(?:vorherigen|bisherigen|obigen|früheren)"
            r" (?:anweisungen"
            r"|regeln)"
            r"|ignore[zr]? (?:toutes )?(?:les |tes |vos )?instructions(?: précédentes| antérieures)?"
            r"|ignor[ae] (?:todas )?(?:las |tus )?(?:instrucciones|órdenes)(?: anteriores| previas)?"
        ),
    ),
    (
        "false_author",
        (
            r"(?:system|developer|admin(?:istrator)?|assistant) (?:note|message|prompt|override"
            r"|instructions?"
            r"|notice|update|alert)\s?[:\]>–—-]"
            r"|(?:^|[\n>\[(])\s{0,8}(?:assistant|system|developer)\s?:\s{0,4}(?:please |you |never "
            r"|always |do "
            r"|don't |from now )?"
            r"(?:add|remember|ignore|forward|send|reply|respond|store|save|must|are|tell|call|run|treat"
            r"|recommend|from|never|always|note|keep)"
            r"|<\|(?:im_start|im_end|system|endoftext)\|?>?|\[/?inst\]|<</?sys>>|</?system(?:_prompt"
            r"|-reminder)?>"
            rf"|###\s?(?:system|instructions?)(?!\w)|(?:note|message|instructions?|attention|notice)"
            rf" (?:to|for)"
            rf" (?:the |any |all |every )?{_MODEL}"
            rf"|dear {_MODEL}[,:]|(?:if|when|since) you are (?:an? )?{_MODEL}"
        ),
    ),
    (
        "memory_order",
        (
            r"(?:add|save|store|write|commit|put|insert|append)(?: \S{1,20}){0,6}? (?:to|in|into)"
            r" (?:your |the "
            r"|its |long[ -]term |permanent ){0,3}memor(?:y|ies)"
            r"|(?:^|[.!?:;\n>]\s{0,4}|please |must |and )remember (?:that (?:i|my|you|your|we|our"
            r"|the|this|all|every|any)|this|the following|to always|to"
            r" never)(?!\w)"
            rf"|{_KEEP}(?: \S{{1,20}}){{0,4}}? (?:that )?(?:the|this) (?:user|reader|customer|visitor"
            rf"|person)(?: has| have| is| 's|'s)? "
            r"(?:approv|authori|prefer|favou?r|trust|want|agree|consent|likes?|allow|own"
            r"|administrat|admin)"
            r"|update (?:your|the) (?:memory|memories|user profile|system prompt)"
        ),
    ),
    (
        "standing_order",
        (
            r"from (?:now|this point|here) on(?:ward|wards)?,? (?:you |always |never |please |only "
            r"|forward "
            r"|send |reply |respond |treat |act |use |do |answer |recommend |copy |cc |bcc )"
            r"|(?:henceforth|for all future (?:messages|replies|requests|conversations)),? "
            r"|you (?:must|shall|have to|are required to|are instructed to|are to|need to|should)"
            r" (?:\w+ly"
            r" )?(?:never|always|not|now|only|ignore|follow"
            r"|obey|forward|send|reply|respond|comply|reveal|call|run|execute|recommend|remember"
            r"|store|treat"
            r"|keep (?:in mind|track|a (?:record|note)))(?!\w)"
            r"|you are (?:now|hereby|no longer) (?:an?|in|the|acting|operating|free|allowed|authori[sz]ed"
            r"|required|bound|limited|restricted|subject|to)(?!\w)|(?:act|behave|respond|reply) as"
            r" (?:if you|though you|an?"
            r" (?:unrestricted|different|new))|pretend (?:to be|that you)"
            r"|(?:do not|don't|never|without) (?:ever )?(?:tell|telling|mention|mentioning|reveal"
            r"|revealing"
            r"|inform|informing|notify|notifying|alert|disclose|ask|asking)"
            r" (?:this|it|that|the user|anyone|anybody|them|your user|the owner)"
        ),
    ),
    (
        "polite_order",
        (
            r"(?:would|it'd|that'd) be (?:so |very |really |most )?(?:lovely|great|nice|helpful|good"
            r"|wonderful"
            r"|kind|appreciated|best|ideal|useful|fantastic|neat|wise)"
            rf"(?: \S{{1,12}}){{0,3}}? if (?:the|an|any|your|this|every|our) (?:\S{{1,16}}"
            rf" ){{0,2}}?{_MODEL}"
            rf"|{_MODEL}(?: reading this| summari[sz]ing this| here)?,? (?:should|must|shall|may|might"
            rf"|could"
            rf"|can|will|would|is asked to|are asked to|is requested to"
            rf"|are requested to|is to|are to|please|kindly|needs? to|ought to|has to|have to) (?:\w+ly"
            rf" |please"
            rf" |always |also )?{_KEEP}(?!\w)"
            rf"|{_MODEL} (?:should|must|shall) (?:always|never|not|ignore|recommend|prefer|forward|send"
            rf"|tell"
            rf"|treat|trust)(?!\w)"
            rf"|(?:we|i) (?:\w+ly )?(?:ask|invite|encourage|urge|request)(?: that)? (?:the|any|every"
            rf"|all|your)?"
            rf" ?{_MODEL}"
        ),
    ),
    (
        "exfiltration",
        (
            r"(?:forward|send|email|e-mail|post|upload|leak|transmit|copy) (?:every|all|any|each"
            r"|the user's"
            r"|your|this user's) (?:\S{1,20} ){0,5}?(?:to|at) (?:\S{1,40}@|https?://|the (?:sender|author"
            r"|address))"
            r"|(?:reveal|print|repeat|output|show|leak) (?:me )?(?:your|the) (?:system prompt"
            r"|hidden prompt"
            r"|initial instructions|instructions verbatim|secret instructions)"
        ),
    ),
)
_PATTERN = re.compile("|".join(f"(?P<{name}>(?<![^\\W_])(?:{rule}))" for name, rule in _RULES), re.IGNORECASE)
_ADDRESSED = re.compile(
    rf"(?<!\w)(?:{_MODEL}|system|memory|instructions?|prompt|ignore|you must|the user)(?!\w)", re.IGNORECASE
)
_HIDDEN_STYLE = re.compile(
    r"(?:display\s?:\s?none|visibility\s?:\s?hidden|font-size\s?:\s?0|opacity\s?:\s?0(?![.\d])"
    r"|aria-hidden\s?=\s?\"true\")",
    re.IGNORECASE,
)
_STYLE_REACH = 400
PATTERNS = (*(re.compile(rule, re.IGNORECASE) for _, rule in _RULES), re.compile("<!--"), _HIDDEN_STYLE)
"""What every find matches after curly apostrophes and odd spaces are made plain."""
_FLAT = str.maketrans({"’": "'", "‘": "'", "\u00a0": " ", "\t": " "})


def find_instructions(text: str) -> Iterator[Hit]:
    """Yield the ranges of `text` that address an assistant with orders."""
    flat = text.translate(_FLAT)
    for match in _PATTERN.finditer(flat):
        yield _hit(match.start(), match.end(), match.lastgroup or "override")
    for start, end in _comments(flat):
        if _ADDRESSED.search(flat, start, end):
            yield _hit(start, end, "hidden_comment")
    read = 0
    for match in _HIDDEN_STYLE.finditer(flat):
        if match.start() >= read and _ADDRESSED.search(flat, match.end(), match.end() + _STYLE_REACH):
            read = min(len(flat), match.end() + _STYLE_REACH)
            yield _hit(match.start(), read, "hidden_style")


def _hit(start: int, end: int, rule: str) -> Hit:
    return Hit(start, end, rule, Reason.INSTRUCTION_SHAPED_CONTENT)


def _comments(text: str) -> Iterator[tuple[int, int]]:
    """Yield HTML comments; one that never closes reaches to the end."""
    start = text.find("<!--")
    while start >= 0:
        end = text.find("-->", start + 4)
        stop = len(text) if end < 0 else end + 3
        yield start, stop
        start = text.find("<!--", stop)
