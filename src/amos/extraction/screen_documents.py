"""Find the numbers of identity documents by the document they are said to belong to.

No country's own shape is asked for: a number is what mixes five digits or more, and is no date.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from amos.extraction.screen_view import Hit
from amos.patterns import pattern_of
from amos.schemas.vocabulary import Reason

RULE = "identity_document"
_DOCUMENT = (
    r"(?:passports?|(?:driv(?:er['’]?s?|ing)|operator['’]?s) (?:licen[cs]es?|permits?)|licen[cs]es? to drive"
    r"|national (?:id|identity)|(?:id|identity|identification) (?:cards?|documents?)"
    r"|residen(?:ce|t|cy) (?:permits?|cards?)|green ?cards?"
    r"|national insurance|social (?:security|insurance)|tax(?:payer)? id"
    r"|reisepass(?:es)?|(?:mein|dein|unser|sein|ihr)\w{0,2} pass(?:es)?|(?:personal)?ausweis(?:es)?"
    r"|f[üu]hrerschein(?:s|es)?|aufenthalts(?:titel|erlaubnis|karte)s?"
    r"|passeports?|permis de conduire|carte (?:nationale )?d['’]identit[ée]|titres? de s[ée]jour"
    r"|s[ée]curit[ée] sociale"
    r"|pasaportes?|(?:permiso|carn[ée]t?|licencia) de conducir|tarjeta de residencia|seguridad social"
    r"|(?:documento|carn[ée]t?|c[ée]dula) (?:nacional )?de (?:identidad|ciudadan[íi]a|extranjer[íi]a))"
)
_NUMBERED = (
    r"(?:(?:reise)?pass-?(?:nummer|nr\.?)|(?:personal)?ausweis-?(?:nummer|nr\.?)"
    r"|f[üu]hrerschein-?(?:nummer|nr\.?)|(?:sozial|renten)versicherungs-?(?:nummer|nr\.?)"
    r"|steuer-?(?:id|identifikationsnummer|nummer)"
    r"|(?-i:SSN|NINO|DNI|NIE|NIF|CURP|CNI)|(?:mi|tu|su|el) (?:dni|nie|nif))"
)
"""Names that already say that a number follows; small, the short ones are words of other languages."""
_NUMBER = r"(?:number|num\.?|no\.?|nr\.?|n[°º]\.?|nummer|num[ée]ro|n[úu]mero|#)"
_OF = (
    r"(?: (?:of|for|on|in|de|du|des|del|von|vom|auf))?"
    r"(?: (?:my|our|the|his|her|mein\w{0,2}|unser\w{0,2}|d(?:er|es|em)|mon|ma|notre|la|le|mi|nuestr[oa]|el))?"
)
_IS = r"(?: ?[:=#(]| (?:is|was|are|ist|war|lautet|est|es|era|now|the|le|la|el|die|das))*"
_OTHER_THING = (
    r"(?! (?:office|control|photo|renewal|appointment|application|fee|agency|test|exam|check|desk|booking"
    r"|centre|center|order|line|office['’]s)\b)"
)
_FILL = r"(?:[^\d\n.!?;]|\.(?![ \n])){0,40}?(?:[\s:=#(]|\b)"
_VALUE = (
    r"(?P<number>(?-i:(?:[A-Z]{1,3} )?[A-Z]{0,3}[0-9][A-Z0-9]{0,8}(?:[ ./-][0-9][A-Z0-9]{0,8}){0,7}"
    r"(?:(?<= [0-9]{2}) [A-Z]|-[A-Z])?)"
    r"|(?=(?:[A-Za-z./-]{0,12}[0-9]){5})[A-Za-z0-9]+(?:[./-][A-Za-z0-9]+){0,4})"
    r"(?![\w%€$£]|[.,:/-][0-9]"
    r"| ?(?:euros?|eur|dollars?|usd|pounds?|gbp|francs?|pesos?|people|person\w{1,3}|personnes|leute|times"
    r"|steps|metres?|meters?|km|miles)\b)"
)
"""Groups as they are printed, or one run of letters and digits."""
_SAID = (
    pattern_of(
        rf"(?<!\w)(?:{_DOCUMENT}['’]?s?(?: \w{{2,8}}){{0,2}} ?{_NUMBER}|{_NUMBER}{_OF} {_DOCUMENT}"
        rf"|{_NUMBERED})(?!\w){_FILL}"
        rf"(?<![\w.+€$£-]){_VALUE}",
        re.IGNORECASE,
    ),
    pattern_of(rf"(?<!\w){_DOCUMENT}(?!\w){_OTHER_THING}{_IS}:? ?(?<![\w.+€$£-]){_VALUE}", re.IGNORECASE),
    pattern_of(
        rf"(?<![\w.+€$£-]){_VALUE},? (?:is|was|ist|est|es|as){_OF}(?: \w{{2,12}})? "
        rf"(?:{_DOCUMENT}|{_NUMBERED})(?!\w){_OTHER_THING}",
        re.IGNORECASE,
    ),
)
_DATE = pattern_of(
    r"[0-9]{1,4}(?P<mark>[./-])[0-9]{1,2}(?P=mark)[0-9]{1,4}|(?:19|20)[0-9]{2}[ /-]{1,3}(?:19|20)[0-9]{2}"
)
_ANOTHER = pattern_of(
    r"order|track|invoice|ticket|booking|reference|flight|phone|\b(?:call|tel|fax|postcode|zip|version)"
    r"|bestell|rechnung|buchung|flug|commande|r[ée]servation|pedido|reserva|vuelo",
    re.IGNORECASE,
)
"""What a number behind it belongs to instead."""
_CORES = tuple(
    """
    pass pasaport licen permi identi national card document tax green insurance social ausweis schein
    aufenthalt titre curit seguridad conducir residen ciudadan extranjer versicherung steuer
    ssn nino dni nie nif curp cni
    """.split()
)
"""What every name of a document holds."""
_DIGIT = pattern_of("[0-9]")
_FEWEST_DIGITS, _MOST_SIGNS = 5, 20
PATTERN = pattern_of(
    rf"(?:{_DOCUMENT}|{_NUMBERED})[^\n]{{0,80}}?[0-9]|[0-9][^\n]{{0,80}}?(?:{_DOCUMENT}|{_NUMBERED})",
    re.IGNORECASE,
)
"""What every find contains."""


def find_documents(text: str) -> Iterator[Hit]:
    """Yield the numbers of passports, licences and identity cards in `text`, in code points."""
    if _DIGIT.search(text) is None:
        return
    lowered = text.lower()
    if not any(core in lowered for core in _CORES):
        return
    for pattern in _SAID:
        for match in pattern.finditer(text):
            before = text[match.start() : match.start("number")]
            if _is_number(match["number"]) and _ANOTHER.search(before) is None:
                yield Hit(*match.span("number"), RULE, Reason.SECRET_MATERIAL_DETECTED)


def _is_number(value: str) -> bool:
    signs = [sign for sign in value if sign.isalnum()]
    digits = sum(map(str.isdigit, signs))
    return digits >= _FEWEST_DIGITS and len(signs) <= _MOST_SIGNS and _DATE.fullmatch(value) is None
