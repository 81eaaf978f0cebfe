"""Weights are fitted so that what is wanted comes first, and stay within their bounds."""

import numpy as np
import pytest

from amos.evaluation.fitting import FIXED, answers_of, fit_weights
from amos.retrieval.profile import load_profile
from amos.schemas.ranked import COMPONENTS

START = {name: getattr(load_profile("amos.v2.prior").weights, name) for name in COMPONENTS}


def questions(telling, count=40, *, harmful=None):
    """Return answers in which the component `telling` marks what is wanted, and `harmful` the rest."""
    rng = np.random.default_rng(7)
    found = []
    for _ in range(count):
        components = rng.random((12, len(COMPONENTS))) * 1_000_000
        wanted = int(rng.integers(12))
        components[:, COMPONENTS.index(telling)] *= 0.3
        components[wanted, COMPONENTS.index(telling)] = 1_000_000
        if harmful is not None:
            components[wanted, COMPONENTS.index(harmful)] = 0
        docs = [str(number) for number in range(12)]
        found.append(answers_of(components, docs, [str(wanted)]))
    return found


def test_what_tells_the_answer_gains_weight_and_the_loss_falls():
    fitted = fit_weights([questions("kind_match")], START, pull=1e-4)
    assert fitted.loss_after < fitted.loss_before
    assert fitted.weights["kind_match"] == max(fitted.weights.values())
    assert fitted.questions == 40


def test_no_weight_is_negative_and_the_whole_is_at_most_one():
    weights = fit_weights([questions("words", harmful="news")], START, pull=1e-4).weights
    fitted = {name: value for name, value in weights.items() if name not in FIXED}
    assert all(value >= 0 for value in fitted.values())
    assert fitted["news"] == 0
    positive = [value for name, value in weights.items() if value > 0 and name != "neighbours"]
    assert sum(positive) + max(weights["neighbours"] - weights["words"], 0) <= 1_000_000


def test_weights_set_by_hand_stay():
    weights = fit_weights([questions("words")], START).weights
    assert {name: weights[name] for name in FIXED} == {name: START[name] for name in FIXED}


def test_a_strong_pull_keeps_the_proportions_of_the_beginning():
    weights = fit_weights([questions("kind_match")], START, pull=1e6).weights
    assert weights["words"] / weights["session_match"] == pytest.approx(
        START["words"] / START["session_match"], rel=1e-3
    )


def test_a_set_that_counts_nothing_changes_nothing():
    alone = fit_weights([questions("kind_match")], START).weights
    beside = fit_weights([questions("kind_match"), questions("cue_when")], START, shares=[1, 0]).weights
    assert beside == alone


def test_a_document_counts_once_where_it_stands_first():
    components = np.arange(4)[:, None] * np.ones((1, len(COMPONENTS))) * 1_000_000
    found = answers_of(components, ["a", "b", "a", ""], ["a"])
    assert found.components[:, 0].tolist() == [0, 1]
    assert found.is_wanted.tolist() == [1, 0]
