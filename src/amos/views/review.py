"""The review queue as people read it: one line per case, one case in full, what a decision did."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from amos.views.entities import mention_lines
from amos.views.plain import beside, minute, plural, shortened, visible

Row = Mapping[str, Any]

EMPTY = "Nothing waits for a review."
_STATEMENT_CHARS = 88
_WAITING = {
    "changed": "the basis of its decision changed",
    "flagged": "in question after outcomes",
}
_DONE = {"approve": "Approved", "edit": "Approved in new words", "reject": "Rejected", "defer": "Deferred"}


def queue_lines(
    rows: Sequence[Row], *, cursor: str | None, is_store_empty: bool, is_filtered: bool
) -> Iterator[str]:
    """Yield a line per case, then how to go on, or what is said when there is none."""
    for row in rows:
        said = _said(row, _STATEMENT_CHARS)
        marks = " (stale)" if row["is_stale"] else ""
        yield f"{row['ref']}  {_age(row)}  {said}{marks}"
        since = f"; since then {', '.join(row['triggers'])}" if row["triggers"] else ""
        yield f"    {_why(row)}; {row['trust']}; {_left(row)}{since}"
    if not rows and is_store_empty:
        yield "Nothing is stored yet. Read something with `amos ingest PATH`."
    elif not rows:
        yield "Nothing that waits fits these filters." if is_filtered else EMPTY
    elif cursor is not None:
        yield f"… more: add --cursor {cursor}"
    else:
        yield f"{plural(len(rows), 'case')}. Look at one: `amos review show {rows[0]['ref'][:14]}`."


def _why(row: Row) -> str:
    """Return the reasons of the decision, and what outcomes say against it."""
    told = ", ".join(row["reasons"]) + beside(row)
    return f"outcomes: {', '.join(row['flags'])}; {told}" if row["flags"] else told


def _said(row: Row, length: int) -> str:
    if row["statement"] is None:
        return f"message: “{shortened(row['excerpt'], length)}”"
    if row["kind"] == "forget":
        return shortened(row["statement"], length)
    return f"{row['type']}: {shortened(row['statement'], length)}"


def _age(row: Row) -> str:
    days = row["age_days"]
    return f"{days:.0f} d" if days >= 1 else "today"


def _left(row: Row) -> str:
    if row["deadline"] is None:
        return "no deadline"
    return f"until {row['deadline'][:10]}"


def case_lines(case: Row) -> Iterator[str]:
    """Yield one case in full."""
    yield f"{case['ref']}  {visible(case['statement'] or '(a withheld message)')}"
    yield f"  {_state(case)}"
    yield f"  because {_why(case)}; {case['extractor']}, {case['policy']}" + _confidence(case)
    yield from _context_lines(case["evidence"])
    for mention in case.get("mentions", ()):
        yield from mention_lines(mention)
    yield from _would_lines(case)
    yield from _reach_lines(case)
    yield from _basis_lines(case)
    yield from _record_lines(case)
    yield from _next_lines(case)


def _state(case: Row) -> str:
    if not case["is_waiting"]:
        return f"decided: {case['outcome']}"
    if case["is_expired"]:
        return f"waited until {minute(case['deadline'])}: expired"
    what = _WAITING.get(case["kind"], "waits")
    end = "" if case["deadline"] is None else f", until {minute(case['deadline'])}"
    return f"{what} since {minute(case['waiting_since'])} ({case['age_days']:g} d){end}"


def _confidence(case: Row) -> str:
    return "" if case["confidence"] is None else f"; extraction confidence {case['confidence']}"


def _context_lines(evidence: Row) -> Iterator[str]:
    yield f"Said in {evidence['source_id']} ({evidence['trust']}, {visible(evidence['locator'])}):"
    for turn in evidence["before"]:
        yield _turn(turn)
    who = visible(evidence["author"] or evidence["role"])
    yield f"  > {who}, {minute(evidence['event_time'])}: {visible(marked(evidence, '[[', ']]'))}"
    for turn in evidence["after"]:
        yield _turn(turn)


def _turn(turn: Row) -> str:
    said = "(withheld)" if turn["text"] is None else shortened(turn["text"], 200)
    return f"    {visible(turn['author'] or turn['role'])}: {said}"


def marked(evidence: Row, opening: str, closing: str) -> str:
    """Return the text of evidence with its spans between marks, and an ellipsis where it goes on."""
    raw = evidence["text"].encode()
    parts, at = ["…" if evidence["start"] else ""], 0
    for start, end in sorted(evidence["spans"]):
        if start >= at:
            parts += [raw[at:start].decode(), opening, raw[start:end].decode(), closing]
            at = end
    parts += [raw[at:].decode(), "…" if evidence["end"] < evidence["bytes"] else ""]
    return "".join(parts)


def _would_lines(case: Row) -> Iterator[str]:
    would = case["would"]
    if would is not None:
        yield f"Approving it would {_would(would)} ({', '.join(would['reasons'][1:])})."


def _reach_lines(case: Row) -> Iterator[str]:
    """Yield what a request to forget reaches."""
    if "reaches" not in case:
        return
    if not case["reaches"]:
        yield "It reaches nothing that its author had said before."
    else:
        yield "Approving it forgets, for good:"
    for one in case["reaches"]:
        yield f"  {one['ref']}  {visible(one['statement'])} ({one['state']}, {one['why']})"
    for one in case["stays"]:
        yield f"  stays: {one['ref']}  {visible(one['statement'])} ({one['why']})"


def _would(would: Row) -> str:
    if would["outcome"] == "link":
        return "add evidence to what is known"
    if would["action"] in ("supersede", "update"):
        return f"replace {plural(len(would['targets']), 'claim')}"
    return "add a claim"


def _basis_lines(case: Row) -> Iterator[str]:
    if case["basis"]:
        yield "Known of it now:"
    for one in case["basis"]:
        same = ", the same claim" if one["is_same_claim"] else ""
        moved = f", changed at graph version {one['changed_at']}" if one["is_changed"] else ""
        state = f"{one['state']}, version {one['version']}{same}{moved}"
        yield f"  {one['atom_id']}  {visible(one['statement'])} ({state})"


def _record_lines(case: Row) -> Iterator[str]:
    if case["records"]:
        yield "Reviewed:"
    for one in case["records"]:
        note = f": “{visible(one['note'])}”" if one["note"] else ""
        yield f"  {minute(one['at'])}  {visible(one['actor'])}, {one['decision']}{note}"
        if one["wording"] is not None:
            yield f"    worded “{visible(one['wording'])}” (SHA-256 {one['text_sha256'][:16]}…)"


def _next_lines(case: Row) -> Iterator[str]:
    if not case["is_waiting"] or case["is_expired"]:
        return
    seen = f" --seen {case['graph_version']}" if case["is_stale"] else ""
    is_message = case["kind"] in ("message", "forget")
    verdict = "approve" if is_message else "approve (or edit --value …)"
    yield f"Decide: amos review decide {verdict.split(' ', 1)[0]} {case['ref'][:14]}{seen}"
    others = "reject, defer" if is_message else "edit, reject, defer"
    yield f"  instead of approve: {others}"


def decided_lines(report: Row) -> Iterator[str]:
    """Yield what a decision did to each case, then the counts."""
    for item in report["items"]:
        said = visible(item["statement"] or "(message)")
        if item["status"] == "refused":
            yield f"{item['ref']}  stays: {item['code']}  {shortened(said)}"
            continue
        again = " (decided before)" if item["status"] == "replayed" else ""
        atom = f" → {item['atom_id']}" if item["atom_id"] else ""
        yield f"{item['ref']}  {item['outcome']}{again}  {shortened(said)}{atom}"
        yield from _forgot_lines(item)
    yield _sum(report)


def _forgot_lines(item: Row) -> Iterator[str]:
    """Yield what an approved request to forget took away."""
    forgot = item.get("forgot")
    if forgot is None:
        return
    counts = ", ".join(f"{number:,} {name}" for name, number in sorted(forgot["removed"].items()))
    verb = "would remove" if forgot["dry_run"] else "removed"
    yield f"    {verb} {counts or 'nothing'}; {plural(forgot['tombstones'], 'tombstone')}, {forgot['status']}"


def _sum(report: Row) -> str:
    if report["dry_run"]:
        return f"Would decide {plural(report['decided'], 'case')}; nothing was changed."
    if not report["items"]:
        return "Nothing that waits fits these filters."
    parts = [f"{_DONE[report['verdict']]}: {plural(report['decided'], 'case')}"]
    if report["replayed"]:
        parts.append(f"{report['replayed']:,} decided before in the same way")
    if report["refused"]:
        parts.append(f"{report['refused']:,} left as they are")
    return f"{'; '.join(parts)}; graph version {report['graph_version']}."


def expired_lines(report: Row) -> Iterator[str]:
    """Yield what has passed its deadline, and what became of it."""
    for item in report["items"]:
        said = shortened(item["statement"] or "(message)")
        yield f"{item['ref']}  {item['deadline'][:10]}  {said}  ({', '.join(item['reasons'])})"
    told = f"{plural(report['claims'], 'claim')} and {plural(report['messages'], 'message')}"
    if report["status"] == "nothing":
        yield "Nothing has passed its deadline."
    elif report["dry_run"]:
        yield f"{told} would wait no longer; nothing was changed."
    elif report["status"] == "pending":
        yield f"{told} wait no longer; a reader still holds files, the next writing command finishes."
    else:
        yield f"{told} wait no longer; no file holds the claims; graph version {report['graph_version']}."
