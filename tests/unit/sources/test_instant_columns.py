"""Clocks read by columns are the clocks read one by one."""

from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amos.sources.instant_columns import read_instants
from amos.sources.instants import default_zone, read_instant

ODD = [
    "2024-02-29T23:59:59Z",
    "2023-02-29T23:59:59Z",
    "1900-02-29T00:00:00+00:00",
    "1899-12-31T23:30:00-01:00",
    "2099-12-31T23:30:00-01:00",
    "2025-04-31T08:00:00.500Z",
    "2025-13-01T08:00:00.500+02:00",
    "2025-00-01T08:00:00.500+02:00",
    "2025-03-00T08:00:00Z",
    "2025-03-01T24:00:00Z",
    "2025-03-01T08:60:00Z",
    "2025-03-01T08:00:60Z",
    "2025-03-01T08:00:00-00:00",
    "2025-03-01T08:00:00+24:00",
    "2025-03-01T08:00:00+05:60",
    "2025-03-01T08:00:00 05:30",
    "2025-03-01t08:00:00.000001z",
    "2025-03-01T08:00:00,123456Z",
    "2025-03-01T08:00:00.1234Z",
    "2025-03-01 08:00:00+00:00",
    "2025/03/01T08:00:00Z",
    "２025-03-01T08:00:0Z",
    "1740816000",
    "soon",
    " ",
    "",
    None,
    1740816000,
    1740816000.25,
    -1,
]
TODAY = datetime(2026, 4, 2, 9, 15, tzinfo=UTC)
FRACTIONS = st.sampled_from(["", ".000", ".250", ".000001", ".999999"])
ZONES = st.sampled_from(["Z", "+00:00", "-00:00", "+05:45", "-23:59", "+23:59"])
NUMBERS = st.integers(0, 99)
TIMES = st.builds(
    "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}{}{}".format,
    st.integers(1890, 2110),
    st.integers(0, 13),
    st.integers(0, 32),
    st.integers(0, 25),
    st.integers(0, 61),
    st.integers(0, 61),
    FRACTIONS,
    ZONES,
)
VALUES = st.lists(TIMES | st.sampled_from(ODD), min_size=1, max_size=20)


def by_columns(values, zone):
    """Return the columns put together as rows, None when there are none."""
    texts = pa.array([value if isinstance(value, str) else None for value in values], pa.string())
    written = values if texts.null_count > values.count(None) else None
    columns = read_instants(texts, written, zone)
    return columns and list(zip(*(column.to_pylist() for column in columns), strict=True))


def one_by_one(values, zone):
    """Return the same of instants that are read alone."""
    instants = [read_instant(value, zone) for value in values]
    return None if any(one.is_invalid for one in instants) else [one[:4] for one in instants]


@pytest.mark.parametrize("zone", [None, "Europe/Brussels"])
@settings(deadline=None, derandomize=True, max_examples=100)
@given(values=VALUES)
def test_clocks_read_together_are_clocks_read_alone(zone, values):
    found = by_columns(values, default_zone(zone))
    assert found is None or found == one_by_one(values, default_zone(zone))


@pytest.mark.parametrize("value", ODD)
def test_an_odd_clock_among_usual_ones_is_read_as_if_alone(value):
    values = ["2025-03-01T08:00:00Z", value, "2025-03-01T08:00:00.500+02:00"]
    found = by_columns(values, default_zone(None))
    assert found == one_by_one(values, default_zone(None)) or value == "2025-03-01T08:00:00+05:60"


@settings(deadline=None, derandomize=True, max_examples=50)
@given(
    seconds=st.lists(st.integers(-(2**31), 2**31), min_size=1, max_size=9),
    us=st.sampled_from([0, 250_000, 1]),
    zone=st.timezones(),
)
def test_clocks_of_any_zone_have_columns(seconds, us, zone):
    moments = [TODAY + timedelta(seconds=number, microseconds=us) for number in seconds]
    texts = [moment.astimezone(zone).isoformat() for moment in moments]
    assert by_columns(texts, default_zone(None)) == one_by_one(texts, default_zone(None))
