"""Find secrets that turns of phrase give away: "pass is …", "from … to …", "unlocks with …", "PIN …"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from amos.extraction.screen_phrases import is_coined, is_placeholder, is_plausible_password
from amos.extraction.screen_view import Hit
from amos.patterns import pattern_of
from amos.schemas.vocabulary import Reason

_VALUE = r"[\"'“‘`«]?([^\s\"'“”‘’`«»,;]{3,64})"
_PASS = pattern_of(
    rf"(?<![^\W_])(?:([^\W\d_]{{2,16}}) )?pass(?: (?:for|to|of)(?: [^\s:=.,;!?]{{1,24}}){{1,4}}?)?"
    rf"(?:'s|’s| is| was|\s?[:=])(?: (?:now|still|just|currently))?\s{{1,3}}{_VALUE}",
    re.IGNORECASE,
)
_OTHER_PASSES = frozenset(
    "bus ski boarding season day mountain guest parking rail travel museum hall backstage train transit "
    "lift park "
    "high low alpine free press visitor monthly weekly annual event fast level exam by let will to".split()
)
_MEASURE = pattern_of(r"[~≈]?\d[\d.,]*[a-zA-Z]{0,3}\W*")
_CHANGED = pattern_of(
    r"(?<!\w)(?:chang|switch|reset|updat|rotat)\w{0,4}(?: [^\s.,:;]{1,20}){0,4}? (?:pass[ -]?words?"
    r"|pass[ -]?phrases?"
    r"|pass[ -]?codes?|pins?|pin codes?|pwd?)(?: (?:for|of|on)(?: [^\s:=.,;!?]{1,24}){1,4}?)?"
    rf" from {_VALUE}[\"'”’`»]?,? to {_VALUE}",
    re.IGNORECASE,
)
_SEVERAL = pattern_of(
    rf"(?<![^\W_])(?:passwords|pass[ -]?codes|pass[ -]?phrases)(?: (?:for|of|on"
    rf"|to)(?: [^\s:=.,;!?]{{1,24}}){{1,4}}?)?"
    rf"(?: are| were|\s?[:=]) {_VALUE}[\"'”’`»]?(?:, {_VALUE}[\"'”’`»]?)?,? (?:and|or|&) {_VALUE}",
    re.IGNORECASE,
)
_UNLOCKS = pattern_of(
    r"(?<![^\W_])(?:laptop|phone|computer|pc|mac(?:book)?|tablet|ipad|iphone|safe|door|gate|garage|lock"
    r"|lock ?box|key ?box|padlock|shed|cellar|panel|locker|vault"
    r"|account|screen|house|flat|office|app|keypad|alarm|suitcase|briefcase"
    r"|bike)s?(?: [^\s.,:;!?]{1,20}){0,5}?"
    r" (?P<verb>unlocks?|opens?|logs? in|disarms?)(?: up| only)? (?:with|by|using|via)(?: the)?"
    rf"(?: (?:code|pin|password|passcode|combination|phrase|word))?:? {_VALUE}",
    re.IGNORECASE,
)
_WAYS = frozenset(
    "face faceid fingerprint fingerprints touch touchid thumb thumbprint biometrics watch nfc key keys "
    "keycard "
    "badge card fob ease difficulty voice bluetooth gesture swipe pattern windows apple iris remote code "
    "pin password "
    "passcode caution care force luck time help magic".split()
)
_BARE_PIN = pattern_of(
    r"(?<![^\W_])(?:(?:PIN|otp|OTP|(?:my|the|card|sim|bank|phone|door|debit|credit) pin)(?: (?:code|number))?"
    r"|(?:PIN|Pin|pin)"
    r" (?:code|number))[ \t]{1,2}([0-9]{4,8})(?![\w%]|[.,:/-][0-9])(?! (?:%|people|times|years?|points?"
    r"|boards?)(?!\w))"
)
_KEYS = (
    r"(?:type|types|enter|enters|dial|press|punch|punch in|key in|tap|tap in|put in|input|type in)"
    r"(?: in)?(?: the)?(?: code| number| digits| numbers)?:?"
    r" ([0-9](?:[ \-.]?[0-9]){3,7})(?![\w%]|[.,:/ -]?[0-9])"
    r"(?! (?:psi|bars?|rpm|times|people|steps|metres|meters|euros|dollars|pounds|items|words|pages)(?!\w))"
)
_LOCKED = (
    r"(?:unlock|open|disarm|get into|log ?in ?to|enter|start) (?:my|our|the|this|his|her|their|it|that)"
    r"(?: [^\s.,:;!?]{1,20}){0,3}?"
)
_TYPED = pattern_of(
    rf"(?<![^\W_])(?:{_LOCKED},?(?: (?:you|i|we|just|please|simply|have to|need to|must|should"
    rf"|always)){{0,3}}"
    rf" {_KEYS}|{_KEYS} to {_LOCKED}(?![\w]))",
    re.IGNORECASE,
)
_DIGITS = (
    r"([#*]?[0-9](?:[ \-.]?[0-9]){2,9}[#*]?)(?![\w%]|[.,:/-][0-9])(?! (?:mm|cm|km|kg|psi|bars?|rpm|times"
    r"|people"
    r"|steps|met(?:er|re)s|minutes|hours|days|years|euros?|dollars?|pounds?|watts?|volts?|%|€|items|words"
    r"|points"
    r"|coins|credits|gems|likes|uhr|grad|o'?clock)(?!\w))"
)
_NEAR = r"(?: [^\s.,:;!?]{1,20}){0,4}?"
_LOCKS = (
    (
        r"(?:keypad|key ?box|lock ?box|padlock|(?:bike|door|suitcase|combination|number|dial|gate|garage)"
        rf" (?:lock|keypad)|lock|safe|vault|dial)s?{_NEAR} (?:wants|takes|needs|accepts|expects"
        r"|opens (?:at|on)|is (?:on|at)|(?:is |was )?(?:set|reset|changed) to|to)(?: the)?"
        r"(?: code| number| digits)?"
    ),
    (
        r"(?:arm|armed|disarm|disarmed|deactivate|unlock)(?: (?:it"
        r"|the [^\s.,:;!?]{1,20}))? with(?: the)?(?: code)?"
    ),
    (
        rf"(?:schloss|zahlenschloss|spind|safe|tresor|t[üu]r|tor|keypad|kasten|box){_NEAR}"
        r" (?:geht|öffnet|lässt)(?: sich)? mit(?: der| dem| code)?"
    ),
    rf"(?:porte|portail|cadenas|coffre|digicode|alarme|portillon){_NEAR} s['’]ouvre avec(?: le)?",
    rf"(?:puerta|portal|candado|caja fuerte|caja|alarma|verja){_NEAR} se abre con(?: el)?",
)
_KEYED_IN = (
    r"(?:punch|type|key|tap|enter|dial)(?: in)? (?:the code )?([0-9](?:[ \-.]?[0-9]){3,7}) (?:on|into|in|at) "
    r"(?:the|that|our|my) (?:[^\s.,:;!?]{1,16} ){0,2}?(?:keypad|box|panel|pad|door|lock|gate|dial)(?!\w)"
)
_LOCKED_BY = pattern_of(rf"(?<![^\W_])(?:(?:{'|'.join(_LOCKS)}):? {_DIGITS}|{_KEYED_IN})", re.IGNORECASE)
"""What a lock wants: digits."""
_ALTERED = pattern_of(
    rf"(?<![^\W_])(?:passwort|kennwort|pin|t[üu]rcode)(?: (?:für|fürs|vom|von|des|der|meine[rs])"
    rf"(?: [^\s.,:;!?]{{1,24}}){{1,3}}?)?(?: (?:habe?|wurde|hat"
    rf"|ist)(?: [^\s.,:;!?]{{1,16}}){{0,2}})? (?:auf|in|zu) "
    rf"{_VALUE}[\"'”’`»]? (?:ge(?:ändert|setzt|stellt|legt)|umge(?:stellt|ändert))",
    re.IGNORECASE,
)
_NAMED_LATER = pattern_of(
    r"(?<![^\W_])pass[ -]?(?:words?|codes?|phrases?)(?: [^\s.,:;!?]{1,16}){0,3}, (?:it|that)(?:'s|’s| is"
    r"| was)"
    r"(?: (?:literally|just|still|actually|simply|now))? [\"'“‘`]([^\"'“”‘’`\n]{4,64})(?=[\"'”’`])",
    re.IGNORECASE,
)
_SHORTEST_PASS = 6
PATTERNS = (_PASS, _CHANGED, _SEVERAL, _UNLOCKS)
"""What finds match, beside those with digits and those that hold a noun of `screen_phrases` anyway."""
DIGIT_PATTERNS = (_BARE_PIN, _LOCKED_BY, _TYPED)
"""What finds match that hold digits."""


def find_sayings(text: str) -> Iterator[Hit]:
    """Yield the secret of each such phrase, in code points."""
    for start, end in _spans(text):
        yield Hit(start, end, "spoken_secret", Reason.SECRET_MATERIAL_DETECTED)


def _spans(text: str) -> Iterator[tuple[int, int]]:
    for match in _PASS.finditer(text):
        if (match.group(1) or "").lower() not in _OTHER_PASSES and _is_pass(_trimmed(match, 2)):
            yield _range(match, 2)
    yield from _replaced(text)
    for match in _UNLOCKS.finditer(text):
        if _opens(text, match):
            yield _range(match, 2)
    for pattern in (_BARE_PIN, _LOCKED_BY, _TYPED):
        for match in pattern.finditer(text):
            yield match.span(match.lastindex or 0)
    for match in _NAMED_LATER.finditer(text):
        if is_plausible_password(match.group(1)):
            yield match.span(1)


def _replaced(text: str) -> Iterator[tuple[int, int]]:
    """Yield the old and new words of what was changed, and several that are listed."""
    for pattern in (_CHANGED, _SEVERAL, _ALTERED):
        for match in pattern.finditer(text):
            groups = [group for group in range(1, pattern.groups + 1) if match.group(group)]
            if all(_is_kept_secret(_trimmed(match, group)) for group in groups):
                yield from (_range(match, group) for group in groups)


def _trimmed(match: re.Match[str], group: int) -> str:
    return match.group(group).rstrip(".!?:)]}…")


def _range(match: re.Match[str], group: int) -> tuple[int, int]:
    return match.start(group), match.start(group) + len(_trimmed(match, group))


def _is_pass(value: str) -> bool:
    """Tell whether `value`, said of a pass, is a password: made up, and no height, price or date."""
    is_long = len(value) >= _SHORTEST_PASS and not _MEASURE.fullmatch(value)
    return is_long and is_coined(value) and any(map(str.isalpha, value))


def _is_kept_secret(value: str) -> bool:
    return is_plausible_password(value) or (value.isdigit() and len(value) >= 4)


def _opens(text: str, match: re.Match[str]) -> bool:
    """Tell whether what something opens with is a code or a word, rather than a finger, a key, a page."""
    value = _trimmed(match, 2)
    if is_coined(value):
        return not is_placeholder(value)
    is_last = not text[match.start(2) + len(value) :].lstrip("\"'”’`»").startswith((" ", "-"))
    return (
        match.group("verb").lower().startswith("unlock")
        and is_last
        and value.lower() not in _WAYS
        and is_plausible_password(value)
    )
