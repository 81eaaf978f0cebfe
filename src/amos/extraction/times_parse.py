"""Read a time expression into a small description that no clock has touched yet."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass, replace

from amos.extraction.times_days import FILLERS, Day, read_day
from amos.extraction.times_words import plain_phrase, plain_word
from amos.patterns import pattern_of
from amos.schemas.calendar import WEEKDAYS

LONGEST_PHRASE = 100
_CENTURY_OF_SHORT_YEARS = 2000
_MOST_MONTHS = 12
_SHORT_YEARS = 100
_LAST_HOUR = 23


@dataclass(frozen=True, kw_only=True)
class Expression:
    """What a phrase says: a day or period, a clock or part of day, how it bounds, what it repeats."""

    day: Day | None = None
    clock: tuple[int, int] | None = None
    part: str | None = None
    bound: str = "at"  # at, until, by, before, after, from, since
    last: Expression | None = None  # end of a range
    is_recurring: bool = False
    side: int = 0  # -1 before the event time, 1 after it, 0 neither: for vague phrases
    edge: str | None = None  # end or start of the period


UNREADABLE = Expression()

_CLOCKS = (
    pattern_of(r"(?:\bat )?\b(?P<h>\d{1,2})(?:[:.](?P<m>[0-5]\d))? ?(?P<half>am|pm)\b"),
    pattern_of(
        r"(?:\b(?:at|um|a las|à) )?\b(?P<h>\d{1,2})(?::(?P<m>[0-5]\d)(?::[0-5]\d(?:\.\d+)?)?)"
        r"(?: ?(?:uhr|h))?(?![\d:])"
    ),
    pattern_of(r"(?:\b(?:at|um|gegen|à) )?\b(?P<h>\d{1,2}) ?(?:uhr|h(?=\d|\b))(?: ?(?P<m>[0-5]\d))?"),
)
_BARE_HOUR = pattern_of(
    r"\b(?:at )?(\d{1,2}) ?oclock\b|\bat (\d{1,2})(?!\d|[.:/-]| \w)|\bat (\d{1,2})(?= in the )"
)
_ISO = pattern_of(r"\b(\d{4})-(\d{1,2})(?:-(\d{1,2}))?(?=\b|t)t?")
_DOTTED = pattern_of(r"\b(\d{1,2})\. ?(\d{1,2})\.(?: ?(\d{4}|\d{2}))?(?!\d)")
_SLASHED = pattern_of(r"\b(\d{1,2})/(\d{1,2})/(\d{4})\b")
_BARE_DAY = pattern_of(r"\d{1,2}(?:st|nd|rd|th)?")
_DAY_OF_MONTH = pattern_of(r"\d{1,2}(?:st|nd|rd|th)? (?:of )?(\w.*)")
_BOUNDS = frozenset({"until", "by", "before", "after", "from", "since"})
_PARTS = frozenset({"morning", "afternoon", "evening", "night", "noon", "midnight", "tonight"})
_RECURRING = frozenset({"daily", "weekly", "monthly", "yearly", "weekdays", "weekday", "nightly", "hourly"})
_EARLIER = (
    "earlier recently lately previously formerly once before already then vorhin neulich früher récemment"
    " antes"
)
_LATER = "later soon eventually someday sometime später bald bientôt pronto luego"
_BEFORE = frozenset(_EARLIER.split())
_AFTER = frozenset(_LATER.split())
_FEW = frozenset({"few", "couple", "some", "several", "einigen", "ein paar", "quelques", "unos", "algunos"})


@functools.lru_cache(maxsize=65_536)
def read_phrase(phrase: str) -> Expression:
    """Return what `phrase` says, UNREADABLE where the table has no such expression.

    Phrases over 100 characters are not read.
    """
    if len(phrase) > LONGEST_PHRASE:
        return UNREADABLE
    text = plain_phrase(phrase)
    whole = _read_range(text)
    return whole if whole is not None else _read_bounded(text)


def _read_range(text: str) -> Expression | None:
    """Read "from X to Y" and "between X and Y"."""
    match = re.fullmatch(
        r"(?:from|between|von|de|du) (.+?) (?:to|until|till|through|and|bis|à|au|a|-|–) (.+)", text
    )
    if match is None:
        return None
    begins, ends = match.groups()
    month = _BARE_DAY.fullmatch(begins) and _DAY_OF_MONTH.fullmatch(ends)
    if month:
        begins = f"{begins} {month.group(1)}"  # "between 3 and 9 June"
    first, last = _read_bounded(begins), _read_bounded(ends)
    if first.day is None or last.day is None or first.bound != "at" or last.bound != "at":
        return None
    return replace(first, last=last)


def _read_bounded(text: str) -> Expression:
    words = text.split()
    bound = "at"
    while words and plain_word(words[0]) in _BOUNDS:
        bound = plain_word(words[0])
        words = words[1:]
    expression = _read_moment(" ".join(words))
    return replace(expression, bound=bound)


def _read_moment(text: str) -> Expression:
    """Read a day or period with an optional clock time or part of the day."""
    text, day = _take_numeric_date(text)
    text, clock = _take_clock(text)
    text, hour = _take_bare_hour(text)
    words = [plain_word(word) for word in text.split()]
    if _is_recurring(words, text.split()):
        return Expression(is_recurring=True)
    part = next((word for word in words if word in _PARTS), None)
    if hour is not None and (part or hour > _MOST_MONTHS):
        clock = (hour, 0)
    edge = next((word for word in words if word in {"end", "start"}), None)
    raw = [word for word, plain in zip(text.split(), words, strict=True) if plain not in _PARTS]
    raw = [word for word in raw if plain_word(word) not in {"end", "start"}]
    if len(raw) > 1 and raw[0] in {"later", "earlier"}:
        raw = raw[1:]
    if day is None:
        side = _vague_side(raw)
        if side:
            return Expression(side=side)
        day = read_day(raw)
    elif [word for word in raw if plain_word(word) not in FILLERS]:
        return UNREADABLE
    only_clock = not [word for word in raw if plain_word(word) not in {*FILLERS, "this"}]
    if day is None and only_clock and (clock or part):
        day = ("days", 0, 0, 0)
    return Expression(day=day, clock=clock, part=part, edge=edge) if day is not None else UNREADABLE


def _take_numeric_date(text: str) -> tuple[str, Day | None]:
    for pattern, order in ((_ISO, (0, 1, 2)), (_DOTTED, (2, 1, 0)), (_SLASHED, (2, 1, 0))):
        match = pattern.search(text)
        if match is None:
            continue
        year, month, day = (int(match.groups()[place] or 0) for place in order)
        rest = f"{text[: match.start()]} {text[match.end() :]}".strip()
        return rest, _numeric_day(year, month, day, is_ambiguous=pattern is _SLASHED)
    return text, None


def _numeric_day(year: int, month: int, day: int, *, is_ambiguous: bool) -> Day:
    if is_ambiguous and month != day:
        # 25/12/2031 can only be read one way, 06/04/2031 cannot
        if month > _MOST_MONTHS >= day:
            month, day = day, month
        elif day <= _MOST_MONTHS:
            return ("never", 0, 0, 0)
    if not day:
        return ("month", year, month, 0)
    if year and year < _SHORT_YEARS:
        year += _CENTURY_OF_SHORT_YEARS
    return ("date", year, month, day) if year else ("month_day", month, day, 0)


def _take_clock(text: str) -> tuple[str, tuple[int, int] | None]:
    for pattern in _CLOCKS:
        match = pattern.search(text)
        if match is None:
            continue
        groups = match.groupdict()
        hour, minute = int(groups["h"]), int(groups.get("m") or 0)
        half = groups.get("half")
        if half:
            hour = hour % 12 + (12 if half == "pm" else 0)
        if hour > _LAST_HOUR or (half and not 1 <= int(groups["h"]) <= _MOST_MONTHS):
            continue
        return f"{text[: match.start()]} {text[match.end() :]}".strip(), (hour, minute)
    return text, None


def _take_bare_hour(text: str) -> tuple[str, int | None]:
    """Take "at 5" out: an hour that only a part of the day makes definite."""
    match = _BARE_HOUR.search(text)
    hour = int(next(filter(None, match.groups()))) if match else None
    if match is None or hour is None or hour > _LAST_HOUR:
        return text, None
    return f"{text[: match.start()]} {text[match.end() :]}".strip(), hour


def _is_recurring(words: list[str], raw: list[str]) -> bool:
    has_plural = any(word.endswith("s") and word in WEEKDAYS and word[:-1] in WEEKDAYS for word in raw)
    return (
        "every" in words or bool(_RECURRING.intersection(raw) or _RECURRING.intersection(words)) or has_plural
    )


def _vague_side(raw: list[str]) -> int:
    """Return -1 for "a few days ago" and the like, 1 for "soon", else 0."""
    words = [word for word in raw if plain_word(word) not in FILLERS]
    if _FEW.intersection(raw):
        return -1 if "ago" in raw or "last" in raw else 1 if "in" in raw or "ahead" in raw else 0
    if words == ["other", "day"] or (words and set(words) <= _BEFORE):
        return -1
    return 1 if words and set(words) <= _AFTER else 0
