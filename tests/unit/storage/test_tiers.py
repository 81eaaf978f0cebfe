"""Which neighbouring segments become one."""

from hypothesis import given
from hypothesis import strategies as st

from amos.schemas.catalog import SegmentEntry
from amos.storage.tiers import MOST_LIVE, MOST_WAITING, plan_merges


def entries(sizes):
    return [
        SegmentEntry(n, "atoms", n + 1, n + 1, 1, size, bytes(32), f"f{n}", "{}", "[1]")
        for n, size in enumerate(sizes)
    ]


def test_few_segments_stay_as_they_are():
    assert plan_merges(entries([10] * MOST_LIVE)) == []


def test_the_smallest_neighbours_go_first():
    runs = plan_merges(entries([9_000_000, *[100] * 10, 9_000_000]))
    assert [[entry.segment_id for entry in run] for run in runs] == [list(range(1, 4))]


@given(st.lists(st.integers(1, 1 << 34), max_size=200), st.integers(1, 20))
def test_merges_are_runs_of_neighbours_and_leave_few(sizes, most):
    given_entries = entries(sizes)
    runs = plan_merges(given_entries, most=most)
    assert len(sizes) - sum(len(run) - 1 for run in runs) <= max(most, min(len(sizes), most))
    seen = set()
    for run in runs:
        numbers = [entry.segment_id for entry in run]
        assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
        assert len(numbers) > 1
        assert not seen & set(numbers)
        seen |= set(numbers)


def test_each_row_is_written_anew_only_a_few_times():
    live, written, added = [], 0, 0
    for number in range(1_000):
        size = 40_000 + number % 7 * 1000
        live.append(entries([size])[0]._replace(segment_id=number))
        added += size
        for run in plan_merges(live) if len(live) > MOST_WAITING else []:
            total = sum(entry.byte_count for entry in run)
            place = live.index(run[0])
            live[place : place + len(run)] = [run[0]._replace(byte_count=total)]
            written += total
    assert len(live) <= MOST_WAITING
    assert (added + written) / added < 5
