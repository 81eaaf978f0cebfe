import hashlib
import hmac
import os

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amos.identity import keyed_id, unkeyed_identity
from amos.kernels import bulk_hashing, hashing, sha256
from amos.kernels.hashing import hmac_rows, identities, keyed_ids, merkle_root, sha256_rows
from amos.schemas.buffers import column_arrays

KEY = bytes(range(32))


def runs_of(rows):
    offsets = np.zeros(len(rows) + 1, np.int64)
    np.cumsum([len(row) for row in rows], out=offsets[1:])
    return np.frombuffer(b"".join(rows), np.uint8), offsets


def listed(digests):
    return [row.tobytes() for row in digests]


@given(rows=st.lists(st.binary(max_size=200), max_size=12), prefix=st.binary(max_size=70))
@settings(deadline=None, max_examples=40)
def test_batched_digests_equal_hashlib(rows, prefix):
    expected = [hashlib.sha256(prefix + row).digest() for row in rows]
    assert listed(sha256_rows(*runs_of(rows), prefix=prefix)) == expected


@pytest.mark.parametrize("size", [0, 1, 55, 56, 63, 64, 65, 119, 120, 128])
def test_plain_sha256_equals_hashlib_around_block_edges(size, monkeypatch):
    monkeypatch.setattr(sha256, "compiled", lambda function: function)
    rows = [bytes(range(size)), b"", b"q" * size]
    lead = np.frombuffer(b"ab", np.uint8)
    expected = [hashlib.sha256(b"ab" + row).digest() for row in rows]
    assert listed(sha256.hash_rows(lead, *runs_of(rows))) == expected


@pytest.mark.parametrize("key", [KEY, b"k" * 64, b"k" * 100])
@pytest.mark.parametrize("is_bulk", [False, True])
def test_batched_hmacs_equal_hmac(key, is_bulk, monkeypatch):
    asked = iter([is_bulk, False, False])  # the bulk way hashes twice, here with hashlib
    monkeypatch.setattr(hashing, "is_worth_compiling", lambda _: next(asked))
    rows = [b"", b"one", b"two" * 40]
    found = listed(hmac_rows(key, *runs_of(rows), prefix=b"p"))
    assert found == [hmac.digest(key, b"p" + row, "sha256") for row in rows]


def split_root(leaves):
    """Follow RFC 9162 section 2.1.1 word by word."""
    if len(leaves) == 1:
        return hashlib.sha256(b"\x00" + leaves[0]).digest()
    size = 1
    while size * 2 < len(leaves):
        size *= 2
    return hashlib.sha256(b"\x01" + split_root(leaves[:size]) + split_root(leaves[size:])).digest()


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 7, 8, 9, 21])
def test_merkle_root_follows_the_recursive_definition(count):
    leaves = np.frombuffer(os.urandom(32 * count), np.uint8).reshape(count, 32)
    assert merkle_root(leaves) == split_root(listed(leaves))


def test_merkle_root_of_nothing_is_the_empty_digest():
    assert merkle_root(np.zeros((0, 32), np.uint8)) == hashlib.sha256(b"").digest()


COLUMNS = [
    pa.array(["mail", "", "źdźbło", None]),
    pa.array([b"\x00", None, b"\xff\xfe", b""]),
    pa.array([0, -7, 2**40, None], pa.int64()),
]


def test_identities_and_ids_equal_the_ones_made_one_by_one():
    found = identities([column_arrays(column) for column in COLUMNS] + ["same", None, 12], 4)
    columns = [column.to_pylist() for column in COLUMNS]
    expected = [unkeyed_identity([*row, "same", None, 12]) for row in zip(*columns, strict=True)]
    assert listed(found) == expected
    assert listed(keyed_ids(KEY, "atoms", found)) == [keyed_id(KEY, "atoms", one) for one in expected]


def test_large_and_small_batches_give_the_same_identities(monkeypatch):
    parts = [column_arrays(column) for column in COLUMNS] + ["same", None, 12]
    monkeypatch.setattr(bulk_hashing, "compiled", lambda function: function)
    monkeypatch.setattr(bulk_hashing, "sha256_rows", lambda octets, offsets, _: sha256_rows(octets, offsets))
    assert listed(bulk_hashing.identities(parts, 4)) == listed(identities(parts, 4))


@pytest.mark.parametrize("number", [0, 9, 10, -1, -10, -100, -(2**63), 2**63 - 1])
def test_integers_enter_identities_as_decimal_text(number):
    octets, edges = bulk_hashing.frame_integers(np.array([number]), np.ones(1, bool))
    assert octets[: edges[1]].tobytes() == hashing.framed(number)


def test_lists_are_no_part_of_an_identity():
    with pytest.raises(TypeError, match="ints"):
        identities([column_arrays(pa.array([[1]], pa.list_(pa.int64())))], 1)
