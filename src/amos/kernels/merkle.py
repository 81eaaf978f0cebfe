"""Merkle roots of many groups of leaves at once, and the running links of a chain; RFC 9162."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import numpy.typing as npt

from amos.kernels.compiled import is_worth_compiling
from amos.kernels.hashing import DIGEST_BYTES, sha256_matrix

Array = npt.NDArray[Any]

LEAF = b"\x00"
INNER = b"\x01"
EMPTY_ROOT = hashlib.sha256(b"").digest()


def leaf_hashes(leaves: Array) -> Array:
    """Return (n, 32): the hash of each of (n, 32) leaves."""
    return sha256_matrix(leaves, prefix=LEAF)


def paired(level: Array) -> Array:
    """Return the level above: neighbours joined, a last node without one handed up unchanged."""
    even = len(level) // 2 * 2
    joined = sha256_matrix(level[:even].reshape(-1, 2 * DIGEST_BYTES), prefix=INNER)
    return joined if even == len(level) else np.concatenate([joined, level[even:]])


def merkle_roots(leaves: Array, sizes: Array) -> Array:
    """Return (g, 32): the root of each group of leaves, row by row equal to `hashing.merkle_root`.

    leaves: (n, 32) uint8, group after group.  sizes: (g,) leaves per group, which add up to n.
    """
    sizes = np.asarray(sizes, np.int64)
    roots = np.empty((len(sizes), DIGEST_BYTES), np.uint8)
    roots[sizes == 0] = np.frombuffer(EMPTY_ROOT, np.uint8)
    groups = np.flatnonzero(sizes)
    counts, nodes = sizes[groups], leaf_hashes(leaves)
    while len(groups):
        starts = np.cumsum(counts) - counts
        is_done = counts == 1
        roots[groups[is_done]] = nodes[starts[is_done]]
        groups, counts, starts = groups[~is_done], counts[~is_done], starts[~is_done]
        nodes, counts = _joined(nodes, counts, starts)
    return roots


def _joined(nodes: Array, counts: Array, starts: Array) -> tuple[Array, Array]:
    """Return the nodes and group sizes one level up; groups begin at `starts` of `nodes`."""
    halves = counts // 2
    above = halves + counts % 2
    edges = np.cumsum(above) - above
    left = np.repeat(starts - 2 * (np.cumsum(halves) - halves), halves) + 2 * np.arange(int(halves.sum()))
    pairs = np.concatenate([nodes[left], nodes[left + 1]], axis=1)
    out = np.empty((int(above.sum()), DIGEST_BYTES), np.uint8)
    is_odd = counts % 2 == 1
    is_joined = np.ones(len(out), np.bool_)
    is_joined[edges[is_odd] + halves[is_odd]] = False
    out[is_joined] = sha256_matrix(pairs, prefix=INNER)
    out[~is_joined] = nodes[starts[is_odd] + counts[is_odd] - 1]
    return out, above


def running_links(first: bytes, checksums: Array) -> Array:
    """Return (n + 1, 32): the link before the first event and after each of (n, 32) `checksums`."""
    if is_worth_compiling(len(checksums)):
        from amos.kernels import bulk_hashing

        found = bulk_hashing.running_links(np.frombuffer(first, np.uint8), checksums)
        if found is not None:
            return found
    links = [first]
    octets = memoryview(np.ascontiguousarray(checksums).reshape(-1))  # type: ignore[arg-type]
    for start in range(0, len(octets), DIGEST_BYTES):
        links.append(hashlib.sha256(links[-1] + octets[start : start + DIGEST_BYTES]).digest())
    return np.frombuffer(b"".join(links), np.uint8).reshape(-1, DIGEST_BYTES)
