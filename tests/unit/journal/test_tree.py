"""The tree over events and the proofs about it, against the definitions of RFC 9162."""

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amos.journal.check_export import DifferenceError, root_from_path, root_of
from amos.journal.checkpoint import check_consistency
from amos.journal.tree import TreeRoot, consistency_path, inclusion_path, tree_levels
from amos.kernels.hashing import merkle_root
from amos.kernels.merkle import merkle_roots, running_links

sizes = st.integers(1, 70)


def leaves_of(count):
    found = [hashlib.sha256(bytes([number])).digest() for number in range(count)]
    return np.frombuffer(b"".join(found), np.uint8).reshape(count, 32)


def defined_root(leaves):
    """MTH as RFC 9162 defines it, by recursion."""
    if len(leaves) == 0:
        return hashlib.sha256(b"").digest()
    if len(leaves) == 1:
        return hashlib.sha256(b"\x00" + leaves[0].tobytes()).digest()
    split = 1
    while split * 2 < len(leaves):
        split *= 2
    return hashlib.sha256(b"\x01" + defined_root(leaves[:split]) + defined_root(leaves[split:])).digest()


@given(st.lists(st.integers(0, 20), max_size=8))
def test_roots_are_those_of_the_definition_however_the_leaves_arrive(parts):
    leaves = leaves_of(sum(parts))
    tree, at, groups = TreeRoot(), 0, []
    for size in parts:
        tree.add(leaves[at : at + size])
        groups.append(defined_root(leaves[at : at + size]))
        at += size
    assert (
        tree.root()
        == defined_root(leaves)
        == merkle_root(leaves)
        == root_of([one.tobytes() for one in leaves])
    )
    assert [root.tobytes() for root in merkle_roots(leaves, np.array(parts, np.int64))] == groups


@given(sizes, st.data())
def test_a_path_leads_from_its_leaf_to_the_root_and_from_no_other(size, data):
    leaves, place = leaves_of(size), data.draw(st.integers(0, size - 1))
    path = inclusion_path(tree_levels(leaves), place)
    root = merkle_root(leaves)
    assert root_from_path(leaves[place].tobytes(), place, size, path) == root
    assert root_from_path(bytes(32), place, size, path) != root
    if size > 1:
        other = (place + 1) % size
        assert _leads_elsewhere(leaves[place].tobytes(), other, size, path, root)
        assert _leads_elsewhere(leaves[place].tobytes(), place, size, path[:-1], root)
    with pytest.raises(DifferenceError):
        root_from_path(leaves[place].tobytes(), place, size, [*path, bytes(32)])


def _leads_elsewhere(leaf, place, size, path, root):
    try:
        return root_from_path(leaf, place, size, path) != root
    except DifferenceError:
        return True


@given(sizes, st.data())
def test_an_older_tree_is_shown_to_be_the_beginning_of_a_newer_one(size, data):
    old = data.draw(st.integers(1, size))
    leaves = leaves_of(size)
    path = consistency_path(tree_levels(leaves), old)
    roots = merkle_root(leaves[:old]), merkle_root(leaves)
    check_consistency(old, roots[0], size, roots[1], path)
    for wrong in [(bytes(32), roots[1], path), (roots[0], bytes(32), path), (*roots, [*path, bytes(32)])]:
        with pytest.raises(DifferenceError):
            check_consistency(old, wrong[0], size, wrong[1], wrong[2])


def test_a_leaf_outside_its_tree_is_refused():
    with pytest.raises(DifferenceError, match="not in a tree"):
        root_from_path(bytes(32), 3, 3, [])
    with pytest.raises(DifferenceError, match="no beginning"):
        check_consistency(4, bytes(32), 3, bytes(32), [])


@pytest.mark.parametrize("count", [0, 1, 300])
def test_links_follow_from_the_link_before_and_the_checksum(count):
    checksums = np.resize(leaves_of(7), (count, 32))
    links = running_links(bytes(32), checksums)
    expected = [bytes(32)]
    for one in checksums:
        expected.append(hashlib.sha256(expected[-1] + one.tobytes()).digest())
    assert links.tobytes() == b"".join(expected)
