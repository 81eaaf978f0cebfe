"""The tree over all events of a shard: its root as events stream by, and proofs about it; RFC 9162.

Leaves are the checksums of the events in commit order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from amos.kernels.hashing import DIGEST_BYTES, sha256_matrix
from amos.kernels.merkle import EMPTY_ROOT, INNER, leaf_hashes, paired

Array = npt.NDArray[Any]


class TreeRoot:
    """The root over a stream of leaves; holds one node per level."""

    def __init__(self) -> None:
        self.size = 0
        self._waiting: list[Array | None] = []

    def add(self, leaves: Array) -> None:
        """Append (n, 32) leaves."""
        self.size += len(leaves)
        nodes = leaf_hashes(leaves)
        level = 0
        while len(nodes):
            if level == len(self._waiting):
                self._waiting.append(None)
            held = self._waiting[level]
            if held is not None:
                nodes = np.concatenate([held[None, :], nodes])
            even = len(nodes) // 2 * 2
            self._waiting[level] = nodes[even] if even < len(nodes) else None
            nodes = sha256_matrix(nodes[:even].reshape(-1, 2 * DIGEST_BYTES), prefix=INNER)
            level += 1

    def root(self) -> bytes:
        """Return the root over all leaves so far."""
        right: Array | None = None
        for held in self._waiting:
            if held is not None:
                right = held if right is None else _inner(held, right)
        return EMPTY_ROOT if right is None else right.tobytes()


def _inner(left: Array, right: Array) -> Array:
    one: Array = sha256_matrix(np.concatenate([left, right])[None, :], prefix=INNER)[0]
    return one


def tree_levels(leaves: Array) -> list[Array]:
    """Return all levels of the tree over (n, 32) leaves, n > 0, the root's last."""
    levels = [leaf_hashes(leaves)]
    while len(levels[-1]) > 1:
        levels.append(paired(levels[-1]))
    return levels


def inclusion_path(levels: Sequence[Array], place: int) -> list[bytes]:
    """Return the neighbours that lead from leaf `place` to the root, the lowest first."""
    path = []
    for level in levels[:-1]:
        beside = place ^ 1
        if beside < len(level):
            path.append(level[beside].tobytes())
        place //= 2
    return path


def consistency_path(levels: Sequence[Array], old_size: int) -> list[bytes]:
    """Return the nodes that prove the first `old_size` leaves to be the tree of that size.

    0 < old_size <= number of leaves.  Source: RFC 9162, section 2.1.4.1.
    """
    return _subproof(levels, old_size, 0, len(levels[0]), is_whole=True)


def _subproof(levels: Sequence[Array], old: int, start: int, stop: int, *, is_whole: bool) -> list[bytes]:
    size = stop - start
    if old == size:
        return [] if is_whole else [_node(levels, start, stop)]
    split = 1 << ((size - 1).bit_length() - 1)
    if old <= split:
        inside = _subproof(levels, old, start, start + split, is_whole=is_whole)
        return [*inside, _node(levels, start + split, stop)]
    inside = _subproof(levels, old - split, start + split, stop, is_whole=False)
    return [*inside, _node(levels, start, start + split)]


def _node(levels: Sequence[Array], start: int, stop: int) -> bytes:
    """Return the node over leaves start to stop, an aligned range or one that ends with the tree."""
    height = (stop - start - 1).bit_length()
    return levels[height][start >> height].tobytes()
