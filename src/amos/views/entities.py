"""People and things, and who is meant by a mention, as people read them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from amos.views.plain import day, plural, visible

Row = Mapping[str, Any]


def entity_list_lines(rows: Sequence[Row]) -> Iterator[str]:
    """Yield one line for each entity: its name, what else it is called, how much is claimed."""
    if not rows:
        yield "nobody and nothing is known here"
    for row in rows:
        merged = f", merged into {row['merged_into']}" if row["merged_into"] else ""
        since = f", out of use since {day(row['deprecated_at'])}" if row["deprecated_at"] else ""
        yield f"{row['entity_id']}  {_named(row)}  ({_counted(row)}{merged}{since})"


def entity_lines(row: Row) -> Iterator[str]:
    """Yield an entity: its labels, claims, what waits, and the mentions that mean it."""
    yield f"{row['entity_id']}  {_named(row)}"
    if row["merged_into"]:
        yield f"Merged into {row['merged_into']}"
    if row["deprecated_at"]:
        yield f"Out of use since {day(row['deprecated_at'])}"
    if row["relation"] is not None:
        yield f"Relation: {row['relation']}, the other way round {row['inverse']}"
    for label in row["labels"][1:]:
        yield f"Also called {visible(label['label'])}: {label['source_id']}"
    for atom in row["atoms"]:
        yield f"  {atom['atom_id']}  {visible(atom['statement'])} ({atom['state']})"
    for held in row["held"]:
        yield f"  {held['candidate_id']}  {visible(held['statement'])} (waits)"
    for mention in row["mentions"]:
        yield from mention_lines(mention)


def mention_lines(mention: Row) -> Iterator[str]:
    """Yield who is meant by a mention, and who was considered with which score."""
    meant = "stays open" if mention["meant"] is None else f"means {visible(mention['meant'])}"
    yield f"{visible(mention['said'])!r} {meant}: {mention['reason']} ({mention['rule']})"
    for one in mention["referents"]:
        name = "none of them" if one["entity_id"] is None else f"{visible(one['name'])}, {one['entity_id']}"
        yield f"  {one['score']:.3f}  {name}"
    if mention["evidence"]:
        yield f"  from {', '.join(mention['evidence'])}"


def joined_lines(done: Row) -> Iterator[str]:
    """Yield what merging or splitting two entities did."""
    said = "is" if done["decision"] == "merge" else "is apart from"
    would = "would move" if done["dry_run"] else "moved"
    one, other = visible(done["name"]), visible(done["other_name"])
    yield f"{one} ({done['entity_id']}) {said} {other} ({done['other_id']})"
    yield f"{plural(done['claims_moved'], 'claim')} {would}"


def retired_lines(done: Row) -> Iterator[str]:
    """Yield what taking an entity out of use, or back into it, did."""
    would = "would be" if done["dry_run"] else "is"
    state = "out of use" if done["decision"] == "deprecate" else "in use again"
    yield f"{visible(done['name'])} ({done['entity_id']}) {would} {state}"
    if done["decision"] == "deprecate":
        told = "claims and messages name it still: its reference goes on working"
        yield told if done["in_use"] else "nothing names it: its reference no longer works"


def relation_lines(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the relation dictionary."""
    for row in rows:
        more = f" ({', '.join(row['labels'][1:])})" if row["labels"][1:] else ""
        gone = f", out of use since {row['deprecated_at']}" if row["deprecated_at"] else ""
        yield f"{row['relation']}{more}: {row['description']}; inverse {row['inverse']}{gone}"


def _named(row: Row) -> str:
    more = [visible(label["label"]) for label in row["labels"][1:]]
    return visible(row["name"]) + (f", also {', '.join(more)}" if more else "")


def _counted(row: Row) -> str:
    waiting = f", {row['waiting']} waiting" if row["waiting"] else ""
    return f"{row['kind']}, {plural(row['claims'], 'claim')}{waiting}"
