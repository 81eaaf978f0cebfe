"""The history of a value, and the way of a row, as people read them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from amos.views.plain import day, minute, plural, shortened, visible

Row = Mapping[str, Any]


def lineage_lines(answer: Row) -> Iterator[str]:
    """Yield the values of a property in their order, then what gave way to what."""
    about = " of ".join(visible(part) for part in (answer["property"], answer["subject"]) if part)
    yield f"{about or answer['ref']}: {plural(len(answer['values']), 'value')}"
    for value in answer["values"]:
        said = f"{visible(value['statement'])} ({value['state']})"
        yield f"  {_times(value['intervals'])}  {said}  {value['atom_id']}"
        yield from _value_lines(value)
    if answer["changes"]:
        yield "Changes:"
    for change in answer["changes"]:
        gone = ", withdrawn since" if change["is_withdrawn"] else ""
        new, old = (visible(change[side] or "?") for side in ("successor", "predecessor"))
        who = f"{new} {change['relation']} {old}"
        yield f"  {minute(change['at'])}  {who} (graph version {change['graph_version']}{gone})"
    for dispute in answer["disputes"]:
        sides = " / ".join(visible(side["statement"]) for side in dispute["sides"])
        yield f"In dispute since {day(dispute['since'])}: {sides}"
    for case in answer["waiting"]:
        yield f"Waits for a review: {case['candidate_id']} ({', '.join(case['reasons'])})"


def _times(intervals: list[Row]) -> str:
    if not intervals:
        return "never"
    return "; ".join(f"{_edge(one['from'], 'ever')} – {_edge(one['until'], 'now')}" for one in intervals)


def _edge(moment: str | None, otherwise: str) -> str:
    return otherwise if moment is None else moment[:10]


def _value_lines(value: Row) -> Iterator[str]:
    decided, evidence = value["decided"], value["evidence"]
    if evidence is not None:
        said = "(withheld)" if evidence["excerpt"] is None else f"“{shortened(evidence['excerpt'])}”"
        who = visible(evidence["author"] or "unknown")
        yield f"      {said} {who}, {minute(evidence['event_time'])}, {evidence['source_id']}"
    if decided is not None:
        by = f" by {visible(decided['actor'])}" if decided["by_person"] and decided["actor"] else ""
        yield f"      decided{by} {minute(decided['at'])}: {', '.join(decided['reasons'])}"


def prov_lines(answer: Row) -> Iterator[str]:
    """Yield the steps that led to a row, oldest first."""
    yield f"{answer['ref']}: {plural(len(answer['steps']), 'step')}"
    for number, step in enumerate(answer["steps"], 1):
        yield f"{number:>3}. {step['activity']} → {step['generated']}"
        yield f"     {visible(step['what'])}; {visible(step['stage'])}"
        if step["used"]:
            yield f"     used {', '.join(step['used'])}"
        by = f", said by {step['attributed_to']}" if step["attributed_to"] else ""
        yield (
            f"     run by {visible(step['agent'])}{by}; {step['event_type']} {step['event_id']}, "
            f"graph version {step['graph_version']}, {minute(step['at'])}"
        )
    if answer["decisions_left_out"]:
        yield f"… and {plural(answer['decisions_left_out'], 'more decision')}"


def why_not_lines(answer: Row) -> Iterator[str]:
    """Yield the gate that kept an item out, or that it is there."""
    item = answer["item"]
    said = (
        ""
        if item is None or item["statement"] is None
        else f"  {shortened(item['statement'])} ({item['state']})"
    )
    yield f"{answer['ref']}{said}"
    yield answer["detail"] if answer["gate"] is None else f"{answer['gate']}: {answer['detail']}"
    if answer["advice"]:
        yield f"  next: {answer['advice']}"
