"""Show a retrieval report as lines for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from amos.views.plain import plural, visible

_SHOWN = ("R@1", "R@5", "R@10", "R@20", "nDCG@10", "MRR")
_LABEL = 24
_GOT = 90


def retrieval_lines(report: Mapping[str, Any]) -> Iterator[str]:
    """Yield the report: set, table of turns, table of sessions, gains, worst answers."""
    yield (
        f"{visible(report['set'])}: {plural(report['questions'], 'question')}, "
        f"{plural(report['documents'], 'turn')} in {plural(report['conversations'], 'conversation')}; "
        f"profile {report['profile']}"
    )
    left_out = {reason: count for reason, count in report["skipped"].items() if count}
    if left_out:
        yield "left out: " + ", ".join(f"{reason} {count}" for reason, count in left_out.items())
    yield f"first ten turns: {report['tokens']['first_10']:g} of {report['tokens']['corpus']:g} tokens"
    yield ""
    yield from _table("turns", report["turns"])
    yield ""
    yield from _table("sessions", report["sessions"])
    yield from _abstention(report["abstention"])
    if "compared" in report:
        yield ""
        yield from _gains(report["compared"]["all"])
    for one in report.get("failures", ()):
        yield ""
        yield from _failure(one)


def _table(title: str, slices: Mapping[str, Any]) -> Iterator[str]:
    yield f"{title:{_LABEL}}{'n':>6}" + "".join(f"{name:>9}" for name in _SHOWN)
    rows = [*sorted(slices["by_category"].items()), ("all", slices["all"])]
    for label, one in rows:
        values = "".join(f"{one[name]:9.4f}" for name in _SHOWN)
        yield f"{visible(label)[: _LABEL - 1]:{_LABEL}}{one['questions']:6d}{values}"
    low, high = ("".join(f"{slices['all']['interval'][name][end]:9.4f}" for name in _SHOWN) for end in (0, 1))
    yield f"{'  95 % from':{_LABEL + 6}}{low}"
    yield f"{'  to':{_LABEL + 6}}{high}"


def _abstention(told: Mapping[str, Any]) -> Iterator[str]:
    named = (("unanswerable", "questions that no turn answers"), ("foreign", "questions of other talks"))
    for name, what in named:
        one = told[name]
        if one["questions"]:
            low, high = one["interval"]
            yield ""
            yield (
                f"{what}: {one['answered']} of {one['questions']} answered all the same "
                f"({one['false_answer_rate']:.3f}, {low:.3f} to {high:.3f})"
            )


def _gains(gains: Mapping[str, Any]) -> Iterator[str]:
    yield f"{'gain over the other run':{_LABEL}}{'gain':>9}{'from':>9}{'to':>9}{'p':>9}"
    for name in _SHOWN:
        one = gains[name]
        low, high = one["interval"]
        yield f"{name:{_LABEL}}{one['gain']:+9.4f}{low:+9.4f}{high:+9.4f}{one['p']:9.4f}"


def _failure(one: Mapping[str, Any]) -> Iterator[str]:
    name = f"{visible(one['qid'])} ({visible(one['category'])})"
    yield f"{name} nDCG@10 {one['nDCG@10']:.2f}: {visible(one['question'])}"
    for row in one["wanted"]:
        rank = "not found" if row["rank"] is None else f"rank {row['rank']}"
        yield f"  wanted  {rank}: {visible(row['text'])[:_GOT]}"
    for row in one["got"]:
        yield f"  got     {row['components'].get('score', 0):.3f}: {visible(row['text'])[:_GOT]}"
