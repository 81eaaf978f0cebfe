"""SHA-256 as plain loops, compiled where libcrypto cannot be reached; FIPS 180-4."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from amos.kernels.compiled import compiled

Array = npt.NDArray[Any]
_MASK = 0xFFFFFFFF


def _primes(count: int) -> list[int]:
    found: list[int] = []
    number = 2
    while len(found) < count:
        if all(number % prime for prime in found):
            found.append(number)
        number += 1
    return found


def _root_bits(prime: int, power: int) -> int:
    """Return the first 32 fractional bits of the `power`-th root of `prime`, exactly."""
    scaled = prime << (32 * power)
    low, high = 0, 1 << 40
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if middle**power <= scaled else (low, middle - 1)
    return low & _MASK


_ROUNDS = np.array([_root_bits(prime, 3) for prime in _primes(64)], np.int64)
_START = np.array([_root_bits(prime, 2) for prime in _primes(8)], np.int64)


def hash_rows(lead: Array, octets: Array, offsets: Array) -> Array:
    """Return (n, 32) uint8 digests of `lead` and each row of `data`; offsets (n + 1,) int64."""
    return compiled(_hash_rows)(lead, octets, offsets, _START, _ROUNDS)


def _hash_rows(lead: Array, octets: Array, offsets: Array, start: Array, rounds: Array) -> Array:
    count = offsets.shape[0] - 1
    out = np.empty((count, 32), np.uint8)
    block = np.zeros(64, np.int64)
    w = np.zeros(64, np.int64)
    state = np.zeros(8, np.int64)
    lead_size = lead.shape[0]
    for row in range(count):
        first = offsets[row]
        total = lead_size + offsets[row + 1] - first
        state[:] = start
        for number in range((total + 8) // 64 + 1):
            base = number * 64
            for k in range(64):
                at = base + k
                if at < lead_size:
                    block[k] = lead[at]
                elif at < total:
                    block[k] = octets[first + at - lead_size]
                else:
                    block[k] = 128 if at == total else 0
            if base + 56 >= total + 1:  # the last block: the length in bits closes it
                bits = total * 8
                for k in range(8):
                    block[63 - k] = (bits >> (8 * k)) & 255
            for t in range(16):
                w[t] = block[4 * t] << 24 | block[4 * t + 1] << 16 | block[4 * t + 2] << 8 | block[4 * t + 3]
            for t in range(16, 64):
                x, y = w[t - 15], w[t - 2]
                s0 = (x >> 7 | x << 25) ^ (x >> 18 | x << 14) ^ (x >> 3)
                s1 = (y >> 17 | y << 15) ^ (y >> 19 | y << 13) ^ (y >> 10)
                w[t] = (w[t - 16] + (s0 & _MASK) + w[t - 7] + (s1 & _MASK)) & _MASK
            a, b, c, d = state[0], state[1], state[2], state[3]
            e, f, g, h = state[4], state[5], state[6], state[7]
            for t in range(64):
                s1 = ((e >> 6 | e << 26) ^ (e >> 11 | e << 21) ^ (e >> 25 | e << 7)) & _MASK
                choice = (e & f) ^ (~e & g)
                one = h + s1 + choice + rounds[t] + w[t]
                s0 = ((a >> 2 | a << 30) ^ (a >> 13 | a << 19) ^ (a >> 22 | a << 10)) & _MASK
                two = s0 + ((a & b) ^ (a & c) ^ (b & c))
                h, g, f, e = g, f, e, (d + one) & _MASK
                d, c, b, a = c, b, a, (one + two) & _MASK
            state[0] = (state[0] + a) & _MASK
            state[1] = (state[1] + b) & _MASK
            state[2] = (state[2] + c) & _MASK
            state[3] = (state[3] + d) & _MASK
            state[4] = (state[4] + e) & _MASK
            state[5] = (state[5] + f) & _MASK
            state[6] = (state[6] + g) & _MASK
            state[7] = (state[7] + h) & _MASK
        for k in range(8):
            for m in range(4):
                out[row, 4 * k + m] = (state[k] >> (24 - 8 * m)) & 255
    return out
