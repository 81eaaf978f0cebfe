"""The file format of an index: named arrays, a header, a checksum per 64 KiB, checked when touched.

Layout, little-endian: magic (8), header length (uint32), CRC-32 of the header (uint32), header
(JSON), CRC-32 of every block of the data area (uint32 each), padding to 64, data area.  Arrays
begin at multiples of 64 inside the data area.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

MAGIC = b"AMOSIDX1"
BLOCK_BYTES = 64 << 10
_ALIGN = 64
_PREFIX = struct.Struct("<8sII")


class IndexDamageError(Exception):
    """A stored index does not hold what was written; it is rebuilt, never trusted."""


def _padded(size: int) -> int:
    return -(-size // _ALIGN) * _ALIGN


def pack_arrays(about: Mapping[str, Any], arrays: Mapping[str, Array]) -> bytes:
    """Return the file bytes for `arrays`; `about` is kept in the header as it is."""
    entries, chunks, at = {}, [], 0
    for name, values in arrays.items():
        raw = np.ascontiguousarray(values).tobytes()
        entries[name] = {"dtype": values.dtype.str, "shape": list(values.shape), "at": at, "bytes": len(raw)}
        chunks.append(raw + bytes(_padded(len(raw)) - len(raw)))
        at += _padded(len(raw))
    body = b"".join(chunks)
    sums = [zlib.crc32(body[low : low + BLOCK_BYTES]) for low in range(0, len(body), BLOCK_BYTES)]
    table = np.array(sums, "<u4").tobytes()
    header = json.dumps(
        {"about": dict(about), "arrays": entries, "bytes": len(body), "sums": zlib.crc32(table)},
        sort_keys=True,
    ).encode()
    front = _PREFIX.pack(MAGIC, len(header), zlib.crc32(header)) + header + table
    return front + bytes(_padded(len(front)) - len(front)) + body


class Container:
    """A packed file in a buffer; every block is checked before its bytes are handed out."""

    def __init__(self, buffer: memoryview) -> None:
        """Read the header.  Raises IndexDamageError when it is not what was written."""
        if len(buffer) < _PREFIX.size:
            raise IndexDamageError("the file is too short")
        magic, length, crc = _PREFIX.unpack(buffer[: _PREFIX.size])
        raw = bytes(buffer[_PREFIX.size : _PREFIX.size + length])
        if magic != MAGIC or zlib.crc32(raw) != crc:
            raise IndexDamageError("the header is damaged")
        header = json.loads(raw)
        blocks = -(-header["bytes"] // BLOCK_BYTES)
        table_end = _PREFIX.size + length + 4 * blocks
        table = bytes(buffer[_PREFIX.size + length : table_end])
        self._body = buffer[_padded(table_end) : _padded(table_end) + header["bytes"]]
        if zlib.crc32(table) != header["sums"] or len(self._body) != header["bytes"]:
            raise IndexDamageError("the file is cut short or its checksums are damaged")
        self.about: dict[str, Any] = header["about"]
        self._arrays: dict[str, dict[str, Any]] = header["arrays"]
        self._sums = np.frombuffer(table, "<u4")
        self._checked = np.zeros(blocks, bool)

    def names(self) -> list[str]:
        """Return the names of all arrays."""
        return list(self._arrays)

    def array(self, name: str) -> Array:
        """Return a whole array, its blocks checked."""
        entry = self._arrays[name]
        return self._view(name, entry["at"], entry["bytes"])

    def part(self, name: str, low: int, high: int) -> Array:
        """Return elements low … high-1 of a one-dimensional array, only their blocks checked."""
        width = np.dtype(self._arrays[name]["dtype"]).itemsize
        return self._view(name, self._arrays[name]["at"] + low * width, (high - low) * width, flat=True)

    def length(self, name: str) -> int:
        """Return the first extent of an array."""
        return int(self._arrays[name]["shape"][0])

    def _view(self, name: str, at: int, size: int, *, flat: bool = False) -> Array:
        for block in range(at // BLOCK_BYTES, -(-(at + size) // BLOCK_BYTES) if size else 0):
            if not self._checked[block]:
                self._check(block)
        entry = self._arrays[name]
        values = np.frombuffer(self._body[at : at + size], entry["dtype"])
        return values if flat else values.reshape(entry["shape"])

    def _check(self, block: int) -> None:
        low = block * BLOCK_BYTES
        if zlib.crc32(self._body[low : low + BLOCK_BYTES]) != self._sums[block]:
            raise IndexDamageError(f"block {block} does not match its checksum")
        self._checked[block] = True


class StoredColumns(Mapping[str, Array]):
    """Columns of a container under a prefix, each checked when it is first read."""

    def __init__(self, container: Container, prefix: str) -> None:
        self._container = container
        self._prefix = prefix
        self._names = [n.removeprefix(prefix) for n in container.names() if n.startswith(prefix)]

    def __getitem__(self, name: str) -> Array:
        return self._container.array(self._prefix + name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


class StoredArray:
    """One large array of a container: slices check the blocks they touch, nothing more."""

    def __init__(self, container: Container, name: str) -> None:
        self._container = container
        self._name = name

    def __len__(self) -> int:
        return self._container.length(self._name)

    def __getitem__(self, wanted: slice) -> Array:
        low, high, _ = wanted.indices(len(self))
        return self._container.part(self._name, low, high)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        """Return the whole array, all of it checked."""
        values = self._container.array(self._name)
        return np.array(values, dtype, copy=True) if copy else np.asarray(values, dtype)
