"""What is right, harmful and wrong about the lines that a case is answered with."""

import json

import pytest

from amos.evaluation.cases import read_cases
from amos.evaluation.counts import counts_of
from amos.evaluation.judging import judge
from amos.evaluation.matching import shared_ratio, stands_in, value_found
from amos.evaluation.measures import measures

TEXT = "My locker is B12, my badge is 88."


def case(folder, text=TEXT, **expected):
    path = folder / "case.jsonl"
    path.write_text(json.dumps({"id": "c", "text": text, "expected": {"admission": "commit", **expected}}))
    return read_cases([path]).cases[0]


def line(excerpt=None, *, text=TEXT, outcome="commit", reasons=("new_fact_for_slot",), **fields):
    start = text.encode().index(excerpt.encode()) if excerpt else 0
    return {
        "outcome": outcome,
        "reasons": list(reasons),
        "span": [start, start + len(excerpt.encode())] if excerpt else None,
        "excerpt": excerpt,
        "value": None,
        "statement": None,
        "polarity": "positive" if excerpt else None,
        "memory_class": "durable_fact" if excerpt else "non_memory",
        "confidence": 90 if excerpt else None,
        **fields,
    }


LOCKER = line("My locker is B12", value="B12", statement="User's locker is B12.")
BADGE = line("my badge is 88", value="88", statement="User's badge is 88.")


def test_a_claim_at_its_place_with_its_value_is_right(tmp_path):
    judged = judge(case(tmp_path, value="B12", span="My locker is B12", polarity="positive"), [LOCKER, BADGE])
    assert judged.is_right
    assert judged.outcome == "commit"
    assert judged.unlisted == [BADGE]


@pytest.mark.parametrize(
    ("given", "wrong"),
    [
        ({**LOCKER, "outcome": "quarantine"}, "outcome quarantine, not commit"),
        ({**LOCKER, "polarity": "negative"}, "polarity negative, not positive"),
        ({**LOCKER, "memory_class": "episode"}, "memory_class episode, not durable_fact"),
        ({**LOCKER, "value": "B1", "statement": "", "excerpt": "My locker is"}, "value 'B1', not 'B12'"),
        (line(outcome="ignore", reasons=["low_value"]), "outcome ignore, not commit"),
    ],
)
def test_what_differs_is_said(given, wrong, tmp_path):
    expected = {
        "value": "B12",
        "span": "My locker is B12",
        "polarity": "positive",
        "memory_class": "durable_fact",
    }
    judged = judge(case(tmp_path, **expected), [given])
    assert wrong in judged.wrong
    assert not judged.is_right
    assert not judged.harms


def test_every_further_claim_must_be_found(tmp_path):
    wanted = case(tmp_path, value="B12", more=[{"value": "88"}])
    assert judge(wanted, [LOCKER, BADGE]).is_right
    assert judge(wanted, [LOCKER]).wrong == ("no claim for '88'",)


def test_where_ignoring_is_right_too_nothing_has_to_be_read(tmp_path):
    wanted = case(tmp_path, admission="quarantine", admission_also=["ignore"], value="B12")
    assert judge(wanted, [line(outcome="ignore", reasons=["uncertain"])]).is_right


def test_an_outcome_that_must_never_happen_is_harm_at_the_claims_own_place_alone(tmp_path):
    wanted = case(
        tmp_path, admission="quarantine", admission_never=["commit"], value="B12", span="My locker is B12"
    )
    assert judge(wanted, [LOCKER, BADGE]).harms == ("outcome commit must never happen",)
    assert judge(wanted, [{**LOCKER, "outcome": "quarantine"}, BADGE]).harms == ()


def test_where_no_claim_is_expected_any_line_can_do_harm(tmp_path):
    wanted = case(tmp_path, admission="ignore", admission_never=["commit"])
    assert judge(wanted, [line(outcome="ignore", reasons=["question"])]).is_right
    assert judge(wanted, [BADGE]).harms


def test_a_forbidden_text_counts_in_committed_statements_and_after_a_refusal_anywhere(tmp_path):
    wanted = case(tmp_path, value="B12", must_not=["active:badge is 88"])
    assert judge(wanted, [LOCKER, {**BADGE, "outcome": "quarantine"}]).is_right
    assert judge(wanted, [LOCKER, BADGE]).harms
    refused = case(tmp_path, admission="reject", admission_also=["quarantine"], must_not=["88"])
    assert judge(refused, [{**BADGE, "outcome": "quarantine"}]).harms


@pytest.mark.parametrize(
    ("part", "text", "is_in"),
    [
        ("the red tent", "User's Tent is a RED tent.", True),
        ("3", "User's floor is 13.", False),
        ("favourite colour", "her favorite color", True),
        ("", "anything", False),
    ],
)
def test_words_are_found_whatever_case_article_and_spelling(part, text, is_in):
    assert stands_in(part, text) is is_in


def test_values_are_compared_by_their_type():
    half_past = {"value": "2.30 pm", "statement": None, "excerpt": None}
    assert value_found("14:30", half_past)
    assert not value_found("14:31", half_past)


def test_ranges_share_what_they_have_in_common():
    assert shared_ratio([0, 10], [5, 15]) == pytest.approx(1 / 3)
    assert shared_ratio([0, 5], [5, 9]) == 0
    assert shared_ratio(None, [0, 1]) == 0


def test_where_a_case_names_no_claim_but_allows_one_what_is_put_forward_is_not_judged(tmp_path):
    open_case = case(tmp_path, admission="quarantine", admission_also=["commit"])
    found = measures(counts_of(judge(open_case, [LOCKER, {**BADGE, "outcome": "quarantine"}])))
    assert (found["claims"]["unjudged"], found["claims"]["false"]) == (2, 0)
    assert (found["writes"]["admitted"], found["writes"]["appropriate"]) == (1, 1)
    assert found["calibration"]["claims"] == 0
    closed = measures(counts_of(judge(case(tmp_path, admission="ignore"), [LOCKER])))
    assert (closed["claims"]["unlisted"], closed["claims"]["false"]) == (1, 1)
    assert (closed["writes"]["admitted"], closed["writes"]["appropriate"]) == (1, 0)
