"""What `amos forget` did or would do, as people read it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from amos.views.plain import plural, visible

Record = Mapping[str, Any]

SHOWN_ROWS = 50
_SHOWN_VALUES = 3
_VERDICTS = {
    "already_forgotten": "That was forgotten before: nothing is left to do.",
    "purged": "Gone: no file of the store holds it any more.",
    "suppressed": "Hidden from every current view; the files keep it.",
    "would_purge": "This would go; nothing was changed.",
    "would_refuse": "This would be refused; nothing was changed.",
    "would_suppress": "This would be hidden; nothing was changed.",
}


def forget_lines(report: Record) -> Iterator[str]:
    """Yield what goes, the counts, what remains, and the verdict last."""
    for ref in report.get("already", ()):
        yield f"already forgotten: {visible(ref)}"
    if _is_nothing(report) and report["status"] != "already_forgotten":
        yield "Nothing that is stored fits: nothing was forgotten. See `amos list` and its scope options."
        return
    rows = report.get("goes", [])
    for row in rows[:SHOWN_ROWS]:
        text = f"  {visible(row['text'])}" if row["text"] else ""
        yield f"{row['fate']:<8} {row['ref']}{text}"
    if report.get("goes_total", 0) > min(len(rows), SHOWN_ROWS):
        yield f"… {report['goes_total'] - min(len(rows), SHOWN_ROWS)} more; all are listed with --json"
    yield from _mention_lines(report)
    yield from _still_lines(report)
    if report["status"] != "already_forgotten":
        yield from _count_lines(report)
    if report["residual"]:
        yield "What remains:"
    for row in report["residual"]:
        until = f" (until {row['until']})" if row["until"] else ""
        yield f"  {visible(row['what'])}: {visible(row['why'])}{until}"
    yield _verdict(report)


def _count_lines(report: Record) -> Iterator[str]:
    """Yield how many rows went, and what stood against it."""
    counts = report.get("suppressed") or report["removed"]
    gone = ", ".join(f"{table} {count}" for table, count in counts.items()) or "nothing"
    yield f"{'hidden' if report['status'] == 'suppressed' else 'removed'}: {gone}"
    yield f"messages that lose words: {report['revised']}; tombstones: {report['tombstones']}"
    if report["expired"]:
        yield f"tombstones whose time is over: {report['expired']}"
    for hold in report["held_by"]:
        yield f"held by {hold['hold'] or hold['kind']}: {visible(hold['reason'])}"


def _mention_lines(report: Record) -> Iterator[str]:
    """Yield what names the subject and stays."""
    rows, total = report.get("mentions", []), report.get("mentions_total", 0)
    for row in rows[:SHOWN_ROWS]:
        text = f"  {visible(row['text'])}" if row["text"] else ""
        yield f"names it {row['ref']}{text}"
    if total > min(len(rows), SHOWN_ROWS):
        yield f"… {total - min(len(rows), SHOWN_ROWS)} more name it; all are listed with --json"
    if any(row["table"] != "sources" for row in rows):
        yield "What names it stays: it is about others. Claims go with --mentions, messages by reference."
    elif rows:
        yield "What names it stays: it is about others. Messages can be forgotten by reference."


def _still_lines(report: Record) -> Iterator[str]:
    """Yield the messages that stay although a forgotten value stands in them."""
    rows, total = report.get("still_said", []), report.get("still_said_total", 0)
    for row in rows[:SHOWN_ROWS]:
        yield f"still says it {row['ref']}  {visible(row['text'])}"
    if total > min(len(rows), SHOWN_ROWS):
        yield f"… {total - min(len(rows), SHOWN_ROWS)} more still say it; all are listed with --json"
    if rows:
        held = "other message still holds" if total == 1 else "other messages still hold"
        values = list(dict.fromkeys(row["value"] for row in rows))
        named = ", ".join(f"“{visible(value)}”" for value in values[:_SHOWN_VALUES])
        named += " …" if len(values) > _SHOWN_VALUES else ""
        yield f"{total:,} {held} {named}. Messages can be forgotten by reference."


def _verdict(report: Record) -> str:
    total = report.get("still_said_total", 0)
    if report["status"] == "purged" and total:
        held = "1 other message still holds" if total == 1 else f"{total:,} other messages still hold"
        return f"Gone: the claim, its evidence and every repetition that is recognised; {held} words of it."
    return _VERDICTS.get(report["status"]) or _pending(report)


def _is_nothing(report: Record) -> bool:
    touched = report["removed"] or report["revised"] or report.get("suppressed") or report.get("goes_total")
    return not (touched or report["tombstones"] or report["waiting_for"] or report["held_by"])


def _pending(report: Record) -> str:
    pids = ", ".join(map(str, report["waiting_for"])) or "unknown"
    others = plural(len(report["waiting_for"]), "reader or writer", "readers or writers")
    return (
        f"Pending: {others} (process {pids}) still "
        "hold files with it; it is invisible to new readers and goes with the next write after they end."
    )
