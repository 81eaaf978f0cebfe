"""Batched hashing for large inputs: compiled loops over libcrypto, or over our own SHA-256."""

from __future__ import annotations

import ctypes
import functools
import logging
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from amos.kernels.canonical import copy_runs
from amos.kernels.compiled import compiled
from amos.kernels.framing import Part, framed, part_cells
from amos.kernels.sha256 import hash_rows

Array = npt.NDArray[Any]
_LOG = logging.getLogger(__name__)
_STEPS = ("SHA256_Init", "SHA256_Update", "SHA256_Final")


@functools.cache
def _addresses() -> tuple[int, int, int] | None:
    """Return the addresses of libcrypto's three SHA-256 steps as this process has them, or None."""
    try:
        import _hashlib

        library = ctypes.CDLL(_hashlib.__file__)
        found = [ctypes.cast(getattr(library, name), ctypes.c_void_p).value for name in _STEPS]
    except (ImportError, AttributeError, OSError) as cause:
        _LOG.info("libcrypto is not reachable, hashing uses compiled code", extra={"cause": str(cause)})
        return None
    first, second, third = found
    return (first, second, third) if first and second and third else None


def sha256_rows(buffer: Array, offsets: Array, prefix: bytes) -> Array:
    """Return (n, 32) uint8 digests of `prefix` and each row; see `hashing.sha256_rows`."""
    lead = np.frombuffer(prefix, np.uint8)
    octets = np.ascontiguousarray(buffer)
    addresses = _addresses()
    if addresses is None:
        return hash_rows(lead, octets, offsets)
    from amos.kernels.libcrypto import hash_rows_native

    return hash_rows_native(*addresses, lead, octets, offsets)


def running_links(first: Array, checksums: Array) -> Array | None:
    """Return the links of a chain, see `merkle.running_links`; None where libcrypto is out of reach."""
    addresses = _addresses()
    if addresses is None:
        return None
    from amos.kernels.libcrypto import links_native

    return links_native(*addresses, first, np.ascontiguousarray(checksums))


def identities(parts: Sequence[Part], count: int) -> Array:
    """Return (count, 32) uint8 identities; see `hashing.identities`."""
    runs = [_framed_runs(part, count) for part in parts]
    sizes = np.zeros(count, np.int64)
    for _, edges in runs:
        sizes += edges[1:] - edges[:-1]
    offsets = np.zeros(count + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    joined = np.empty(int(offsets[-1]), np.uint8)
    at = offsets[:-1].copy()
    for octets, edges in runs:
        size = edges[1:] - edges[:-1]
        copy_runs(joined, at, octets, edges[:-1], size)
        at += size
    return sha256_rows(joined, offsets, b"")


def _framed_runs(part: Part, count: int) -> tuple[Array, Array]:
    """Return the framed bytes of one part for every row, and the (count + 1,) edges between them."""
    if part is None or isinstance(part, bytes | str | int):
        one = np.frombuffer(framed(part), np.uint8)
        return np.tile(one, count), np.arange(count + 1, dtype=np.int64) * len(one)
    if part.kind == "int":
        return compiled(frame_integers)(part.values, _held(part.valid, count))
    if part.kind == "bytes" and part.offsets is not None:
        return compiled(frame_bytes)(part.values, part.offsets, _held(part.valid, count))
    part_cells(part, count)  # raises the error of the small path
    raise AssertionError(part.kind)


def _held(valid: Array | None, count: int) -> Array:
    return np.ones(count, np.bool_) if valid is None else valid


def frame_bytes(octets: Array, offsets: Array, held: Array) -> tuple[Array, Array]:
    """Frame the rows of a byte column: 0, or 1, uint32 length and the bytes."""
    count = held.shape[0]
    edges = np.zeros(count + 1, np.int64)
    for i in range(count):
        edges[i + 1] = edges[i] + (5 + offsets[i + 1] - offsets[i] if held[i] else 1)
    out = np.zeros(edges[count], np.uint8)
    for i in range(count):
        if held[i]:
            at, size = edges[i], offsets[i + 1] - offsets[i]
            out[at] = 1
            for k in range(4):
                out[at + 1 + k] = (size >> (8 * k)) & 255
            out[at + 5 : at + 5 + size] = octets[offsets[i] : offsets[i + 1]]
    return out, edges


def frame_integers(values: Array, held: Array) -> tuple[Array, Array]:
    """Frame the rows of an integer column as decimal digits."""
    count = held.shape[0]
    out = np.zeros(count * 25, np.uint8)  # presence, length and at most 20 characters
    edges = np.zeros(count + 1, np.int64)
    digits = np.zeros(20, np.uint8)
    at = 0
    for i in range(count):
        if held[i]:
            rest, size = values[i], 0
            is_negative = rest < 0
            while size == 0 or rest != 0:
                last = rest % 10
                if is_negative and last != 0:  # the remainder of the magnitude, safe at the lowest int64
                    last = 10 - last
                    rest = (rest + last) // 10
                else:
                    rest = rest // 10
                digits[size] = 48 + last
                size += 1
            width = size + (1 if is_negative else 0)
            out[at] = 1
            out[at + 1] = width
            if is_negative:
                out[at + 5] = 45
            for k in range(size):
                out[at + 4 + width - k] = digits[k]
            at += 5 + width
        else:
            at += 1
        edges[i + 1] = at
    return out[:at], edges
