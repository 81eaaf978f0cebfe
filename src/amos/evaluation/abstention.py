"""Measure how often a question is answered whose answer is nowhere in sight."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any

from amos.evaluation.dialogue_sets import DialogueSet, LabelledQuestion
from amos.evaluation.measures import interval, ratio
from amos.evaluation.retrieval import moment_of
from amos.flow.recall import Recall
from amos.packets.request import PacketRequest

MOST_FOREIGN = 500
"""Questions asked of another conversation, spread over the set; the report counts them."""


def measure_abstention(
    asked: DialogueSet, recall: AbstractContextManager[Recall], *, now: datetime, profile: str | None = None
) -> dict[str, Any]:
    """Return how often questions without an answer got one, and why the others did not.

    `unanswerable` are the questions of the set that name no turn, asked of their own conversation; `foreign`
    are those that name one, asked of another conversation, which cannot know.  An answer is any item at all.
    """
    homes = sorted({turn.conv_id for turn in asked.turns})
    with recall as opened:

        def reasons(pairs: Iterable[tuple[LabelledQuestion, str]]) -> list[str | None]:
            ordered = sorted(pairs, key=lambda pair: pair[1])  # one view answers all of a conversation
            return [_empty_reason(opened, one, place, now, profile) for one, place in ordered]

        return {
            "unanswerable": _told(reasons((one, one.conv_id) for one in asked.unanswerable)),
            "foreign": _told(reasons(_abroad(asked.questions, homes))),
        }


def _empty_reason(
    recall: Recall, one: LabelledQuestion, place: str, now: datetime, profile: str | None
) -> str | None:
    request = PacketRequest(cues=(one.text,), scope={"project": place}, profile=profile)
    return recall.rank(request, 1, now=moment_of(one, now)).empty_reason


def _abroad(
    questions: Sequence[LabelledQuestion], homes: Sequence[str]
) -> list[tuple[LabelledQuestion, str]]:
    """Return some questions, each with the conversation after its own; none where there is but one."""
    if len(homes) < 2:
        return []
    step = max(-(-len(questions) // MOST_FOREIGN), 1)
    after = dict(zip(homes, (*homes[1:], homes[0]), strict=True))
    return [(one, after[one.conv_id]) for one in questions[::step]]


def _told(reasons: Sequence[str | None]) -> dict[str, Any]:
    answered = sum(reason is None for reason in reasons)
    return {
        "questions": len(reasons),
        "answered": answered,
        "false_answer_rate": ratio(answered, len(reasons)),
        "interval": interval(answered, len(reasons)),
        "empty": dict(sorted(Counter(reason for reason in reasons if reason is not None).items())),
    }
