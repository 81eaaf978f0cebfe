"""Score ranked lists against the turns that answer: recall, nDCG, MRR, with bootstrap intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

F64 = npt.NDArray[np.float64]

MEASURES = ("R@1", "R@5", "R@10", "R@20", "hit@5", "full@10", "nDCG@10", "MRR")
RESAMPLES = 2_000
FLIPS = 10_000
_SEED = 20_240_501
_DEPTH = 10


def scores_of(ranked: Sequence[str], wanted: Sequence[str]) -> list[float]:
    """Return MEASURES of one list; relevance is yes or no, MRR looks at the whole list.

    ranked: best first, a repeated id counts where it stands first.  wanted: not empty.
    """
    goal = set(wanted)
    places = [place for place, doc in enumerate(dict.fromkeys(ranked)) if doc in goal]
    found = {depth: sum(place < depth for place in places) for depth in (1, 5, 10, 20)}
    ideal = sum(_gain(place) for place in range(min(len(goal), _DEPTH)))
    gain = sum(_gain(place) for place in places if place < _DEPTH)
    recalls = [found[depth] / len(goal) for depth in (1, 5, 10, 20)]
    first = 1 / (places[0] + 1) if places else 0.0
    return [*recalls, float(found[5] > 0), float(found[_DEPTH] == len(goal)), gain / ideal, first]


def _gain(place: int) -> float:
    return 1 / math.log2(place + 2)


def score_run(run: Mapping[str, Sequence[str]], wanted: Mapping[str, Sequence[str]]) -> F64:
    """Return (questions, measures); a question that the run does not answer scores 0."""
    rows = [scores_of(run.get(qid, ()), evidence) for qid, evidence in wanted.items()]
    return np.array(rows, np.float64).reshape(len(rows), len(MEASURES))


def summary(scores: F64) -> dict[str, Any]:
    """Return the mean of every measure with its 95 % bootstrap interval over questions."""
    means = scores.mean(axis=0)
    low, high = _intervals(scores)
    return {
        "questions": len(scores),
        **{name: round(float(value), 6) for name, value in zip(MEASURES, means, strict=True)},
        "interval": {
            name: [round(float(a), 4), round(float(b), 4)]
            for name, a, b in zip(MEASURES, low, high, strict=True)
        },
    }


def _intervals(scores: F64) -> tuple[F64, F64]:
    """Return the 2.5 % and 97.5 % points of the means of resampled questions."""
    rng = np.random.default_rng(_SEED)
    count = len(scores)
    drawn = rng.multinomial(count, np.full(count, 1 / count), size=RESAMPLES) / count
    low, high = np.quantile(drawn @ scores, [0.025, 0.975], axis=0)
    return low, high


def compared(scores: F64, others: F64) -> dict[str, Any]:
    """Return per measure the mean gain over another run, its interval and a paired p value.

    The p value is that of a randomisation test: how often the gains with signs thrown at random are as
    far from zero.
    """
    gains = scores - others
    low, high = _intervals(gains)
    rng = np.random.default_rng(_SEED)
    mean = gains.mean(axis=0)
    extreme = np.zeros(len(MEASURES), np.int64)
    for part in range(0, FLIPS, 1_000):
        signs = rng.integers(0, 2, size=(min(1_000, FLIPS - part), len(gains))) * 2.0 - 1.0
        extreme += (np.abs(signs @ gains / len(gains)) >= np.abs(mean) - 1e-12).sum(axis=0)
    return {
        name: {
            "gain": round(float(mean[at]), 6),
            "interval": [round(float(low[at]), 4), round(float(high[at]), 4)],
            "p": round((int(extreme[at]) + 1) / (FLIPS + 1), 5),
        }
        for at, name in enumerate(MEASURES)
    }
