"""Tell in bulk which texts are worth an exact look: it may name too many, never too few.

The exact patterns themselves, freed of what only narrows them, run over whole columns in
Rust, where matching is linear in the text.
"""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from amos.extraction import (
    screen_exclusions,
    screen_instructions,
    screen_numbers,
    screen_phrases,
    screen_secrets,
)
from amos.extraction.screen_view import SUSPICIOUS, decoded_view

if TYPE_CHECKING:
    import polars as pl

Mask = npt.NDArray[np.bool_]

_LONG_RUN = r"[A-Za-z0-9+/]{16}"
_UP_TO = re.compile(r"\{([01]),[0-9]+\}")
_LOOK_AROUND = re.compile(r"\(\?(?:<?[!=])")


def suspects(texts: pa.Array, *, may_instruct: bool) -> Mask:
    """Return which of the non-null `texts` an exact rule could match, as (n,) booleans."""
    import polars as pl

    series = pl.Series(texts)
    disguised = series.str.contains(SUSPICIOUS).to_numpy()
    found = _matches(series, may_instruct=may_instruct)
    rows = np.flatnonzero(disguised & ~found)
    if rows.size:
        views = [decoded_view(text) for text in series.gather(rows)]
        plain = pl.Series([view.text if view else "" for view in views])
        found[rows] = _matches(plain, may_instruct=may_instruct)
    return found


def name_suspects(names: pa.Array) -> Mask:
    """Return which of the non-null `names` may hold key material, as (n,) booleans."""
    import polars as pl

    return _any_match(pl.Series(names), tuple(map(loosened, screen_secrets.KEY_PATTERNS)))


def _matches(series: pl.Series, *, may_instruct: bool) -> Mask:
    return _any_match(series, (*_always(), *(() if may_instruct else _untrusted())))


def _any_match(series: pl.Series, patterns: tuple[str, ...]) -> Mask:
    found = np.zeros(len(series), dtype=np.bool_)
    for pattern in patterns:
        found |= series.str.contains(pattern).to_numpy()
    return found


@functools.cache
def _always() -> tuple[str, ...]:
    secrets = [*screen_secrets.PATTERNS, *screen_phrases.PATTERNS, *screen_numbers.PATTERNS]
    return (_LONG_RUN, *map(loosened, secrets), *map(flattened, screen_exclusions.PATTERNS))


@functools.cache
def _untrusted() -> tuple[str, ...]:
    return tuple(map(flattened, screen_instructions.PATTERNS))


def loosened(pattern: re.Pattern[str]) -> str:
    """Return `pattern` without its look-around groups, in the syntax of Rust's engine."""
    source = pattern.pattern
    parts: list[str] = []
    read = 0
    for match in _LOOK_AROUND.finditer(source):
        if match.start() >= read:
            parts.append(source[read : match.start()])
            read = _group_end(source, match.start())
    parts.append(source[read:])
    flags = "(?i)" if pattern.flags & re.IGNORECASE else ""
    # open-ended counts keep the automaton small
    counted = _UP_TO.sub(lambda match: "*" if match.group(1) == "0" else "+", "".join(parts))
    return flags + counted


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
