"""Find text that tries to give an assistant orders from where nobody may: pages, tools, recalled text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from amos.extraction.screen_view import Hit
from amos.schemas.vocabulary import Reason

_MODEL = (
    r"(?:assistants?|a\.?i\.?|ai (?:agents?|models?|systems?)|llms?|language models?|chat ?bots?"
    r"|copilots?|chatgpt|claude|gemini|agents?)"
)
_ANY = (
    r"(?:(?:all|any|every|the|your|my|our|these|those|of|previous|prior|above|earlier|preceding|former"
    r"|other|existing|original|system) ){0,5}"
)
_ORDERS = (
    r"(?:instructions?|prompts?|rules?|messages?|directions?|directives?|guidelines?|context"
    r"|constraints?|orders?|policy|policies)"
)
_KEEP = r"(?:remember|note|keep|record|store|save|memori[sz]e|add|write|bear|commit|log|retain)"
_RULES: tuple[tuple[str, str], ...] = (
    (
        "override",
        (
            rf"(?:ignor(?:e|ing)|disregard(?:ing)?|forget|override|bypass|discard"
            rf"|drop) {_ANY}(?:previous|prior|above|earlier|preceding|former|existing|original|system"
            rf"|other|your|all) {_ORDERS}|(?:ignor(?:e|ing)|disregard|forget) (?:everything|all that"
            rf"|anything|what|all) (?:above|before|you were told|you have been told|previously)"
            r"|ignoriere?n? (?:sie )?(?:alle |die )?(?:vorherigen|bisherigen|obigen"
            r"|früheren) (?:anweisungen|regeln)|ignore[zr]? (?:toutes )?(?:les |tes "
            r"|vos )?instructions(?: précédentes| antérieures)?|ignor[ae] (?:todas )?(?:las "
            r"|tus )?(?:instrucciones|órdenes)(?: anteriores| previas)?"
        ),
    ),
    (
        "false_author",
        (
            r"(?:new|updated|revised|additional|further|hidden|secret) (?:system )?(?:instructions?"
            r"|directives?|orders?)\s?:|(?:enable|enter|activate|switch to) (?:developer|debug|god|dan"
            r"|jailbreak|unrestricted) mode|(?:system|developer|admin(?:istrator)?|assistant) (?:note"
            r"|message|prompt|override|instructions?|notice|update|alert)\s?[:\]>–—-]|(?:^"
            r"|[\n>\[(])\s{0,8}(?:assistant|system|developer)\s?:\s{0,4}(?:please |you |never |always "
            r"|do |don't |from now )?(?:add|remember|ignore|forward|send|reply|respond|store|save|must"
            r"|are|tell|call|run|treat|recommend|from|never|always|note|keep"
            r"|the user|this user|user)|<\|(?:im_start|im_end"
            r"|system|endoftext)\|?>?|\[/?inst\]|<</?sys>>|</?system(?:_prompt|-reminder)?>"
            rf"|###\s?(?:system|instructions?)(?!\w)|(?:note|message|instructions?|attention"
            rf"|notice) (?:to|for) (?:the |any |all |every )?{_MODEL}|dear {_MODEL}[,:]|(?:if|when"
            rf"|since) you are (?:an? )?{_MODEL}"
        ),
    ),
    (
        "memory_order",
        (
            r"the user (?:has |already )?(?:asked|wants|wanted|told|instructed|authori[sz]ed|requested"
            r"|allowed) "
            rf"(?:you|the {_MODEL}) to(?!\w)|"
            r"(?:add|save|store|write|commit|put|insert|append)(?: \S{1,20}){0,6}? (?:to|in"
            r"|into) (?:your |the |its |long[ -]term |permanent ){0,3}memor(?:y|ies)|(?:^"
            r"|[.!?:;\n>]\s{0,4}|please |must |and )remember (?:that (?:i|my|you|your|we|our|the|this"
            r"|all|every|any)|this|the following|to always|to never)(?!\w)"
            rf"|{_KEEP}(?: \S{{1,20}}){{0,4}}? (?:that )?(?:the|this) (?:user|reader|customer|visitor"
            rf"|person)(?: has| have| is| 's|'s)? "
            r"(?:approv|authori|prefer|favou?r|trust|want|agree|consent|likes?|allow|own|administrat"
            r"|admin)|update (?:your|the) (?:memory|memories|user profile|system prompt)"
        ),
    ),
    (
        "standing_order",
        (
            r"from (?:now|this point|here) on(?:ward|wards)?,? (?:you |always |never |please |only "
            r"|forward |send |reply |respond |treat |act |use |do |answer |recommend |copy |cc |bcc )"
            r"|(?:henceforth|for all future (?:messages|replies|requests|conversations)),? |you (?:must"
            r"|shall|have to|are required to|are instructed to|are to|need to"
            r"|should) (?:\w+ly )?(?:never|always|not|now|only|ignore|follow|obey|forward|send|reply"
            r"|respond|comply|reveal|call|run|execute|recommend|remember|store|treat|keep (?:in mind"
            r"|track|a (?:record|note)))(?!\w)|you are (?:now|hereby|no longer) (?:an?|in|the|acting"
            r"|operating|free|allowed|authori[sz]ed|required|bound|limited|restricted|subject|to)(?!\w)"
            r"|(?:act|behave|respond|reply) as (?:if you|though you|an? (?:unrestricted|different|new))"
            r"|pretend (?:to be|that you)|(?:do not|don't|never|without) (?:ever )?(?:tell|telling"
            r"|mention|mentioning|reveal|revealing|inform|informing|notify|notifying|alert|disclose|ask"
            r"|asking) (?:this|it|that|the user|anyone|anybody|them|your user|the owner)"
        ),
    ),
    (
        "polite_order",
        (
            r"(?:would|it'd|that'd) be (?:so |very |really |most )?(?:lovely|great|nice|helpful|good"
            r"|wonderful|kind|appreciated|best|ideal|useful|fantastic|neat|wise)"
            rf"(?: \S{{1,12}}){{0,3}}? if (?:the|an|any|your|this|every"
            rf"|our) (?:\S{{1,16}} ){{0,2}}?{_MODEL}|{_MODEL}(?: \w+ing this(?: \w+)?"
            rf"| here)?,? (?:should|must|shall|may|might|could|can|will|would|is asked to|are asked to"
            rf"|is requested to|are requested to|is to|are to|please|kindly|needs? to|ought to|has to"
            rf"|have to) (?:\w+ly |please |always |also )?{_KEEP}(?!\w)"
            rf"|{_MODEL}(?: \w+ing this(?: \w+)?)?,? (?:should|must|shall|will) (?:always|say|rate"
            rf"|mention|never|not|ignore|recommend|prefer|forward|send|tell|treat|trust)(?!\w)|(?:we"
            rf"|i) (?:\w+ly )?(?:ask|invite|encourage|urge|request)(?: that)? (?:the|any|every|all"
            rf"|your)? ?{_MODEL}"
        ),
    ),
    (
        "exfiltration",
        (
            r"(?:forward|send|email|e-mail|post|upload|leak|transmit|copy) (?:every|all|any|each"
            r"|the user's|your|this user's) (?:\S{1,20} ){0,5}?(?:to|at) (?:\S{1,40}@|https?://"
            r"|the (?:sender|author|address))|(?:reveal|print|repeat|output|show|leak) (?:me )?(?:your"
            r"|the) (?:system prompt|hidden prompt|initial instructions|instructions verbatim"
            r"|secret instructions)"
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
