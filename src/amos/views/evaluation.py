"""How well extractors do on cases, as people read it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from amos.views.plain import counted, plural, shortened, visible

Record = Mapping[str, Any]

_STAGES = (
    ("spans", "where claims stand"),
    ("claims", "what they say"),
)
_SLICES = (
    ("kind", "kind"),
    ("memory_class", "memory class"),
    ("channel", "channel"),
    ("language", "language"),
    ("policy", "policy"),
    ("tenant", "tenant"),
    ("privacy_class", "privacy class"),
)
_HEADS = ("cases", "right", "harmful", "precision", "recall", "F1", "written", "good", "found")


def extraction_lines(report: Record) -> Iterator[str]:
    """Yield the cases, then every extractor, then the queue of the store if one was named."""
    counts = report["cases"]
    bad = f", {plural(counts['bad'], 'line')} no case" if counts["bad"] else ""
    yield f"{plural(counts['evaluated'], 'case')}{bad}"
    for run in report["runs"]:
        yield ""
        yield from _run_lines(run)
    if report["store"] is not None:
        yield ""
        yield from _queue_lines(report["store"])


def _run_lines(run: Record) -> Iterator[str]:
    every = run["all"]
    yield f"{run['extractor']} under {run['policy']}, {run['seconds']:.1f} s"
    if run["fallbacks"]:
        yield f"  read by the rules instead: {counted(run['fallbacks'])}"
    yield f"  fully right  {_share(every, 'right')}"
    yield f"  harmful      {_share(every, 'harmful')}"
    for stage, title in _STAGES:
        found = every[stage]
        rates = (
            f"precision {_rate(found['precision'])}, recall {_rate(found['recall'])}, F1 {_rate(found['f1'])}"
        )
        yield f"  {title}: {rates} ({found['hit']} hit, {found['false']} false, {found['missed']} missed)"
    unlisted, unjudged = every["claims"]["unlisted"], every["claims"]["unjudged"]
    yield f"    false counts {unlisted} that their cases do not name; {unjudged} of open cases are not judged"
    agreed = ", ".join(
        f"{name} {_rate(one['ratio'])}" for name, one in every["fields"].items() if one["stated"]
    )
    yield f"  fields that agree: {agreed or 'none stated'}"
    written = every["writes"]
    yield (
        f"  what is written: precision {_rate(written['precision'])} "
        f"({written['appropriate']} of {written['admitted']}), "
        f"recall {_rate(written['recall'])} ({written['found']} of {written['required']})"
    )
    yield from _calibration_lines(every["calibration"])
    yield from _evidence_lines(every)
    for name, title in _SLICES:
        if name == "kind" or len(run["by"][name]) > 1:
            yield from _slice_lines(title, run["by"][name])
    if "failures" in run:
        yield from _failure_lines(run["failures"])


def _share(every: Record, name: str) -> str:
    if not every["cases"]:
        return "no case"
    low, high = every[f"{name}_interval"]
    reach = f"95 % between {100 * low:.1f} and {100 * high:.1f} %"
    return f"{every[name]} of {every['cases']}, {100 * every[f'{name}_ratio']:.1f} % ({reach})"


def _rate(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _calibration_lines(table: Record) -> Iterator[str]:
    if not table["claims"]:
        return
    gap, brier = _rate(table["expected_error"]), _rate(table["brier_score"])
    yield f"  confidence of {plural(table['claims'], 'claim')}: off by {gap} on average, Brier score {brier}"
    for row in table["bins"]:
        name = f"{row['from']} to {row['until']}"
        says, is_so = row["mean_confidence"], row["correct_ratio"]
        yield f"    {name:<10}{row['claims']:>6}  says {says:.2f}  is {is_so:.2f}"


def _evidence_lines(every: Record) -> Iterator[str]:
    found = every["evidence"]
    faults = f"; {counted(found['faults'])}" if found["faults"] else ""
    checked = plural(found["checked"], "span")
    yield f"  evidence: {found['valid']:,} of {checked} give their excerpt again{faults}"
    for outcome, reasons in every["refusals"].items():
        yield f"  {outcome}: {counted(reasons)}"


def _slice_lines(title: str, parts: Mapping[str, Record]) -> Iterator[str]:
    width = max(len(title), *(len(visible(name)) for name in parts))
    yield ""
    yield "  " + f"{title:<{width}}" + "".join(f"{head:>11}" for head in _HEADS)
    for name, one in parts.items():
        cells = (
            f"{one['cases']:,}",
            f"{one['right']:,}",
            f"{one['harmful']:,}",
            *(_rate(one["claims"][rate]) for rate in ("precision", "recall", "f1")),
            f"{one['writes']['admitted']:,}",
            _rate(one["writes"]["precision"]),
            _rate(one["writes"]["recall"]),
        )
        yield "  " + f"{visible(name):<{width}}" + "".join(f"{cell:>11}" for cell in cells)


def _failure_lines(failures: list[Record]) -> Iterator[str]:
    yield ""
    yield f"  {plural(len(failures), 'case')} not fully right"
    for one in failures:
        mark = "HARMFUL " if one["is_harmful"] else ""
        yield f"  {visible(one['id'])} ({visible(one['kind'])}): {mark}{shortened(one['text'])}"
        for wrong in one["wrong"]:
            yield f"      {visible(wrong)}"
        for line in one["decided"]:
            said = f": {shortened(line['statement'])}" if line["statement"] else ""
            yield f"      {line['outcome']} ({', '.join(line['reasons'])}){said}"


def _queue_lines(queue: Record) -> Iterator[str]:
    if not queue["waiting"]:
        yield "Nothing in the store waits for a review."
        return
    yield (
        f"{plural(queue['waiting'], 'candidate')} of the store wait for a review: half of them for "
        f"{queue['median_days']:.1f} days or longer, the oldest for {queue['oldest_days']:.1f}; "
        f"{queue['past_deadline']:,} are past their deadline"
    )
    width = max(len(name) for name in queue["by"]["reason"])
    for name, one in queue["by"]["reason"].items():
        late = f", {one['past_deadline']:,} past their deadline" if one["past_deadline"] else ""
        yield f"  {name:<{width}}{one['waiting']:>7,}  oldest {one['oldest_days']:.1f} days{late}"
