"""Where words begin and end, script by script: the character classes behind segmentation."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

UNSPACED_PAIRS = (
    "\u3005-\u3007\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f"  # kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003fffd"  # Han
    "\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff"  # Hangul: particles stick to the noun
)
"""Scripts cut into character pairs."""

UNSPACED_TRIPLES = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e50-\u0e59\u0e81-\u0ed9\u0edc-\u0edf"  # Thai, Lao
    "\u1000-\u1049\u1050-\u109f\u1780-\u17d3\u17dc-\u17e9"  # Burmese, Khmer
)
"""Scripts without spaces whose letters stack: cut into character triples."""

MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a"
    "\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0711\u0730-\u074a"
    "\u07a6-\u07b0\u07eb-\u07f3\u07fd\u0816-\u0819\u081b-\u0823\u0825-\u0827\u0829-\u082d"
    "\u0859-\u085b\u0897-\u089f\u08ca-\u08e1\u08e3-\u0903\u093a-\u093c\u093e-\u094f\u0951-\u0957"
    "\u0962\u0963\u0981-\u0983\u09bc-\u09d7\u09e2\u09e3\u09fe\u0a01-\u0a03\u0a3c-\u0a51\u0a70\u0a71"
    "\u0a75\u0a81-\u0a83\u0abc-\u0acd\u0ae2\u0ae3\u0afa-\u0aff\u0b01-\u0b03\u0b3c-\u0b57\u0b62\u0b63"
    "\u0b82\u0bbe-\u0bd7\u0c00-\u0c04\u0c3c\u0c3e-\u0c56\u0c62\u0c63\u0c81-\u0c83\u0cbc-\u0cd6"
    "\u0ce2\u0ce3\u0cf3\u0d00-\u0d03\u0d3b\u0d3c\u0d3e-\u0d4d\u0d57\u0d62\u0d63\u0d81-\u0d83"
    "\u0dca-\u0df3\u0f18\u0f19\u0f35\u0f37\u0f39\u0f3e\u0f3f\u0f71-\u0f84\u0f86\u0f87\u0f8d-\u0fbc"
    "\u0fc6\u135d-\u135f\u1712-\u1715\u1732-\u1734\u1752\u1753\u1772\u1773\u180b-\u180d\u180f"
    "\u1885\u1886\u18a9\u1920-\u193b\u1a17-\u1a1b\u1a55-\u1a7f\u1ab0-\u1aff\u1b00-\u1b04"
    "\u1b34-\u1b44\u1b6b-\u1b73\u1b80-\u1b82\u1ba1-\u1bad\u1be6-\u1bf3\u1c24-\u1c37\u1cd0-\u1cd2"
    "\u1cd4-\u1ce8\u1ced\u1cf4\u1cf7-\u1cf9\u1dc0-\u1dff\u20d0-\u20f0\u2cef-\u2cf1\u2d7f"
    "\u2de0-\u2dff\u302a-\u302f\u3099\u309a\ua66f-\ua672\ua674-\ua67d\ua69e\ua69f\ua6f0\ua6f1"
    "\ua802\ua806\ua80b\ua823-\ua827\ua82c\ua880\ua881\ua8b4-\ua8c5\ua8e0-\ua8f1\ua8ff"
    "\ua926-\ua92d\ua947-\ua953\ua980-\ua983\ua9b3-\ua9c0\ua9e5\uaa29-\uaa36\uaa43\uaa4c\uaa4d"
    "\uaa7b-\uaa7d\uaab0\uaab2-\uaab4\uaab7\uaab8\uaabe\uaabf\uaac1\uaaeb-\uaaef\uaaf5\uaaf6"
    "\uabe3-\uabea\uabec\uabed\ufb1e\ufe20-\ufe2f"
)
"""Combining marks outside the unspaced scripts: part of the word before them, not a gap."""

_EMOJI = (
    "\u231a\u231b\u23e9-\u23fa\u2600-\u27bf\u2b05-\u2b55"
    "\U0001f000-\U0001f1e5\U0001f200-\U0001f3fa\U0001f400-\U0001faff"
)
_FLAG = "[\U0001f1e6-\U0001f1ff]{2}"
_LETTER = f"(?:(?![{UNSPACED_PAIRS}{UNSPACED_TRIPLES}])[^\\W_]|[{MARKS}])"
_JOINED = f"{_LETTER}+(?:[-.,_/:@'’]{_LETTER}+)*"

ASCII_WORD = re.compile(r"[A-Za-z0-9]+(?:[-.,_/:@'][A-Za-z0-9]+)*")
"""What `word_pattern` matches in a text of ASCII characters, at a third of the cost."""

DIGITS_OR_NOT = re.compile(r"\d+|\D+")


@cache
def word_pattern() -> re.Pattern[str]:
    """Return what matches one word, one unspaced run or one pictograph, in any script.

    Compiled on first use: it costs what a question over a small memory costs.
    """
    return re.compile(f"{_JOINED}|[{UNSPACED_PAIRS}]+|[{UNSPACED_TRIPLES}]+|{_FLAG}|[{_EMOJI}]")


@cache
def _class(ranges: str) -> re.Pattern[str]:
    return re.compile(f"[{ranges}]")


def gram_size(text: str) -> int:
    """Return 2 or 3 when the first character belongs to a script cut into grams, else 0."""
    if text[:1] < "\u0e00":
        return 0
    if _class(UNSPACED_PAIRS).match(text):
        return 2
    return 3 if _class(UNSPACED_TRIPLES).match(text) else 0


def is_pictograph(text: str) -> bool:
    """Return whether a segmented token is an emoji or a flag."""
    return bool(_class(_EMOJI + "\U0001f1e6-\U0001f1ff").match(text))


_STEMMERS = (
    ("\u0370", "\u03ff", "greek"),
    ("\u0400", "\u052f", "russian"),
    ("\u0530", "\u058f", "armenian"),
    ("\u0600", "\u06ff", "arabic"),
    ("\u0900", "\u097f", "hindi"),
    ("\u0b80", "\u0bff", "tamil"),
)
_STROKED = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th", "ð": "d"})
_ARABIC = str.maketrans(
    {"أ": "ا", "إ": "ا", "آ": "ا", "ٱ": "ا", "ى": "ي", "ة": "ه", "\u0640": None}
    | {chr(code): None for code in (*range(0x064B, 0x0660), 0x0670)}
)
_LAST_ACCENT = "\u036f"


def stemmer_of(folded: str) -> str:
    """Return the Snowball algorithm for the script of a folded word's first letter."""
    first = folded[0]
    if first < "\u0370":
        return "english"
    for low, high, name in _STEMMERS:
        if low <= first <= high:
            return name
    return "english"


def lowered(word: str) -> str:
    """Return the word in compatibility form and without case, its accents kept."""
    if word.isascii():
        return word.lower()
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", word).casefold())


def folded(word: str) -> str:
    """Return a `lowered` word without the accents that people leave out when they type.

    Latin and Greek lose every accent, Cyrillic keeps its letters except that ё becomes е, Arabic
    loses vowel signs and the shapes of alef; marks that carry vowels (Hindi, Tamil …) stay.
    """
    if word.isascii():
        return word
    if "\u0600" <= word[0] <= "\u06ff":
        return word.translate(_ARABIC) or word
    kept: list[str] = []
    for char in unicodedata.normalize("NFKD", word):
        if "\u0300" <= char <= _LAST_ACCENT and kept and _drops_accent(kept[-1], char):
            continue
        kept.append(char)
    return unicodedata.normalize("NFC", "".join(kept)).translate(_STROKED) or word


def _drops_accent(base: str, accent: str) -> bool:
    is_cyrillic = "\u0400" <= base <= "\u052f"
    return base < "\u0400" or (is_cyrillic and base == "е" and accent == "\u0308")
