"""From counts to rates: the worked figures of the article on ingestion, and nothing of nothing."""

from collections import Counter

import pytest

from amos.evaluation.counts import span_fault
from amos.evaluation.measures import calibration, interval, measures, ratio


def test_precision_and_recall_of_spans():
    found = measures(Counter({("spans", "hit"): 18, ("spans", "false"): 2, ("spans", "missed"): 4}))["spans"]
    assert found["precision"] == 0.9
    assert found["recall"] == 0.8182
    assert found["f1"] == 0.8571


def test_precision_and_recall_of_writes():
    names = {"admitted": 80, "appropriate": 72, "required": 90, "found": 72}
    written = measures(Counter({("writes", name): count for name, count in names.items()}))["writes"]
    assert (written["precision"], written["recall"]) == (0.9, 0.8)


def test_who_writes_nothing_has_no_precision_and_no_recall_to_boast_of():
    written = measures(Counter({("writes", "required"): 3}))["writes"]
    assert (written["precision"], written["recall"]) == (None, 0)


def test_of_no_cases_every_rate_is_null():
    empty = measures(Counter())
    assert empty["right_ratio"] is empty["claims"]["f1"] is empty["evidence"]["valid_ratio"] is None
    assert empty["right_interval"] is None
    assert ratio(0, 0) is interval(0, 0) is None


def test_an_interval_holds_the_share_and_narrows_with_more_cases():
    low, high = interval(9, 10)
    assert low < 0.9 < high
    assert interval(900, 1000)[0] > low
    assert interval(0, 20)[0] == 0
    assert interval(20, 20)[1] == 1


def test_calibration_compares_what_confidence_says_with_what_is():
    counts = Counter(
        {
            ("confidence", "90", "correct"): 9,
            ("confidence", "90", "wrong"): 1,
            ("confidence", "50", "correct"): 1,
            ("confidence", "50", "wrong"): 1,
            ("confidence", "100", "correct"): 1,
        }
    )
    table = calibration(counts)
    assert [(row["from"], row["claims"], row["correct_ratio"]) for row in table["bins"]] == [
        (50, 2, 0.5),
        (90, 11, 0.9091),
    ]
    assert table["claims"] == 13
    assert table["expected_error"] == pytest.approx(0, abs=0.001)
    assert table["brier_score"] == pytest.approx((9 * 0.01 + 0.81 + 0.25 + 0.25) / 13, abs=1e-4)


@pytest.mark.parametrize(
    ("span", "excerpt", "fault"),
    [
        ([0, 5], "café", None),
        ([0, 4], "café", "other_length"),
        ([0, 5], "cafx ", "other_text"),
        ([3, 3], "", "out_of_range"),
        ([6, 99], "tea", "out_of_range"),
        ([5, 6], " ", "empty"),
        ([6, 9], "\x1a\x1aa", None),
    ],
)
def test_evidence_is_derived_again_from_the_bytes(span, excerpt, fault):
    content = "café tea".encode()
    assert span_fault(content, {"span": span, "excerpt": excerpt}) == fault
