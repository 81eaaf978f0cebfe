"""The keys of JSON that may be cut off anywhere, read only as far as it is JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator

# A string that is cut off matches to the end, so that nothing is looked at twice.
_TOKEN = re.compile(
    rb"[ \t\r\n]*+(?:"
    rb'(?P<string>"(?:[^"\\]|\\.)*+(?:"|\\?\Z))'
    rb"|(?P<mark>[\[\]{}:,])"
    rb"|(?P<plain>-?[0-9][0-9.eE+-]*+|true|false|null|NaN|-?Infinity))",
    re.DOTALL,
)
_RECORD, _VALUE, _FIRST_VALUE, _KEY, _FIRST_KEY, _COLON, _MORE = range(7)
"""What may come next; between the values of a file only an object or a list, a record, is one."""
_VALUES = frozenset({_VALUE, _FIRST_VALUE})
_KEYS = frozenset({_KEY, _FIRST_KEY})
_OPENING = {b"{": _FIRST_KEY, b"[": _FIRST_VALUE}
_ENDS = {b"}": (b"{", _FIRST_KEY), b"]": (b"[", _FIRST_VALUE)}


def outline_keys(head: bytes) -> Iterator[tuple[int, str]]:
    """Yield each key of the JSON values that `head` begins with, and its depth, 1 for a record's own.

    Ends at the first byte that no JSON value has there: text that merely quotes JSON has no keys.
    """
    grammar = _Grammar()
    at, last = 0, b""
    while (token := _TOKEN.match(head, at)) is not None:
        at = token.end()
        kind = token.lastgroup
        word = token.group(kind) if kind else b""
        if not grammar.takes(word, kind or ""):
            return
        if word == b":":
            yield grammar.depth, last[1:-1].decode(errors="replace")
        last = word


class _Grammar:
    """Follows JSON token by token."""

    def __init__(self) -> None:
        self._open: list[bytes] = []
        self._due = _RECORD

    @property
    def depth(self) -> int:
        """How many objects and lists are open."""
        return len(self._open)

    def takes(self, word: bytes, kind: str) -> bool:
        """Go on by one token; False when it may not stand here."""
        if kind != "mark":
            return self._take_value(kind)
        if word in _OPENING:
            return self._take_opening(word)
        if word in _ENDS:
            return self._take_end(word)
        if word == b":":
            return self._move(_COLON, _VALUE)
        return self._move(_MORE, _KEY if self._open and self._open[-1] == b"{" else _VALUE)

    def _take_value(self, kind: str) -> bool:
        if self._due in _KEYS:
            self._due = _COLON
            return kind == "string"
        if self._due not in _VALUES:
            return False
        self._due = _MORE
        return True

    def _take_opening(self, word: bytes) -> bool:
        if self._due not in _VALUES and self._due != _RECORD:
            return False
        self._open.append(word)
        self._due = _OPENING[word]
        return True

    def _take_end(self, word: bytes) -> bool:
        opening, empty = _ENDS[word]
        if not self._open or self._open[-1] != opening or self._due not in (empty, _MORE):
            return False
        self._open.pop()
        self._due = _MORE if self._open else _RECORD
        return True

    def _move(self, due: int, following: int) -> bool:
        is_due = self._due == due
        self._due = following
        return is_due
