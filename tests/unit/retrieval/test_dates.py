"""Dates of a question, and how close an event lies to them."""

from datetime import UTC, datetime

import numpy as np
import pytest

from amos.clock import to_us
from amos.retrieval.dates import AskedDate, asked_dates, date_closeness
from amos.retrieval.rows import UNKNOWN_US


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What did Bo do on 8 May 2024?", [(2024, 5, 8)]),
        ("What did Bo do on May 8th, 2024?", [(2024, 5, 8)]),
        ("Who came on the 3rd of June?", [(None, 6, 3)]),
        ("What happened in March?", [(None, 3, None)]),
        ("What happened in Sept. 2023", [(2023, 9, None)]),
        ("Where was Bo in 2022", [(2022, None, None)]),
        ("What was said on 2024-02-29", [(2024, 2, 29)]),
        ("What may I eat, and who will march", []),
        ("How many of the 1200 pears", []),
        ("between 1 April 2023 and 2 May 2023", [(2023, 4, 1), (2023, 5, 2)]),
    ],
)
def test_a_question_names_dates(question, expected):
    assert asked_dates(question) == tuple(AskedDate(*one) for one in expected)


def close(moment, *dates):
    us = UNKNOWN_US if moment is None else to_us(datetime.fromisoformat(moment).replace(tzinfo=UTC))
    return int(date_closeness(np.array([us]), tuple(AskedDate(*one) for one in dates))[0])


@pytest.mark.parametrize(
    ("moment", "date", "expected"),
    [
        ("2024-05-08T10:00", (2024, 5, 8), 1_000_000),
        ("2024-05-09T10:00", (2024, 5, 8), 1_000_000),
        ("2024-05-15T10:00", (2024, 5, 8), 367_879),
        ("2024-05-01T23:00", (2024, 5, 8), 367_879),
        ("2025-05-08T10:00", (2024, 5, 8), 0),
        ("2025-05-08T10:00", (None, 5, 8), 1_000_000),
        ("2024-05-30T10:00", (2024, 5, None), 1_000_000),
        ("2024-06-30T10:00", (2024, 5, None), 400_000),
        ("2024-01-30T10:00", (None, 12, None), 400_000),
        ("2024-08-30T10:00", (2024, None, None), 300_000),
        ("2023-08-30T10:00", (2024, None, None), 0),
        (None, (2024, None, None), 0),
        ("2024-02-28T10:00", (2023, 2, 29), 0),
    ],
)
def test_closeness_fades_by_day_and_steps_by_month_and_year(moment, date, expected):
    assert close(moment, date) == expected


def test_the_nearest_of_several_dates_counts_and_no_date_is_near_nothing():
    assert close("2024-05-08T10:00", (2020, 1, 1), (2024, 5, 8)) == 1_000_000
    assert close("2024-05-08T10:00") == 0
