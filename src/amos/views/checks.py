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
    for phase in report["phases"]:
        if phase["done"]:
            yield _phase_line(phase)
    if report["graph_version"] is not None:
        yield f"Graph version {report['graph_version']}."
    if "checkpoint" in report:
        taken = report["checkpoint"]
        size = plural(taken["event_count"], "event")
        yield f"Checkpoint {visible(taken['file'])}: {size}, root {taken['root']}"
    if report["state_digest"] is not None:
        yield f"State digest {report['state_digest']}"
    for problem in report["problems"]:
        yield f"  {problem['kind']}: {visible(problem['where'])}: {visible(problem['detail'])}"
    for one in report.get("unchecked", ()):
        more = f" ({plural(one['findings'], 'finding')} besides)" if one["findings"] else ""
        yield f"  not checked because of {visible(one['because'])}: {visible(one['what'])}{more}"
    if report["ok"]:
        yield "ok"
    else:
        found = plural(len(report["problems"]), "problem")
        yield f"{found}; keep the store as it is, and restore a backup beside it"


def _phase_line(phase: Record) -> str:
    done, seconds = phase["done"], phase["seconds"]
    if phase["unit"] == "bytes":
        rate = "" if phase["per_second"] is None else f", {amount(phase['per_second'])}/s"
        return f"  {phase['name']}: {amount(done)} in {seconds:.2f} s{rate}"
    rate = "" if phase["per_second"] is None else f", {phase['per_second']:,}/s"
    return f"  {phase['name']}: {done:,} {phase['unit']} in {seconds:.2f} s{rate}"


def proof_lines(proof: Record) -> Iterator[str]:
    """Yield how a row leads to the root of the tree over all events."""
    row, inside, within = proof["row"], proof["in_event"], proof["in_tree"]
    yield f"{proof['ref']} is row {row['row_number']} of {proof['table']} in commit {row['graph_version']}"
    yield f"  commitment {row['commitment']}"
    yield f"  row {inside['index'] + 1} of {inside['size']} of event {proof['event']['event_id']}"
    yield f"  event {within['index'] + 1} of {within['size']}, checksum {proof['event']['checksum']}"
    yield f"  root {proof['root']}"
    yield "proven"


def shown_lines(record: Record) -> Iterator[str]:
    """Yield what a proof shows."""
    yield f"{record['ref']} is row {record['row_number']} of commit {record['graph_version']}"
    yield f"  among {plural(record['events'], 'event')} with the root {record['root']}"
    yield "ok"


def repair_lines(record: Record) -> Iterator[str]:
    """Yield what was repaired, what is left and why, and the verdict last."""
    verb = "would repair" if record["dry_run"] else "repaired"
    for problem in record["problems"]:
        yield f"found {problem['kind']}: {visible(problem['where'])}: {visible(problem['detail'])}"
    for remedy in record["repaired"]:
        yield f"{verb} {remedy['kind']}: {visible(remedy['where'])}: {visible(remedy['action'])}"
    for problem in record["left"]:
        yield f"left {problem['kind']}: {visible(problem['where'])}: {visible(problem['why'])}"
    if record["dry_run"]:
        yield f"{plural(len(record['repaired']), 'remedy', 'remedies')}; nothing was changed"
    elif record["ok"]:
        yield "ok" if record["problems"] or record["repaired"] else "ok; there was nothing to repair"
    else:
        yield f"{plural(len(record['left']), 'problem')} left; keep the store as it is"


def doctor_lines(report: Record) -> Iterator[str]:
    """Yield one line per check, its advice below it where it failed, and the verdict last."""
    for check in report["checks"]:
        mark = "ok  " if check["ok"] else "FAIL"
        yield f"{mark}  {check['name']}: {visible(check['detail'])}"
        if not check["ok"] and check["advice"]:
            yield f"      next: {visible(check['advice'])}"
    yield "ok" if report["ok"] else "not ok"
