import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amos.errors import UsageError
from amos.flow.paging import UNKNOWN_US, PageRequest, choose_page, event_times
from amos.schemas.columns import ID, TIME


def ids_of(numbers):
    return pa.chunked_array([pa.array([number.to_bytes(16, "big") for number in numbers], ID)])


def every_page(times, ids, **request):
    found, cursor = [], None
    while True:
        page = choose_page("atoms", times, ids, PageRequest(cursor=cursor, **request))
        found += page.rows.tolist()
        assert page.is_truncated is (page.cursor is not None)
        if page.cursor is None:
            return found
        cursor = page.cursor


rows = st.lists(
    st.tuples(st.one_of(st.none(), st.integers(-(10**6), 10**6)), st.integers(0, 2**128 - 1)), max_size=40
)


@given(rows=rows, limit=st.integers(1, 7))
def test_pages_joined_are_every_row_once_newest_first_unknown_last_then_by_id(rows, limit):
    unique = list({number: (time, number) for time, number in rows}.values())
    times = np.array([UNKNOWN_US if time is None else time for time, _ in unique], np.int64)
    found = every_page(times, ids_of([number for _, number in unique]), limit=limit)
    wanted = sorted(unique, key=lambda row: (row[0] is None, -(row[0] or 0), row[1]))
    assert [unique[place] for place in found] == wanted


def test_since_and_until_are_half_open_and_leave_unknown_times_out():
    times = np.array([10, 20, 30, UNKNOWN_US], np.int64)
    request = PageRequest(since_us=10, until_us=30)
    assert choose_page("atoms", times, ids_of([1, 2, 3, 4]), request).rows.tolist() == [1, 0]
    until = PageRequest(until_us=30)
    assert choose_page("atoms", times, ids_of([1, 2, 3, 4]), until).rows.tolist() == [1, 0]


def test_a_row_that_arrives_later_does_not_move_the_next_page():
    times, ids = np.array([30, 20, 10], np.int64), ids_of([1, 2, 3])
    cursor = choose_page("atoms", times, ids, PageRequest(limit=1)).cursor
    grown, more = np.array([30, 20, 10, 40], np.int64), ids_of([1, 2, 3, 4])
    assert choose_page("atoms", grown, more, PageRequest(limit=5, cursor=cursor)).rows.tolist() == [1, 2]


def test_null_times_become_the_unknown_time():
    column = pa.chunked_array([pa.array([5, None], TIME)])
    assert event_times(column).tolist() == [5, UNKNOWN_US]


@pytest.mark.parametrize("cursor", ["", "abc", "W10", "WyJhdG9tcyIsMSwyXQ", "WyJhdG9tcyIsMSwtMiwzXQ", "é"])
def test_what_is_no_cursor_is_refused(cursor):
    with pytest.raises(UsageError, match="no cursor of this list"):
        choose_page("atoms", np.array([1], np.int64), ids_of([1]), PageRequest(cursor=cursor))


@pytest.mark.parametrize("wrong", [{"limit": 0}, {"since_us": 5, "until_us": 5}])
def test_a_page_that_can_hold_nothing_is_refused(wrong):
    with pytest.raises(UsageError):
        PageRequest(**wrong)
