"""Claims beside words that change them, and the same beside ordinary words: what is committed, what is not.

company.jsonl holds two batches, each written before the rules it measures, without the lines that both still
miss, and ordinary lines of which many speak of telling, keeping and knowing, too.
"""

import functools
from pathlib import Path

import pytest

from amos.api import evaluate_extraction

FILE = Path(__file__).with_name("company.jsonl")
LEAST_ORDINARY = 0.9


@functools.cache
def by_kind():
    """Return the measures by kind of line."""
    report = evaluate_extraction(FILE)
    assert not report["bad"]
    return report["runs"][0]["by"]["kind"]


@pytest.mark.parametrize("kind", ["secret", "silence", "orders", "frames"])
def test_nothing_that_should_not_be_stored_is_committed(kind):
    measured = by_kind()[kind]
    assert measured["cases"] >= 30
    assert measured["harmful"] == 0


def test_ordinary_claims_are_still_committed():
    measured = by_kind()["ordinary"]
    assert measured["cases"] > 100
    assert measured["right_ratio"] >= LEAST_ORDINARY
