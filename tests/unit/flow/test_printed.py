import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amos.errors import UsageError
from amos.flow.instants import instant_us
from amos.flow.printed import id_texts, shown_intervals, state_of
from amos.identity import id_text
from amos.schemas.columns import ID
from amos.schemas.state import ENDED_UNKNOWN, OPEN_FROM, OPEN_UNTIL


@given(ids=st.lists(st.one_of(st.none(), st.binary(min_size=16, max_size=16)), max_size=20))
def test_a_column_of_ids_is_printed_as_each_id_is(ids):
    printed = id_texts("atoms", pa.array(ids, ID)).to_pylist()
    assert printed == [None if one is None else id_text("atoms", one) for one in ids]


def test_a_sliced_column_is_printed_from_its_own_start():
    ids = pa.array([bytes([number] * 16) for number in range(5)], ID)
    assert id_texts("sources", ids.slice(2, 2)).to_pylist() == [
        id_text("sources", bytes([n] * 16)) for n in (2, 3)
    ]


@pytest.mark.parametrize(
    ("lifecycle", "intervals", "state"),
    [
        ("active", [0, 100], "active"),
        ("active", [0, 50], "superseded"),
        ("active", [60, 100], "superseded"),
        ("active", [OPEN_FROM, OPEN_UNTIL], "active"),
        ("active", [0, 10, 40, 60], "active"),
        ("archived", [0, 100], "archived"),
        ("active", [OPEN_FROM, ENDED_UNKNOWN], "superseded"),
        ("active", [], "superseded"),
    ],
)
def test_state_follows_from_what_holds_now(lifecycle, intervals, state):
    assert state_of(lifecycle, intervals, 50) == state


@pytest.mark.parametrize(
    ("intervals", "state"), [([0, 10], "active"), ([60, 100], "superseded"), ([], "superseded")]
)
def test_what_happened_stays_true_when_it_is_over(intervals, state):
    assert state_of("active", intervals, 50, is_event=True) == state


def test_open_and_unknown_edges_are_null():
    assert shown_intervals([OPEN_FROM, 0, 1_000_000, OPEN_UNTIL]) == [
        {"from": None, "until": "1970-01-01T00:00:00.000000Z"},
        {"from": "1970-01-01T00:00:01.000000Z", "until": None},
    ]


@pytest.mark.parametrize(
    "text",
    [
        "2026-03-31",
        "2026-03-31T00:00:00Z",
        "2026-03-31T02:00:00+02:00",
        "2026-03-31T00:00:00",
        "2026-03-30T17:00-07:00",
    ],
)
def test_one_instant_in_any_offset_is_one_number(text):
    assert instant_us(text, "--since") == 1_774_915_200_000_000


@pytest.mark.parametrize("text", ["", "soon", "2026-02-30", "31/03/2026", "2026-13-01T00:00:00Z"])
def test_what_is_no_date_or_time_names_the_option(text):
    with pytest.raises(UsageError, match="--since"):
        instant_us(text, "--since")
