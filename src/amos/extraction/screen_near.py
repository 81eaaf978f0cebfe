"""Find secrets by what stands near: a noun or a lock that takes one, and a value of such a shape.

No word between them is asked for, only what it may not be: a measure, a date, a time, the name of a product.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from amos.extraction.screen_letters import near
from amos.extraction.screen_nouns import find_nouns
from amos.extraction.screen_phrases import NUMBER_WORDS, is_coined, is_placeholder, is_plausible_password
from amos.extraction.screen_view import Hit
from amos.patterns import pattern_of
from amos.schemas.vocabulary import Reason

_LOCK = (
    r"(?:doors?|gates?|alarms?|safe|vault|(?:pad)?locks?|keypad|garage|buzzer|intercom|entrance|entry"
    r"|shed|barn|cellar"
    r"|basement|attic|suitcase|briefcase|luggage|elevator|turnstile|barrier|cabinet|mailbox|letterbox"
    r"|key[ -]?safe"
    r"|lock[ -]?box|key[ -]?box|locker|front door|house|flat|building|phone|tablet|laptop"
    r"|[^\W\d_]{1,16}(?:tor|t[üu]re?|schloss|tresor|spind|schrank|anlage|kasten)|tor|tür|tresor"
    r"|schloss|keller|garage|haus"
    r"|portes?|portail|portillon|coffre|alarme|cadenas|digicode|immeuble|cave|interphone"
    r"|puertas?|portal|caja fuerte|candado|garaje|port[óo]n|taquilla|verja|trastero)"
)
_CODE = (
    r"(?:(?:pass)?codes?|enter(?= [0-9#*])|combination|combo|pin|c[óo]digo|clave|chiffre|combinaison"
    r"|combinaci[óo]n"
    r"|kombination"
    r"|zahlenkombination|[^\W\d_]{1,16}code)"
)
_TAKE = (
    r"(?:takes?|wants?|accepts?|needs?|uses?|expects?|answers? to|responds? to|listens? to|opens?"
    r"|unlocks?|disarms?"
    r"|(?:it'?s |is )?(?:re)?set (?:to|at|on)|steht auf|lautet|changed to|geht|öffnet|braucht|will"
    r"|nimmt|s'ouvre|prend|demande|se abre|pide|usa)"
)
_LOCKS = pattern_of(rf"\b{_LOCK}\b", re.IGNORECASE)
_CODES = pattern_of(rf"\b{_CODE}\b", re.IGNORECASE)
_TAKES = pattern_of(rf"(?:[ ,]+[^\s.,:;!?\d]{{1,20}}){{0,3}}? {_TAKE}\b", re.IGNORECASE)
_ALARM_TIME = pattern_of(r"(?i:alarm|wecker)[^\n]{0,40}?\b(?i:set|for|at)\b")
_OTHER_CODES = pattern_of(
    r"(?:zip|post(?:al)?|postcode|dress|area|country|promo|discount|coupon|voucher|error|status|exit"
    r"|qr|bar|source|colou?r"
    r"|flight|airport|booking|product|item|branch|tax|course|room|morse|genetic|penal|civil|building"
    r"|highway|vestimentaire"
    r"|promo|farb|barras?|postal|bestell|artikel|fehler|status|return|reminder|http|response|state"
    r"|region|unit|model|key)"
    r"[ -]?codes?\b|code (?:promo|postal|barres|couleur|der farbe|review|base|style)"
    r"|c[óo]digo (?:postal|de barras)"
    r"|codes? (?:of|reminder|is on)\b",
    re.IGNORECASE,
)
_DIGITS = pattern_of(r"(?<![\w.,:/€$£+#-])[#*]?[0-9](?:[ .-]?[0-9]){2,11}[#*]?(?![\w%€$£]|[.,:/-][0-9])")
_MEASURED = pattern_of(
    r"\s?(?:[%°]|(?:[mck]?m|m?[kg]?g|[mc]?l|[kmgt]b|kwh?|[vwahs]|[mk]?hz|psi|bars?|rpm|[ap]m|ms|px|pt"
    r"|ft|lbs?|oz|mph|kmh"
    r"|euros?|dollars?|pounds?|watts?|volts?|people|persons?|pages?|points?|times|metres?|meters?"
    r"|minutes?|seconds?"
    r"|hours?|days?|weeks?|months?|years?|steps?|pieces?|items?|grams?|litres?|liters?|miles|square"
    r"|stück|stunden|jahre"
    r"|minuten|personen|pièces|personnes|heures|jours|ans|horas|años|personas|keys|screws|units|grad"
    r"|tonnes?|percent"
    r"|uhr|feet|inches|degrees|words|characters|digits|tries|attempts|keycards|cards)\b)",
    re.IGNORECASE,
)
_DATED = pattern_of(
    r"(?:\b(?:in|since|from|until|till|by|before|after|around|at|about|of|year|over|under|than|seit"
    r"|bis|im|vor|en|desde"
    r"|hasta|depuis|avant|weighs|costs?|cost|about|nearly|almost|only|error|room|bus|line|number|no"
    r"|nr|num|flat|house"
    r"|apartment|jan\w*|feb\w*|mar\w*|apr\w*|may|jun\w*|jul\w*|aug\w*|sep\w*|oct\w*|nov\w*|dec\w*)\.?"
    r"|[€$£~])\s{0,2}$",
    re.IGNORECASE,
)
_YEAR_AFTER = pattern_of(r"(?:19|20)[0-9]{2}$")
_RUN = pattern_of(r"[^\s\"“”«»„]{5,64}")
_NO_VALUE = pattern_of(
    r"\S+@\S+|\S*://\S*|www\.\S+|[0-9.,:/+\-–]+(?:[a-z]{1,4})?|v?[0-9]+(?:\.[0-9]+)+\S*"
    r"|\S+\.(?:[a-z]{2,4}|[a-z]{2,4}/\S*)"
    r"|#[0-9a-f]{6}|[0-9]+\+?(?:st|nd|rd|th|er|ème|h|min|x)|\S*[()\[\]{}=]\S*|\S*\x1a\S*"
    r"|[a-z]+(?:_[a-z]+)+|--?\S+|/\S*",
    re.IGNORECASE,
)
_WEAK = pattern_of(
    r"[0-9]+[^\W\d_]+|[^\W\d_]+[ -]?[0-9]{1,3}|[A-Z]{1,4}[0-9-]+|[^\W\d_]+(?:[&+/][^\W\d_]+)+", re.ASCII
)
"""Shapes that products, rooms and versions have as well."""
_JOINED = pattern_of(r"[^\W\d_][_.-]\d|\d[_.-][^\W\d_]")
_SIGN = pattern_of(r"[!@#$%^&*=~|?_]")
_ABOUT_ONE = pattern_of(
    r"[ -](?:managers?|polic(?:y|ies)|generators?|fields?|box|page|rules?|length|strength|protected"
    r"|hash(?:es)?|apps?"
    r"|requirements?|prompt|attempts?|audit|change day)\b",
    re.IGNORECASE,
)
_PLACED = pattern_of(
    r"\b(?:for|on|in|at|with|by|from|into|für|auf|bei|mit|von|pour|sur|para|en|con)\s{1,2}$", re.IGNORECASE
)
_GIVEN = pattern_of(
    r"(?:[:=]|->|=>|→|\b(?:is|was|are|it's|its|to|as|use|used|using|goes|says|reads|be|called|named"
    r"|still|now|ist|war"
    r"|lautet|heißt|heisst|auf|est|es|c'est|era|siendo|como|comme|that's|picked|chose|typed|type"
    r"|enter|entered|took))"
    r"[ ,]{1,3}[\"'“‘„«`]?$",
    re.IGNORECASE,
)
_QUOTED = pattern_of(r"[\"“„«`]([^\"“”„«»`\n]{4,64})[\"”“»`]")
_KEYED = pattern_of(
    r"\b(?:(?:key|punch|tap|type|put)(?:s|ed|ing)? (?:in|it in)|press(?:es|ed)?|dial(?:s|ed|ing)?"
    r"|taper|tapez|tape|composer|composez|compose|marcar?|teclear?|pulsar?|tippe?n?|eintippen"
    r"|eingeben|drücken?)"
    r"(?: (?:the|le|el|den))?(?: (?:code|number|digits|código|pin))?[ :]{1,2}"
    r"(?=[#*]?[0-9])((?-i:[#*]?[0-9A-Z](?:[ .-]?[0-9A-Z]){3,7}[#*]?))(?![\w%]|[.,:/-]?[0-9])",
    re.IGNORECASE,
)
"""Digits that somebody keys in."""
_ENTERS = pattern_of(
    r"\b(?:log(?:s|ged|ging)?[ -]?in(?:to|s)?|sign(?:s|ed|ing)?[ -]?in(?:to)?|get(?:s"
    r"|ting)? in(?:to)?|unlocks?|access(?:es)?"
    r"|credentials?|creds|account|acct|netflix|spotify|gmail|paypal|amazon|icloud|instagram|facebook"
    r"|steam|user(?:name)?|sudo|pass|admin|root|ssh|vpn|wi-?fi|wlan|router"
    r"|entro|entrar|acceder|accedo|usuario|cuenta|anmelden|einloggen|zugang|konto|connecter"
    r"|connexion|compte|identifiant)\b",
    re.IGNORECASE,
)
"""Where one comes in: near it, what mixes letters with signs that no name has opens it."""
_UNNAMED = pattern_of(
    r"(?=\S*[^\W\d_])(?=\S*[!#$%^&*+=~?|]\S|\S*\d\S*[!#$%^&*+=~?|]|\S*[!#$%^&*+=~?|]\S*\d)\S{6,64}"
)
_BY_MEANS = pattern_of(
    r"\b(?:key|pw|pass|code|password|secret|with|using|by typing|typing|type|enter|via|mit|avec|con"
    r"|tape|tippe|is|are|:|=)[ :]{1,2}$",
    re.IGNORECASE,
)
_SEED_STEMS = ("seed", "wallet", "ledger", "mnemonic", "recovery", "trezor", "metamask", "passphrase")
_WORD_ROW = pattern_of(r"\b(?:[a-z]{3,8}[ ,]{1,2}){11,23}[a-z]{3,8}\b", re.IGNORECASE)
_JOINING = frozenset(
    "the and for with that this are was has have you your not but from they were which when then".split()
)
_ANSWERED = pattern_of(
    r"(?:security|secret|recovery|reset|backup|challenge|verification)[ -](?:questions?|answers?)\b"
    r"|sicherheits(?:frage|antwort)"
    r"|question secrète|pregunta (?:de seguridad|secreta)",
    re.IGNORECASE,
)
_ANSWER_STEMS = ("question", "answer", "frage", "antwort", "pregunta")
_ANSWER = pattern_of(
    r"(?:\b(?:is|was|are|being|ist|lautet|est|es)"
    r"|[:=])[ ]{1,2}[\"'“]?([^\s.,;:!?\"”]{3,40}(?: [A-Z][^\s.,;:!?\"”]{1,30}){0,2})"
    r"[\"'”]?\s{0,2}(?:[.!,;]|$|\n)"
)
_END = pattern_of(r"(?:[.…]|(?<!\w)[!?]|(?<=[a-z]{3})[!?])(?=\s|$)|\n")
_AFTER, _BEFORE = 110, 70
_SHORTEST = 6
_MOST = 4
"""Values that are looked for near one noun."""
_OPENS_WHAT = rf"{_ENTERS.pattern}[^!?…\n]*?(?:[!#$%^&*+=~?|]|[0-9])"
_OPENED_BY = rf"[!#$%^&*+=~?|0-9][^!?…\n]*?{_ENTERS.pattern}"
_ANSWERS_WHAT = rf"(?:{_ANSWERED.pattern})[^!?…\n]*?(?:\b(?:is|was|are|being|ist|lautet|est|es)\b|[:=])"
_TAKES_WHAT = rf"\b{_LOCK}\b[^!?…\n]*? {_TAKE}[^!?…\n]*?[0-9]"
_CODE_OF_WHAT = near(rf"\b{_LOCK}\b", rf"\b{_CODE}\b")
PATTERNS = (
    pattern_of(rf"{'|'.join(_SEED_STEMS)}|{_OPENS_WHAT}|{_OPENED_BY}|{_ANSWERS_WHAT}", re.IGNORECASE),
)
"""What every find matches that has no noun of `screen_nouns`."""
DIGIT_PATTERNS = (pattern_of(rf"{_KEYED.pattern}|{_TAKES_WHAT}|{_CODE_OF_WHAT}", re.IGNORECASE),)
"""The same, of finds that hold digits."""


def find_near(text: str) -> Iterator[Hit]:
    """Yield each value that stands near what takes it, in code points; linear in `text`."""
    has_digit = any(map(str.isdigit, text))
    lowered = text.lower()
    spans = [*(_word_rows(text) if _names_any(lowered, _SEED_STEMS) else ())]
    spans += _answers(text) if _names_any(lowered, _ANSWER_STEMS) else ()
    for noun in find_nouns(text):
        spans += _near_noun(text, noun)
    if has_digit or _SIGN.search(text) is not None:
        spans += _entries(text)
    for start, end in spans:
        yield Hit(start, end, "secret_near_noun", Reason.SECRET_MATERIAL_DETECTED)
    if has_digit:
        for start, end in (*_keyed(text), *_near_locks(text)):
            yield Hit(start, end, "code_of_lock", Reason.SECRET_MATERIAL_DETECTED)


def _names_any(lowered: str, stems: tuple[str, ...]) -> bool:
    return any(stem in lowered for stem in stems)


def _keyed(text: str) -> Iterator[tuple[int, int]]:
    for keyed in _KEYED.finditer(text):
        if not _MEASURED.match(text, keyed.end()):
            yield keyed.span(1)


def _near_locks(text: str) -> Iterator[tuple[int, int]]:
    reached = 0
    for lock in _LOCKS.finditer(text):
        start, end = _sentence(text, *lock.span())
        yield from _near_lock(text, lock, start, end, is_first=lock.start() >= reached)
        reached = end


def _word_rows(text: str) -> Iterator[tuple[int, int]]:
    """Yield the sentences with a row of a dozen plain words in a text about a wallet or a seed."""
    for row in _WORD_ROW.finditer(text):
        if _JOINING.isdisjoint(row.group().lower().replace(",", " ").split()):
            yield _sentence(text, *row.span())


def _answers(text: str) -> Iterator[tuple[int, int]]:
    """Yield what answers a security question."""
    for asked in _ANSWERED.finditer(text):
        answer = _ANSWER.search(text, asked.end(), min(len(text), asked.end() + _AFTER))
        if answer is not None and is_plausible_password(answer.group(1)):
            yield answer.span(1)


def _entries(text: str) -> Iterator[tuple[int, int]]:
    """Yield what opens an account or device that is named near it, by its signs or by what leads to it."""
    reached = 0
    for entered in _ENTERS.finditer(text):
        start, end = _sentence(text, *entered.span())
        for match in _RUN.finditer(text, max(start, reached), end):
            token = match.group().strip("'‘’`,;:()[]<>").rstrip(".")
            at = match.start() + match.group().find(token)
            is_led = _BY_MEANS.search(text, max(0, at - 16), at) is not None
            if _opens(token, is_led=is_led):
                yield at, at + len(token)
        reached = max(reached, end)


def _opens(token: str, *, is_led: bool) -> bool:
    if _NO_VALUE.fullmatch(token) or is_placeholder(token) or token.startswith(("@", "#", "$", "&")):
        return False
    if _UNNAMED.fullmatch(token):
        return True
    is_mixed = any(map(str.isdigit, token)) and _JOINED.search(token) is not None
    return is_led and len(token) >= _SHORTEST + 2 and is_mixed and _WEAK.fullmatch(token) is None


def _near_lock(
    text: str, lock: re.Match[str], start: int, end: int, *, is_first: bool
) -> Iterator[tuple[int, int]]:
    """Yield the digits that a lock takes, or that are a code in its sentence: asked of the first lock."""
    takes = _TAKES.match(text, lock.end(), end)
    if takes is None and not (is_first and _CODES.search(text, start, end)):
        return
    if _OTHER_CODES.search(text, start, end) or _ALARM_TIME.match(text, lock.start(), end):
        return
    yield from _digits(text, start if takes is None else takes.end(), end)


def _near_noun(text: str, noun: re.Match[str]) -> Iterator[tuple[int, int]]:
    is_asked = text.startswith("?", noun.end())  # "password? same as ever, …"
    start, end = _sentence(text, noun.start(), noun.end() + is_asked)
    if noun.lastgroup == "digit":
        is_sure = re.fullmatch(r"(?i)combinations?|combos?|kombination|combinaci[óo]n", noun.group()) is None
        if is_sure and not _OTHER_CODES.search(text, start, end):
            yield from _digits(text, noun.end() + 2, end)
    elif noun.lastgroup in ("word", "spaceless"):
        is_about = _ABOUT_ONE.match(text, noun.end()) is not None
        yield from _runs(text, start, noun.start(), is_after=False, is_about=is_about)
        yield from _runs(text, noun.end(), end, is_after=True, is_about=is_about)


def _sentence(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the sentence around a range, as far as anything near it is looked for."""
    first, last = max(0, start - _BEFORE), min(len(text), end + _AFTER)
    before = [match.end() for match in _END.finditer(text, first, start)]
    after = _END.search(text, end, last)
    return (before[-1] if before else first), (after.start() if after else last)


def _digits(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the runs of digits that can be a code: no measure, year, time or amount."""
    spelt = NUMBER_WORDS.search(text, start, end)
    if spelt is not None:
        yield spelt.start(), spelt.start() + len(spelt.group().rstrip(" ,-"))
    count = 0
    for match in _DIGITS.finditer(text, start, end):
        before = text[max(start, match.start() - 12) : match.start()]
        if _MEASURED.match(text, match.end()) or _DATED.search(before):
            continue
        yield match.span()
        count += 1
        if count == _MOST:
            return


def _runs(text: str, start: int, end: int, *, is_after: bool, is_about: bool) -> Iterator[tuple[int, int]]:
    """Yield what is made up or, where it is announced, in quotation marks."""
    if is_after and not is_about:
        for match in _QUOTED.finditer(text, start, end):
            if _GIVEN.search(text, start, match.start()) and not is_placeholder(match.group(1)):
                yield match.span(1)
    for match in _RUN.finditer(text, start, end):
        token = match.group().strip("'‘’`,;:()[]<>").rstrip(".?")
        at = match.start() + match.group().find(token)
        if token and _is_value(text, token, start, at, is_about=is_about):
            yield at, at + len(token)


def _is_value(text: str, token: str, start: int, at: int, *, is_about: bool) -> bool:
    if len(token) < _SHORTEST or _NO_VALUE.fullmatch(token) or is_placeholder(token) or not is_coined(token):
        return False
    if not any(map(str.isalpha, token)) or not (any(map(str.isdigit, token)) or _SIGN.search(token[1:-1])):
        return False
    before = text[max(start, at - 24) : at]
    if _GIVEN.search(before):
        return not is_about or (_WEAK.fullmatch(token) is None and _SIGN.search(token) is not None)
    return not is_about and _WEAK.fullmatch(token) is None and _PLACED.search(before) is None
