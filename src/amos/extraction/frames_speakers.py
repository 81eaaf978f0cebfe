"""Find the lines of a conversation that a message passes on: "Tom: ...", "[12:03] tom: ...", "<tom> ..."."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from amos.extraction.frames_found import Frame, Kind, Rule, paragraph_end
from amos.extraction.frames_leads import LEADS, NOUN_ENDINGS, PARTICLES, ROLES
from amos.patterns import pattern_of

_LINE = pattern_of(
    r"^[ \t>*_•-]{0,6}"
    r"(?P<stamp>[\[(]?\d{1,4}[:./-]\d{1,2}(?:[:./-]\d{1,4})?(?:,? {1,2}\d{1,2}:\d{2}(?::\d{2})?)?"
    r"(?: ?[ap]\.?m\.?)?"
    r"[\])]?[ \t]{0,3}(?:[-–—|][ \t]{0,3})?)?"
    r"(?:\*\*|__)?(?:<(?P<nick>[^<>\s:]{1,32})>|(?P<name>[^\W\d_][^\n:<>*]{0,40}?)(?:\*\*|__)?[ \t]?"
    r"(?:\([^()\n:]{1,24}\)|\[\d{1,2}:\d{2}(?::\d{2})?\])?[ \t]?:)(?:\*\*|__)?(?=[ \t]+\S|[ \t]*\n)",
    re.MULTILINE | re.IGNORECASE,
)
_WORD = pattern_of(r"[^\W\d_](?:[^\W\d_]|['.’-](?=[^\W_]))*\.?")
_NUMBERED = pattern_of(
    r"(?i:speaker|person|user|participant|student|interviewer|guest|caller|agent) ?(?:\d{1,2}|[A-Z])"
)
_MOST_WORDS = 3
_SHORTEST_ENDING = 3  # letters before an ending that nouns have and names do not


class _Line(NamedTuple):
    start: int
    end: int
    name: str
    is_sure: bool


def _find_speakers(text: str) -> Iterator[Frame]:
    """Yield the range of each line that a named speaker says in `text`.

    One such line ends where it ends; several make a conversation, in which a speech runs to
    the next one and the last to a blank line.
    """
    lines = [line for match in _LINE.finditer(text) if (line := _spoken(text, match)) is not None]
    is_talk = len(lines) > 1
    if not is_talk and not (lines and lines[0].is_sure):
        return
    for place, line in enumerate(lines):
        if place + 1 < len(lines):
            end = lines[place + 1].start
        else:
            end = paragraph_end(text, line.end) if is_talk else _line_end(text, line.end)
        yield Frame(line.end, end, Kind.PASTED, line.name)


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return end if end >= 0 else len(text)


def _spoken(text: str, match: re.Match[str]) -> _Line | None:
    """Return the line of `match` if a speaker opens it; a heading such as "Note:" opens none."""
    nick = match.group("nick")
    if nick is not None:
        return _Line(match.start(), match.end(), nick, is_sure=True)
    name = match.group("name").strip()
    is_stamped = match.group("stamp") is not None
    if not (is_nickname(name) if is_stamped else is_speaker(name)):
        return None
    is_empty = text.startswith("\n", match.end())
    shown = "" if len(name) == 1 or name.casefold() in ROLES else name
    return _Line(match.start(), match.end(), shown, is_sure=is_stamped or not is_empty)


def is_speaker(name: str) -> bool:
    """Tell whether what stands before a colon is shaped like a name: capitals, no word of a heading."""
    if len(name) == 1:
        return name.isupper()
    if _NUMBERED.fullmatch(name) or name.casefold() in ROLES:
        return True
    words = name.split()
    if not 1 <= len(words) <= _MOST_WORDS or not all(map(_WORD.fullmatch, words)):
        return False
    if not (words[0][0].isupper() and words[-1][0].isupper()):
        return False
    return all(_may_name(word) for word in words)


def is_nickname(name: str) -> bool:
    """Tell whether a word behind a time of day can be a name: no heading, three words at most."""
    words = name.casefold().split()
    return 1 <= len(words) <= _MOST_WORDS and not any(word.strip(".'") in LEADS for word in words)


def _may_name(word: str) -> bool:
    folded = word.casefold().rstrip(".")
    if folded in LEADS:
        return False
    if not word[0].isupper():
        return folded in PARTICLES
    return not any(
        folded.endswith(ending) and len(folded) >= len(ending) + _SHORTEST_ENDING for ending in NOUN_ENDINGS
    )


RULES = (Rule(_find_speakers, marks=(":", "<")),)
"""Lines of a conversation that a message passes on."""
