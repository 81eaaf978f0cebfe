"""Tell in bulk which texts are worth an exact look: it may name too many, never too few.

The exact patterns themselves, freed of what only narrows them, run over whole columns in
Rust, where matching is linear in the text.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from amos.extraction import (
    screen_exclusions,
    screen_instructions,
    screen_near,
    screen_numbers,
    screen_phrases,
    screen_sayings,
    screen_secrets,
    screen_silence,
)
from amos.extraction.normalise import text_buffer
from amos.extraction.screen_bytes import may_hold_keys
from amos.extraction.screen_text import EVERYTHING, Family, of_view
from amos.extraction.screen_view import BASE64_START, SUSPICIOUS, decoded_view
from amos.patterns import pattern_of

if TYPE_CHECKING:
    import polars as pl

Families = npt.NDArray[np.int32]

_UP_TO = pattern_of(r"\{([01]),[0-9]+\}")
_GROUP_NAME = pattern_of(r"\(\?P<\w+>")
_TEXT = "text"
_LOOK_AROUND = pattern_of(r"\(\?(?:<?[!=])")


def needed_families(texts: pa.Array, *, may_instruct: bool) -> Families:
    """Return per text the families of rules that could match, 0 for none: (n,) for `find_hits`.

    texts: strings, none of them null.
    """
    return _needed(texts, may_instruct=may_instruct)


def needed_families_of_json(documents: pa.Array, *, may_instruct: bool) -> Families:
    """Return per JSON text the families of rules that its strings could match."""
    import polars as pl

    series = pl.Series(documents)
    plain = series.str.replace_all(r"\\[nrt]", " ").str.replace_all(r"\\([^u])", "${1}")
    needed = _needed(plain.to_arrow().cast(pa.string()), may_instruct=may_instruct)
    # an escaped letter hides a word from the bulk filter, and a view is per string
    is_hidden = series.str.contains(r"\\u").to_numpy() | ((needed & Family.DISGUISE) > 0)
    needed[is_hidden] = EVERYTHING
    return needed


def holds_keys(names: pa.Array) -> npt.NDArray[np.bool_]:
    """Return which of the non-null `names` may hold key material, as (n,) booleans.

    Their bytes rule out most: only what is left meets the patterns.
    """
    holds = may_hold_keys(*text_buffer(names))
    if holds.any():
        holds[holds] = _match_keys(names.filter(pa.array(holds)))
    return holds


def _match_keys(names: pa.Array) -> npt.NDArray[np.bool_]:
    import polars as pl

    keys = [pl.col(_TEXT).str.contains(pattern) for pattern in _patterns()[Family.KEYS]]
    return pl.Series(_TEXT, names).to_frame().select(pl.any_horizontal(keys)).to_series().to_numpy()


def _needed(texts: pa.Array, *, may_instruct: bool) -> Families:
    needed = _plain_families(texts, may_instruct=may_instruct)
    rows = np.flatnonzero(needed & Family.DISGUISE)
    if rows.size:
        views = [decoded_view(text) for text in texts.take(pa.array(rows)).to_pylist()]
        shown = pa.array([view.text if view else "" for view in views], pa.string())
        needed[rows] |= of_view(_plain_families(shown, may_instruct=may_instruct))
    return needed


def _plain_families(texts: pa.Array, *, may_instruct: bool) -> Families:
    import polars as pl

    needed = holds_keys(texts) * np.int32(Family.KEYS)
    frame = pl.Series(_TEXT, texts).to_frame()
    for column in frame.select(_questions(may_instruct=may_instruct)):
        needed[column.to_numpy()] |= int(column.name)
    rows = np.flatnonzero(frame[_TEXT].str.contains("[0-9]").to_numpy())
    if rows.size:
        for column in frame[rows].select(_questions_of_digits()):
            needed[rows[column.to_numpy()]] |= int(column.name)
    return needed


@functools.cache
def _questions(*, may_instruct: bool) -> list[pl.Expr]:
    """Return one yes-or-no column per family but keys, named by its number; all are answered in one pass."""
    patterns = _patterns()
    families = [family for family in patterns if family != Family.ORDERS or not may_instruct]
    return [_question(family, patterns[family]) for family in families if family != Family.KEYS]


@functools.cache
def _questions_of_digits() -> list[pl.Expr]:
    """Return the columns of what is found only where digits stand."""
    return [
        _question(Family.NUMBERS, _paired(map(loosened, screen_numbers.PATTERNS))),
        _question(
            Family.PHRASES,
            _paired(map(loosened, (*screen_sayings.DIGIT_PATTERNS, *screen_near.DIGIT_PATTERNS))),
        ),
    ]


def _question(family: Family, patterns: tuple[str, ...]) -> pl.Expr:
    import polars as pl

    found = pl.any_horizontal(pl.col(_TEXT).str.contains(pattern) for pattern in patterns)
    return found.alias(str(int(family)))


@functools.cache
def _patterns() -> dict[Family, tuple[str, ...]]:
    return {
        Family.KEYS: _paired(map(loosened, screen_secrets.KEY_PATTERNS)),
        Family.ASSIGNMENTS: _paired(map(loosened, screen_secrets.ASSIGNMENT_PATTERNS)),
        Family.PHRASES: _paired(
            map(loosened, (*screen_phrases.PATTERNS, *screen_sayings.PATTERNS, *screen_near.PATTERNS))
        ),
        Family.EXCLUSIONS: _paired(map(flattened, screen_exclusions.PATTERNS)),
        Family.SILENCE: tuple(map(flattened, screen_silence.PATTERNS)),
        Family.ORDERS: _paired(map(flattened, screen_instructions.PATTERNS)),
        Family.BASE64: (BASE64_START,),
        Family.DISGUISE: (SUSPICIOUS,),
    }


def _paired(patterns: Iterable[str]) -> tuple[str, ...]:
    """Return the patterns joined two by two, without names of groups.

    The engine keeps 32 patterns compiled a thread: all of them together must stay below that, or each is
    compiled anew on every call.
    """
    plain = [f"(?:{_GROUP_NAME.sub('(?:', pattern)})" for pattern in patterns]
    return tuple("|".join(plain[start : start + 2]) for start in range(0, len(plain), 2))


def loosened(pattern: re.Pattern[str]) -> str:
    """Return `pattern` without look-around, line start and upper counts, in the syntax of Rust's engine."""
    source = pattern.pattern
    parts: list[str] = []
    read = 0
    for match in _LOOK_AROUND.finditer(source):
        if match.start() >= read:
            parts.append(source[read : match.start()])
            read = _group_end(source, match.start())
    parts.append(source[read:])
    flags = "(?i)" if pattern.flags & re.IGNORECASE else ""
    # a string inside JSON begins after a quotation mark; open-ended counts keep the automaton small
    anywhere = "".join(parts).replace("(?:^|", "(?:|")
    counted = _UP_TO.sub(lambda match: "*" if match.group(1) == "0" else "+", anywhere)
    return flags + counted.replace(r"\b", r"(?-u:\b)")  # the wide sense of a word costs ten times as much


def flattened(pattern: re.Pattern[str]) -> str:
    """Like `loosened`, for patterns that are used after odd apostrophes and spaces are made plain."""
    return loosened(pattern).replace("'", "['’‘ʼ]").replace(" ", r"[ \t\x{a0}]")


def _group_end(source: str, start: int) -> int:
    """Return the offset behind the group that opens at `start`."""
    depth = 0
    is_class = False
    at = start
    while at < len(source):
        character = source[at]
        if character == "\\":
            at += 1
        elif is_class:
            is_class = character != "]"
        elif character == "[":
            is_class = True
        else:
            depth += (character == "(") - (character == ")")
            if depth == 0:
                return at + 1
        at += 1
    raise ValueError(source)
