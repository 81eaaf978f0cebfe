"""See through one layer of disguise: invisible and look-alike characters, percent signs, base64.

Every decoded piece keeps the way back to the text it came from, in code points.
"""

from __future__ import annotations

import base64
import binascii
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from amos.patterns import pattern_of

INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e"
    "\u2060-\u2064\u2066-\u206f\ufe00-\ufe0f\ufeff"
)
TAGS = "\U000e0020-\U000e007e"
STYLED = "\uff01-\uff5e\u24b6-\u24e9\U0001d400-\U0001d7ff"
FOREIGN = "\u0370-\u03ff\u0400-\u052f\u1f00-\u1fff"
SUSPICIOUS = (
    f"[A-Za-z0-9][{INVISIBLE}\u0300-\u036f]|[{TAGS}{STYLED}]|%[0-9A-Fa-f][0-9A-Fa-f]|&#x?[0-9A-Fa-f]"
    f"|[A-Za-z][{FOREIGN}]|[{FOREIGN}][A-Za-z]"
)
"""A text without a match is its own view; valid for Python's and Rust's regular expressions."""

_LOOKALIKES = str.maketrans(
    # Cyrillic, then Greek, then a few that look like nothing else
    "аеорсухіјѕԁԛԝһӏвкмнтАВЕКМНОРСТУХІЈЅԌԚԜҺαεικνορτυχγωΑΒΕΖΗΙΚΜΝΟΡΤΥΧϲϳ",
    "aeopcyxijsdqwhlbkmhtABEKMHOPCTYXIJSGQWHaeiknoptuxywABEZHIKMNOPTYXcj",
)
_DISGUISED = pattern_of(
    f"(?:%[0-9A-Fa-f]{{2}})+|&#(?:x[0-9A-Fa-f]{{1,6}}|[0-9]{{1,7}});|[{INVISIBLE}\u0300-\u036f]+"
    f"|[{TAGS}{STYLED}{FOREIGN}]"
)
_SUSPICIOUS = pattern_of(SUSPICIOUS)
BASE64_START = "[A-Za-z0-9+/]{16}"
_BASE64 = pattern_of(rf"(?<![A-Za-z0-9+/_\-]){BASE64_START}[A-Za-z0-9+/_\-]*={{0,2}}")
_HIGHEST_CODE_POINT = 0x10FFFF
_SURROGATES = range(0xD800, 0xE000)
_READABLE_SHARE = 0.9


class Hit(NamedTuple):
    """A half-open range that a rule names, in the unit of the text searched, and why."""

    start: int
    end: int
    rule: str
    reason: str


class View:
    """A decoded text and the way back; pieces not decoded stand one to one."""

    def __init__(self, text: str, pieces: list[tuple[int, int, int, int]]) -> None:
        self.text = text
        self._pieces = pieces  # (view start, view end, source start, source end), ascending
        self._starts = [piece[0] for piece in pieces]

    def source_range(self, start: int, end: int) -> tuple[int, int]:
        """Return the source range behind view range [start, end); decoded pieces come whole."""
        return self._source(start, is_end=False), self._source(end, is_end=True)

    def _source(self, offset: int, *, is_end: bool) -> int:
        # an end belongs to the character before it
        place = bisect_right(self._starts, offset - 1 if is_end else offset) - 1
        if place < 0:
            return offset
        _, view_end, source_start, source_end = self._pieces[place]
        if offset > view_end or (not is_end and offset >= view_end):
            return source_end + (offset - view_end)
        return source_end if is_end else source_start


def decoded_view(text: str) -> View | None:
    """Return `text` with disguises undone, or None where nothing is disguised."""
    if _SUSPICIOUS.search(text) is None:
        return None
    parts: list[str] = []
    pieces: list[tuple[int, int, int, int]] = []
    read = written = 0
    for match in _DISGUISED.finditer(text):
        plain = _plain(match.group())
        between = text[read : match.start()]
        start = written + len(between)
        parts += (between, plain)
        written = start + len(plain)
        pieces.append((start, written, match.start(), match.end()))
        read = match.end()
    parts.append(text[read:])
    return View("".join(parts), pieces)


def _plain(piece: str) -> str:
    """Return what a disguised piece stands for; invisible characters stand for nothing."""
    first = piece[0]
    if first == "%":
        return bytes.fromhex(piece.replace("%", "")).decode("utf-8", "replace")
    if first == "&":
        digits = piece[2:-1]
        number = int(digits[1:], 16) if digits[0] in "xX" else int(digits)
        is_character = number <= _HIGHEST_CODE_POINT and number not in _SURROGATES
        return chr(number) if is_character else "\ufffd"
    if "\U000e0020" <= first <= "\U000e007e":
        return chr(ord(first) - 0xE0000)
    folded = unicodedata.normalize("NFKC", first.translate(_LOOKALIKES))
    return folded if len(piece) == 1 and not _is_dropped(first) else ""


def _is_dropped(character: str) -> bool:
    return unicodedata.category(character) in {"Cf", "Mn", "Lo"}


def base64_texts(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield (start, end, decoded text) of each base64 run that decodes to readable text."""
    for match in _BASE64.finditer(text):
        decoded = _decoded(match.group())
        if decoded is not None:
            yield match.start(), match.end(), decoded


def _decoded(run: str) -> str | None:
    body = run.rstrip("=").replace("-", "+").replace("_", "/")
    if body.islower() or body.isupper() or body.isdigit():
        return None
    body = body[:-1] if len(body) % 4 == 1 else body
    try:
        text = base64.b64decode(body + "=" * (-len(body) % 4)).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None
    readable = sum(map(str.isprintable, text)) + text.count("\n") + text.count("\t")
    return text if readable >= _READABLE_SHARE * len(text) else None


def byte_offsets(text: str, offsets: list[int]) -> list[int]:
    """Return the UTF-8 byte offset of each code-point offset, in one pass over `text`."""
    if text.isascii():
        return list(offsets)
    known: dict[int, int] = {}
    read = total = 0
    for offset in sorted(set(offsets)):
        total += len(text[read:offset].encode())
        known[offset] = total
        read = offset
    return [known[offset] for offset in offsets]
