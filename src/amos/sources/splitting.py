"""Cut a stream into records: lines, or the elements of one large JSON array.

Neither needs memory beyond the longest record.  Array elements are found from the positions of
quotes and brackets alone, whole chunks at a time, so that a damaged element costs only itself.
"""

from __future__ import annotations

import io
from collections.abc import Generator, Iterator
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt

from amos.sources.faults import Fault

_CHUNK_BYTES = 1 << 18
_BUFFER_BYTES = 1 << 20
BOM = b"\xef\xbb\xbf"
_BACKSLASH = ord("\\")
_QUOTE = ord('"')
_ESCAPABLE = (_QUOTE, _BACKSLASH)
_SEPARATORS = b" \t\r\n,[]"
_Positions = npt.NDArray[np.int64]

_OPENING = np.zeros(256, np.int8)
_OPENING[[ord("["), ord("{")]] = 1
_OPENING[[ord("]"), ord("}")]] = -1
_IS_SIGN = _OPENING != 0
_IS_SIGN[[_QUOTE, _BACKSLASH]] = True


class Piece(NamedTuple):
    """One record as bytes; with a fault instead when there is nothing to decode."""

    number: int
    raw: bytes
    size: int
    fault: Fault | None = None
    is_last: bool = False


def buffered(stream: Any, buffer_bytes: int = _BUFFER_BYTES) -> io.BufferedReader:
    """Return `stream` with a buffer that can be peeked into: itself when it has one."""
    return stream if isinstance(stream, io.BufferedReader) else io.BufferedReader(stream, buffer_bytes)


def raw_lines(stream: BinaryIO, *, longest: int) -> Iterator[tuple[int, bytes]]:
    """Yield number and bytes of the lines of `stream` that are not blank, as an editor counts them.

    A line of more than `longest` bytes comes without any: no other line is empty.
    """
    number = 0
    while raw := stream.readline(longest + 1):
        number += 1
        if number == 1 and raw.startswith(BOM):
            raw = raw[len(BOM) :]
        if len(raw) > longest and not raw.endswith(b"\n"):
            skip_line(stream, longest)
            yield number, b""
        elif raw and not raw.isspace():
            yield number, raw


def line_chunks(
    stream: BinaryIO, *, longest: int, count: int, size: int
) -> Iterator[tuple[list[int], list[bytes]]]:
    """Yield numbers and bytes of `raw_lines`, cut behind `count` lines or `size` bytes, what comes first."""
    numbers: list[int] = []
    raws: list[bytes] = []
    room = size
    for number, raw in raw_lines(stream, longest=longest):
        numbers.append(number)
        raws.append(raw)
        room -= len(raw)
        if len(raws) >= count or room <= 0:
            yield numbers, raws
            numbers, raws, room = [], [], size
    if raws:
        yield numbers, raws


def line_piece(number: int, raw: bytes) -> Piece:
    """Return the piece of one of `raw_lines`."""
    fault = None if raw else Fault.TOO_LARGE
    return Piece(number, raw, len(raw), fault, not raw.endswith(b"\n"))


def split_lines(stream: BinaryIO, *, longest: int) -> Iterator[Piece]:
    """Yield the lines of `stream` that are not blank; one that is too long comes with a fault.

    `is_last` marks a last line that no line end follows.
    """
    return (line_piece(*line) for line in raw_lines(stream, longest=longest))


def skip_line(stream: BinaryIO, step: int) -> None:
    """Read to the end of the line, `step` bytes at a time."""
    while raw := stream.readline(step):
        if raw.endswith(b"\n"):
            break


def split_values(stream: BinaryIO, *, longest: int) -> Iterator[Piece]:
    """Yield the elements of a top-level array, or the values of a sequence, numbered from 1.

    Objects and arrays only; whatever else stands between them is one faulty piece each time.
    """
    cutter = _Cutter(longest)
    chunk = _start(stream)
    while chunk:
        yield from cutter.feed(chunk)
        chunk = stream.read(_CHUNK_BYTES)
    yield from cutter.finish()


def _start(stream: BinaryIO) -> bytes:
    """Return the first bytes without a byte order mark, however small the reads are."""
    start = b""
    while len(start) <= len(BOM) and (chunk := stream.read(_CHUNK_BYTES)):
        start += chunk
    return start.removeprefix(BOM)


class _Cutter:
    """Where the cut stands between two chunks of one stream."""

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._number = 0
        self._depth = 0
        self._base = -1  # depth at which elements stand; unknown until the first sign
        self._is_in_string = False
        self._is_escaped = False
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, chunk: bytes) -> Iterator[Piece]:
        """Yield the records that end inside `chunk`."""
        if self._base < 0:
            chunk = chunk.lstrip()
            if not chunk:
                return
            self._base = 1 if chunk.startswith(b"[") else 0
        positions, depths = self._brackets(chunk)
        start = 0
        for low, high in self._sections(depths):
            start = yield from self._cut(chunk, positions[low:high], depths[low:high], start)
        yield from self._keep(chunk[start:])
        if depths.size:
            self._depth = int(depths[-1])

    def finish(self) -> Iterator[Piece]:
        """Yield what the end of the stream left open: a record, or the array itself."""
        if self._base >= 0 and (self._depth > self._base or self._depth == 1):
            self._number += 1
            yield Piece(self._number, b"", self._size, Fault.TRUNCATED)

    def _brackets(self, chunk: bytes) -> tuple[_Positions, _Positions]:
        """Return positions of brackets outside strings, and the depth after each, never below 0."""
        codes = np.frombuffer(chunk, np.uint8)
        signs = np.flatnonzero(_IS_SIGN[codes])
        if self._is_escaped and signs.size and signs[0] == 0 and codes[0] in _ESCAPABLE:
            signs = signs[1:]
        kinds = codes[signs]
        slashes = signs[kinds == _BACKSLASH]
        quotes = signs[kinds == _QUOTE]
        escaped = _escaped_positions(slashes)
        self._is_escaped = bool(escaped.size and escaped[-1] == len(chunk))
        if escaped.size:
            is_escaped = np.zeros(len(chunk) + 1, np.bool_)
            is_escaped[escaped] = True
            quotes = quotes[~is_escaped[quotes]]
        brackets = signs[(kinds != _BACKSLASH) & (kinds != _QUOTE)]
        is_inside = (np.searchsorted(quotes, brackets) + self._is_in_string) & 1
        self._is_in_string = bool((quotes.size + self._is_in_string) & 1)
        brackets = brackets[is_inside == 0]
        depths = self._depth + np.cumsum(_OPENING[codes[brackets]], dtype=np.int64)
        # A stray closing bracket must not sink the depth of all that follows.
        depths -= np.minimum(np.minimum.accumulate(depths), 0) if depths.size else 0
        return brackets, depths

    def _sections(self, depths: _Positions) -> Iterator[tuple[int, int]]:
        """Yield runs of brackets with one base: an array that closes makes way for a sequence."""
        low = 0
        if self._base == 1:
            closing = np.flatnonzero(depths == 0)
            if closing.size:
                low = int(closing[0]) + 1
                yield 0, low
                self._base = 0
        yield low, depths.size

    def _cut(
        self, chunk: bytes, positions: _Positions, depths: _Positions, start: int
    ) -> Generator[Piece, None, int]:
        """Yield the records that end at `positions`; return where the next one begins."""
        before = np.empty_like(depths)
        if depths.size:
            before[1:] = depths[:-1]
            before[0] = self._depth
            self._depth = int(depths[-1])
        opens = positions[(before == self._base) & (depths == self._base + 1)]
        closes = positions[(before == self._base + 1) & (depths == self._base)]
        for first, last in _pairs(opens, closes, is_open=bool(self._parts or self._size)):
            if first is not None:
                yield from self._stray(chunk[start:first])
                start = first
            if last is None:
                break
            yield self._close(chunk[start : last + 1])
            start = last + 1
        return start

    def _close(self, tail: bytes) -> Piece:
        self._number += 1
        size = self._size + len(tail)
        is_whole = size <= self._longest
        raw = b"".join([*self._parts, tail]) if is_whole else b""
        self._parts, self._size = [], 0
        return Piece(self._number, raw, size, None if is_whole else Fault.TOO_LARGE)

    def _keep(self, rest: bytes) -> Iterator[Piece]:
        if self._depth <= self._base:
            yield from self._stray(rest)
            return
        self._size += len(rest)
        if self._size <= self._longest:
            self._parts.append(rest)
        else:
            self._parts.clear()

    def _stray(self, between: bytes) -> Iterator[Piece]:
        found = between.strip(_SEPARATORS)
        if found:
            self._number += 1
            yield Piece(self._number, found[:64], len(found), Fault.WRONG_TYPE)


def _escaped_positions(slashes: _Positions) -> _Positions:
    """Return the positions after backslash runs of odd length, ascending."""
    if not slashes.size:
        return slashes
    breaks = np.flatnonzero(np.diff(slashes) != 1)
    firsts = slashes[np.concatenate(([0], breaks + 1))]
    lasts = slashes[np.concatenate((breaks, [slashes.size - 1]))]
    return lasts[(lasts - firsts) % 2 == 0] + 1


def _pairs(
    opens: _Positions, closes: _Positions, *, is_open: bool
) -> Iterator[tuple[int | None, int | None]]:
    """Yield (first, last) byte of each record; None stands for another chunk."""
    starts: list[int | None] = [None, *opens.tolist()] if is_open else opens.tolist()
    ends: list[int | None] = closes.tolist()
    ends.extend([None] * (len(starts) - len(ends)))
    yield from zip(starts, ends, strict=False)
