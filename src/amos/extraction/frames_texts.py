"""Find texts that a message only passes on: to be translated, improved, summed up, looked at."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from amos.extraction.frames_found import BEFORE, Frame, Kind, Rule, paragraph_end, successive, words_after
from amos.patterns import pattern_of

_REWORK = (
    r"(?:translat(?:e|ing)|re-?writ(?:e|ing)|re-?phras(?:e|ing)|re-?word(?:ing)?|paraphras(?:e|ing)"
    r"|proof-?read(?:ing)?|spell-?check|summari[sz](?:e|ing)|sum up|übersetzen?|traduis(?:ez)?|traduire"
    r"|traduce|traducir|traduci)"
)
"""Works on words alone."""
_WORK = (
    r"(?:improv(?:e|ing)|correct(?:ing)?|fix|check(?: over)?|review|edit|polish|shorten|simplify|condense"
    r"|expand(?: on)?|extend|format|refine|critique|grade|analy[sz]e|comment on|look over|clean up|tidy up"
    r"|feedback on|classify|annotate|continue|finish|complete|verbessere|korrigiere|corrige|améliore)"
)
"""Works on words when its object is made of words."""
_LONG = (
    r"(?:cover letter|letter|c\.?v\.?|r[ée]sum[ée]|bio(?:graphy)?|e-?mails?|mail|essay|speech|draft|abstract"
    r"|articles?|blog post|blog|script|poem|song|lyrics|transcript|dialogue|dialog|conversation|chat(?: log)?"
    r"|application|paragraphs|story|diary(?: entry)?|chapter)"
)
"""Texts of more than one paragraph."""
_SHORT = (
    r"(?:texts?|paragraph|passage|excerpt|posts?|tweets?|(?:product |book |film |movie )?reviews?|caption"
    r"|listing|quote)"
)
_OBJECT = (
    r"(?:messages?|statement|sentences?|intro(?:duction)?|description|notes|summary|report|grammar"
    r"|spelling|wording|phrasing|english|german|french|spanish|italian|writing|answer)"
)
_DETERMINER = r"(?:this|these|the|my|our|his|her|their|a|an|that|following|below|attached|some|another)"
_ADJECTIVES = r"(?:[^\s:.,!?]{1,20} ){0,3}?"
_REST = r"[^\n:.!?\"“„«]{0,80}"
_OPENS = r"(?:\s{0,3}:|\s{0,3}\n|\s{1,2}(?=[\"“„«]))"
_POLITE = r"(?:(?<!\w)(?:please|pls|kindly|you|to|and|then|just|now|me|help)\s{1,2})"

_TASK = pattern_of(
    rf"(?:{BEFORE}|{_POLITE})(?:{_REWORK}(?!\w){_REST}"
    rf"|{_WORK} (?:{_DETERMINER} ){{1,2}}{_ADJECTIVES}(?:{_LONG}|{_SHORT}|{_OBJECT})(?!\w){_REST}"
    rf"|(?:improve|check|review|edit|polish|shorten|simplify|condense|critique|continue) (?:it|this|these)"
    rf"|(?:correct|{_WORK}) (?:this|these|the following)(?: one)?){_OPENS}",
    re.IGNORECASE,
)
_BARE_TASK = pattern_of(
    rf"\s*(?:(?:hi|hey|hello)[,! ]+)?(?:(?:can|could|would|will) you |please |pls |kindly "
    rf"|help me ){{0,3}}{_REWORK}"
    r"(?: (?:this|it|these|the following))?(?: (?:to|into"
    r"|in) [^\s.!?,]{2,16})?(?: for me)?(?:,? (?:please|pls|thanks))?"
    r"\s?[?.!]+\s{1,3}(?=\S)",
    re.IGNORECASE,
)
"""A first sentence that asks for nothing else can only mean what follows it."""
_PASSED_ON = pattern_of(
    rf"{BEFORE}(?:here(?:'s| is| are|s)|below (?:is|are)|this is|attached (?:is|are)|see(?: below)?|i wrote"
    rf"|i drafted|i found|consider|given|read) (?!my (?:own "
    rf"|life )?story){_DETERMINER} {_ADJECTIVES}(?:{_LONG}|{_SHORT})(?!\w){_REST}"
    r"(?:\s{0,3}:(?!\s{0,3}[^\s@]{1,64}@)|\s{0,3}\n)",
    re.IGNORECASE,
)
_HEADED = pattern_of(
    r"(?:\A|[.!?\n]\s{0,3})(?:(?:sample|example|the|my|our|full|original|source) ){0,2}(?:cover letter"
    r"|essay|poem"
    r"|lyrics|draft|transcript|excerpt|passage|source text|original(?: text)?|chat(?: log)?|dialogue|dialog"
    r"|conversation|text(?: to \w{2,16})?)(?: [^\s:.!?]{1,16}){0,4}\s{0,2}:",
    re.IGNORECASE,
)
_FORWARDED = pattern_of(
    r"^[ >]{0,4}(?:-{2,12} ?(?:forwarded|original|weitergeleitete)[ \w]{0,24}-{2,12}"
    r"|begin forwarded message:|from: [^\n]{1,200}\n(?:to|cc|sent|date|subject|reply-to): )",
    re.IGNORECASE | re.MULTILINE,
)
_NAMED_TEXT = (
    r"(?:e-?mail|mail|letter|message|sms|chat|conversation|transcript|article|page|web ?page|website|post"
    r"|comment|review|document|memo|note|notice|report|newsletter|ticket|thread|excerpt|quote|text|snippet"
    r"|attachment|advert|ad|press release|form|screenshot|voicemail)"
)
_BANNER = pattern_of(
    rf"^[ \t]{{0,4}}(?:[\[<(=*#{{-]{{1,12}} ?)(?!/)"
    r"(?:begin |start |start of |pasted |forwarded |quoted |full )?"
    rf"{_NAMED_TEXT}(?:[ :][^\]>)=*}}\n]{{0,60}})?(?: ?[\]>)=*#}}-]{{1,12}}):?[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
"""A line of its own in brackets or between rules: "[Email from HR]", "=== transcript ==="."""
_BANNER_END = pattern_of(
    r"^[ \t]{0,4}(?:[\[<(=*#{-]{1,12} ?)(?:/|end(?: of)?(?= ))[^\n]{0,80}$", re.IGNORECASE | re.MULTILINE
)
_AFTERWARDS = pattern_of(
    r"(?:[.!?,;:\n)\"”–—-]|(?<= )and)\s{0,3}(?:(?:and|so|now|hey|ok|okay)[, ]{1,2}){0,2}"
    r"(?:(?:can|could|would|will) (?:you|u|someone|anyone) (?:please |kindly |help me )?|please |pls "
    r"|help me "
    r"|i need you to |i(?:'d| would) like you to )?"
    rf"(?:{_REWORK} (?:that|this|the above|all that|these|those)(?: sentences?| text| paragraph| message"
    rf"| above)?"
    r"(?: (?:to|into|in|for|from|as|with|please|pls)(?!\w)[^.!?\n]{0,60})?"
    r"|make (?:it|that|this) (?:sound|read) [^.!?\n]{1,60}"
    r"|how (?:do|would|can|should) (?:you|i|we) say (?:that|this|it) in [^.!?\n]{1,30}"
    r"|(?:does|is) (?:that|this|it) (?:sound natural|grammatically|grammatical|correct (?:english|german"
    r"|french"
    r"|spanish|grammar)|good (?:english|german|french|spanish))[^.!?\n]{0,30})[.!?\s]*\Z",
    re.IGNORECASE,
)
_REQUEST_BELOW = pattern_of(
    r"\n\s{0,3}(?:(?:so|now|hey|ok|okay|thanks)[,! ]{1,2}){0,2}"
    r"(?:(?:can|could|would|will) (?:you|u) (?:please )?|please |pls |help me (?:to )?|i need you to )?"
    rf"(?:(?:{_REWORK}|{_WORK}) {_DETERMINER} {_ADJECTIVES}(?:{_LONG}|{_SHORT}|{_OBJECT})"
    r"|(?:reply|respond|react) to (?:this|that|him|her|them|it)|answer (?:this|that|him|her|them|it)"
    r"|(?:draft|write|suggest) (?:me )?(?:a |an )(?:[^\s.!?]{1,16} )?(?:reply|answer|response)"
    r"|should (?:i|we) (?:answer|reply|respond)|(?:what|how) (?:should|shall|do|would|can) (?:i|we"
    r"|you) (?:answer|reply|respond|say|write))(?!\w)"
    r"[^\n]{0,120}\Z",
    re.IGNORECASE,
)
"""Asks to work on what stands in the lines above."""
_TAIL = 240
_IS_LONG = pattern_of(rf"(?<!\w){_LONG}(?!\w)", re.IGNORECASE)
_TAG_START = pattern_of(r"\[([^\W\d_]\w{1,15})(?:[=: ][^\]\n]{0,60})?\]")
_TAG_END = pattern_of(r"\[/([^\W\d_]\w{1,15})\]")
_FENCES = {'"""': '"""', "```": "```", '"': '"', "“": "”", "„": "“", "«": "»"}


def _find_tasks(text: str) -> Iterator[Frame]:
    for opener, end in successive(_TASK, text, _end_of):
        yield Frame(opener.end(), end, Kind.PASTED)


def _find_after_bare_task(text: str) -> Iterator[Frame]:
    request = _BARE_TASK.match(text)
    if request is not None:
        yield Frame(request.end(), len(text), Kind.PASTED)


def _find_passed_on(text: str) -> Iterator[Frame]:
    for pattern in (_PASSED_ON, _HEADED):
        for opener, end in successive(pattern, text, _end_of):
            yield Frame(opener.end(), end, Kind.PASTED)


def _find_below_banners(text: str) -> Iterator[Frame]:
    for opener, end in successive(_BANNER, text, _banner_end):
        yield Frame(opener.end(), end, Kind.PASTED)


def _banner_end(text: str, opener: re.Match[str]) -> int:
    closing = _BANNER_END.search(text, opener.end())
    return closing.start() if closing else len(text)


def _find_tagged(text: str) -> Iterator[Frame]:
    """Yield what stands between [name] and [/name]."""
    closings: dict[str, list[int]] = {}
    for closing in _TAG_END.finditer(text):
        closings.setdefault(closing[1].casefold(), []).append(closing.start())
    reached = 0
    for opener in _TAG_START.finditer(text) if closings else ():
        ends = closings.get(opener[1].casefold(), [])
        place = bisect_right(ends, opener.end())
        if place < len(ends) and opener.start() >= reached:
            reached = ends[place]
            yield Frame(opener.end(), reached, Kind.PASTED)


def _find_forwarded(text: str) -> Iterator[Frame]:
    header = _FORWARDED.search(text)
    if header is not None:
        yield Frame(header.end(), len(text), Kind.PASTED)


def _find_before_request(text: str) -> Iterator[Frame]:
    tail = max(0, len(text.rstrip()) - _TAIL)
    request = _AFTERWARDS.search(text, tail) or _REQUEST_BELOW.search(text.rstrip(), tail)
    if request is not None:
        yield Frame(0, request.start(), Kind.PASTED)


def _end_of(text: str, opener: re.Match[str]) -> int:
    """Return where the text behind `opener` ends: its closing mark, its paragraph, or the message's end.

    A text on the opener's own line is one paragraph, unless its kind has several.
    """
    start, is_below = words_after(text, opener.end())
    for fence, closing in _FENCES.items():
        if text.startswith(fence, start):
            end = text.find(closing, start + len(fence))
            return end if end >= 0 else len(text)
    if is_below or _IS_LONG.search(opener.group()):
        return len(text)
    return paragraph_end(text, start)


_REWORK_STEMS = (
    "translat", "rewrit", "re-writ", "rephras", "re-phras", "reword", "re-word", "paraphras", "proofread",
    "proof-read", "spellcheck", "spell-check", "summari", "sum up", "übersetze", "tradui", "traduc",
)  # fmt: skip
_WORK_STEMS = (
    "improv", "correct", "fix ", "check", "review", "edit", "polish", "shorten", "simplify", "condense",
    "expand",
    "extend", "format", "refine", "critique", "grade", "analy", "comment on", "look over", "clean up",
    "tidy up",
    "feedback on", "classify", "annotate", "continue", "finish", "complete", "verbessere", "korrigiere",
    "corrige", "améliore",
)  # fmt: skip
_TEXT_STEMS = (
    "letter", "cv", "c.v", "resum", "résum", "bio", "mail", "essay", "speech", "draft", "abstract", "article",
    "blog", "script", "poem", "song", "lyrics", "dialog", "conversation", "chat", "application", "paragraph",
    "story", "diary", "chapter", "text", "passage", "excerpt", "post", "tweet", "review", "caption",
    "listing",
    "quote", "original",
)  # fmt: skip
_BANNER_STEMS = (
    "mail", "letter", "message", "sms", "chat", "conversation", "transcript", "article", "page", "website",
    "post", "comment", "review", "document", "memo", "note", "notice", "report", "ticket", "thread",
    "excerpt", "quote", "text", "snippet", "attachment", "ad", "press release", "form", "screenshot",
)  # fmt: skip
_AFTER_STEMS = (
    *_REWORK_STEMS, "it sound", "that sound", "this sound", "it read", "that read", "this read",
    "say that in",
    "say this in", "say it in", "grammatical", "correct english", "correct german", "correct french",
    "correct spanish", "correct grammar", "good english", "good german", "good french", "good spanish",
)  # fmt: skip
_BELOW_STEMS = (*_WORK_STEMS, "reply", "respond", "react", "answer", "response", " say", " write")
RULES = (
    Rule(_find_tasks, stems=(*_REWORK_STEMS, *_WORK_STEMS), needs_opening=True),
    Rule(_find_after_bare_task, stems=_REWORK_STEMS),
    Rule(_find_passed_on, stems=_TEXT_STEMS, needs_opening=True),
    Rule(_find_below_banners, stems=_BANNER_STEMS, needs_opening=True),
    Rule(_find_tagged, marks=("[/",)),
    Rule(_find_forwarded, stems=("forwarded", "original", "weitergeleitete", "from: "), needs_opening=True),
    Rule(_find_before_request, stems=(*_AFTER_STEMS, *_BELOW_STEMS)),
)
"""Ranges of texts that a message passes on to be worked on or read."""
