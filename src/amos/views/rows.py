"""Rows of the tables as people read them: one line in a list, a block when shown alone."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from amos.views.plain import beside, counted, day, minute, plural, shortened, visible

Row = Mapping[str, Any]

_STATEMENT_CHARS = 96


def listed_lines(
    rows: Sequence[Row], kind: str, *, cursor: str | None = None, is_store_empty: bool = False
) -> Iterator[str]:
    """Yield one line per row, then what is said when there is none, or more."""
    line = _LINES[kind]
    for row in rows:
        # `list --state quarantined` shows candidates where atoms were asked for
        yield _candidate_line(row) if "candidate_id" in row and kind == "atoms" else line(row)
    if not rows and is_store_empty:
        yield "Nothing is stored yet. Read something with `amos ingest PATH`."
    elif not rows and kind in _EMPTY:
        yield _EMPTY[kind]
    elif not rows:
        yield f"No {kind} fit. Other states: `amos list --state all`; counts: `amos report ingest`."
    elif cursor is not None:
        yield f"… more: add --cursor {cursor}"
    else:
        yield plural(len(rows), kind.removesuffix("s")) + "."


def _atom_line(row: Row) -> str:
    state = "" if row["state"] == "active" else f" ({row['state']})"
    said = shortened(row["statement"], _STATEMENT_CHARS)
    return f"{row['atom_id']}  {day(row['observed_at'])}  {row['type']}: {said}{state}"


def _candidate_line(row: Row) -> str:
    said = "(withheld)" if row["statement"] is None else shortened(row["statement"], _STATEMENT_CHARS)
    why = f"{row['outcome']}: {', '.join(row['reasons'])}{beside(row)}"
    return f"{row['candidate_id']}  {day(row['event_time'])}  {row['type']}: {said} ({why})"


def _source_line(row: Row) -> str:
    said = "(withheld)" if row["text"] is None else shortened(row["text"], _STATEMENT_CHARS)
    who = visible(row["author"] or row["role"])
    return f"{row['source_id']}  {day(row['event_time'])}  {who}: {said or '(no text)'}"


def _conversation_line(row: Row) -> str:
    title = shortened(row["title"] or "(untitled)", _STATEMENT_CHARS)
    return f"{row['conversation_id']}  {day(row['started_at'])}  {row['format']}: {title}"


def _decision_line(row: Row) -> str:
    what = row["candidate_id"] or row["source_id"]
    return f"{row['decision_id']}  {row['outcome']}: {', '.join(row['reasons'])}  on {what}"


def _tombstone_line(row: Row) -> str:
    until = "for ever" if row["expires_at"] is None else f"until {day(row['expires_at'])}"
    held = f"{row['recreation']} {until}" if row["state"] == "active" else f"expired {day(row['expires_at'])}"
    return f"{row['tombstone_id']}  {day(row['created_at'])}  {row['bars']}: {held} ({row['reason']})"


def _outcome_line(row: Row) -> str:
    said = f"{', '.join(row['labels'])}; {row['use_status']}"
    return f"{row['outcome_id']}  {day(row['recorded_at'])}  {row['packet_id']}: {said} ({row['processor']})"


def _conflict_line(row: Row) -> str:
    versions = f"expected version {row['expected_version']}, stands at {row['actual_version']}"
    return f"{row['target_ref']}  {day(row['recorded_at'])}  {versions}: {row['recommended_action']}"


_EMPTY = {
    "conflicts": "No command was refused.",
    "tombstones": "Nothing was forgotten.",
    "outcomes": "No outcome is recorded: say what came of an answer with `amos record-outcome`.",
}
_LINES: dict[str, Callable[[Row], str]] = {
    "atoms": _atom_line,
    "candidates": _candidate_line,
    "sources": _source_line,
    "conversations": _conversation_line,
    "decisions": _decision_line,
    "tombstones": _tombstone_line,
    "outcomes": _outcome_line,
    "conflicts": _conflict_line,
}


def item_lines(item: Row) -> Iterator[str]:
    """Yield one shown row: its heading, then a line per field that says something."""
    fields = dict(item)
    table = fields.pop("table")
    reference = next(iter(fields.values()))
    yield f"{reference}  ({table})"
    for name, value in list(fields.items())[1:]:
        if value not in (None, [], {}, ""):
            yield f"  {name + ':':<16} {_cell(value)}"


def _cell(value: Any) -> str:
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return ", ".join(visible(part) for part in value)
    if _is_validity(value):
        return "; ".join(f"{_edge(one['from'])} to {_edge(one['until'])}" for one in value)
    return visible(json.dumps(value, ensure_ascii=False)) if isinstance(value, list | dict) else str(value)


def _is_validity(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(one, dict) and set(one) == {"from", "until"} for one in value
    )


def _edge(moment: str | None) -> str:
    return "open" if moment is None else minute(moment)


def omission_lines(omissions: Row) -> Iterator[str]:
    """Yield what was left out, if anything was."""
    if omissions["counts"]:
        yield f"Left out: {counted(omissions['counts'])}."
    if omissions["withheld"]:
        yield "What is there is not shown: it lies outside the given scope, or `forget --suppress` hid it."


def found_lines(
    rows: Sequence[Row], total: int, cursor: str | None, empty_reason: str | None
) -> Iterator[str]:
    """Yield the rows of a search, then how many there are, or why there is none."""
    for row in rows:
        reference = row["atom_id"] or row["source_id"]
        said = shortened(row["statement"] or "", _STATEMENT_CHARS)
        gone = " (superseded)" if row["is_superseded"] else ""
        yield f"{row['rank']:>3}. {reference}  {day(row['event_time'])}  {said}{gone}  [{row['score']:.3f}]"
    if not rows:
        yield _NOTHING.get(empty_reason or "", "Nothing matches.")
    elif cursor is not None:
        yield f"{len(rows)} of {total:,} shown; more: add --cursor {cursor}"
    else:
        yield plural(total, "match", "matches") + "."


_NOTHING = {
    "nothing_stored": "Nothing is stored yet. Read something with `amos ingest PATH`.",
    "nothing_visible": "Nothing in this scope may be seen. Leave the scope flags out, or name another.",
    "no_match": (
        "Nothing that still holds shares a word with the question. Try fewer or other words, or "
        "`--include-superseded`."
    ),
    "below_threshold": "Some memories share a word with the question, none closely enough. Try other words.",
}
