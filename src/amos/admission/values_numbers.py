"""Read numbers exactly, whatever their separators; write them one way."""

from __future__ import annotations

import re
from fractions import Fraction

from amos.schemas.calendar import NUMBERS

LONGEST_NUMBER = 40  # characters
_GROUPED = re.compile(r"\d{1,3}(?:([ ,'\u202f])\d{3})(?:\1\d{3})*(?:\.\d+)?")
_GROUPED_BY_DOT = re.compile(r"\d{1,3}(?:\.\d{3})+,\d+")
_POINT = re.compile(r"\d+(?:\.\d+)?|\.\d+")
_COMMA = re.compile(r"\d+,\d{1,2}|\d+,\d{4,}")
_SCALES = {"k": 1_000, "thousand": 1_000, "million": 10**6, "mio": 10**6, "billion": 10**9}
_SCALED = re.compile(r"(.*\d) ?(k|thousand|million|mio|billion)")
_NUMBER_WORDS = {word: number for word, number in NUMBERS.items() if word not in {"a", "an"}}
_PERCENT = re.compile(r"(.+?) ?(?:%|percent|per cent|pct|prozent|pour cent|por ciento)")


def read_number(folded: str) -> Fraction | None:
    """Return the number that folded text states, or None.

    Commas, spaces and apostrophes group thousands; a lone comma before one, two or more than
    three digits is a decimal comma; a lone point is a decimal point.  `k`, "million" and
    single number words count.
    """
    text = folded.strip()
    if not text or len(text) > LONGEST_NUMBER:
        return None
    if text in _NUMBER_WORDS:
        return Fraction(_NUMBER_WORDS[text])
    sign = -1 if text[0] == "-" else 1
    text = text.lstrip("+-") if text[0] in "+-" else text
    scaled = _SCALED.fullmatch(text)
    if scaled is not None:
        number = _digits(scaled.group(1))
        return None if number is None else sign * number * _SCALES[scaled.group(2)]
    number = _digits(text)
    return None if number is None else sign * number


def _digits(text: str) -> Fraction | None:
    if not text.isascii():
        text = text.replace("\u202f", " ")
    if _POINT.fullmatch(text):
        return Fraction(text)
    if _GROUPED.fullmatch(text):
        return Fraction(re.sub(r"[ ,'\u202f]", "", text))
    if _GROUPED_BY_DOT.fullmatch(text):
        return Fraction(text.replace(".", "").replace(",", "."))
    return Fraction(text.replace(",", ".")) if _COMMA.fullmatch(text) else None


def read_percent(folded: str) -> Fraction | None:
    """Return the number of a percentage, or None."""
    match = _PERCENT.fullmatch(folded) if len(folded) <= LONGEST_NUMBER else None
    return read_number(match.group(1)) if match is not None else None


def write_number(number: Fraction) -> str:
    """Return the one decimal form of `number`; a fraction where no finite decimal exists."""
    twos = fives = 0
    rest = number.denominator
    while rest % 2 == 0:
        rest, twos = rest // 2, twos + 1
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    if rest != 1:
        return f"{number.numerator}/{number.denominator}"
    places = max(twos, fives)
    scaled = abs(number.numerator) * 10**places // number.denominator
    digits = str(scaled).rjust(places + 1, "0")
    sign = "-" if number < 0 else ""
    return sign + (f"{digits[:-places]}.{digits[-places:]}" if places else digits)
