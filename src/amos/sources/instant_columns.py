"""Read many clocks at once: all in the usual shapes of RFC 3339 as columns, any others one by one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from amos.sources.instants import HIGHEST_US, LOWEST_US, DefaultZone, offset_text, read_instant

_MOMENT = pa.timestamp("us", tz="UTC")
_TEXT = pa.string()
_SHORTEST = len("2026-01-31T12:34:56Z")
_MARK = len("2026-01-31")
_USUAL = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d:\d\d)$"
_OFFSET = re.compile(r"([+-])([01]\d|2[0-3]):([0-5]\d)", re.ASCII)
_OFFSET_SIZE = len("+02:00")

Values = Sequence[str | int | float | None]


class InstantColumns(NamedTuple):
    """The fields of `Instant`, one row per value; all of them valid."""

    us: pa.Array
    text: pa.Array
    zone: pa.Array
    is_zone_assumed: pa.Array


def read_instants(texts: pa.Array, values: Values | None, zone: DefaultZone) -> InstantColumns | None:
    """Return what `read_instant` returns for each of `texts`, as columns.

    values: all of them as they were written where some are numbers, which `texts` has no value for.
    None when one of them is invalid, or so strange that it takes `read_instant` to tell.
    """
    usual = _usual_instants(texts) if values is None else None
    return usual or _mixed_instants(texts, values, zone)


def _mixed_instants(texts: pa.Array, values: Values | None, zone: DefaultZone) -> InstantColumns | None:
    """Read the usual ones of `texts` together, and the other `values` one by one."""
    is_usual = pc.match_substring_regex(texts, _USUAL)
    columns = _usual_instants(pc.if_else(is_usual, texts, pa.scalar(None, _TEXT)))
    if columns is None:  # a day that is in no calendar, a far one, an hour of sixty minutes and more
        return None
    written = texts.to_pylist() if values is None else values
    odd = [row for row, usual in enumerate(is_usual.to_pylist()) if not usual]
    instants = [read_instant(written[row], zone) for row in odd]
    if any(instant.is_invalid for instant in instants):
        return None
    parts: list[list[Any]] = [column.to_pylist() for column in columns]
    for row, instant in zip(odd, instants, strict=True):
        for part, value in zip(parts, instant, strict=False):
            part[row] = value
    return InstantColumns(*map(pa.array, parts, (pa.int64(), _TEXT, _TEXT, pa.bool_())))


def _usual_instants(texts: pa.Array) -> InstantColumns | None:
    """Return the instants when each of `texts` is null or RFC 3339 to the second, None otherwise."""
    try:
        us = texts.cast(_MOMENT).view(pa.int64())
    except pa.ArrowInvalid:
        return None
    is_utc = pc.ends_with(texts, "Z")
    zones = _zones(pc.if_else(is_utc, "Z", pc.utf8_slice_codeunits(texts, -_OFFSET_SIZE)))
    if zones is None or not _are_canonical(texts) or not _are_near(us):
        return None
    return InstantColumns(
        us=us,
        text=pc.if_else(is_utc, pa.scalar(None, _TEXT), texts),
        zone=zones,
        is_zone_assumed=pa.repeat(False, len(texts)),
    )


def _are_canonical(texts: pa.Array) -> bool:
    """Tell whether each readable text goes to the second at least, and has its "T"."""
    shortest = pc.min(pc.binary_length(texts)).as_py()
    marks = pc.min_max(pc.find_substring(texts, "T")).as_py()
    return shortest is None or (shortest >= _SHORTEST and marks == {"min": _MARK, "max": _MARK})


def _are_near(us: pa.Array) -> bool:
    first, last = pc.min_max(us).as_py().values()
    return first is None or (first >= LOWEST_US and last < HIGHEST_US)


def _zones(tails: pa.Array) -> pa.Array | None:
    """Return the zones that the texts end in, None when one of them is unusual."""
    found = tails.dictionary_encode()
    names = [_zone(tail) for tail in found.dictionary.to_pylist()]
    return None if None in names else pa.array(names, _TEXT).take(found.indices)


def _zone(tail: str) -> str | None:
    if tail == "Z":
        return tail
    parts = _OFFSET.fullmatch(tail)
    if parts is None:
        return None
    distance = timedelta(hours=int(parts[2]), minutes=int(parts[3]))
    return offset_text(-distance if parts[1] == "-" else distance)
