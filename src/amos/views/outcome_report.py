"""What became of packets for people: figures in text, and one page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

from amos.views.page import entries, facts, page
from amos.views.plain import counted, minute, plural, shortened, visible

Row = Mapping[str, Any]

EMPTY = (
    "No outcome is recorded yet. Ask with `amos packet --record …`, then say what came of the answer: "
    "`amos record-outcome PACKET --label good --used REF`."
)
_WIDTH = 11
_HEADS = ("shown", "used", "share", "95 %", "corrected", "share", "95 %")


def report_lines(report: Row) -> Iterator[str]:
    """Yield the figures, then use by score and by rank, in all and apart."""
    if report["outcomes"] == 0:
        yield EMPTY
        return
    every = report["calibration"]["all"]
    yield f"{plural(report['outcomes'], 'outcome')} of {plural(report['packets'], 'packet')}."
    yield f"Labels: {counted(report['by']['label'])}. Use: {counted(report['by']['use_status'])}."
    yield f"Items known from: {counted(report['by']['membership'])}."
    yield f"{plural(every['shown'], 'item')} shown, {every['used']:,} used, {every['corrected']:,} put right."
    yield ""
    yield from _table_lines("all", every)
    for column in ("profile", "processor"):
        for name, group in report["calibration"][column].items():
            if len(report["calibration"][column]) > 1:
                yield ""
                yield from _table_lines(f"{column} {name}", group)
    yield from _claim_lines(report["claims"])
    yield from _missing_lines(report["missing_capabilities"])


def _table_lines(title: str, group: Row) -> Iterator[str]:
    for name, rows in _tables(group):
        head = f"{title}, by {name}"
        yield f"{head:<32}" + "".join(f"{one:>{_WIDTH}}" for one in _HEADS)
        for label, cells in rows:
            yield f"  {label:<30}" + "".join(f"{cell:>{_WIDTH}}" for cell in cells)


def _tables(group: Row) -> Iterator[tuple[str, list[tuple[str, list[str]]]]]:
    """Yield the two tables of a group: a name, and a label with the cells of each row."""
    yield "score", [(f"{row['from']:.1f} – {row['to']:.1f}", _cells(row)) for row in group["by_score"]]
    yield "rank", [(_ranks(row), _cells(row)) for row in group["by_rank"]]


def _ranks(row: Row) -> str:
    first, last = row["first"], row["last"]
    if last is None:
        return f"{first} and later"
    return str(first) if first == last else f"{first} – {last}"


def _cells(row: Row) -> list[str]:
    cells = [f"{row['shown']:,}"]
    for name in ("used", "corrected"):
        low, high = row[f"{name}_interval"]
        cells += [
            f"{row[name]:,}",
            f"{100 * row[f'{name}_ratio']:.1f} %",
            f"{100 * low:.1f}–{100 * high:.1f}",
        ]
    return cells


def _claim_lines(claims: Row) -> Iterator[str]:
    yield ""
    yield (
        f"{plural(claims['shown'], 'claim')} shown, {claims['used']:,} used at least once, "
        f"{claims['corrected']:,} put right at least once."
    )
    if claims["never_used"]:
        yield "Most often shown and never used:"
        for row in claims["never_used"]:
            yield f"  {row['shown']:>6,}  {shortened(row['statement'], 80)}  {row['atom_id']}"


def _missing_lines(missing: Row) -> Iterator[str]:
    if not missing["total"]:
        return
    yield ""
    yield f"Missing, as callers say ({missing['total']:,} times, {missing['distinct']:,} things):"
    for row in missing["cues"]:
        yield f"  {row['count']:>6,}  {visible(row['text'])}"


def page_lines(report: Row) -> Iterator[str]:
    """Yield one page that needs no other file."""
    every = report["calibration"]["all"]
    shown = [
        ("outcomes", f"{report['outcomes']:,}"),
        ("packets", f"{report['packets']:,}"),
        ("items shown", f"{every['shown']:,}"),
        ("used", f"{every['used']:,}"),
        ("put right", f"{every['corrected']:,}"),
    ]
    scope = ", ".join(f"{name} {value}" for name, value in report["scope"].items())
    lead = f"What became of answers, and how well score and rank told it{f' ({scope})' if scope else ''}."
    foot = f"Made {minute(report['made_at'])} from graph version {report['graph_version']}."
    yield from page("Outcomes of packets", lead, _body(report, facts(shown)), foot=foot)


def _body(report: Row, figures: str) -> Iterator[str]:
    yield figures
    if report["outcomes"] == 0:
        yield f"<p>{escape(EMPTY)}</p>"
        return
    yield entries([(name.replace("_", " "), counted(counts)) for name, counts in report["by"].items()])
    groups = [("all", report["calibration"]["all"])]
    for column in ("profile", "processor"):
        found = report["calibration"][column]
        groups += [(f"{column} {name}", group) for name, group in found.items() if len(found) > 1]
    for title, group in groups:
        for name, rows in _tables(group):
            yield f"<h2>{escape(title)}, by {name}</h2>"
            yield _html_table(name, rows)
    never = report["claims"]["never_used"]
    if never:
        yield "<h2>Most often shown and never used</h2>"
        yield entries(
            [(f"{row['shown']:,}", f"{visible(row['statement'])} ({row['atom_id']})") for row in never]
        )
    cues = report["missing_capabilities"]["cues"]
    if cues:
        yield "<h2>Missing, as callers say</h2>"
        yield entries([(f"{row['count']:,}", visible(row["text"])) for row in cues])


def _html_table(name: str, rows: list[tuple[str, list[str]]]) -> str:
    heads = "".join(f"<th>{escape(head)}</th>" for head in (name, *_HEADS))
    lines = "".join(
        f"<tr><th>{escape(label)}</th>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"
        for label, cells in rows
    )
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{lines}</tbody></table>"
