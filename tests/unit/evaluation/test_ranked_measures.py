"""Ranked lists against what answers: worked figures, intervals, and gains that are chance or not."""

import math

import numpy as np
import pytest

from amos.evaluation.ranked_measures import MEASURES, compared, score_run, scores_of, summary


def named(values):
    return dict(zip(MEASURES, values, strict=True))


def test_a_list_is_scored_by_where_the_evidence_stands():
    found = named(scores_of(["a", "x", "b"], ["b", "a"]))
    assert (found["R@1"], found["R@5"], found["hit@5"], found["full@10"], found["MRR"]) == (0.5, 1, 1, 1, 1)
    assert found["nDCG@10"] == pytest.approx((1 + 1 / math.log2(4)) / (1 + 1 / math.log2(3)))


def test_a_repeated_id_counts_where_it_stands_first():
    assert scores_of(["x", "x", "a"], ["a"]) == scores_of(["x", "a"], ["a"])


def test_evidence_beyond_ten_counts_for_recall_at_twenty_and_the_first_rank_only():
    found = named(scores_of([str(number) for number in range(20)], ["14"]))
    assert (found["R@10"], found["R@20"], found["nDCG@10"]) == (0, 1, 0)
    assert found["MRR"] == pytest.approx(1 / 15)


def test_more_evidence_than_ten_can_still_be_answered_fully_by_rank():
    wanted = [str(number) for number in range(30)]
    assert named(scores_of(wanted, wanted))["nDCG@10"] == pytest.approx(1)


def test_a_question_that_a_run_leaves_out_scores_nothing():
    assert not score_run({}, {"q": ["a"]}).any()


def test_an_interval_holds_the_mean_and_is_the_same_again():
    scores = np.random.default_rng(1).random((60, len(MEASURES)))
    one = summary(scores)
    assert one == summary(scores)
    for name in MEASURES:
        low, high = one["interval"][name]
        assert low < one[name] < high


def test_a_gain_on_every_question_is_no_chance_and_the_same_run_gains_nothing():
    scores = np.full((40, len(MEASURES)), 0.5)
    better = compared(scores + 0.25, scores)["nDCG@10"]
    assert better["gain"] == 0.25
    assert better["interval"] == [0.25, 0.25]
    assert better["p"] < 0.001
    same = compared(scores, scores)["nDCG@10"]
    assert (same["gain"], same["p"]) == (0, 1)


def test_gains_that_cancel_out_may_be_chance():
    scores = np.zeros((20, len(MEASURES)))
    others = scores.copy()
    others[::2] += 0.3
    others[1::2] -= 0.25
    assert compared(scores, others)["nDCG@10"]["p"] > 0.5
