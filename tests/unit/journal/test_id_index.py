import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from amos.journal.id_index import IdIndex

KEYS = st.integers(0, 40)


@given(
    batches=st.lists(st.lists(KEYS, max_size=9), max_size=12),
    wanted=st.lists(KEYS, max_size=6),
    edges=st.tuples(KEYS, KEYS),
)
def test_the_index_finds_what_a_scan_finds(batches, wanted, edges):
    index, seen = IdIndex(), []
    for batch in batches:
        positions = np.arange(len(seen), len(seen) + len(batch))
        seen += batch
        index.extend(np.array(batch, np.uint64), positions, len(seen))
    assert index.row_count == len(seen)
    expected = [place for place, key in enumerate(seen) if key in wanted]
    assert index.find(np.array(wanted, np.uint64)).tolist() == expected
    low, high = sorted(edges)
    assert index.between(low, high).tolist() == [
        place for place, key in enumerate(seen) if low <= key <= high
    ]


def test_runs_stay_few_however_rows_arrive():
    index = IdIndex()
    for number in range(1000):
        index.extend(np.array([number * 7 % 1000], np.uint64), np.array([number]), number + 1)
    assert len(index._runs) <= 11
