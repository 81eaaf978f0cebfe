"""The answer to `why` as people read it: claim, evidence, decision, history, events."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from amos.views.entities import mention_lines
from amos.views.plain import minute, plural, shortened, visible

Row = Mapping[str, Any]

_EXCERPT_CHARS = 300


def why_lines(answer: Row) -> Iterator[str]:
    """Yield the lines of one answer."""
    yield f"{answer['ref']}  {_headline(answer['item'])}"
    yield from _action_lines(answer["action"])
    yield from _occurrence_lines(answer["occurrence"])
    yield from _evidence_lines(answer)
    yield from _decision_lines(answer["decision"])
    yield from _lineage_lines(answer["lineage"], answer["ref"])
    yield from _mention_lines(answer)
    yield from _echo_lines(answer)
    yield from _feedback_lines(answer)
    yield from _source_lines(answer)
    yield from _event_lines(answer["events"])


def _headline(item: Row) -> str:
    if item.get("statement"):
        state = item.get("state") or item.get("outcome")
        return f"{visible(item['statement'])} ({item['type']}, {state})"
    if item["table"] == "sources":
        said = "(withheld)" if item["text"] is None else shortened(item["text"])
        return said or "(no text)"
    return f"{item.get('outcome', item['table'])}"


def _action_lines(action: Row | None) -> Iterator[str]:
    if action is None:
        return
    detail = "" if action["detail"] is None else f" {action['detail']}"
    yield f"Action: {visible(action['tool'])}, called by {visible(action['agent'])}: {action['status']}"
    sign = action["sign"].replace("_", " ")
    yield f"  told by {sign}{visible(detail)}; call {visible(action['action_ref'])}"
    if action["source_id"] is not None:
        said = "(withheld)" if action["text"] is None else f"“{shortened(action['text'], _EXCERPT_CHARS)}”"
        yield f"  {action['source_id']} {said}"


def _occurrence_lines(occurrence: Row | None) -> Iterator[str]:
    if occurrence is None:
        return
    yield "Taking part: " + "; ".join(
        f"{one['role']} {visible(one['name'])}" for one in occurrence["participants"]
    )
    for later in occurrence["precedes"]:
        yield f"  before {later['atom_id']} {visible(later['statement'])}"
    following = occurrence["followed_by"]
    if following is not None:
        yield f"  followed by {following['atom_id']} {visible(following['statement'])}"


def _evidence_lines(answer: Row) -> Iterator[str]:
    evidence = answer["evidence"]
    if not evidence:
        return
    yield "Evidence:"
    for piece in evidence:
        said = (
            "(withheld)" if piece["excerpt"] is None else f"“{shortened(piece['excerpt'], _EXCERPT_CHARS)}”"
        )
        who = visible(piece["author"] or piece["role"])
        yield f"  {said}"
        yield f"    {who}, {minute(piece['event_time'])}, {piece['trust']}; {piece['outcome']}"
        yield f"    {piece['source_id']} bytes {piece['start']}-{piece['end']}; {visible(piece['locator'])}"
    hidden = answer["evidence_total"] - len(evidence)
    if hidden > 0:
        yield f"  … and {plural(hidden, 'more piece')}"


def _mention_lines(answer: Row) -> Iterator[str]:
    if answer.get("mentions"):
        yield "Who is meant:"
    for mention in answer.get("mentions", ()):
        for line in mention_lines(mention):
            yield f"  {line}"


def _echo_lines(answer: Row) -> Iterator[str]:
    echoes = answer["echoes"]
    if not echoes:
        return
    item = answer["item"]
    yield f"Echoes: {item['confidence']:g} from evidence, {item['effective_confidence']:g} with them"
    for echo in echoes:
        added = f"adds {echo['delta']:g}" if echo["delta"] else "adds nothing"
        when = minute(echo["referenced_at"])
        yield f"  {echo['kind']}, {added}, {when}; {echo['source_id']} in {echo['conversation_id']}"
    hidden = answer["echoes_total"] - len(echoes)
    if hidden > 0:
        yield f"  … and {plural(hidden, 'more echo', 'more echoes')}"


def _feedback_lines(answer: Row) -> Iterator[str]:
    if not answer["feedback"]:
        return
    item = answer["item"]
    used, wrong = item["used"], item["corrections_after_use"] + item["unhelpful"]
    yield f"Outcomes: used in {used} of {plural(item['access_count'], 'packet')}, put right in {wrong}"
    yield f"  utility {item['utility']:g}, salience {item['salience']:g}, health {item['health']}"
    for one in answer["feedback"]:
        yield f"  {one['kind']} at rank {one['rank']}, {minute(one['recorded_at'])}; {one['packet_id']}"
    hidden = answer["feedback_total"] - len(answer["feedback"])
    if hidden > 0:
        yield f"  … and {hidden:,} more"


def _decision_lines(decision: Row | None) -> Iterator[str]:
    if decision is None:
        return
    yield f"Decision: {decision['outcome']} ({decision['action']}), because {', '.join(decision['reasons'])}"
    yield (
        f"  utility {decision['utility']}, risk {decision['risk']}; policy {decision['policy']}, "
        f"extractor {decision['extractor']}; {decision['decision_id']}"
    )
    if decision["deadline"] is not None:
        yield f"  waits for a review until {minute(decision['deadline'])}"


def _lineage_lines(lineage: list[Row], ref: str) -> Iterator[str]:
    if not lineage:
        return
    yield "History:"
    for row in lineage:
        is_newer = row["successor_id"] == ref
        other = row["predecessor"] if is_newer else row["successor"]
        verb = row["relation"] if is_newer else f"is what follows it ({row['relation']})"
        reference = row["predecessor_id"] if is_newer else row["successor_id"]
        said = visible(other or "")
        yield f"  {verb} {reference} {said}" if is_newer else f"  {reference} {said} {verb}"


def _source_lines(answer: Row) -> Iterator[str]:
    atoms, decisions = answer.get("atoms", []), answer.get("decisions", [])
    if atoms:
        yield "Atoms that rest on it:"
        for row in atoms:
            yield f"  {row['atom_id']}  {visible(row['statement'])} ({row['state']})"
    if len(decisions) > 1:
        yield "All decisions on it:"
        for row in decisions:
            yield f"  {row['decision_id']}  {row['outcome']}: {', '.join(row['reasons'])}"


def _event_lines(events: list[Row]) -> Iterator[str]:
    if not events:
        return
    yield "Events:"
    for event in events:
        yield (
            f"  {event['event_id']}  {event['event_type']}, row {event['row']} of {event['table']}, "
            f"graph version {event['graph_version']}, {minute(event['accepted_at'])}"
        )
