"""Walk the strings of a JSON text without parsing it, each with its place in the text."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from amos.patterns import pattern_of

# the second group may be empty at the end of a broken text, so that no scan starts over
_STRING = pattern_of(r'"([^"\\]*(?:\\.[^"\\]*)*)("|\\?\Z)', re.DOTALL)
_ESCAPE = pattern_of(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.", re.DOTALL
)
_KEY_END = pattern_of(r"\s*:")
_CUT = "\\u001a"


class JsonString(NamedTuple):
    """One string literal: its decoded text, where its body stands, whether it names a value, its key."""

    text: str
    start: int
    end: int
    is_key: bool
    key: str


def json_strings(document: str) -> Iterator[JsonString]:
    """Yield the strings of `document` in order; offsets are code points of the raw text."""
    key, key_end = "", -1
    for match in _STRING.finditer(document):
        start, end = match.span(1)
        text = _unescaped(match.group(1))
        is_key = _KEY_END.match(document, match.end()) is not None
        is_value_of_key = key_end >= 0 and document[key_end : start - 1].strip() == ":"
        yield JsonString(text, start, end, is_key, key if is_value_of_key else "")
        key, key_end = (text, match.end()) if is_key else ("", -1)


def _unescaped(body: str) -> str:
    if "\\" not in body:
        return body
    try:
        return str(json.loads(f'"{body}"', strict=False))
    except ValueError:
        return body


class RawPlaces:
    """Maps code points of one decoded string back to the raw text."""

    def __init__(self, document: str, string: JsonString) -> None:
        self._start = string.start
        self._afters = [0]  # decoded offset behind each escape
        self._shifts = [0]  # raw offset minus decoded offset from there on
        for match in _ESCAPE.finditer(document, string.start, string.end):
            shift = self._shifts[-1]
            self._afters.append(match.start() - string.start - shift + 1)
            self._shifts.append(shift + len(match.group()) - 1)

    def raw(self, offset: int) -> int:
        """Return the raw offset of decoded `offset`; each escape is one character."""
        return self._start + offset + self._shifts[bisect_right(self._afters, offset) - 1]


def cut_json(document: bytes, ranges: list[tuple[int, int]]) -> tuple[bytes, int]:
    """Overwrite raw byte `ranges` (ascending, disjoint, inside strings) of a JSON text.

    Each decoded byte becomes an escaped 0x1A.  Returns the new text and how many there are.
    """
    parts: list[bytes] = []
    read = total = 0
    for start, end in ranges:
        size = len(_unescaped(document[start:end].decode()).encode("utf-8", "surrogatepass"))
        parts += (document[read:start], _CUT.encode() * size)
        total += size
        read = end
    parts.append(document[read:])
    return b"".join(parts), total
