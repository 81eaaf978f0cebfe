"""Sorted ids in files: where the rows of an id stand, without reading the table or holding it in memory.

A file is blocks of 64 KiB, each 4,096 sorted keys and the positions that go with them, then a foot: a JSON
head, the first key and the CRC-32 of every block.  A block is checked when it is first touched.  Files are
derived: one counts only while the commit that it was written at is part of the history, and whoever commits
writes it, never a reader.
"""

from __future__ import annotations

import json
import logging
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from amos.errors import IntegrityError
from amos.storage.catalog import Catalog
from amos.storage.files import draft_folder
from amos.storage.places import place

Array = npt.NDArray[Any]
Entries = tuple[Array, Array]
"""(n,) uint64 keys, ascending, and (n,) int64 positions."""

_ENTRIES = 4_096
_BLOCK_BYTES = 16 * _ENTRIES
_MAGIC = b"AMOSIDS1"
_END = np.dtype([("size", "<u8"), ("crc", "<u4")])
_CHUNK_BLOCKS = 64
_LOG = logging.getLogger(__name__)


class Head(NamedTuple):
    """What a file covers: all rows of a table up to a commit, told apart by its link."""

    rows: int
    keys: int
    version: int
    link: str
    erasures: int


class IdFile:
    """One file, mapped into memory; only the first key of every block is held."""

    def __init__(self, path: Path) -> None:
        """Map a file.  Raises OSError or ValueError where there is none that can be read."""
        self._name = path.name
        octets = np.memmap(path, np.uint8, "r")
        after = len(octets) - _END.itemsize - len(_MAGIC)
        if after < 0 or octets[-len(_MAGIC) :].tobytes() != _MAGIC:
            raise ValueError("it is no file of ids")
        size, crc = np.frombuffer(octets[after : -len(_MAGIC)].tobytes(), _END)[0].tolist()
        foot = octets[max(after - size, 0) : after].tobytes()
        if len(foot) != size or zlib.crc32(foot) != crc:
            raise ValueError("its end is damaged")
        head, fences, crcs = _parts_of(foot, (after - size) // _BLOCK_BYTES)
        self.head = Head(**json.loads(head))
        self._fences, self._crcs = np.frombuffer(fences, "<u8"), np.frombuffer(crcs, "<u4")
        self._blocks = octets[: after - size].reshape(len(self._fences), _BLOCK_BYTES)
        self._checked = np.zeros(len(self._fences), np.bool_)

    @property
    def row_count(self) -> int:
        """How many rows of the table are covered, from the first."""
        return self.head.rows

    @property
    def key_count(self) -> int:
        """How many of these rows have an id."""
        return self.head.keys

    def find(self, low: Array, high: Array) -> Array:
        """Return the positions of all keys that lie in one of (m,) inclusive ranges, in no order.

        Raises IntegrityError where a block is not what was written.
        """
        if not self.head.keys:
            return np.zeros(0, np.int64)
        starts, stops = self._edges(low, "left"), self._edges(high, "right")
        counts = stops - starts
        before = np.cumsum(counts) - counts
        places = np.repeat(starts - before, counts) + np.arange(int(counts.sum()))
        owners = places // _ENTRIES
        self._check(owners)
        return self._blocks.view(np.int64)[owners, _ENTRIES + places % _ENTRIES]

    def entries(self) -> Iterator[Entries]:
        """Yield all keys and positions, some blocks at a time.  Raises IntegrityError as `find` does."""
        for first in range(0, len(self._fences), _CHUNK_BLOCKS):
            chosen = np.arange(first, min(first + _CHUNK_BLOCKS, len(self._fences)))
            self._check(chosen)
            cells = np.array(self._blocks[chosen]).view(np.uint64)
            held = min(self.head.keys - first * _ENTRIES, len(chosen) * _ENTRIES)
            keys, positions = cells[:, :_ENTRIES].reshape(-1), cells[:, _ENTRIES:].reshape(-1)
            yield keys[:held], positions[:held].astype(np.int64)

    def _edges(self, keys: Array, side: Any) -> Array:
        """Return for each key how many keys of the file are smaller, for `right` also those equal."""
        owners = np.searchsorted(self._fences, keys, side) - 1
        found = np.zeros(len(keys), np.int64)
        for owner in np.unique(owners[owners >= 0]).tolist():
            self._check(np.array([owner]))
            held = min(self.head.keys - owner * _ENTRIES, _ENTRIES)
            chosen = owners == owner
            cells = self._blocks[owner].view(np.uint64)[:held]
            found[chosen] = owner * _ENTRIES + np.searchsorted(cells, keys[chosen], side)
        return found

    def _check(self, owners: Array) -> None:
        for owner in np.unique(owners[~self._checked[owners]]).tolist():
            if zlib.crc32(self._blocks[owner]) != self._crcs[owner]:
                raise IntegrityError(f"{self._name}: block {owner} is damaged", path=self._name)
            self._checked[owner] = True


def _parts_of(foot: bytes, blocks: int) -> tuple[bytes, bytes, bytes]:
    cut = len(foot) - 12 * blocks
    if cut < 0:
        raise ValueError("its end is too short")
    return foot[:cut], foot[cut : cut + 8 * blocks], foot[cut + 8 * blocks :]


def merged(base: Iterable[Entries], tail: Entries) -> Iterator[Entries]:
    """Yield two sorted runs of entries as one, piece by piece."""
    keys, positions = tail
    start = 0
    for early_keys, early_positions in base:
        stop = int(np.searchsorted(keys, early_keys[-1], "right"))
        both = np.concatenate([early_keys, keys[start:stop]])
        order = np.argsort(both, kind="stable")
        yield both[order], np.concatenate([early_positions, positions[start:stop]])[order]
        start = stop
    yield keys[start:], positions[start:]


def write_ids(path: Path, head: Head, entries: Iterable[Entries]) -> None:
    """Write a file of sorted entries to `path`."""
    fences: list[int] = []
    crcs: list[int] = []
    with path.open("wb") as out:
        for keys, positions in _in_blocks(entries):
            block = np.zeros(2 * _ENTRIES, np.uint64)
            block[: len(keys)] = keys
            block[_ENTRIES : _ENTRIES + len(keys)] = positions.view(np.uint64)
            fences.append(int(keys[0]))
            crcs.append(zlib.crc32(block.tobytes()))
            out.write(block.tobytes())
        foot = json.dumps(head._asdict()).encode()
        foot += np.array(fences, "<u8").tobytes() + np.array(crcs, "<u4").tobytes()
        end = np.array([(len(foot), zlib.crc32(foot))], _END)
        out.write(foot + end.tobytes() + _MAGIC)


def _in_blocks(entries: Iterable[Entries]) -> Iterator[Entries]:
    rest_keys, rest_positions = np.zeros(0, np.uint64), np.zeros(0, np.int64)
    for more_keys, more_positions in entries:
        keys = np.concatenate([rest_keys, more_keys])
        positions = np.concatenate([rest_positions, more_positions])
        whole = len(keys) - len(keys) % _ENTRIES
        for start in range(0, whole, _ENTRIES):
            yield keys[start : start + _ENTRIES], positions[start : start + _ENTRIES]
        rest_keys, rest_positions = keys[whole:], positions[whole:]
    if len(rest_keys):
        yield rest_keys, rest_positions


class IdFiles:
    """The files of ids of one shard."""

    def __init__(self, shard: Path, catalog: Catalog, *, read_only: bool) -> None:
        self._shard, self._catalog = shard, catalog
        self.is_writable = not read_only

    def open(self, table: str, column: str, erasures: int) -> IdFile | None:
        """Return the file of a column when it belongs to this history, else None."""
        try:
            found = IdFile(self._path(table, column))
        except (OSError, ValueError, TypeError):
            return None
        head = found.head
        is_ours = head.erasures == erasures and head.link == self._link(head.version)
        return found if is_ours else None

    def save(
        self,
        table: str,
        column: str,
        covered: tuple[int, int, int],
        base: IdFile | None,
        tail: Entries,
    ) -> IdFile | None:
        """Write what is in `base` and `tail` as one file; None where that is not possible.

        covered: rows of the table up to a graph version, that version, and the count of erasures then.
        """
        rows, version, erasures = covered
        link = self._link(version)
        if not self.is_writable or link is None:
            return None
        keys = len(tail[0]) + (0 if base is None else base.key_count)
        path = self._path(table, column)
        draft = draft_folder(self._shard) / path.name
        try:
            path.parent.mkdir(exist_ok=True)
            entries = merged(() if base is None else base.entries(), tail)
            write_ids(draft, Head(rows, keys, version, link, erasures), entries)
            draft.replace(path)
            return IdFile(path)
        except (OSError, IntegrityError, ValueError) as cause:
            _LOG.warning("an index of ids could not be stored", extra={"cause": str(cause)})
            draft.unlink(missing_ok=True)
            return None

    def _path(self, table: str, column: str) -> Path:
        return place(self._shard, "derived/ids", f"{table}.{column}.ids")

    def _link(self, version: int) -> str | None:
        found = self._catalog.rows("SELECT link FROM commits WHERE graph_version = ?", (version,))
        return found[0][0].hex() if found else None
