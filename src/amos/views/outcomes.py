"""Show what outcomes changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from amos.views.plain import counted, plural, visible

_SHOWN = 20
_MEMBERSHIP = {"receipt": "its receipt", "asked_again": "asking again at its graph version"}
Row = Mapping[str, Any]


def outcome_lines(result: Row) -> Iterator[str]:
    """Yield what one outcome changed, item by item."""
    labels = ", ".join(result["labels"])
    known = _MEMBERSHIP[result["membership"]]
    yield f"{result['packet_id']}: {labels}, {result['use_status']}; items known from {known}"
    for item in result["items"][:_SHOWN]:
        yield f"  {item['ref']} {item['kind']}{_moved(item)}"
    if len(result["items"]) > _SHOWN:
        yield f"  … and {len(result['items']) - _SHOWN} more; `--json` lists all"
    yield f"  {plural(result['exposed'], 'item')} only shown: nothing changes for them"
    if result["edges"]:
        yield f"  {plural(len(result['edges']), 'edge')} between them learned the same"
    if result["flagged"]:
        yield f"  {plural(len(result['flagged']), 'claim')} to look at: `amos review list --kind flagged`"
    for cue in result["missing_capabilities"]:
        yield f"  missing: {visible(cue)}"
    if result["status"] == "known":
        yield "recorded before; nothing was added"
    elif result["dry_run"]:
        yield "nothing was written"
    else:
        yield f"recorded as {result['outcome_id']}"


def _moved(item: Row) -> str:
    if item["utility"] is None:
        return ""
    told = f": utility {item['utility']['old']:g} -> {item['utility']['new']:g}"
    if item["salience"]["old"] != item["salience"]["new"]:
        told += f", salience {item['salience']['old']:g} -> {item['salience']['new']:g}"
    if item["health"]["old"] != item["health"]["new"]:
        told += f", now {item['health']['new']}"
    return told


def batch_lines(done: Row) -> Iterator[str]:
    """Yield the counts of many outcomes, and the rows that were refused."""
    yield (
        f"{plural(done['rows'], 'row')}: {done['recorded']:,} recorded, {done['known']:,} known, "
        f"{done['refused']:,} refused"
    )
    if done["recorded"]:
        yield f"items: {counted(done['feedback'])}"
    for error in done["errors"][:_SHOWN]:
        yield f"  row {error['row']}: {visible(error['message'])} ({error['code']})"
    if done["errors_total"] > _SHOWN:
        yield f"  … and {done['errors_total'] - _SHOWN:,} more; `--json` lists up to 200"
    if done["dry_run"]:
        yield "nothing was written"
