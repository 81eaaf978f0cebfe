"""Sorted ids in files answer as sorted ids in memory do, or not at all."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amos.errors import IntegrityError
from amos.storage.id_files import Head, IdFile, merged, write_ids


def entries(keys):
    keys = np.sort(np.array(keys, np.uint64))
    return keys, np.arange(len(keys), dtype=np.int64)[::-1].copy()


def written(path, keys, positions):
    write_ids(path, Head(len(keys), len(keys), 3, "ab", 0), [(keys, positions)])
    return IdFile(path)


def expected(keys, positions, low, high):
    inside = ((keys[:, None] >= low) & (keys[:, None] <= high)).any(axis=1)
    return sorted(positions[inside].tolist())


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 60), max_size=40), st.lists(st.integers(0, 60), min_size=1, max_size=9))
def test_it_finds_what_a_plain_search_finds(tmp_path_factory, repeated, wanted):
    keys, positions = entries(np.repeat(np.array(repeated, np.uint64), 700))  # blocks share keys
    file = written(tmp_path_factory.mktemp("ids") / "x.ids", keys, positions)
    low = np.unique(np.array(wanted, np.uint64))
    assert sorted(file.find(low, low).tolist()) == expected(keys, positions, low, low)


def test_ranges_reach_over_blocks(tmp_path):
    keys, positions = entries(np.random.default_rng(1).integers(0, 2**64, 20_000, np.uint64))
    file = written(tmp_path / "x.ids", keys, positions)
    low, high = np.array([keys[100]], np.uint64), np.array([keys[15_000]], np.uint64)
    assert sorted(file.find(low, high).tolist()) == expected(keys, positions, low, high)
    found = [np.concatenate(part) for part in zip(*file.entries(), strict=True)]
    assert np.array_equal(found[0], keys)
    assert np.array_equal(found[1], positions)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 99), max_size=60), st.lists(st.integers(0, 99), max_size=30))
def test_merged_entries_are_those_of_both_in_order(early, late):
    base, tail = entries(early), entries(late)
    cut = len(early) // 2
    parts = [(base[0][:cut], base[1][:cut]), (base[0][cut:], base[1][cut:])]
    keys, positions = zip(*merged([part for part in parts if len(part[0])], tail), strict=True)
    assert np.concatenate(keys).tolist() == sorted(early + late)
    pairs = [
        *zip(*map(np.ndarray.tolist, base), strict=True),
        *zip(*map(np.ndarray.tolist, tail), strict=True),
    ]
    found = zip(np.concatenate(keys).tolist(), np.concatenate(positions).tolist(), strict=True)
    assert sorted(found) == sorted(pairs)


def test_every_changed_byte_is_found_or_harmless(tmp_path):
    path = tmp_path / "x.ids"
    keys, positions = entries(np.arange(0, 9_000 * 3, 3))
    written(path, keys, positions)
    sound = path.read_bytes()
    for place in [*range(0, len(sound), 4_999), *range(len(sound) - 300, len(sound), 7)]:
        path.write_bytes(sound[:place] + bytes([sound[place] ^ 0x41]) + sound[place + 1 :])
        try:
            found = IdFile(path).find(keys, keys)
        except (IntegrityError, ValueError, TypeError):
            continue
        assert sorted(found.tolist()) == sorted(positions.tolist())


@pytest.mark.parametrize("size", [0, 7, 20, 300])
def test_a_file_cut_short_is_refused(tmp_path, size):
    path = tmp_path / "x.ids"
    written(path, *entries(range(5_000)))
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(ValueError):  # noqa: PT011 - numpy's own words differ
        IdFile(path)
