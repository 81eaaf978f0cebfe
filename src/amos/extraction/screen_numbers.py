"""Find payment cards (Luhn), IBANs (mod 97), numbers of accounts, people, documents; phones and ids stay."""

from __future__ import annotations

import re
from collections.abc import Iterator

from amos.extraction import screen_documents
from amos.extraction.screen_view import Hit
from amos.patterns import pattern_of
from amos.schemas.vocabulary import Reason

_DIGIT_RUN = pattern_of(r"(?<![\w.])[0-9]+(?:[ \-\u00a0][0-9]+)*(?![\w])")
_GROUP = pattern_of(r"[0-9]+")
_OTHER_NUMBER = pattern_of(
    r"order|track|invoice|ticket|imei|isbn|parcel|shipment|reference|serial|timestamp|bestell|rechnung"
    r"|commande|pedido",
    re.IGNORECASE,
)
_CARD_WORD = pattern_of(r"card|visa|master|amex|karte|tarjeta|carte|cvv|cvc|exp", re.IGNORECASE)
_CARD_LENGTHS = range(13, 20)
_LONGEST_MIXED_RUN = 32  # digits: one card with expiry and check number beside it
_WINDOW = 40
_SHAPES = {
    (4, 4, 4, 4),
    (4, 6, 5),
    (4, 6, 4),
    (4, 4, 4, 4, 3),
    (4, 4, 4, 1),
    (6, 13),
    (4, 4, 5),
    (4, 4, 4, 2),
}
_NETWORKS = (
    # (lowest prefix, highest prefix, lengths), from the public issuer ranges
    (4, 4, {13, 16, 19}),
    (51, 55, {16}),
    (2221, 2720, {16}),
    (34, 34, {15}),
    (37, 37, {15}),
    (6011, 6011, {16, 19}),
    (644, 659, {16, 19}),
    (3528, 3589, {16, 17, 18, 19}),
    (62, 62, {16, 17, 18, 19}),
    (36, 36, {14}),
    (38, 39, {14}),
    (300, 305, {14}),
)
_MAESTRO = ((50, 50), (56, 58), (63, 63), (67, 69))

_IBAN_START = pattern_of(r"(?<![A-Za-z0-9])[A-Za-z]{2}[0-9]{2}(?=[ \-]?[A-Za-z0-9]{4})")
_IBAN_CHARACTER = pattern_of(r"[ \-]?([A-Za-z0-9])")
_COUNTRIES = """
    AD:24 AE:23 AL:28 AT:20 AZ:28 BA:20 BE:16 BG:22 BH:22 BR:29 BY:28 CH:21 CR:22 CY:28 CZ:24 DE:22
    DK:18 DO:28 EE:20 EG:29 ES:24 FI:18 FO:18 FR:27 GB:22 GE:22 GI:23 GL:18 GR:27 GT:28 HR:21 HU:28
    IE:22 IL:23 IQ:23 IS:26 IT:27 JO:30 KW:30 KZ:20 LB:28 LC:32 LI:21 LT:20 LU:20 LV:21 LY:25 MC:27
    MD:24 ME:22 MK:19 MR:27 MT:31 MU:30 NL:18 NO:15 PK:24 PL:28 PS:29 PT:25 QA:29 RO:24 RS:22 SA:24
    SC:31 SE:24 SI:19 SK:24 SM:27 ST:25 SV:28 TL:23 TN:24 TR:26 UA:29 VA:22 VG:24 XK:20
"""
_IBAN_LENGTHS = dict(pair.split(":") for pair in _COUNTRIES.split())

_LINK = r"(?:\s{0,2}[:=#]|\s(?:is|was|ist|es|est|no\.?|nr\.?))?(?:\s(?:now|still))?\s{0,2}[:#]?\s{0,2}"
_NAMED_NUMBERS = (
    pattern_of(
        rf"(?<!\w)(?:(?:bank |checking |current |savings |giro )?account (?:number|num|no\.?|nr\.?|#)"
        rf"|acct\.?(?: no\.?)?"
        rf"|kontonummer|konto-?nr\.?|num[ée]ro de compte|n[úu]mero de cuenta|routing (?:number|no\.?)"
        rf"|aba number)"
        rf"{_LINK}([0-9](?:[ -]?[0-9]){{5,16}})(?![\w-])",
        re.IGNORECASE,
    ),
    pattern_of(
        rf"(?<!\w)(?:sort[ -]?code|bankleitzahl"
        rf"|blz){_LINK}([0-9]{{2}}[ -]?[0-9]{{2}}[ -]?[0-9]{{2,4}})(?![\w-])",
        re.IGNORECASE,
    ),
)
"""Numbers of bank accounts by what people call them."""
_PERSONAL_NUMBERS = (
    pattern_of(r"(?<![\w.+-])(?!000|666|9[0-9]{2})[0-9]{3}-(?!00)[0-9]{2}-(?!0000)[0-9]{4}(?![\w-])"),
    pattern_of(
        rf"(?<!\w)(?:ssn|social(?: security)?(?: (?:number"
        rf"|no\.?))?){_LINK}([0-9]{{3}} ?[0-9]{{2}} ?[0-9]{{4}})(?![\w-])",
        re.IGNORECASE,
    ),
)
"""Social security numbers: by their shape, or by name."""
PATTERNS = (
    pattern_of(r"[0-9](?:[ \-\xa0]?[0-9]){12}"),
    _IBAN_START,
    *_NAMED_NUMBERS,
    pattern_of("|".join(pattern.pattern for pattern in _PERSONAL_NUMBERS), re.IGNORECASE),
    screen_documents.PATTERN,
)
"""What every find contains."""


def find_numbers(text: str) -> Iterator[Hit]:
    """Yield the numbers of cards, accounts, people and their documents in `text`, in code points."""
    yield from screen_documents.find_documents(text)
    for rule, patterns in (("account_number", _NAMED_NUMBERS), ("personal_number", _PERSONAL_NUMBERS)):
        for pattern in patterns:
            for match in pattern.finditer(text):
                yield Hit(*match.span(pattern.groups), rule, Reason.SECRET_MATERIAL_DETECTED)
    for match in _DIGIT_RUN.finditer(text):
        for start, end in _cards(text, match.start(), match.end()):
            yield Hit(start, end, "card_number", Reason.SECRET_MATERIAL_DETECTED)
    for match in _IBAN_START.finditer(text):
        iban_end = _iban_end(text, match.start())
        if iban_end is not None:
            yield Hit(match.start(), iban_end, "iban", Reason.SECRET_MATERIAL_DETECTED)


def _cards(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the card ranges inside the digit run [start, end)."""
    groups = [match.span() for match in _GROUP.finditer(text, start, end)]
    digit_count = sum(last - first for first, last in groups)
    if digit_count < _CARD_LENGTHS.start:
        return
    around = text[max(0, start - _WINDOW) : start] + text[end : end + _WINDOW]
    has_card_word = _CARD_WORD.search(around) is not None
    if _OTHER_NUMBER.search(around[:_WINDOW]) and not has_card_word:
        return
    if digit_count in _CARD_LENGTHS and is_card(_digits(text, groups), has_card_word=has_card_word):
        yield start, end
    elif has_card_word or digit_count <= _LONGEST_MIXED_RUN:
        yield from _card_windows(text, groups, has_card_word=has_card_word)


def _card_windows(
    text: str, groups: list[tuple[int, int]], *, has_card_word: bool
) -> Iterator[tuple[int, int]]:
    """Yield ranges of neighbouring groups that are shaped like a card and pass its checks."""
    first = 0
    while first < len(groups):
        last = _window_end(text, groups, first, has_card_word=has_card_word)
        if last is None:
            first += 1
            continue
        yield groups[first][0], groups[last - 1][1]
        first = last


def _window_end(text: str, groups: list[tuple[int, int]], first: int, *, has_card_word: bool) -> int | None:
    digit_count = 0
    shape: tuple[int, ...] = ()
    for last in range(first, len(groups)):
        size = groups[last][1] - groups[last][0]
        digit_count += size
        shape = (*shape, size)
        if digit_count >= _CARD_LENGTHS.stop:
            return None
        is_shaped = len(shape) == 1 or shape in _SHAPES
        if is_shaped and is_card(_digits(text, groups[first : last + 1]), has_card_word=has_card_word):
            return last + 1
    return None


def _digits(text: str, groups: list[tuple[int, int]]) -> str:
    return "".join(text[first:last] for first, last in groups)


def is_card(digits: str, *, has_card_word: bool = False) -> bool:
    """Tell whether `digits` has an issuer's prefix and length and a valid Luhn digit."""
    if len(digits) not in _CARD_LENGTHS or len(set(digits)) == 1:
        return False
    known = any(
        low <= int(digits[: len(str(low))]) <= high and len(digits) in lengths
        for low, high, lengths in _NETWORKS
    )
    if not known and has_card_word:
        known = any(low <= int(digits[:2]) <= high for low, high in _MAESTRO)
    return known and has_luhn_digit(digits)


def has_luhn_digit(digits: str) -> bool:
    """Tell whether the last digit is the Luhn check digit of the others."""
    total = 0
    for place, digit in enumerate(reversed(digits)):
        doubled = int(digit) * (1 + place % 2)
        total += doubled - 9 * (doubled > 9)
    return total % 10 == 0


def _iban_end(text: str, start: int) -> int | None:
    """Return where the valid IBAN that starts at `start` ends, or None."""
    length = int(_IBAN_LENGTHS.get(text[start : start + 2].upper(), "0"))
    letters: list[str] = []
    at = start
    while len(letters) < length:
        match = _IBAN_CHARACTER.match(text, at)
        if match is None:
            return None
        letters.append(match.group(1).upper())
        at = match.end()
    if not length or text[at : at + 1].isalnum():
        return None
    turned = "".join(letters[4:] + letters[:4])
    return at if int("".join(str(int(letter, 36)) for letter in turned)) % 97 == 1 else None
