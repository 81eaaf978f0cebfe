"""Find the lines of a log that a message passes on: by stamps of a program, or by clocks below its name."""

from __future__ import annotations

import re
from collections.abc import Iterator

from amos.extraction.frames_found import Frame, Kind, Rule
from amos.patterns import pattern_of

_LEVELS = ("TRACE", "DEBUG", "WARN", "ERROR", "FATAL", "CRITICAL")
_STAMPED = pattern_of(
    r"^[ \t>]{0,4}(?:"
    r"[\[(]?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[^\s]{0,12}"
    r"|[A-Z][a-z]{2} {1,2}\d{1,2} \d\d:\d\d:\d\d"
    r"|[\[(]?(?:TRACE|DEBUG|WARN|WARNING|ERROR|FATAL|CRITICAL)[\])]?:?"
    r")(?=[ \t])",
    re.MULTILINE,
)
"""What a program writes before a line: a date with seconds, or a level."""
_CLOCKED = pattern_of(
    r"^[ \t>]{0,4}[\[(]?\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d{1,6})?)?[\])]?(?=[ \t])", re.MULTILINE
)
_NAMED = pattern_of(r"\b(?:logs?|output|console|stderr|stdout|trace|traceback)\b[^\n]{0,80}\n", re.IGNORECASE)


def _find_stamped(text: str) -> Iterator[Frame]:
    """Yield the rest of each line that begins as a program begins its lines."""
    for match in _STAMPED.finditer(text):
        yield Frame(match.end(), _line_end(text, match.end()), Kind.PASTED)


def _find_clocked(text: str) -> Iterator[Frame]:
    """Yield the rest of each line that begins with a time of day, below a line that names a log."""
    named = _NAMED.search(text)
    if named is None:
        return
    for match in _CLOCKED.finditer(text, named.end()):
        yield Frame(match.end(), _line_end(text, match.end()), Kind.PASTED)


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return end if end >= 0 else len(text)


RULES = (
    Rule(_find_stamped, marks=(":", *_LEVELS)),
    Rule(_find_clocked, stems=("log", "output", "console", "stderr", "stdout", "trace"), needs_opening=True),
)
"""Lines of a log that a message passes on."""
