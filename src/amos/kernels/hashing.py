"""SHA-256, HMAC and Merkle roots over many rows at once; hashlib is the oracle and the small path.

Large batches run through compiled loops that call libcrypto where this process has it, else
through the compiled SHA-256 of `kernels.sha256`.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from amos.kernels.compiled import is_worth_compiling
from amos.kernels.framing import Part, framed, octet_view, part_cells

__all__ = [
    "Part",
    "framed",
    "hmac_rows",
    "identities",
    "keyed_ids",
    "merkle_root",
    "sha256_matrix",
    "sha256_rows",
]

Array = npt.NDArray[Any]

DIGEST_BYTES = 32
ID_BYTES = 16
_BLOCK_BYTES = 64


def sha256_rows(buffer: Array, offsets: Array, *, prefix: bytes = b"") -> Array:
    """Return (n, 32) uint8: SHA-256 of `prefix` and each row of `buffer`.

    buffer: contiguous uint8.  offsets: (n + 1,) int64, ascending.
    """
    count = len(offsets) - 1
    if is_worth_compiling(count):
        from amos.kernels import bulk_hashing

        return bulk_hashing.sha256_rows(buffer, offsets, prefix)
    begin, view = hashlib.sha256(prefix).copy, octet_view(buffer)
    digests = []
    for first, after in pairwise(offsets.tolist()):
        digest = begin()
        digest.update(view[first:after])
        digests.append(digest.digest())
    return _matrix(digests)


def hmac_rows(key: bytes, buffer: Array, offsets: Array, *, prefix: bytes = b"") -> Array:
    """Return (n, 32) uint8: HMAC-SHA256 under `key` of `prefix` and each row of `buffer`."""
    lead, tail = _padded(key)
    if is_worth_compiling(len(offsets) - 1):
        return sha256_matrix(sha256_rows(buffer, offsets, prefix=lead + prefix), prefix=tail)
    begin, end, view = hashlib.sha256(lead + prefix).copy, hashlib.sha256(tail).copy, octet_view(buffer)
    digests = []
    for first, after in pairwise(offsets.tolist()):
        inner, outer = begin(), end()
        inner.update(view[first:after])
        outer.update(inner.digest())
        digests.append(outer.digest())
    return _matrix(digests)


@functools.lru_cache(maxsize=8)
def _padded(key: bytes) -> tuple[bytes, bytes]:
    """Return what the inner and the outer hash under `key` begin with; RFC 2104."""
    block = hashlib.sha256(key).digest() if len(key) > _BLOCK_BYTES else key
    block = block.ljust(_BLOCK_BYTES, b"\x00")
    return bytes(byte ^ 0x36 for byte in block), bytes(byte ^ 0x5C for byte in block)


def _matrix(digests: Sequence[bytes]) -> Array:
    return np.frombuffer(b"".join(digests), np.uint8).reshape(len(digests), DIGEST_BYTES)


def _edges(count: int, width: int) -> Array:
    return np.arange(count + 1, dtype=np.int64) * width


def sha256_matrix(rows: Array, *, prefix: bytes = b"") -> Array:
    """Return (n, 32) uint8: SHA-256 of `prefix` and each row of an (n, k) uint8 matrix."""
    count, width = rows.shape
    return sha256_rows(np.ascontiguousarray(rows).reshape(-1), _edges(count, width), prefix=prefix)


def merkle_root(leaves: Array) -> bytes:
    """Return the 32-byte root over (n, 32) leaf data, as in RFC 9162 section 2.1.1.

    A level with an odd end hands its last node up unchanged, which is the tree that splits at
    the largest power of two.  Of no leaves it is the digest of nothing.
    """
    if len(leaves) == 0:
        return hashlib.sha256(b"").digest()
    if not is_worth_compiling(len(leaves)):
        return _plain_root(np.ascontiguousarray(leaves).tobytes())
    level = sha256_matrix(leaves, prefix=b"\x00")
    while len(level) > 1:
        paired = len(level) // 2 * 2
        joined = sha256_matrix(level[:paired].reshape(-1, 2 * DIGEST_BYTES), prefix=b"\x01")
        level = joined if paired == len(level) else np.concatenate([joined, level[paired:]])
    return level[0].tobytes()


def _plain_root(leaves: bytes) -> bytes:
    """Return the same for a few leaves, at least one, 32 bytes each."""
    level = [
        hashlib.sha256(b"\x00" + leaves[at : at + DIGEST_BYTES]).digest()
        for at in range(0, len(leaves), DIGEST_BYTES)
    ]
    while len(level) > 1:
        pairs = zip(level[::2], level[1::2], strict=False)
        level = [hashlib.sha256(b"\x01" + left + right).digest() for left, right in pairs] + (
            level[-1:] if len(level) % 2 else []
        )
    return level[0]


def keyed_ids(key: bytes, table: str, digests: Array) -> Array:
    """Return (n, 16) uint8 ids, row by row equal to `identity.keyed_id(key, table, digest)`.

    digests: (n, 32) uint8, contiguous.
    """
    edges = _edges(len(digests), DIGEST_BYTES)
    prefix = b"amos/1/" + table.encode() + b"\x00"
    buffer = np.ascontiguousarray(digests).reshape(-1)
    return np.ascontiguousarray(hmac_rows(key, buffer, edges, prefix=prefix)[:, :ID_BYTES])


def identities(parts: Sequence[Part], count: int) -> Array:
    """Return (count, 32) uint8, row by row equal to `identity.unkeyed_identity` over the parts.

    A part is a column (`bytes` or `int`; see `schemas.buffers.column_arrays`) or one value that
    every row shares.  Raises TypeError for list columns.
    """
    if is_worth_compiling(count):
        from amos.kernels import bulk_hashing

        return bulk_hashing.identities(parts, count)
    cells = [part_cells(part, count) for part in parts]
    rows = [hashlib.sha256(b"".join(row)).digest() for row in zip(*cells, strict=True)]
    if not parts:
        rows = [hashlib.sha256(b"").digest()] * count
    return _matrix(rows)
