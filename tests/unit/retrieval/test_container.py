import numpy as np
import pytest

from amos.retrieval.container import (
    BLOCK_BYTES,
    Container,
    IndexDamageError,
    StoredArray,
    StoredColumns,
    pack_arrays,
)

ARRAYS = {
    "rows.id": np.array([b"a" * 16, b"b" * 16], "S16"),
    "rows.turn": np.array([3, 4], np.int64),
    "big": np.arange(40_000, dtype=np.int32),
    "empty": np.zeros(0, np.uint16),
}


def packed():
    return pack_arrays({"graph_version": 7}, ARRAYS)


def test_arrays_come_back_as_they_went_in():
    container = Container(memoryview(packed()))
    assert container.about == {"graph_version": 7}
    for name, values in ARRAYS.items():
        assert container.array(name).dtype == values.dtype
        assert np.array_equal(container.array(name), values)


def test_a_slice_reads_the_part_asked_for():
    stored = StoredArray(Container(memoryview(packed())), "big")
    assert stored[100:103].tolist() == [100, 101, 102]
    assert len(stored) == 40_000
    assert np.array_equal(np.asarray(stored), ARRAYS["big"])


def test_columns_are_those_of_the_prefix():
    columns = StoredColumns(Container(memoryview(packed())), "rows.")
    assert list(columns) == ["id", "turn"]
    assert columns["turn"].tolist() == [3, 4]


def test_only_the_touched_blocks_are_checked():
    raw = bytearray(packed())
    raw[-1] ^= 1  # the last byte of `big`, in its third block
    container = Container(memoryview(bytes(raw)))
    assert container.part("big", 0, 10).tolist() == list(range(10))
    with pytest.raises(IndexDamageError, match="block"):
        container.array("big")


def test_a_flipped_bit_anywhere_is_noticed():
    whole = packed()
    places = [*range(0, len(whole), 997), 8, 12, 20, len(whole) - BLOCK_BYTES]
    for place in places:
        raw = bytearray(whole)
        raw[place] ^= 0x10
        assert not reads_equal(bytes(raw)) or is_padding(whole, place)


def reads_equal(raw):
    """Whether every array still comes back without a complaint."""
    try:
        container = Container(memoryview(raw))
        return all(np.array_equal(container.array(name), values) for name, values in ARRAYS.items())
    except (IndexDamageError, KeyError):
        return False


def is_padding(whole, place):
    """Whether the byte lies between the checksums and the data, where nothing is stored."""
    body = len(whole) - sum(-(-values.nbytes // 64) * 64 for values in ARRAYS.values())
    return body - 64 <= place < body and whole[place] == 0


@pytest.mark.parametrize("size", [0, 5, 40, 300])
def test_a_file_cut_short_is_damage(size):
    with pytest.raises(IndexDamageError):
        Container(memoryview(packed()[:size])).array("big")
