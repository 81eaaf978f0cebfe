"""Put any number of row digests in their total order and hash them, in bounded memory."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from typing import IO, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from amos.kernels.hashing import DIGEST_BYTES, sha256_matrix

Array = npt.NDArray[Any]

HELD_ROWS = 1 << 17
"""Digests held in memory, 4 MB; more go to a file, a sorted run at a time."""
_SHARES = 4096
"""Parts of the order that are merged one by one: digests spread evenly over their first 12 bits."""


class _Run(NamedTuple):
    """A sorted run in the file: its first row there, and where in it each share begins."""

    start: int
    edges: Array


class OrderedDigests:
    """Digests that come in any order and leave in one.  Use it as a context manager.

    What goes to the file is masked under a key that only this object holds, and the file has no name: row
    digests would let whoever finds them test guesses about the rows.
    """

    def __init__(self, held_rows: int = HELD_ROWS) -> None:
        self.count = 0
        self._most = held_rows
        self._held: list[Array] = []
        self._held_count = 0
        self._runs: list[_Run] = []
        self._file: IO[bytes] | None = None
        self._key = os.urandom(DIGEST_BYTES)

    def __enter__(self) -> OrderedDigests:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def add(self, digests: Array) -> None:
        """Take (n, 32) uint8 digests."""
        self.count += len(digests)
        self._held.append(digests)
        self._held_count += len(digests)
        if self._held_count > self._most:
            self._spill()

    def parts(self) -> Iterator[Array]:
        """Yield all digests in ascending order, as (n, 32) parts."""
        if not self._runs:
            yield self._taken()
            return
        self._spill()
        step = max(1, _SHARES * self._most // self.count)
        for share in range(0, _SHARES, step):
            after = min(share + step, _SHARES)
            yield _sorted(np.concatenate([self._read(run, share, after) for run in self._runs]))

    def _taken(self) -> Array:
        held = _sorted(np.concatenate([np.zeros((0, DIGEST_BYTES), np.uint8), *self._held]))
        self._held, self._held_count = [], 0
        return held

    def _spill(self) -> None:
        rows = self._taken()
        if self._file is None:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115 - closed on leaving
        start = self._runs[-1].start + int(self._runs[-1].edges[-1]) if self._runs else 0
        first = rows[:, 0].astype(np.int64) << 4 | rows[:, 1] >> 4
        self._runs.append(_Run(start, np.searchsorted(first, np.arange(_SHARES + 1))))
        self._file.seek(start * DIGEST_BYTES)
        self._file.write((rows ^ self._mask(start, len(rows))).tobytes())

    def _read(self, run: _Run, share: int, until: int) -> Array:
        assert self._file is not None
        first, after = (run.start + int(run.edges[edge]) for edge in (share, until))
        self._file.seek(first * DIGEST_BYTES)
        octets = self._file.read((after - first) * DIGEST_BYTES)
        masked = np.frombuffer(octets, np.uint8).reshape(-1, DIGEST_BYTES)
        found: Array = masked ^ self._mask(first, after - first)
        return found

    def _mask(self, start: int, count: int) -> Array:
        """Return (count, 32) bytes that no other row of the file is masked with."""
        numbers = np.arange(start, start + count, dtype="<u8").view(np.uint8).reshape(-1, 8)
        return sha256_matrix(numbers, prefix=self._key)


def _sorted(digests: Array) -> Array:
    """Return (n, 32) digests in ascending order."""
    found: Array = digests[np.lexsort(digests.T[::-1])]
    return found
