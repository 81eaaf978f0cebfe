"""Fit the weights of a ranking profile to labelled questions, list by list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from amos.retrieval.profile import MILLION
from amos.schemas.ranked import COMPONENTS

F64 = npt.NDArray[np.float64]

FIXED = ("recency", "confidence", "date_match", "superseded", "contradicted")
"""Weights that are set by hand: dialogue sets with labels say nothing about them, or have no dates."""
STEPS = 400
SHARPNESS = 28
"""How much a whole point of score counts in the odds of two answers, where fitting begins."""
_TOLERANCE = 1e-7


class Answers(NamedTuple):
    """What one question brought.  components: (n, components) 0..1.  is_wanted: (n,) answers it."""

    components: F64
    is_wanted: F64


@dataclass(frozen=True, kw_only=True)
class Fitted:
    """Weights in millionths by component, and the mean loss before and after."""

    weights: dict[str, int]
    loss_before: float
    loss_after: float
    questions: int


class _Lists:
    """The answers of several sets under each other; every set counts as much as its share."""

    def __init__(
        self, sets: Sequence[Sequence[Answers]], shares: Sequence[float], columns: Sequence[int]
    ) -> None:
        kept = [
            (answers, share / len(each))
            for each, share in zip(sets, shares, strict=True)
            for answers in each
            if share and answers.is_wanted.any() and not answers.is_wanted.all()
        ]
        self.count = len(kept)
        self.components = np.concatenate([one.components[:, columns] for one, _ in kept])
        self.target = np.concatenate([one.is_wanted / one.is_wanted.sum() for one, _ in kept])
        sizes = np.array([len(one.is_wanted) for one, _ in kept])
        self.starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        self.owner = np.repeat(np.arange(self.count), sizes)
        self.share = np.array([share for _, share in kept])

    def loss(self, weights: F64) -> tuple[float, F64]:
        """Return the mean list-wise cross-entropy and its slope."""
        score = self.components @ weights
        score -= np.maximum.reduceat(score, self.starts)[self.owner]
        raised = np.exp(score)
        total = np.add.reduceat(raised, self.starts)
        share = raised / total[self.owner]
        logs = self.target * (score - np.log(total)[self.owner])
        value = -float((np.add.reduceat(logs, self.starts) * self.share).sum())
        slope = ((share - self.target) * self.share[self.owner]) @ self.components
        return value, slope


def fit_weights(
    sets: Sequence[Sequence[Answers]],
    start: Mapping[str, int],
    *,
    shares: Sequence[float] | None = None,
    pull: float = 1e-3,
) -> Fitted:
    """Return the weights under which the wanted items of each question come first, none of them negative.

    sets: labelled answers, set by set.  start: weights of the profile to begin with, in millionths; those
    in FIXED keep their part of the whole.  shares: how much each set counts, equally where none are given.
    pull: how strongly a weight is drawn to where it began, per squared spread of its component.
    The sum of all positive weights is one million, `neighbours` counted with `words`.
    """
    names = [name for name in COMPONENTS if name not in FIXED]
    columns = [COMPONENTS.index(name) for name in names]
    lists = _Lists(sets, shares or [1.0] * len(sets), columns)
    spread = np.sqrt(lists.components.var(axis=0)) + 1e-6
    free = 1 - sum(max(start[name], 0) for name in FIXED) / MILLION
    first = np.array([start[name] / MILLION for name in names]) * SHARPNESS
    fitted, before, after = _descended(lists, first, spread, pull)
    most = fitted.copy()
    most[names.index("words")] = max(most[names.index("words")], most[names.index("neighbours")])
    most[names.index("neighbours")] = 0
    scale = free / max(float(most.sum()), 1e-9) * MILLION
    found = {name: int(value * scale) for name, value in zip(names, fitted, strict=True)}
    weights = {**start, **found}
    return Fitted(weights=weights, loss_before=before, loss_after=after, questions=lists.count)


def _descended(lists: _Lists, first: F64, spread: F64, pull: float) -> tuple[F64, float, float]:
    """Return the weights at the least loss over non-negative ones, by accelerated projected descent."""

    def loss(scaled: F64) -> tuple[float, F64]:
        value, slope = lists.loss(scaled / spread)
        gap = scaled - first * spread
        return value + pull * float(gap @ gap), slope / spread + 2 * pull * gap

    here = ahead = first * spread
    value, slope = loss(here)
    before, momentum, step = value, 1.0, 1.0
    for _ in range(STEPS):
        ahead_value, slope = loss(ahead)
        while True:
            there = np.maximum(ahead - step * slope, 0)
            gap = there - ahead
            there_value, _ = loss(there)
            if there_value <= ahead_value + float(slope @ gap) + float(gap @ gap) / (2 * step) + 1e-12:
                break
            step /= 2
        if there_value > value:  # the momentum overshot: begin again from here
            if momentum == 1.0:
                break
            momentum, ahead = 1.0, here
            continue
        later = (1 + np.sqrt(1 + 4 * momentum * momentum)) / 2
        ahead = there + (momentum - 1) / later * (there - here)
        is_done = value - there_value < _TOLERANCE
        here, value, momentum, step = there, there_value, float(later), step * 1.5
        if is_done:
            break
    return here / spread, before, value


def answers_of(components: Any, docs: Sequence[str], wanted: Sequence[str]) -> Answers:
    """Return the answers of one question: a document counts once, where it stands first.

    components: (n, components) in millionths.  docs: (n,) document of each item.
    """
    first = {doc: at for at, doc in reversed(list(enumerate(docs))) if doc}
    rows = sorted(first.values())
    goal = set(wanted)
    hits = np.array([docs[at] in goal for at in rows], np.float64)
    return Answers(np.asarray(components, np.float64)[rows] / MILLION, hits)
