"""Find requests to stay off the record, and the range that each one covers."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator

from amos.extraction.screen_silence import find_silence
from amos.extraction.screen_view import Hit
from amos.patterns import pattern_of
from amos.schemas.vocabulary import Reason

_NOT = (
    r"(?:please not|do ?n['o]?t|do not|never|no need to|need ?n['o]?t|need not|not|should ?n['o]t"
    r"|must ?n['o]t)"
)
_VERB = (
    r"(?:remember|save|store|keep|record|log|note|retain|memori[sz]e|write|jot|capture|persist|archive"
    r"|add|put|commit|file)"
)
_DONE = (
    r"(?:remembered|saved|stored|kept|recorded|logged|noted|retained|memori[sz]ed|written down|captured"
    r"|persisted|archived|added to (?:your |the )?memory|put (?:on file|in (?:your |the )?memory))"
)
_THING = (
    r"(?:(?:any|some|all|none) of (?:this|that|it|these|what \S{1,12}(?: \S{1,12}){0,4}?)|(?:this|that"
    r"|the|my) (?:next |last |previous |following |whole |entire )?(?:message|bit|part|piece|one"
    r"|sentence|line|paragraph|section|passage|chat|conversation|info|information|detail|details|thing|fact"
    r"|note)"
    r"|the following|anything|what i(?:'m| am)? \S{1,12}(?: \S{1,12}){0,4}?|this|that|it|these|those)"
)
_MEMORY = (
    r"(?:(?:in|to|into|on|from|for|out of) (?:(?:your|the|my|any|long[ -]term|permanent|persistent|its"
    r"|our) ){0,3}(?:memory|memories|notes?|records?|logs?|database|profile|history|file|storage)"
    r"|anywhere|permanently|on record|for (?:later|next time|good|the future|future (?:reference|use)))"
)
_STOP = (
    r"(?=\s*(?:$|[.,;:!?)\]\"'»…\n]|[-–—]\s|(?:but|and|though|although|because|since|please|ok|okay|pls"
    r"|thx|thanks|lol|haha|ty|tho|either|anymore|at all|yet|or|i mean|just between)(?!\w)))"
)
_BEFORE = pattern_of(
    r"(?:^|[.,;:!?()\[\"'«»…\n*>–—-]|(?<!\w)(?:please|pls|so|and|but|just|also|you|kindly|ok|okay|hey"
    r"|you're|you are|btw|well|then|or|to|assistant|really|better|maybe|that|not))\s*$",
    re.IGNORECASE,
)
_REQUEST = pattern_of(
    rf"(?<!\w){_NOT} (?:ever |even |actually |please |bother to |have to |to "
    rf"|go and )?(?P<verb>{_VERB})(?: down)? (?P<thing>{_THING})(?: down)?(?P<memory> {_MEMORY})?{_STOP}",
    re.IGNORECASE,
)
_NOT_ANY_MORE = r"(?![^.!?\n]{0,80}(?<!\w)any ?(?:more|longer)(?!\w))"
"""What holds no longer is to be forgotten, which is asked of what is stored."""
_ABOUT = pattern_of(
    rf"(?<!\w)(?P<not>{_NOT}) (?:ever |even |actually |please )?(?P<kept>remember|save|store|keep|record"
    rf"|log|note"
    r"|retain|memori[sz]e|write down)(?: (?:in mind|a note|on file|track of))? (?P<about>(?:the fact )?that"
    r" (?=(?:i|i'm|i've|my|we|we're|our|he|he's|she|she's|they|his|her|their|the|a|an|there|someone"
    r"|somebody)(?!\w)"
    r"|(?-i:[A-Z][^\W\d_]))|that (?=(?:[^\s.!?]{1,30} ){1,3}?(?:is|are|was|were|has|had|will|would|can"
    r"|lives|works|likes|loves|hates"
    r"|got|takes|owns|needs|wants)(?!\w))|(?:anything|things|stuff|any facts?) about (?=\w)"
    r"|(?=[^\s\d]{0,30}\d)"
    r"|(?=(?:my|our|his|her|their|the)(?! (?:next|last|previous)) [^\W\d_]"
    rf"|(?-i:[A-Z][^\W\d_]{{1,30}}(?:'s)? ))){_NOT_ANY_MORE}",
    re.IGNORECASE,
)
"""Names what must not be kept: "don't store that Max is ill"."""
_TRACE = pattern_of(
    rf"(?<!\w){_NOT} (?:ever |even |actually |please )?(?:keep|make|take|leave|write) (?:a "
    rf"|any )?(?:written )?"
    rf"(?:records?|notes?|logs?|cop(?:y|ies)|traces?|memor(?:y|ies)) (?:of|about|on) {_THING}{_STOP}",
    re.IGNORECASE,
)
"""Asks for no trace: "don't keep a record of this"."""
_OTHER_SENSES = frozenset(("keep", "note", "record"))
_ASKS = pattern_of(r"(?<!\w)(?:please|pls|kindly)\s*$", re.IGNORECASE)
_TELLS = pattern_of(r"(?<!\w)you\s*$", re.IGNORECASE)
_OPENS = pattern_of(r"(?:^|[.!?\n])\s*$")
_NEEDS_MEMORY = frozenset({"add", "put", "commit", "file"})
_OTHERS = (
    (
        rf"(?:do ?n['o]t|do not|would ?n['o]t|would not) (?:want"
        rf"|like) (?:you to (?:ever )?{_VERB}(?: down)? {_THING}|(?:{_THING}) (?:to be "
        rf"|being )?{_DONE})(?: {_MEMORY})?{_STOP}"
    ),
    (
        rf"(?:rather|prefer|like it if|want|ask|need) (?:that )?you (?:to )?(?:not|never|don't|didn't"
        rf"|do not|did not) (?:to )?{_VERB}(?: down)? {_THING}(?: {_MEMORY})?{_STOP}"
    ),
    rf"(?:can|could|would|will) you (?:please )?not {_VERB}(?: down)? {_THING}(?: {_MEMORY})?{_STOP}",
    (
        rf"(?:{_THING}|nothing \S{{1,12}}(?: \S{{1,12}}){{0,4}}?) (?:is not|are not|isn't|must not"
        rf"|mustn't|should not|shouldn't|may not|cannot|can't|needn't|need not|does not need"
        rf"|doesn't need|should|must|is) (?:to )?be (?:ever )?{_DONE}{_STOP}"
    ),
    (
        rf"(?:not|n't) (?:for|part of) (?:the|your|my|any) (?:memory|memories|record|records|notes|log"
        rf"|logs){_STOP}"
    ),
    rf"not for (?:memory|saving|storage|the books){_STOP}",
    rf"(?<!\w )(?:not|never) (?:meant |supposed )?to be {_DONE}(?: {_MEMORY})?{_STOP}",
    (
        rf"(?:keep|leave) (?:{_THING}) (?:strictly |just )?(?:between (?:us|you and me|ourselves"
        rf"|the two of us)|off (?:the|your) (?:records?|books)"
        r"|out of (?:your |the |any )?(?:memory|memories|notes|records?|logs?))"
    ),
    (
        r"(?:(?:this|that|it|all of this) (?:is|stays?|remains?|has to stay|should stay|must stay"
        r"|needs to stay)|that's|it's) (?:just |strictly |only )?between (?:us|you and me|ourselves"
        r"|the two of us)"
    ),
    (
        rf"(?:do ?n['o]?t|do not) want {_THING} (?:to (?:be|go) )?(?:on|in|into) (?:the |your |any )?"
        r"(?:record|records|memory|memories|file|notes)"
    ),
    (
        r"(?<!you )(?:do ?n['o]?t|do not|never|no need to) (?:ever )?(?:save|store|record|log|retain"
        r"|memori[sz]e)"
        rf" my {_NOT_ANY_MORE}(?:[^\s.,;:!?]{{1,20}} ){{0,2}}?[^\s.,;:!?]{{1,20}}{_STOP}"
    ),
    (
        rf"(?:delete|erase|wipe|remove|scrub|drop) {_THING} from (?:your |the )?(?:memory|memories|notes"
        rf"|records?)"
    ),
    rf"keep {_THING} (?:all )?to yourself",
    r"off the record(?! (?:player|label|store|shop|chart|sleeve|collection|deal))",
    (
        r"(?:(?<!the )(?<!an )(?<!his )(?<!her )(?<!some )(?<!their )(?<!any )(?<!those )off-the-record"
        r"|an off-the-record (?:message|note|remark|question|one))"
        r"(?! (?:player|label|store|shop|chart|sleeve|collection|deal))"
    ),
    (
        rf"(?:treat|consider|take|regard) {_THING} as (?:strictly )?(?:off[ -](?:the[ -])?records?|unsaid"
        rf"|never said)"
    ),
    r"for your (?:ears|eyes) only",
    (
        rf"(?:leave|keep|make|take) no (?:records?|notes?|traces?|cop(?:y|ies)|logs?) (?:of"
        rf"|about) {_THING}{_STOP}"
    ),
    rf"skip (?:saving|remembering|storing|recording|logging|noting) {_THING}{_STOP}",
    (
        r"(?:let's say |pretend )(?:i|we) (?:never|didn't) (?:told you|tell you|said|say|mentioned?) (?:this"
        r"|that|it)"
    ),
    r"you (?:didn't|never) hear(?:d)? (?:this|that|it) from me",
    rf"(?:confidential|private|secret|personal|between us),? (?:and |but |so )?not to be {_DONE}{_STOP}",
    (
        r"(?<!i )(?<!we )(?<!they )(?:do ?n['o]?t|do not|never) (?:log|save|store|record|remember|memori[sz]e"
        r"|note|keep)(?: down)?(?=\s{0,2}[:–—])"
    ),
    r"forget (?:that )?i (?:ever |just |even )?(?:said|told you|mentioned|wrote|asked)",
    r"forget (?:this|the following|what (?:comes|follows|i say) next)(?=\s{0,2}[:–—])",
    (
        r"forget (?:this|the next|the last|my last|the previous|my previous) (?:message|sentence|line"
        r"|remark|bit|part)"
    ),
    r"no memory (?:of|for) (?:this|that|the following)",
    # wishes in German and French, which name who wishes
    (
        r"(?:möchte|will|wünsche|wollte) (?:ich )?(?:nicht|auf keinen fall),? dass du (?:dir )?(?:das|dies|es"
        r"|etwas davon|diese nachricht) (?:merkst|speicherst|notierst|behältst|aufschreibst|aufzeichnest)"
    ),
    (
        r"ne (?:veux|voudrais|souhaite) pas que tu (?:le |la |te )?(?:gardes|retiennes|notes|enregistres"
        r"|m[ée]morises|souviennes(?: de)?)(?: (?:ça|cela|ceci|ce message|rien de ça|de ça))"
    ),
)
_ABROAD = (
    # German
    (
        r"(?<!ich )(?<!wir )(?:merk|speicher|notier|behalt|bewahr|schreib|zeichne)e?(?: es)? (?:dir "
        r"|mir )?(?:das|dies|es|diese (?:nachricht|info)|folgendes|nichts davon) (?:bitte )?(?:auch |bloß "
        r"|lieber )?(?:nicht|nirgends|auf keinen fall|niemals|auf)"
        rf"(?: (?:auf|ab))?{_STOP}"
    ),
    (
        r"(?:das|dies|folgendes|diese nachricht|nichts davon) (?:bitte )?(?:nicht|nirgends|auf keinen fall"
        r"|niemals) (?:merken|speichern|notieren|aufschreiben|behalten|aufzeichnen)"
    ),
    (
        r"merk(?:e|st)?(?: es)? dir (?:(?:das|es|davon|bitte|auch|lieber) ){0,3}(?:nicht|nichts)"
        r"|merk(?:e|st)? es dir (?:bitte )?nicht"
    ),
    rf"bitte (?:nicht|nichts(?: davon)?) (?:merken|speichern|notieren|aufschreiben|aufzeichnen){_STOP}",
    r"(?:das|dies|es) (?:bleibt|muss|soll) (?:bitte )?unter uns(?: bleiben)?",
    r"(?:brauchst|musst|sollst|darfst) du dir (?:das |dies |es )?nicht (?:zu )?merken",
    r"nicht (?:fürs|für das|ins|in das) (?:protokoll|gedächtnis|archiv|logbuch)",
    # French
    (
        r"n(?:e |')(?:le |la |les |te |vous |m'|t'en |vous en )?(?:retiens|retenez|m[ée]morise[sz]?"
        r"|enregistre[sz]?|sauvegarde[sz]?|note[sz]?|garde[sz]?|souviens|souvenez) (?:pas|rien)"
        rf"(?: (?:ça|cela|ceci|ce message|cette (?:phrase|info|information)|de tout (?:ça|cela)))?{_STOP}"
    ),
    (
        r"(?:pas besoin|inutile) de (?:le |la )?(?:retenir|m[ée]moriser|noter|enregistrer)(?: (?:ça"
        r"|cela|ceci|ce message))?"
    ),
    r"(?:ça|cela|ceci|que ça) (?:reste|doit rester) entre nous",
    (
        r"ne (?:garde[sz]?|laisse[sz]?|conserve[sz]?) (?:aucune|pas de) (?:trace|note) de (?:ça"
        r"|cela|ceci)"
    ),
    # Spanish
    (
        r"no (?:lo |la |me |te |nos )?(?:guardes|guarde|recuerdes|almacenes|registres|apuntes|anotes"
        r"|memorices|grabes)"
        rf"(?: (?:esto|eso|este mensaje|nada de (?:esto|eso)))?{_STOP}"
    ),
    (
        r"no (?:hace falta|es necesario|quiero|quisiera) (?:que )?(?:lo |la |me )?(?:recuerdes|guardes|anotes"
        r"|apuntes|registres|recordar(?:lo)?|guardar(?:lo)?)(?: (?:esto|eso|este mensaje|nada de esto))?"
        rf"{_STOP}"
    ),
    (
        r"(?:que )?(?:esto )?quede entre nosotros|esto queda entre nosotros|extraoficialmente"
        r"|esto es extraoficial"
    ),
)
_OTHER = pattern_of(rf"(?<!\w)(?:{'|'.join(_OTHERS)})(?!\w)", re.IGNORECASE)
_SPOKEN_ABROAD = pattern_of(rf"(?<!\w)(?:{'|'.join(_ABROAD)})(?!\w)", re.IGNORECASE)
_TOLD_OF = pattern_of(
    r"(?<!\w)(?:ich|er|man|wir|kann|konnte|könnte|je|il|elle|on|yo|nunca|él|ella)(?!\w)[^.!?,;:\n]{0,20}$",
    re.IGNORECASE,
)
"""What somebody cannot keep in mind, or keeps: no request."""
_ASIDE = pattern_of(
    r"(?:(?:just|strictly|only) )?between (?:us|you and me|ourselves|the two of us)\s?[,:;–—-]"
    r"|(?:unter uns(?: gesagt)?|im vertrauen|entre nous|hors micro|en off|entre nosotros)\s?[,:;–—-]",
    re.IGNORECASE,
)
_ASIDE_BEFORE = pattern_of(r"(?:^|[.;:!?(\n]|(?<!\w)(?:and|but|so|ok|well))\s*$", re.IGNORECASE)
_FLAT = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "\u00a0": " ", "\t": " "})
_SENTENCE_END = pattern_of(
    r"(?<!\bDr)(?<!\bMr)(?<!\bMs)(?<!\bSt)(?<!\bMrs)(?<!\bProf)[.!?。！？]+(?=[\s\"'”’»)]|$)|\n+"
)
_NAMED_RANGE = pattern_of(r"(this|next|following|last|previous) (?:sentence|line)", re.IGNORECASE)
_WINDOW = 24
PATTERNS = (_REQUEST, _ABOUT, _TRACE, _OTHER, _SPOKEN_ABROAD, _ASIDE)
"""What every find matches after curly apostrophes and odd spaces are made plain."""
_MARKS = {'"': '"', "“": "”", "«": "»", "'": "'", "„": "“"}


def find_exclusions(text: str, *, is_message: bool) -> Iterator[Hit]:
    """Yield the ranges of `text` that ask not to be kept.

    `is_message`: somebody speaks for themself, so that a plain request covers the whole
    text; otherwise (pages, tool output, prompts) it covers its own sentence, as a request
    does everywhere that names what must not be kept.
    """
    yield from _covered(text, _requests(text.translate(_FLAT)), is_message=is_message)


def find_built_exclusions(text: str, *, is_message: bool) -> Iterator[Hit]:
    """Yield what `find_exclusions` does, for requests that are known by how they are built."""
    flat = text.translate(_FLAT)
    found = ((*span, False) for span in find_silence(flat) if not _is_held_in_marks(flat, *span))
    yield from _covered(text, found, is_message=is_message)


def _covered(text: str, requests: Iterable[tuple[int, int, bool]], *, is_message: bool) -> Iterator[Hit]:
    """Yield the ranges that `requests` cover."""
    sentences: list[int] | None = None
    for start, end, is_about in requests:
        named = None if is_about else _NAMED_RANGE.search(text, start, end)
        if is_message and named is None and not is_about:
            yield Hit(0, len(text), "exclusion_request", Reason.EXPLICIT_EXCLUSION_SIGNAL)
            return
        if sentences is None:
            sentences = [0, *(match.end() for match in _SENTENCE_END.finditer(text)), len(text)]
        first, last = _sentence_range(sentences, start, end, named.group(1).lower() if named else "this")
        yield Hit(first, last, "exclusion_request", Reason.EXPLICIT_EXCLUSION_SIGNAL)


def _sentence_range(sentences: list[int], start: int, end: int, which: str) -> tuple[int, int]:
    """Return the sentence around [start, end), together with the neighbour that it names."""
    first = bisect_right(sentences, start) - 1
    last = bisect_left(sentences, end)
    if which in {"next", "following"}:
        last = min(last + 1, len(sentences) - 1)
    elif which in {"last", "previous"}:
        first = max(first - 1, 0)
    return sentences[min(first, len(sentences) - 2)], sentences[last]


def _requests(text: str) -> Iterator[tuple[int, int, bool]]:
    """Yield the ranges of the phrases that ask, and whether each names what it is about.

    Mentions between quotation marks are left out.
    """
    for pattern, is_meant in _PLAIN_REQUESTS:
        for match in pattern.finditer(text):
            if is_meant(text, match):
                yield *match.span(), False
    for match in _ABOUT.finditer(text):
        if _asks_about(text, match):
            yield match.start(), max(match.end() - 1, match.start() + 1), True


def _is_asked(text: str, match: re.Match[str]) -> bool:
    return _BEFORE.search(_before(text, match)) is not None and not _is_mention(text, match)


def _is_named(text: str, match: re.Match[str]) -> bool:
    """Tell whether "don't add this" names the memory, where its verb needs that."""
    needs_memory = match.group("verb").lower() in _NEEDS_MEMORY
    return (not needs_memory or bool(match.group("memory"))) and _is_asked(text, match)


def _is_no_report(text: str, match: re.Match[str]) -> bool:
    return not _is_mention(text, match) and _TOLD_OF.search(_before(text, match)) is None


def _is_aside(text: str, match: re.Match[str]) -> bool:
    return _ASIDE_BEFORE.search(_before(text, match)) is not None


def _before(text: str, match: re.Match[str]) -> str:
    return text[max(0, match.start() - _WINDOW) : match.start()]


def _asks_about(text: str, match: re.Match[str]) -> bool:
    """Tell whether "don't store …" is an order; "don't remember the name" leaves out an "I"."""
    before = _before(text, match)
    if not _BEFORE.search(before):
        return False
    denial, verb = match.group("not").lower(), match.group("kept").lower()
    is_told = denial.startswith(("must", "should", "need")) and _TELLS.search(before) is not None
    is_told |= _ASKS.search(before) is not None
    is_clear = denial in ("please not", "never", "do not", "no need to") or is_told
    is_clause = match.group("about").lower().endswith(("that ", "about "))
    if verb.startswith(("remember", "memori")):
        return is_clear or (is_clause and _OPENS.search(before) is not None)
    return is_clause and (is_clear or verb not in _OTHER_SENSES)


def _is_mention(text: str, match: re.Match[str]) -> bool:
    """Tell whether quotation marks hold the phrase and nothing else: a label, not a request."""
    return _is_held_in_marks(text, *match.span())


def _is_held_in_marks(text: str, start: int, end: int) -> bool:
    opening = text[start - 1 : start] if start else ""
    closing = text[end : end + 2].lstrip(".!,")
    return bool(closing) and _MARKS.get(opening) == closing[0]


_PLAIN_REQUESTS: tuple[tuple[re.Pattern[str], Callable[[str, re.Match[str]], bool]], ...] = (
    (_REQUEST, _is_named),
    (_TRACE, _is_asked),
    (_OTHER, lambda text, match: not _is_mention(text, match)),
    (_SPOKEN_ABROAD, _is_no_report),
    (_ASIDE, _is_aside),
)
"""Each kind of request that names no object, and what its match must pass."""
