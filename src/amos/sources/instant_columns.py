"""Read many clocks at once: the usual shapes of RFC 3339 by columns, all others one by one."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from amos.sources.instants import HIGHEST_US, LOWEST_US, DefaultZone, offset_text, read_instant

_Codes = npt.NDArray[np.uint8]
_Numbers = npt.NDArray[np.int64]
_Rows = npt.NDArray[np.intp]
_Mask = npt.NDArray[np.bool_]

_DAY_AND_CLOCK = "0000-00-00T00:00:00"
_FRACTIONS = ("", ".000", ".000000")
_ZONES = ("Z", "+00:00")
_SHAPES = [(_DAY_AND_CLOCK + fraction, zone) for fraction in _FRACTIONS for zone in _ZONES]
_ZERO, _PLUS, _MINUS = b"0+-"
_MINUTE_US = 60_000_000
_DAY_MINUTES = 1440
_UTC = _DAY_MINUTES
"""Stands for the zone "Z" among offsets in minutes, all of which are less than a day."""


class InstantColumns(NamedTuple):
    """The fields of `Instant`, one row per value; `invalid` lists the rows that cannot be read."""

    us: pa.Array
    text: pa.Array
    zone: pa.Array
    is_zone_assumed: pa.Array
    invalid: list[int]


def read_instants(values: Sequence[str | int | float | None], zone: DefaultZone) -> InstantColumns:
    """Return what `read_instant` returns for each of `values`, as columns."""
    texts = pa.array([value if type(value) is str else None for value in values], pa.string())
    count = len(values)
    us = np.zeros(count, np.int64)
    offsets = np.zeros(count, np.int64)
    is_read = np.zeros(count, np.bool_)
    _read_shapes(texts, us, offsets, is_read)
    columns = InstantColumns(
        us=pa.array(us),
        text=_kept_texts(texts, offsets),
        zone=_zone_names(offsets),
        is_zone_assumed=pa.repeat(pa.scalar(False), count),
        invalid=[],
    )
    odd = np.flatnonzero(~is_read).tolist()
    return _with_odd(columns, odd, values, zone) if odd else columns


def _with_odd(
    columns: InstantColumns, odd: list[int], values: Sequence[str | int | float | None], zone: DefaultZone
) -> InstantColumns:
    """Return `columns` with the rows in `odd` read one by one."""
    us, texts, zones, assumed = (column.to_pylist() for column in columns[:4])
    invalid = []
    for row in odd:
        us[row], texts[row], zones[row], assumed[row], is_invalid = read_instant(values[row], zone)
        if is_invalid:
            invalid.append(row)
    return InstantColumns(
        us=pa.array(us, pa.int64()),
        text=pa.array(texts, pa.string()),
        zone=pa.array(zones, pa.string()),
        is_zone_assumed=pa.array(assumed, pa.bool_()),
        invalid=invalid,
    )


def _read_shapes(texts: pa.StringArray, us: _Numbers, offsets: _Numbers, is_read: _Mask) -> None:
    """Fill in the rows of `texts` that have one of `_SHAPES`: time, offset in minutes, success."""
    _, bounds, content = texts.buffers()
    starts = np.frombuffer(bounds, np.int32)[: len(texts) + 1]
    codes = np.frombuffer(content, np.uint8) if content is not None else np.zeros(0, np.uint8)
    lengths = np.diff(starts)
    for clock, zone in _SHAPES:
        rows = np.flatnonzero(lengths == len(clock) + len(zone))
        if rows.size:
            places = starts[rows] + np.arange(len(clock) + len(zone), dtype=np.int32)[:, np.newaxis]
            us[rows], offsets[rows], is_read[rows] = _read_shape(codes[places], clock, zone)


def _read_shape(letters: _Codes, clock: str, zone: str) -> tuple[_Numbers, _Numbers, _Mask]:
    """Return time, offset in minutes and success of the texts in the columns of `letters`."""
    size = len(clock)
    is_shape = _has_shape(letters[:size], clock)
    digits = letters - np.uint8(_ZERO)
    year, month, day = _number(digits, 0, 4), _number(digits, 5, 7), _number(digits, 8, 10)
    hour, minute, second = (_number(digits, first, first + 2) for first in (11, 14, 17))
    days, is_day = _days(year, month, day)
    is_time = is_shape & is_day & (hour < 24) & (minute < 60) & (second < 60)
    fraction = _number(digits, 20, size) * 10 ** (26 - max(size, 20))
    offsets, is_zone = _offsets(letters[size:], digits[size:], zone)
    minutes = (days * 24 + hour) * 60 + minute - np.where(offsets == _UTC, 0, offsets)
    us = minutes * _MINUTE_US + second * 1_000_000 + fraction
    return us, offsets, is_time & is_zone & (us >= LOWEST_US) & (us < HIGHEST_US)


def _has_shape(letters: _Codes, shape: str) -> _Mask:
    """Tell which columns of `letters` have digits where `shape` has 0, and else its very signs."""
    signs = np.frombuffer(shape.encode(), np.uint8)
    is_digit = signs == _ZERO
    marks = signs[~is_digit][:, np.newaxis]
    # Below zero wraps to large numbers, so one comparison finds every sign that is no digit.
    return ((letters[is_digit] - np.uint8(_ZERO)) < 10).all(axis=0) & (letters[~is_digit] == marks).all(
        axis=0
    )


def _number(digits: _Codes, first: int, last: int) -> _Numbers:
    value = np.zeros(digits.shape[1], np.int64)
    for place in range(first, last):
        value = value * 10 + digits[place]
    return value


def _days(year: _Numbers, month: _Numbers, day: _Numbers) -> tuple[_Numbers, _Mask]:
    """Return days since 1970, and which of them are in the calendar."""
    months = (year - 1970) * 12 + month - 1
    firsts, nexts = (
        number.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
        for number in (months, months + 1)
    )
    is_day = (month >= 1) & (month <= 12) & (day >= 1) & (day <= nexts - firsts)
    return firsts + day - 1, is_day


def _offsets(letters: _Codes, digits: _Codes, zone: str) -> tuple[_Numbers, _Mask]:
    """Return offsets in minutes, `_UTC` for "Z", and which of them are well written."""
    if len(zone) == 1:
        return np.full(letters.shape[1], _UTC), letters[0] == ord(zone)
    is_minus = letters[0] == _MINUS
    hour, minute = _number(digits, 1, 3), _number(digits, 4, 6)
    is_zone = (
        _has_shape(letters[1:], zone[1:]) & (is_minus | (letters[0] == _PLUS)) & (hour < 24) & (minute < 60)
    )
    return np.where(is_minus, -1, 1) * (hour * 60 + minute), is_zone


def _kept_texts(texts: pa.StringArray, offsets: _Numbers) -> pa.Array:
    """Return `texts` but for those in UTC, whose canonical form says the same."""
    is_utc = offsets == _UTC
    if is_utc.all():
        return pa.nulls(len(texts), pa.string())
    return pc.if_else(pa.array(is_utc), pa.scalar(None, pa.string()), texts) if is_utc.any() else texts


def _zone_names(offsets: _Numbers) -> pa.Array:
    used, places = np.unique(offsets, return_inverse=True)
    names = ["Z" if offset == _UTC else offset_text(timedelta(minutes=offset)) for offset in used.tolist()]
    if len(names) == 1:
        return pa.repeat(pa.scalar(names[0]), len(offsets))
    return pa.array(names, pa.string()).take(pa.array(places))
