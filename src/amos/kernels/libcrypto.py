"""SHA-256 of many rows by libcrypto, called from a compiled loop through addresses.

Imported only for large batches: it imports numba.  Addresses come in as arguments, so that the
compiled code can be cached although a library lies elsewhere in every process.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic

from amos.kernels.compiled import compiled

_STATE_WORDS = 32
"""Room for SHA256_CTX (112 bytes), in int64."""


@intrinsic  # type: ignore[untyped-decorator]
def _call(_context: Any, address: Any, words: Any) -> Any:
    """Call the C function at `address` with a tuple of machine words; returns its int32."""
    signature = types.int32(address, words)

    def generate(_target: Any, builder: Any, _signature: Any, values: Any) -> Any:
        word = ir.IntType(64)
        count = len(words)
        kind = ir.FunctionType(ir.IntType(32), [word] * count)
        function = builder.inttoptr(values[0], kind.as_pointer())
        taken = [builder.extract_value(values[1], i) for i in range(count)]
        return builder.call(function, taken)

    return signature, generate


def _hash_rows(start: int, update: int, finish: int, lead: Any, octets: Any, offsets: Any) -> Any:
    count = offsets.shape[0] - 1
    out = np.empty((count, 32), np.uint8)
    base = np.zeros(_STATE_WORDS, np.int64)
    state = np.zeros(_STATE_WORDS, np.int64)
    _call(start, (np.int64(base.ctypes.data),))
    if lead.shape[0]:
        _call(update, (np.int64(base.ctypes.data), np.int64(lead.ctypes.data), np.int64(lead.shape[0])))
    first = np.int64(octets.ctypes.data)
    target = np.int64(out.ctypes.data)
    at = np.int64(state.ctypes.data)
    for i in range(count):
        state[:] = base
        _call(update, (at, first + offsets[i], offsets[i + 1] - offsets[i]))
        _call(finish, (target + 32 * i, at))
    return out


def hash_rows_native(start: int, update: int, finish: int, lead: Any, octets: Any, offsets: Any) -> Any:
    """Return (n, 32) uint8 digests of `lead` and each row of `data`; the first three are addresses."""
    return compiled(_hash_rows)(start, update, finish, lead, octets, offsets)


def _links(start: int, update: int, finish: int, first: Any, checksums: Any) -> Any:
    count = checksums.shape[0]
    out = np.empty((count + 1, 32), np.uint8)
    out[0] = first
    state = np.zeros(_STATE_WORDS, np.int64)
    at = np.int64(state.ctypes.data)
    target = np.int64(out.ctypes.data)
    source = np.int64(checksums.ctypes.data)
    for i in range(count):
        _call(start, (at,))
        _call(update, (at, target + 32 * i, np.int64(32)))
        _call(update, (at, source + 32 * i, np.int64(32)))
        _call(finish, (target + 32 * (i + 1), at))
    return out


def links_native(start: int, update: int, finish: int, first: Any, checksums: Any) -> Any:
    """Return (n + 1, 32) uint8: `first`, then after each checksum the digest of the link and it."""
    return compiled(_links)(start, update, finish, first, checksums)
