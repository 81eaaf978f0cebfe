"""What a run over kept sources would change, or has changed: as lines for people, and as a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from amos.schemas.cuts import marked
from amos.views.page import entries, facts, page, quoted, tag
from amos.views.plain import day, minute, plural, shortened, visible

Record = Mapping[str, Any]

SHOWN = 40
"""Differences that people are shown on a terminal; the page and `--json` have all."""
_COUNTED = ("added", "lost", "changed", "unchanged", "flipped")
_TONES = {"added": "good", "lost": "bad", "changed": "warn", "flipped": "warn", "refused_by_tombstone": "bad"}
_SIGNS = {"added": "+", "lost": "-", "changed": "~", "unchanged": "=", "flipped": "!",
          "refused_by_tombstone": "x"}  # fmt: skip
_AROUND = 40
_SHORT = 30


def reprocess_lines(record: Record, *, shown: int = SHOWN) -> Iterator[str]:
    """Yield counts, the first `shown` differences and what to do next."""
    yield f"{record['run_id']}  {record['extractor']} over {plural(record['sources'], 'source')}"
    if not record["sources"]:
        yield "No kept source fits: nothing was read. See `amos list sources` and the scope options."
        return
    yield ", ".join(f"{record[name]:,} {name}" for name in _COUNTED)
    if record["refused_by_tombstone"]:
        yield f"{plural(record['refused_by_tombstone'], 'claim')} kept out: forgotten, and not to return"
    if record["kept_by_reviewer"]:
        yield f"{plural(record['kept_by_reviewer'], 'claim')} stay as a reviewer decided"
    rows = record.get("differences", [])
    for row in rows[:shown]:
        yield from _difference_lines(row)
    if len(rows) > shown:
        yield f"… {len(rows) - shown:,} more: `--json` lists them, `--as html -o FILE` shows them"
    yield from _next_lines(record)


def _difference_lines(row: Record) -> Iterator[str]:
    fields = f" ({', '.join(_fields(row))})" if row["fields"] else ""
    yield f"{_SIGNS[row['kind']]} {row['kind']:<8} {day(row['event_time'])}  {_marked(row['words'])}{fields}"
    told = {name: _claimed(row[name]) for name in ("before", "after") if row[name] is not None}
    if len(told) == 2 and told["before"] == told["after"]:
        told = {"both": told["after"]}
    for name, claim in told.items():
        yield f"    {name:<6} {claim}"


def _fields(row: Record) -> Iterator[str]:
    """Yield what differs, with both values where these are short."""
    for name in row["fields"]:
        held = [row[side].get(name) for side in ("before", "after")]
        is_short = all(isinstance(value, str | int) and len(str(value)) < _SHORT for value in held)
        yield f"{name} {held[0]} -> {held[1]}" if is_short else name


def _marked(words: Record | None) -> str:
    if words is None:
        return "(not shown)"
    before, after = visible(words["before"])[-_AROUND:], visible(words["after"])[:_AROUND]
    return f"{before} [{shortened(words['claim'])}] {after}".strip()


def _claimed(claim: Record) -> str:
    return f"{visible(claim['statement'])}  {claim['outcome']}: {claim['reason']}"


def _next_lines(record: Record) -> Iterator[str]:
    if record["reverted"]:
        yield "Taken back; the reading before it stands."
    elif record["applied"]:
        yield f"Applied at graph version {record['graph_version']}. Undo: `amos revert {record['run_id']}`."
    elif record["is_empty"]:
        yield "Nothing would change: the sources are read this way already."
    else:
        yield f"Nothing has changed yet: `amos reprocess --apply {record['run_id']}` makes this the reading."


def revert_lines(record: Record) -> Iterator[str]:
    """Yield what taking back a run did."""
    would = "would leave" if record["dry_run"] else "left"
    returned = "would return" if record["dry_run"] else "returned"
    yield (
        f"{record['run_id']}: {plural(record['withdrawn'], 'candidate')} {would}, "
        f"{record['restored']:,} {returned}"
    )
    if not record["dry_run"]:
        yield f"Graph version {record['graph_version']}. Again: `amos reprocess --apply {record['run_id']}`."


def runs_lines(rows: Sequence[Record], *, is_narrowed: bool) -> Iterator[str]:
    """Yield one line per run."""
    if is_narrowed:
        yield "Runs count what they did for every scope: leave the scope options out to see them."
    elif not rows:
        yield "No run yet: `amos ingest PATH` makes the first."
    for row in rows:
        yield f"{row['run_id']}  {minute(row['started_at'])}  {row['kind']:<9}  {_did(row)}"


def _did(row: Record) -> str:
    did = row["did"]
    if row["kind"] != "reprocess":
        return (
            f"{plural(did.get('records_read', 0), 'record')}, {plural(did.get('atoms_written', 0), 'atom')}"
        )
    state = "reverted" if did["reverted"] else "applied" if did["applied"] else "compared only"
    counts = ", ".join(f"{did[name]:,} {name}" for name in ("added", "lost", "changed"))
    return f"{did['extractor']}: {counts}; {state}"


def reprocess_page(record: Record) -> Iterator[str]:
    """Yield the lines of a page with every difference, the claim marked in its source."""
    lead = f"Run {record['run_id']}: {record['extractor']} over {plural(record['sources'], 'kept source')}"
    more = ("refused_by_tombstone", "kept_by_reviewer")
    names = [*_COUNTED, *(name for name in more if record[name])]
    foot = " ".join(_next_lines(record)).replace("`", "")
    yield from page(f"What changes under {record['extractor']}", lead, _body(record, names), foot=foot)


def _body(record: Record, names: Sequence[str]) -> Iterator[str]:
    yield facts((name.replace("_", " "), f"{record[name]:,}") for name in names)
    rows = record["differences"]
    if not rows:
        yield "<p>The readings do not differ.</p>"
    for kind in _SIGNS:
        own = [row for row in rows if row["kind"] == kind]
        if own:
            yield f"<h2>{escape(kind.replace('_', ' ').capitalize())} ({len(own):,})</h2>"
            yield from map(_article, own)


def _article(row: Record) -> str:
    fields = f"<span>differs in {escape(', '.join(_fields(row)))}</span>" if row["fields"] else ""
    head = (
        f"<header>{tag(row['kind'].replace('_', ' '), _TONES.get(row['kind'], ''))}"
        f"<span>{escape(minute(row['event_time']))}</span><span>{escape(row['author'])}</span>"
        f"<code>{escape(row['source'])}</code>{fields}</header>"
    )
    words = row["words"]
    told = "<p>(not shown)</p>"
    if words is not None:
        told = quoted(*(marked(words[name]) for name in ("before", "claim", "after")))
    claims = [(name, None if row[name] is None else _told_claim(row[name])) for name in ("before", "after")]
    return f"<article>{head}{told}{entries(claims)}</article>"


def _told_claim(claim: Record) -> str:
    parts = [claim["type"], claim["modality"], claim["memory_class"].replace("_", " ")]
    held = [f"from {day(claim['valid_from'])}"] if claim["valid_from"] else []
    held += [f"until {day(claim['valid_until'])}"] if claim["valid_until"] else []
    sure = f"confidence {claim['confidence']}"
    told = ", ".join([*parts, *held, sure])
    return f"{claim['statement']} [{told}] {claim['outcome']}: {claim['reason']}"
