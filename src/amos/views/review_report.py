"""The state of review for people: figures in text, and one page of the cases with their words in context."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

from amos.views.page import entries, facts, page, tag
from amos.views.plain import beside, counted, minute, plural, visible
from amos.views.review import EMPTY, queue_lines

Row = Mapping[str, Any]

_TONES = {"claim": "", "message": "bad", "changed": "warn", "forget": "warn", "flagged": "warn"}
_NAMES = {
    "claim": "claim",
    "message": "withheld message",
    "changed": "its basis changed",
    "forget": "asks to forget",
    "flagged": "in question",
}


def report_lines(report: Row) -> Iterator[str]:
    """Yield figures, then the cases that have waited longest."""
    if report["waiting"] == 0:
        yield EMPTY
    else:
        yield (
            f"{report['waiting']:,} wait for a person, the oldest for {report['oldest_days']:g} days "
            f"(median {report['median_days']:g})."
        )
        yield f"By age: {_in_order(report['by_age'])}."
        yield f"By reason: {counted(report['by']['reason'])}."
        yield f"By trust: {counted(report['by']['trust'])}."
        versions = counted(report["by"]["extractor"]), counted(report["by"]["policy"])
        yield f"By extractor: {versions[0]}; by policy: {versions[1]}."
    yield from _notices(report)
    decided = report["decided"]
    if decided["recorded"]:
        yield f"People decided {plural(decided['recorded'], 'time')}: {counted(decided['by_person'])}."
        yield f"What stands of it: {counted(decided['by_outcome'])}."
    if report["cases"]:
        yield ""
        yield from queue_lines(report["cases"], cursor=None, is_store_empty=False, is_filtered=False)
    if report["cases_left_out"]:
        yield f"… and {report['cases_left_out']:,} more: `amos review list`."


def _in_order(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{number:,} {name}" for name, number in counts.items() if number)


def _notices(report: Row) -> Iterator[str]:
    told = (
        ("Deadline within 7 days", report["ending_soon"], ""),
        ("Stale, since claims that they rest on changed", report["stale"], ""),
        ("Past the deadline", report["expired"], ": `amos review list --expired`"),
    )
    for what, count, advice in told:
        if count:
            yield f"{what}: {count:,}{advice}."


def page_lines(report: Row) -> Iterator[str]:
    """Yield the page of the queue, one file that needs nothing else."""
    shown = [
        ("waiting", f"{report['waiting']:,}"),
        ("oldest, days", _figure(report["oldest_days"])),
        ("median, days", _figure(report["median_days"])),
        ("end within 7 days", report["ending_soon"]),
        ("stale", report["stale"]),
        ("expired", report["expired"]),
        ("decided by people", report["decided"]["recorded"]),
    ]
    scope = ", ".join(f"{name} {value}" for name, value in report["scope"].items())
    lead = f"What waits for a person, the longest waiting first{f' ({scope})' if scope else ''}."
    foot = (
        f"Made {minute(report['made_at'])} from graph version {report['graph_version']}. "
        "It holds people's words, withheld ones too: keep it as you keep the store."
    )
    yield from page("Review queue", lead, _body(report, facts(shown)), foot=foot)


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:g}"


def _body(report: Row, figures: str) -> Iterator[str]:
    yield figures
    if not report["cases"]:
        yield f"<p>{escape(EMPTY)}</p>"
        return
    named = [(name, counted(counts)) for name, counts in report["by"].items()]
    yield entries([("age", _in_order(report["by_age"])), *named])
    yield "<h2>Cases</h2>"
    for case in report["cases"]:
        yield from _case(case)
    if report["cases_left_out"]:
        yield f"<p>… and {report['cases_left_out']:,} more: <code>amos review list</code></p>"


def _case(case: Row) -> Iterator[str]:
    yield f'<article id="{escape(case["ref"])}"><header>{tag(_NAMES[case["kind"]], _TONES[case["kind"]])}'
    yield f"<span>{escape(', '.join(case['reasons']) + beside(case))}</span>"
    end = "" if case["deadline"] is None else f", until {case['deadline'][:10]}"
    yield f"<span>{case['age_days']:g} d{end}</span>"
    if case["is_stale"]:
        yield tag("stale", "warn")
    yield f"<code>{escape(case['ref'])}</code></header>"
    yield f"<strong>{escape(visible(case['statement'] or 'A message that is withheld'))}</strong>"
    yield from _context(case["evidence"])
    yield entries(_facts_of(case))
    yield "</article>"


def _context(evidence: Row) -> Iterator[str]:
    """Yield the turns around the words, the words themselves with their spans marked."""
    parts = [_turn(turn) for turn in evidence["before"]]
    who = visible(evidence["author"] or evidence["role"])
    parts.append(f"{escape(who)}: {_marked(evidence)}")
    parts += [_turn(turn) for turn in evidence["after"]]
    lines = "\n".join(parts)
    yield f"<blockquote>{lines}</blockquote>"


def _turn(turn: Row) -> str:
    said = (
        "(withheld)"
        if turn["text"] is None
        else visible(turn["text"]) + (" …" if turn["is_text_cut"] else "")
    )
    return f"{escape(visible(turn['author'] or turn['role']))}: {escape(said)}"


def _marked(evidence: Row) -> str:
    raw, at = evidence["text"].encode(), 0
    parts = ["… " if evidence["start"] else ""]
    for start, end in sorted(evidence["spans"]):
        if start >= at:
            parts.append(f"{_plain(raw[at:start])}<mark>{_plain(raw[start:end])}</mark>")
            at = end
    parts += [_plain(raw[at:]), " …" if evidence["end"] < evidence["bytes"] else ""]
    return "".join(parts)


def _plain(raw: bytes) -> str:
    """Return text as markup; what would drive a terminal or hide is written out, line breaks stay."""
    return "\n".join(_line(line) for line in raw.decode().split("\n"))


def _line(text: str) -> str:
    edges = len(text) - len(text.lstrip()), len(text) - len(text.rstrip())
    inner = visible(text)
    return escape(f"{' ' if edges[0] else ''}{inner}{' ' if edges[1] and inner else ''}")


def _facts_of(case: Row) -> list[tuple[str, str | None]]:
    evidence = case["evidence"]
    said = f"{minute(evidence['event_time'])}, {evidence['trust']}, {visible(evidence['locator'])}"
    known = "; ".join(
        f"{visible(one['statement'])} ({one['state']}{', changed since' if one['is_changed'] else ''})"
        for one in case["basis"]
    )
    records = "; ".join(
        f"{minute(one['at'])} {visible(one['actor'])}: {one['decision']}"
        + (f", “{visible(one['note'])}”" if one["note"] else "")
        for one in case["records"]
    )
    seen = f" --seen {case['graph_version']}" if case["is_stale"] else ""
    return [
        ("said", said),
        ("approving", _would(case["would"])),
        ("known now", known or None),
        ("reviewed", records or None),
        ("read by", f"{case['extractor']}, {case['policy']}"),
        ("decide", f"amos review decide approve {case['ref']}{seen}"),
    ]


def _would(would: Row | None) -> str | None:
    if would is None:
        return None
    what = {"link": "adds evidence to what is known"}.get(would["outcome"])
    if what is None:
        is_change = would["action"] in ("supersede", "update")
        what = f"replaces {plural(len(would['targets']), 'claim')}" if is_change else "adds a claim"
    return f"{what} ({', '.join(would['reasons'][1:])})"
