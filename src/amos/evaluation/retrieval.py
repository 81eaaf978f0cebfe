"""Measure retrieval on a dialogue set: ask what users ask, by the same core, and score what comes back."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import numpy as np

from amos.clock import from_us
from amos.evaluation.dialogue_sets import DialogueSet, LabelledQuestion
from amos.evaluation.fitting import Answers, answers_of
from amos.evaluation.ranked_measures import MEASURES, compared, score_run, summary
from amos.flow.instants import instant_us
from amos.flow.recall import Recall
from amos.packets.request import MOST_ITEMS, PacketRequest
from amos.retrieval.ranking import Ranking
from amos.schemas.ranked import COMPONENTS

DEPTH = 100
FAILURES = 50
_STEP = 25
BYTES_PER_TOKEN = 4

Run = dict[str, list[str]]
Progress = Callable[[int, int], None]
"""Told how many questions were asked, and how many there are."""


@dataclass(frozen=True, kw_only=True)
class RankedDocs:
    """What every question brought: doc ids best first, and the components of the best ten."""

    run: Run
    components: dict[str, list[dict[str, float]]] = field(default_factory=dict)
    profile: str = ""
    seconds: float = 0.0


def ask_set(
    asked: DialogueSet,
    recall: AbstractContextManager[Recall],
    *,
    now: datetime,
    depth: int = DEPTH,
    profile: str | None = None,
    progress: Progress | None = None,
) -> RankedDocs:
    """Return the ranking of every question of a set that a store holds, `depth` items deep.

    now: when a question without a time of its own is asked.  profile: what ranks; null is the default.
    """
    told = Asking(now=now, depth=depth, profile=profile, progress=progress)
    run: Run = {}
    components: dict[str, list[dict[str, float]]] = {}
    ranked_by = ""
    began = time.perf_counter()
    with recall as opened:
        for one, ranking, docs in _rankings(asked, opened, told):
            ranked_by = ranking.profile
            run[one.qid] = [doc for doc in dict.fromkeys(docs) if doc]
            components[one.qid] = list(_components(ranking.items.slice(0, 10)))
    seconds = time.perf_counter() - began
    ordered = {one.qid: run[one.qid] for one in asked.questions}
    return RankedDocs(run=ordered, components=components, profile=ranked_by, seconds=seconds)


def labelled_answers(
    asked: DialogueSet,
    recall: AbstractContextManager[Recall],
    *,
    now: datetime,
    profile: str | None = None,
    progress: Progress | None = None,
) -> list[Answers]:
    """Return what every question brings, as deep as a request may go, and which of it is wanted."""
    found = []
    told = Asking(now=now, depth=MOST_ITEMS, profile=profile, progress=progress)
    with recall as opened:
        for one, ranking, docs in _rankings(asked, opened, told):
            columns = [ranking.items[f"{name}_ppm"].to_numpy() for name in COMPONENTS]
            found.append(answers_of(np.stack(columns, axis=1), docs, one.evidence))
    return found


@dataclass(frozen=True, kw_only=True)
class Asking:
    """How the questions of a set are asked.  depth: items a question.  profile: null is the default."""

    now: datetime
    depth: int
    profile: str | None
    progress: Progress | None


def _rankings(
    asked: DialogueSet, recall: Recall, told: Asking
) -> Iterator[tuple[LabelledQuestion, Ranking, list[str]]]:
    """Yield every question with its ranking and the document of each item, `""` where none is in sight.

    Questions of one conversation are asked together, so that one view of it answers them.
    """
    recall.expect(len(asked.questions))
    names = {key: _doc_id(name) for key, name in zip(*_source_keys(recall), strict=True)}
    for number, one in enumerate(sorted(asked.questions, key=lambda one: one.conv_id), 1):
        request = PacketRequest(cues=(one.text,), scope={"project": one.conv_id}, profile=told.profile)
        ranking = recall.rank(request, told.depth, now=moment_of(one, told.now))
        yield one, ranking, [names.get(key, "") for key in ranking.items["source_id"].to_pylist()]
        if told.progress is not None and not number % _STEP:
            told.progress(number, len(asked.questions))


def _source_keys(recall: Recall) -> tuple[list[bytes], list[str]]:
    table = recall.snapshot.table("sources", ["source_id", "delivery_key"])
    return table["source_id"].to_pylist(), table["delivery_key"].to_pylist()


def _doc_id(key: str) -> str:
    """Return the document id that the reader joined to its conversation."""
    return key.split("/", 1)[1].replace("%2F", "/").replace("%25", "%")


def moment_of(one: LabelledQuestion, now: datetime) -> datetime:
    """Return when a question is asked: at its own time, else now."""
    return now if one.asked_at is None else from_us(instant_us(one.asked_at, "asked_at"))


def _components(items: Any) -> Iterator[dict[str, float]]:
    for row in items.to_pylist():
        yield {
            "score": row["score_ppm"] / 1_000_000,
            **{name: row[f"{name}_ppm"] / 1_000_000 for name in COMPONENTS},
        }


def retrieval_report(
    asked: DialogueSet, ranked: RankedDocs, *, against: Mapping[str, Sequence[str]] | None = None
) -> dict[str, Any]:
    """Return how well a run answers, by turn and by session, in all, by category and by conversation.

    against: another run of the same set, compared question by question.
    """
    wanted = {one.qid: one.evidence for one in asked.questions}
    scores = score_run(ranked.run, wanted)
    home = {turn.doc_id: f"{turn.conv_id}\x00{turn.session}" for turn in asked.turns}
    by_session = {qid: [home.get(doc, doc) for doc in docs] for qid, docs in ranked.run.items()}
    sessions = {qid: sorted({home[doc] for doc in docs}) for qid, docs in wanted.items()}
    report: dict[str, Any] = {
        "set": asked.name,
        "profile": ranked.profile,
        "documents": len(asked.turns),
        "conversations": len({turn.conv_id for turn in asked.turns}),
        "questions": len(asked.questions),
        "skipped": asked.skipped,
        "unanswered": sum(not docs for docs in ranked.run.values()),
        "tokens": _tokens(asked, ranked.run),
        "turns": _sliced(asked, scores),
        "sessions": _sliced(asked, score_run(by_session, sessions)),
        "seconds": round(ranked.seconds, 3),
    }
    if against is not None:
        report["compared"] = _compared(asked, scores, score_run(against, wanted))
    return report


def _sliced(asked: DialogueSet, scores: Any) -> dict[str, Any]:
    return {
        "all": summary(scores),
        **{
            f"by_{name}": {label: summary(scores[rows]) for label, rows in _groups(asked, name).items()}
            for name in ("category", "conversation")
        },
    }


def _groups(asked: DialogueSet, name: str) -> dict[str, Any]:
    labels = np.array([one.category if name == "category" else one.conv_id for one in asked.questions])
    return {str(label): np.flatnonzero(labels == label) for label in np.unique(labels)}


def _compared(asked: DialogueSet, scores: Any, others: Any) -> dict[str, Any]:
    groups = _groups(asked, "category")
    return {
        "all": compared(scores, others),
        "by_category": {label: compared(scores[rows], others[rows]) for label, rows in groups.items()},
    }


def _tokens(asked: DialogueSet, run: Run) -> dict[str, float]:
    """Return how many tokens the first ten turns of an answer hold on average, and the whole corpus."""
    size = {turn.doc_id: len(turn.text.encode()) / BYTES_PER_TOKEN for turn in asked.turns}
    firsts = [sum(size[doc] for doc in docs[:10]) for docs in run.values()]
    return {"first_10": round(sum(firsts) / len(firsts), 1), "corpus": round(sum(size.values()))}


def failures(asked: DialogueSet, ranked: RankedDocs, *, most: int = FAILURES) -> list[dict[str, Any]]:
    """Return the worst answers: question, wanted, got and why; questions in the order of the set."""
    text = {turn.doc_id: turn.text for turn in asked.turns}
    column = MEASURES.index("nDCG@10")
    wanted = {one.qid: one.evidence for one in asked.questions}
    gains = score_run(ranked.run, wanted)[:, column]
    worst = sorted(np.argsort(gains, kind="stable")[:most].tolist())
    return [_failure(asked.questions[at], ranked, text, float(gains[at])) for at in worst if gains[at] < 1]


def _failure(
    one: LabelledQuestion, ranked: RankedDocs, text: Mapping[str, str], gain: float
) -> dict[str, Any]:
    docs = ranked.run[one.qid]
    place = {doc: number for number, doc in enumerate(docs, 1)}
    return {
        "qid": one.qid,
        "category": one.category,
        "question": one.text,
        "nDCG@10": round(gain, 4),
        "wanted": [{"doc": doc, "rank": place.get(doc), "text": text[doc]} for doc in one.evidence],
        "got": [
            {"doc": doc, "text": text[doc], "components": shown}
            for doc, shown in zip(docs[:3], ranked.components[one.qid], strict=False)
        ],
    }
