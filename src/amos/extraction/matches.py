"""One match of the kernels with its message: texts and byte spans of the stored source on demand."""

from __future__ import annotations

from typing import NamedTuple

from amos.extraction.normalise import OffsetMap
from amos.kernels import rows as layout

_CAPTURES = layout.ROW_CAPTURES


class Origin(NamedTuple):
    """The text that a match stands in.

    content: bytes as stored.  offsets: map of its view, where it has one.
    cues: the cue bits that any part of it sets.
    """

    content: bytes
    offsets: OffsetMap | None
    trust: str
    cues: int


class Match:
    """One row of a match with its texts cut on demand.

    sentence: the number of its sentence in the message.  is_negated: it holds an odd number of
    negations.
    """

    __slots__ = (
        "_numbers", "_origin", "cues", "flags", "is_negated", "kind", "message_cues", "pattern", "sentence",
    )  # fmt: skip

    def __init__(self, numbers: list[int], origin: Origin) -> None:
        self._numbers = numbers
        self.pattern = numbers[layout.ROW_PATTERN]
        self.sentence = numbers[layout.ROW_SENTENCE]
        self.is_negated = numbers[layout.ROW_NEGATIVE] != 0
        self._origin = origin
        self.cues = numbers[layout.ROW_CUES]
        self.message_cues = numbers[layout.ROW_MESSAGE_CUES]
        self.flags = numbers[layout.ROW_FLAGS]
        self.kind = numbers[layout.ROW_WHEN_KIND]

    def span(self, column: int) -> tuple[int, int] | None:
        """Return the bytes of the source behind the pair of numbers at `column`, None when unset."""
        start, end = self._numbers[column], self._numbers[column + 1]
        if start < 0:
            return None
        offsets = self._origin.offsets
        return (start, end) if offsets is None else offsets.source_span(start, end)

    def text(self, column: int) -> str:
        """Return the text behind the pair of numbers at `column`, empty when unset."""
        return self._read(column).decode()

    def capture(self, number: int) -> str:
        """Return the text of a capture, empty when unset."""
        return self._read(_CAPTURES + 2 * number).decode()

    def read(self, number: int) -> bytes:
        """Return the bytes of a capture, empty when unset."""
        return self._read(_CAPTURES + 2 * number)

    def _read(self, column: int) -> bytes:
        start, end = self._numbers[column], self._numbers[column + 1]
        if start < 0:
            return b""
        offsets = self._origin.offsets
        if offsets is not None:
            start, end = offsets.source_span(start, end)
        return self._origin.content[start:end]

    def with_article(self, number: int) -> str:
        """Return the text of a capture with the article before it, where one stands there."""
        start, _ = self.capture_span(number) or (0, 0)
        before = self._origin.content[max(start - 4, 0) : start].decode(errors="ignore").split()
        text = self.capture(number)
        return f"{before[-1]} {text}" if before and before[-1].casefold() in ("a", "an") else text

    def to_clause_end(self, start: int, most: int) -> str:
        """Return the text from the byte `start` to the end of the match's clause, at most `most` bytes."""
        _, end = self.span(layout.ROW_CLAUSE) or (start, start)
        return self._origin.content[start : min(end, start + most)].decode(errors="ignore")

    def capture_span(self, number: int) -> tuple[int, int] | None:
        """Return the bytes of a capture."""
        return self.span(_CAPTURES + 2 * number)
