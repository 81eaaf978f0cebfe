"""Pages of rows in a stable order: newest first, unknown times last, then by id; with a cursor."""

from __future__ import annotations

import base64
import binascii
import json
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from amos.errors import UsageError
from amos.schemas.buffers import as_keys

UNKNOWN_US = np.iinfo(np.int64).min
"""Stands for a time that is not known; sorts last."""


@dataclass(frozen=True, kw_only=True)
class PageRequest:
    """Which rows are wanted: `since` <= event time < `until` in microseconds, after `cursor`."""

    limit: int = 100
    cursor: str | None = None
    since_us: int | None = None
    until_us: int | None = None

    def __post_init__(self) -> None:
        if self.limit < 1:
            raise UsageError(f"the limit must be at least 1, not {self.limit}")
        if None not in (self.since_us, self.until_us) and self.until_us <= self.since_us:  # type: ignore[operator]
            raise UsageError("`--until` is not after `--since`, so no time lies between them")


@dataclass(frozen=True, kw_only=True)
class Page:
    """Row numbers of one page, and how to get the next."""

    rows: NDArray[np.int64]
    is_truncated: bool
    cursor: str | None


def event_times(column: pa.ChunkedArray) -> NDArray[np.int64]:
    """Return (n,) microseconds, UNKNOWN_US where the time is not known."""
    filled: NDArray[np.int64] = column.cast(pa.int64()).fill_null(int(UNKNOWN_US)).to_numpy()
    return filled


def choose_page(kind: str, times: NDArray[np.int64], ids: pa.ChunkedArray, request: PageRequest) -> Page:
    """Return the wanted rows among (n,) `times` and 16-byte `ids`.

    kind: what is listed; a cursor of another kind is refused with UsageError.
    """
    keys = np.ascontiguousarray(as_keys(ids)).astype(np.uint64)
    chosen = np.flatnonzero(_inside(times, request))
    falling = ~times  # turns the order round without overflow; the unknown time becomes the largest
    chosen = chosen[np.lexsort((keys[chosen, 1], keys[chosen, 0], falling[chosen]))]
    start = 0
    if request.cursor is not None:
        start = _place_after(_read_cursor(request.cursor, kind), falling[chosen], keys[chosen])
    rows = chosen[start : start + request.limit]
    is_truncated = start + request.limit < len(chosen)
    cursor = _cursor(kind, int(times[rows[-1]]), keys[rows[-1]]) if is_truncated else None
    return Page(rows=rows, is_truncated=is_truncated, cursor=cursor)


def _inside(times: NDArray[np.int64], request: PageRequest) -> NDArray[np.bool_]:
    inside = np.ones(len(times), bool)
    if request.since_us is not None:
        inside &= times >= request.since_us
    if request.until_us is not None:
        inside &= (times < request.until_us) & (times != UNKNOWN_US)
    return inside


def _place_after(last: tuple[int, int, int], falling: NDArray[np.int64], keys: NDArray[np.uint64]) -> int:
    """Return how many sorted rows stand at or before the row that a cursor names."""
    time, high, low = last
    is_later = (keys[:, 0] > high) | ((keys[:, 0] == high) & (keys[:, 1] > low))
    is_after = (falling > ~time) | ((falling == ~time) & is_later)
    return int(np.count_nonzero(~is_after))


def _cursor(kind: str, time: int, key: NDArray[np.uint64]) -> str:
    place = json.dumps([kind, time, int(key[0]), int(key[1])], separators=(",", ":"))
    return base64.urlsafe_b64encode(place.encode()).decode().rstrip("=")


def _read_cursor(cursor: str, kind: str) -> tuple[int, int, int]:
    try:
        place = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        wanted, time, high, low = place
        fits = wanted == kind and all(isinstance(part, int) for part in (time, high, low))
        fits = fits and -(2**63) <= time < 2**63 and all(0 <= part < 2**64 for part in (high, low))
    except (binascii.Error, ValueError, TypeError):
        fits = False
    if not fits:
        raise UsageError(
            f"{cursor!r} is no cursor of this list",
            advice="Take the cursor that the last line of the page before it printed, unchanged.",
        )
    return time, high, low
