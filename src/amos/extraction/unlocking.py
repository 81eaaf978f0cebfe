"""Tell which claims may hold a secret that no screen knows: by the shape of the value and what it is said of.

A run of digits is plain where it counts, measures, dates or numbers a known kind of thing.  Behind any other
noun, or where something is opened, entered or answered with it, it may be a code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from amos.patterns import pattern_of

SIGNS = pattern_of(r"\d{3}|\d\W\d|[!#$%^&*~|]\w")
"""In every value that mixes signs."""
_DIGITS = pattern_of(r"(?:(?:the|number|no\.?|nr\.?)\s)?[#*]?\d{3,12}[#*]?", re.IGNORECASE)
_YEAR = pattern_of(r"(?:19|20)\d\d")
_TURNED = pattern_of(r"(?<![\w.:/-])\d{1,3}(?:[-–]\d{1,3}|[ ,]{1,2}\d{1,3}(?!\d)){2,5}(?![\w:/.-])")
"""Turned at a dial: "14-32-6"."""
_GROUPS = pattern_of(
    r"(?<!\w)(?=[\w-]*\d[\w-]*)(?:(?=[A-Z0-9]*\d)(?=[A-Z0-9]*[A-Z])[A-Z0-9]{3,8}[- ]){1,7}[A-Z0-9]{3,8}(?!\w)"
)
_MADE_UP = pattern_of(r"(?<!\S)(?=\S*[^\W\d_])(?=\S*\d)(?=\S*\w[!#$%^&*~|]\w)(?!\S*://)[^\s,;@]{6,64}(?!\S)")
_CUT_OFF = pattern_of(r"[!#$%^&*~|?=_]\w|\.[^\W\d_]{2}")
"""Stands right behind a claim whose value ends within a run of signs."""
_WORD_ROW = pattern_of(r"(?:[a-zäöüß]{3,9}[ ,]{1,2}){4,23}[a-zäöüß]{3,9}")
_JOINING = frozenset(
    """
    the and for with that this are was has have you your not but from they were which when then than
    into over out all any our his her its who how why off too very more most less some near under about
    after before because until while since like just only also both
    """.split()
)
NUMBERED = frozenset(
    """
    room rooms flat apartment apt suite unit house home floor building block street road address
    postcode zip bus train tram line route flight platform gate terminal seat row desk table bay shelf
    stall plot exit locker badge plan extension phone number numbers mobile cell landline fax size score
    record height weight length width depth distance mileage odometer budget price rent salary cost
    deposit savings goal target steps calories year age birthday model version build firmware port ip
    channel station frequency population count followers id invoice order member membership employee
    student customer ticket tracking jersey licence license registration plate part serial page case
    reference booking reservation box limit quota speed altitude range ratio power wattage resolution
    income pay revenue turnover rate class course bib lane track section chapter verse level rank elo
    rating points balance capacity volume area hausnummer zimmer nummer postleitzahl buslinie größe
    linie numéro chambre taille habitación número talla
    """.split()
)
"""Words of properties whose value is a plain number."""
_LOCKED = frozenset(["locker"])
"""What has a number and may have a lock as well."""
_CODED = pattern_of(
    r"\b(?:zip|post(?:al)?|area|country|dialling|dialing|product|item|error|status|colou?r|course|booking|promo"
    r"|discount|voucher|airport|branch|currency|dress|source|tax|staff|employee) code$"
)
_OPENED = frozenset(
    """
    safe vault lock locks padlock lockbox keypad alarm login logon sign-in account wallet atm bank card
    debit credit wifi wi-fi wlan router sim voicemail two-factor 2fa mfa backup recovery unlock unlocks
    passcode password pin secret bitcoin crypto seed security access entry garage gate door doors combo
    combination tresor schloss konto tor tür haustür coffre cadenas porte compte fuerte candado puerta
    cuenta suitcase briefcase luggage intercom opener hint authenticator
    """.split()
)
"""What is opened, or opens: behind it no number is plain."""
_WORDS_NOUN = pattern_of(
    r"\b(?:words?|phrases?|seed|answers?|question|hint|pattern|combo|combination|key|keys|mnemonic|wallet"
    r"|backup|recovery|vault|wörter|satz|mots|palabras|frase)\b",
    re.IGNORECASE,
)
_BY_MEANS = pattern_of(
    r"\b(?:get(?:s|ting)?|logs?|logged|signs?|signed|lets?|buzz(?:es)?|comes?) (?:\w+ )?(?:in|into|onto)\b"
    r"[^.!?\n]{0,32}?\b(?:with|using|by typing|via)\b"
    r"|\b(?:komm(?:e|st|t|en)?|geh(?:e|st|t|en)?)\b[^.!?\n]{0,24}? mit \S+ (?:rein|hinein|auf)\b"
    r"|\b(?:entr(?:e|es|ez|er|o|as|ar)|acc[eé]d(?:e|es|o|er))\b[^.!?\n]{0,24}? (?:avec|con)\b"
    r"|\b(?:unlock(?:s|ed)?|disarm(?:s|ed)?|opens? (?:with|by)|punch(?:es)? in|key(?:s|ed)? in|types? in"
    r"|swipe[sd]?|taps? in|dials? in|entsperr(?:t|e|st|en)|déverrouill(?:e|er|ez)|desbloque(?:a|o|ar|an)"
    r"|öffnet (?:sich )?mit|s'ouvre avec|se abre con|unlock(?:ing)? (?:pattern|gesture|word|code))\b"
    r"|\b(?:lock|safe|vault|keypad|padlock)\b[^.!?\n]{0,40}\b(?:it|that)(?:'s| is| was) [#*]?\d{3,12}\b",
    re.IGNORECASE,
)
"""Something is opened or entered by something."""
_ENDS_IN_DIGITS = pattern_of(
    r"(\b(?:is|are|was|reads)\s|[=:])?\s{0,2}(?<!\w)[#*]?(\d{3,12})[#*]?$", re.IGNORECASE
)
_LONG_ROW = 8
"""Words."""
OPENERS = frozenset(
    """
    lock safe vault keypad padlock unlock unlocks unlocked unlocking disarm disarms disarmed punch
    punches key keys keyed type types tap taps dial dials swipe swiped swipes entsperrt entsperre
    entsperrst entsperren déverrouille déverrouiller déverrouillez desbloquea desbloqueo desbloquear
    desbloquean
    """.split()
)
"""One of them stands in every sentence that `enters`, or one of ENTRIES with one of MEANS behind it."""
ENTRIES = frozenset(
    """
    get gets getting log logs logged sign signs signed let lets buzz buzzes come comes komm komme kommst
    kommt kommen geh gehe gehst geht gehen entre entres entrez entrer entro entras entrar accede accedes
    accedo acceder accéder open opens öffnet ouvre abre
    """.split()
)
MEANS = frozenset("with using by via mit avec con".split())
_CODE_INSIDE = pattern_of(r"\b(?:with|to|at|on|by|of|is)\s[#*]?\d{3,12}[#*]?$")
_LISTED = frozenset(("preference", "possession", "allergy", "avoids", "diet"))


def enters(sentence: str) -> bool:
    """Tell whether a sentence says by what something is opened or entered."""
    return _BY_MEANS.search(sentence) is not None


def may_be_code(said: str, property_name: str | None, value: str | None) -> bool:
    """Tell whether a claim is of a value that may open something by the shape of both; said: its words."""
    text = value or said
    if SIGNS.search(text) is None:
        return False
    name = property_name or ""
    heads = frozenset((said.casefold() if value is None else name).split())
    is_opened = not _OPENED.isdisjoint(heads)
    is_numbered = not NUMBERED.isdisjoint(heads)
    if _MADE_UP.search(said) or (is_opened and (_CODE_INSIDE.search(text) or _TURNED.search(text))):
        return True
    if value is None:
        return _ends_in_code(said, is_opened=is_opened)
    if _DIGITS.fullmatch(text) is not None:
        return is_opened or not (is_numbered or _CODED.search(name) or _YEAR.fullmatch(text))
    if _TURNED.search(text) is not None:
        return is_opened or NUMBERED.isdisjoint(heads - _LOCKED)
    return _GROUPS.search(text) is not None and not is_numbered


def _ends_in_code(said: str, *, is_opened: bool) -> bool:
    """Tell whether a statement ends in a run of digits that it names, or that goes with what is opened."""
    ending = _ENDS_IN_DIGITS.search(said)
    if ending is None:
        return False
    return is_opened or (ending[1] is not None and _YEAR.fullmatch(ending[2]) is None)


def is_cut_off(following: str) -> bool:
    """Tell whether the text right behind a claim goes on with the signs of its value."""
    return _CUT_OFF.match(following) is not None


def is_row(said: str, property_name: str | None, value: str | None) -> bool:
    """Tell whether a claim's value is a row of words that nothing joins."""
    name, text = property_name or "", value or said
    if name in _LISTED:
        return False
    least = 4 if _WORDS_NOUN.search(name) else 6
    return any(
        len(row) >= least and _JOINING.isdisjoint(row) and (least == 4 or (name and "," not in text))
        for row in _rows(text)
    )


def holds_phrase(sentence: str) -> bool:
    """Tell whether a sentence about a phrase goes on in a long row of plain words."""
    return _WORDS_NOUN.search(sentence) is not None and any(
        len(row) >= _LONG_ROW and _JOINING.isdisjoint(row) for row in _rows(sentence)
    )


def _rows(text: str) -> Iterator[list[str]]:
    for row in _WORD_ROW.finditer(text):
        yield row.group().replace(",", " ").split()
