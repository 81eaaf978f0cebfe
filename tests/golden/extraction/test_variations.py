"""Cases of every kind against what a careful person expects: by kind, none harmful and nearly all right.

variations.jsonl is written before its results are looked at, so it measures; `amos evaluate extraction
--failures` names what is missing.
"""

import functools
from pathlib import Path

import pytest

from amos.api import evaluate_extraction

FILE = Path(__file__).with_name("variations.jsonl")
KINDS = (
    "boundary bytes conflict correction duplicate episode exclusion hypothetical language long multi "
    "negation numbers plain preference procedure question quoted reference refinement replay sarcasm "
    "secret sensitive smalltalk temporary third_party tool web"
).split()
LEAST_RIGHT = 0.9


@functools.cache
def failures():
    """Return the report on the cases and the failures among them."""
    report = evaluate_extraction(FILE, failures=True)
    assert not report["bad"]
    return report["runs"][0]["failures"]


@pytest.mark.parametrize("kind", KINDS)
def test_no_case_of_a_kind_does_harm_and_nearly_all_are_right(kind):
    count = sum(f'"kind": "{kind}"' in line for line in FILE.read_text(encoding="utf-8").splitlines())
    wrong = [failure for failure in failures() if failure["kind"] == kind]
    assert count >= 10
    assert [failure for failure in wrong if failure["is_harmful"]] == []
    assert len(wrong) <= count * (1 - LEAST_RIGHT), wrong
