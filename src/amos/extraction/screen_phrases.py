"""Find secrets that people put into words: "my password is …", "the code for the door goes …"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from amos.extraction.screen_nouns import DIGIT_NOUNS, KEY_NOUNS, SPACELESS_NOUNS, WORD_NOUNS, find_nouns
from amos.extraction.screen_view import Hit
from amos.patterns import pattern_of
from amos.schemas.vocabulary import Reason

_KIND_OF = (
    r"(?:\s{1,2}(?:wi-?fi|wlan|admin|root|e?-?mail|internet|router|routeur|nuev[ao]|actual|antigu[ao]"
    r"|maestr[ao]"
    r"|nouveau|actuel|secr[eè]te?))?"
)
"""A word behind the noun that says which: "mot de passe wifi"."""
_OF_WHAT = (
    r"(?:\s{1,3}(?:for|to|of|on|at|in|from|with|für|fuer|fürs|zum|zur|vom|beim|im|am|meine[rs]|unsere[rs]"
    r"|seine[rs]|ihre[rs]|der|des|de|del|para|pour|du|da|do|that|which|(?:that |which )?(?:they|we|i|you|he"
    r"|she))"
    r"(?:\s{1,3}[^\s:=.,;!?]{1,24}){1,6}?)?"
)
_BE = (
    r"(?:is|was|are|goes|reads|remains|equals|will be|should be|has to be|ist|lautet|war|heißt|heisst|es|est"
    r"|c'est|c’est|era|é|è|je|jest|är|er|это)(?!\w)"
)
_SINCE = (
    r"(?:\s{1,2}(?:now|still|just|simply|currently|actually|jetzt|nun|ahora|maintenant|agora|el|la|le|die"
    r"|der|das)"
    r"(?!\w))?(?:\s{1,2}(?:seit|since|ab|bis|until|as of|depuis|desde)\s{1,2}[^\s:=.,;!?]{1,16})?"
)
_LINK = pattern_of(
    rf"[\"'’”]?(?:\s{{0,2}}\([^()\n]{{1,40}}\))?{_KIND_OF}{_OF_WHAT}(?:,\s(?:by the way|btw|fyi|again),)?"
    r"(?:\s{0,3}(?::=|->|=>|→|=|:|：|\|(?=\s)|-(?=\s)|–|—)|\s{0,3}(?:是|为|為|は)"
    r"|\s{1,3}(?:(?:was|is|has been|got|had been|gets) )?(?:now )?(?:changed|reset|set|switched|updated"
    r"|rotated) to(?!\w)"
    rf"|(?:'s|,\s{{1,2}}(?:c['’]est|it['’]s|it is|that['’]s|es ist|es)(?!\w)"
    rf"|\s{{1,3}}{_BE}){_SINCE}(?:\s{{0,2}}:)?)\s{{0,3}}",
    re.IGNORECASE,
)
_PLAIN_LINK = pattern_of(r"(?:\s{1,2}[^\W\d_]{2,16}){0,4}\s{0,2}[:=]\s{0,2}|\s{1,2}")
_CHANGED_TO = pattern_of(
    r"(?:\s{1,2}(?:for|of|on)(?:\s{1,2}[^\s:=.,;!?]{1,24}){1,4}?)?\s{1,2}(?:to|auf|a|en|à)\s{1,2}",
    re.IGNORECASE,
)
_CHANGING = pattern_of(
    r"(?:chang|set|reset|updat|switch|rotat|änder|geänd|setz|cambi|pon|met)\w*(?:\s+\S{1,20}){0,5}\s*$",
    re.IGNORECASE,
)
_NAMED_BEFORE = pattern_of(
    r"(?<!\S)[\"'“‘`«]?([^\s\"'“‘`«]{4,64}?)[\"'”’`»]?,?\s{1,3}(?:is|was|as|ist|als|es|como|est"
    r"|comme)(?:\s{1,3}[^\s.,;:!?]{1,16}){0,4}\s{0,3}$",
    re.IGNORECASE,
)
_TOKEN = pattern_of(r"\S{1,256}")
_KEY = pattern_of(r"[^\s,;\"'<>&]{8,256}")
_QUOTES = {'"': '"', "'": "'", "`": "`", "“": "”", "‘": "’", "«": "»", "„": "“", "‚": "‘", "「": "」"}
_PIN = pattern_of(r"[#*]?[0-9](?:[ \-.]?[0-9]){2,15}[#*]?(?![\w%])")
_SHORT_CODE = pattern_of(r"[#*]?[A-Za-z0-9#*\-]{4,16}(?![\w])")
_CODE_LIST = pattern_of(
    r"(?=[A-Za-z\-]{0,16}[0-9])[A-Za-z0-9\-]{4,24}(?:[,;\s]{1,4}(?:and |und |y "
    r"|et )?(?=[A-Za-z\-]{0,16}[0-9])[A-Za-z0-9\-]{4,24}(?![\w]))*"
)
NUMBER_WORDS = pattern_of(
    r"(?:(?:zero|oh|one|two|three|four|five|six|seven|eight|nine|null|eins|zwei|drei|vier|fünf|sechs"
    r"|sieben|acht|neun|cero|uno|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|deux|trois|quatre|cinq"
    r"|sept|huit|neuf)(?:[\s,\-]{1,2}|\b)){3,12}",
    re.IGNORECASE,
)
_CODE = pattern_of(
    r"[A-Za-z_]\w*(?:\.\w+)*[(\[].*|(?:os|self|this|process|env|config|cfg|settings|args|params|secrets"
    r"|request|req|user|vault)(?:\.\w+)+.*"
)
_GUARDS = pattern_of(
    r"(?:front )?(?:door|gate|alarm|safe|vault|garage|keypad|lock|lockbox|entry"
    r"|building)[ -](?:pass)?codes?$",
    re.IGNORECASE,
)
"""Nouns that a code may follow without a word between: "gate code 7741"."""
_BARE_KEYS = pattern_of(
    r"(?:factory|default|activation|bitlocker|wi-?fi|wlan|network|product|licen[cs]e)[ -_]?keys?$",
    re.IGNORECASE,
)
"""Keys that stand right behind their name."""
_TURNS = pattern_of(
    r"[0-9]{1,2} (?:left|right|links|rechts)(?:,? (?:then |dann )?[0-9]{1,2} (?:left|right|links"
    r"|rechts)){1,4}",
    re.IGNORECASE,
)
_NEXT_WORD = pattern_of(r"[ \t]{1,2}(?=\S)")
_PLAIN_WORD = pattern_of(r"[^\W\d_]+(?:['’\-][^\W\d_]+)*")
_UNIT = pattern_of(
    r"\s?(?:%|characters?|chars?|letters?|digits?|symbols?|words?|bytes?|bits?|years?|months?|weeks?"
    r"|days?|hours?|minutes?|times|dollars?|euros?|pounds?|cents?|[€$£]|mm|cm|km|kg|zeichen|stellen"
    r"|caracteres|caractères)(?![\w])",
    re.IGNORECASE,
)
_CLAUSE_TEXT = """
    and but for so because if when which that to at on in please or then since with of from und aber
    für oder y pero para et mais pour as not by unless until before after i you we it
"""
# what is said about a password rather than the password itself
_REMARK_TEXT = """
    a an the my your our his her their its this that these those no not never always too very so
    such quite rather really pretty somewhat also already still now just only being been be it in on
    at under inside behind with for from by of to as if when where what which who how why there here
    same different identical similar unique common wrong right correct incorrect invalid valid weak
    strong stronger bad good better best fine ok okay safe unsafe secure insecure secret private
    public shared long short longer shorter old new older newer easy hard difficult simple complex
    complicated guessable missing empty blank unset unknown known lost gone ready due needed
    required mandatory optional necessary important sensitive case-sensitive visible invisible
    hidden plain cleartext red green blue yellow white black grey gray orange purple pink brown bold
    large big small something anything nothing someone everything none null nil undefined true false
    yes maybe probably likely sure please enter see ask click contact check use try reset change
    available unavailable active inactive impossible terrible awful annoying stupid great nice cool
    about between like unlike more less most least one ones up down off out over string str bytes
    int bool optional[str] any void self object field value prompt input text type saved stored kept
    held set sent shown told written known broken stolen forgotten hashed encrypted expired revoked
    rejected accepted protected managed provided supplied handled generated rotated changed reset
    redacted masked falsch richtig abgelaufen zu sehr nicht kein keine vergessen sicher unsicher
    geheim neu alt im auf der die das incorrecta correcta demasiado muy una un la el los en segura
    secreta nueva vieja mal incorrect trop très oublié perdu nouveau ancien le les dans sur sûr bon
    mauvais non ne pas
"""
# of these, the words that a pass phrase may just as well begin with
_OPENING_TEXT = """
    correct incorrect wrong right valid weak strong good bad better best fine safe secure secret private
    public shared long short old new older newer easy hard simple complex empty blank lost gone ready hidden
    plain red green blue yellow white black grey gray orange purple pink brown bold large big small true
    great nice cool same different unique common visible invisible important sensitive unknown known broken
    stolen forgotten terrible awful stupid sure happy
"""
_CLAUSE_WORDS = frozenset(_CLAUSE_TEXT.split())
_OPENING_WORDS = frozenset(_OPENING_TEXT.split())
_NOT_VALUES = frozenset(_REMARK_TEXT.split())
_TYPE_ENDINGS = ("ed", "ing", "able", "ible", "ly")
_PLACEHOLDER = pattern_of(
    r"[*x•.…#_\-\s\x1a]+|<[^>]*>?|\[[^\]]*\]?|\{\{.*|\$\{?\w+.*|%\w+%|%\(.*|(?:your|my|the|some|example"
    r"|dummy|fake|placeholder|redacted|change[_\-]?me|insert|todo|xxx+)(?:[_\-].*|(?:password|token|key"
    r"|secret|here))?",
    re.IGNORECASE,
)
_BEFORE = 100
PATTERNS = (
    pattern_of(f"{WORD_NOUNS}|{DIGIT_NOUNS}|{SPACELESS_NOUNS}", re.IGNORECASE),
    pattern_of(f"(?:{KEY_NOUNS})(?:{_LINK.pattern})(?:[\"'`“‘«„‚「]|{_KEY.pattern})", re.IGNORECASE),
)
"""What every find contains."""
_SHORTEST_WORD = 4
_SHORTEST_KEY = 8
_MOST_WORDS = 24
_FEWEST_WORDS = 3


def find_phrases(text: str) -> Iterator[Hit]:
    """Yield the value of each phrase that gives a secret away, in code points."""
    for match in find_nouns(text):
        found = _value_after(text, match) or _value_before(text, match)
        if found is not None:
            yield Hit(*found, "spoken_secret", Reason.SECRET_MATERIAL_DETECTED)


def is_placeholder(value: str) -> bool:
    """Tell whether `value` only marks the place of a secret: `$TOKEN`, `<password>`, `****`."""
    return _PLACEHOLDER.fullmatch(value) is not None


def is_plausible_password(value: str) -> bool:
    """Tell whether `value` can be a password rather than a remark about one."""
    if len(value) < _SHORTEST_WORD or is_placeholder(value):
        return False
    return is_coined(value) or not _is_remark(value)


def is_coined(token: str) -> bool:
    """Tell whether `token` looks made up: digits, symbols or inner capitals among letters."""
    if token.startswith(("http://", "https://")) or is_placeholder(token):
        return False
    if any(map(str.isdigit, token)):
        return len(token) >= _SHORTEST_WORD
    core = token.rstrip("!?")
    return len(core) >= _SHORTEST_WORD and (
        any(sign in core for sign in "!@#$%^&*+=~|_") or any(map(str.isupper, core[1:])) is not core.isupper()
    )


def _is_remark(word: str) -> bool:
    lowered = word.lower()
    return lowered in _NOT_VALUES or lowered.endswith(_TYPE_ENDINGS)


def _value_after(text: str, noun: re.Match[str]) -> tuple[int, int] | None:
    """Return the range of the value that follows `noun`, or None."""
    kind = noun.lastgroup or "word"
    link = _LINK.match(text, noun.end())
    if link is not None:
        if noun.group().lower().startswith(("recovery code", "backup code")):
            return _code_list_at(text, link.end())
        return _value_at(text, link.end(), kind)
    changed = _CHANGED_TO.match(text, noun.end())
    if changed is not None and _CHANGING.search(text[max(0, noun.start() - _BEFORE) : noun.start()]):
        return _coined_at(text, changed.end(), kind)
    plain = _PLAIN_LINK.match(text, noun.end())
    if plain is None:
        return None
    if noun.group().lower().startswith(("cvv", "cvc")) or _GUARDS.match(noun.group()):
        return _code_at(text, plain.end())
    is_bare = kind == "word" or _BARE_KEYS.match(noun.group()) is not None
    return _mixed_at(text, plain.end()) if is_bare else None


def _value_at(text: str, at: int, kind: str) -> tuple[int, int] | None:
    quoted = _quoted_at(text, at)
    if quoted is not None:
        return quoted if kind != "digit" or any(map(str.isdigit, text[slice(*quoted)])) else None
    if kind == "digit":
        return _code_at(text, at)
    if kind == "key":
        return _key_at(text, at)
    return _words_at(text, at)


def _quoted_at(text: str, at: int) -> tuple[int, int] | None:
    """Return the range inside the quotation marks that open at `at`, if it names a value."""
    closing = _QUOTES.get(text[at : at + 1])
    end = text.find(closing, at + 1, at + 130) if closing else -1
    if end < at + 3 or is_placeholder(text[at + 1 : end]):
        return None
    return at + 1, end


def _code_at(text: str, at: int) -> tuple[int, int] | None:
    """Return the range of a numeric or short mixed code at `at`."""
    for pattern in (_TURNS, _PIN, NUMBER_WORDS):
        match = pattern.match(text, at)
        if match is not None and not _UNIT.match(text, match.end()):
            return at, at + len(match.group().rstrip(" ,-"))
    match = _SHORT_CODE.match(text, at)
    return match.span() if match is not None and _has_letter_and_digit(match.group()) else None


def _code_list_at(text: str, at: int) -> tuple[int, int] | None:
    """Return the range of several codes in a row at `at`."""
    match = _CODE_LIST.match(text, at)
    return match.span() if match is not None else None


def _key_at(text: str, at: int) -> tuple[int, int] | None:
    match = _KEY.match(text, at)
    if match is None or _CODE.match(match.group()):
        return None
    token = match.group().rstrip(".:)]}”’»…")
    is_key = len(token) >= _SHORTEST_KEY and _has_letter_and_digit(token) and is_coined(token)
    return (at, at + len(token)) if is_key else None


def _coined_at(text: str, at: int, kind: str) -> tuple[int, int] | None:
    quoted = _quoted_at(text, at)
    if quoted is not None:
        return quoted
    if kind == "digit":
        return _code_at(text, at)
    span = _token_at(text, at)
    return span if span is not None and is_coined(text[slice(*span)]) else None


def _mixed_at(text: str, at: int) -> tuple[int, int] | None:
    span = _token_at(text, at)
    if span is None or span[1] - span[0] < _SHORTEST_WORD + 2:
        return None
    token = text[slice(*span)]
    return span if _has_letter_and_digit(token) and is_coined(token) else None


def _token_at(text: str, at: int) -> tuple[int, int] | None:
    """Return the unbroken run at `at` without the punctuation around it."""
    match = _TOKEN.match(text, at)
    if match is None or _CODE.match(match.group()):
        return None
    token = match.group()
    start = at + len(token) - len(token.lstrip("([{<"))
    end = at + len(token.rstrip(".,;:)]}>\"'”’»…"))
    return (start, end) if end > start else None


def _words_at(text: str, at: int) -> tuple[int, int] | None:
    """Return the range of a password at `at`: one made-up run, or plain words to the clause's end."""
    span = _token_at(text, at)
    if span is None:
        return None
    token = text[slice(*span)]
    if is_coined(token):
        return None if token.isdigit() and _UNIT.match(text, span[1]) else span
    if is_placeholder(token) or not _PLAIN_WORD.fullmatch(token.rstrip("!?")):
        return None
    word = token.rstrip("!?")
    if word.lower() in _OPENING_WORDS and span[1] - span[0] == len(word):
        return _several_words(text, span)
    return None if _is_remark(word) or len(token) < _SHORTEST_WORD - 1 else _clause_words(text, span)


def _several_words(text: str, first: tuple[int, int]) -> tuple[int, int] | None:
    """Return the clause from an adjective on if it is a run of words such as a pass phrase, no remark."""
    start, end = _clause_words(text, first)
    words = text[start:end].split()
    rest = [word.lower() for word in words[1:]]
    is_phrase = len(words) >= _FEWEST_WORDS and all(
        _PLAIN_WORD.fullmatch(word) and (word in _OPENING_WORDS or word not in _NOT_VALUES) for word in rest
    )
    return (start, end) if is_phrase else None


def _clause_words(text: str, first: tuple[int, int]) -> tuple[int, int]:
    """Extend a plain first word over the words that follow it in the clause."""
    start, end = first
    for _ in range(_MOST_WORDS - 1):
        following = _NEXT_WORD.match(text, end)
        span = _token_at(text, following.end()) if following else None
        if span is None or following is None or span[0] != following.end():
            break
        word = text[slice(*span)]
        if word.lower() in _CLAUSE_WORDS:
            break
        end = span[1]
        if text[end : end + 1] in set(".,;:"):
            break
    return start, end


def _value_before(text: str, noun: re.Match[str]) -> tuple[int, int] | None:
    """Return the range of a made-up value in front of "… is my password", or None."""
    if noun.lastgroup not in {"word", "digit"}:
        return None
    begin = max(0, noun.start() - _BEFORE)
    match = _NAMED_BEFORE.search(text[begin : noun.start()])
    if match is None or not is_coined(match.group(1)) or is_placeholder(match.group(1)):
        return None
    return begin + match.start(1), begin + match.end(1)


def _has_letter_and_digit(token: str) -> bool:
    return any(map(str.isdigit, token)) and any(map(str.isalpha, token))
