import numpy as np
import pytest

from amos.kernels.postings import SCALE, exchanged, saturated, spread

SESSION = np.array([1, 1, 1, 1, 2, 2, 2], np.int64)


def spread_slowly(slots, impacts, near, far):
    total = {}
    for slot, impact in zip(slots, impacts, strict=True):
        for place in range(len(SESSION)):
            distance = abs(place - slot)
            if SESSION[place] != SESSION[slot] or distance > 2:
                continue
            share = (1_000, near, far)[distance]
            total[place] = total.get(place, 0) + impact * share // 1_000
    return total


@pytest.mark.parametrize("slots", [[], [0], [3], [3, 4], [0, 1, 2, 3, 4, 5, 6], [6, 0]])
def test_a_term_is_felt_at_two_places_around_it_in_its_session(slots):
    impacts = [1_000 + 7 * slot for slot in slots]
    reached, full = spread(np.array(slots, np.int64), np.array(impacts, np.int64), SESSION, 400, 150)
    assert dict(zip(reached.tolist(), full.tolist(), strict=True)) == spread_slowly(slots, impacts, 400, 150)
    assert len(set(reached.tolist())) == len(reached)


def test_only_somebody_else_answers():
    speaker = np.array([5, 6, 5, 6, 5, 5, 5], np.int64)
    assert sorted(exchanged(np.array([1]), SESSION, speaker).tolist()) == [0, 2]
    assert exchanged(np.array([5]), SESSION, speaker).tolist() == []


def test_saturation_grows_towards_its_limit():
    values = saturated(np.array([0, SCALE, 10**9], np.int64), 900)
    assert values.tolist()[:2] == [0, SCALE]
    assert values[2] < 1.9 * SCALE
