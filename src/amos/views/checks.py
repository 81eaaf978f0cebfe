"""What `verify` and `doctor` found, as people read it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from amos.views.plain import amount, plural, visible

Record = Mapping[str, Any]


def verify_lines(report: Record) -> Iterator[str]:
    """Yield what was checked, every problem, and the verdict last."""
    checked = report["checked"]
    yield (
        f"Checked {plural(checked['commits'], 'commit')}, {plural(checked['segments'], 'segment')} "
        f"({amount(checked['bytes'])}), {plural(checked['events'], 'event')}, "
        f"{plural(checked['rows'], 'row')} and {plural(checked['spans'], 'span')} "
        f"in {report['seconds']:.2f} s."
    )
    if report["graph_version"] is not None:
        yield f"Graph version {report['graph_version']}."
    if report["state_digest"] is not None:
        yield f"State digest {report['state_digest']}"
    for problem in report["problems"]:
        yield f"  {problem['kind']}: {visible(problem['where'])}: {visible(problem['detail'])}"
    if report["ok"]:
        yield "ok"
    else:
        found = plural(len(report["problems"]), "problem")
        yield f"{found}; keep the store as it is, and restore a backup beside it"


def doctor_lines(report: Record) -> Iterator[str]:
    """Yield one line per check, its advice below it where it failed, and the verdict last."""
    for check in report["checks"]:
        mark = "ok  " if check["ok"] else "FAIL"
        yield f"{mark}  {check['name']}: {visible(check['detail'])}"
        if not check["ok"] and check["advice"]:
            yield f"      next: {visible(check['advice'])}"
    yield "ok" if report["ok"] else "not ok"
