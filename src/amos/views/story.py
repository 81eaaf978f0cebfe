"""The demo as people read it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from amos.views.plain import plural, shortened, visible

Row = Mapping[str, Any]

_MEANINGS = {
    "reject": "cut before it was stored",
    "quarantine": "held for a review",
    "ignore": "kept as evidence, no memory",
}


_MOST_PEOPLE = 3


def opening_lines(folder: str, *, files: int, formats: int) -> Iterator[str]:
    """Yield what the demo is about to do: how many files of how many formats it reads."""
    yield f"Five months in the life of Juna, who restores clocks, in {plural(files, 'file')} of"
    yield f"{plural(formats, 'format')}. They are read into the store {folder}"


def kept_lines(rows: Sequence[Row]) -> Iterator[str]:
    """Yield some of what became memory, and what has been replaced since."""
    for row in rows:
        gone = "  (superseded)" if row["state"] == "superseded" else ""
        yield f"  {row['type'] + ':':<16} {shortened(row['statement'])}{gone}"


def people_lines(rows: Sequence[Row]) -> Iterator[str]:
    """Yield whom the story is about beside those who tell it: those of whom most is claimed."""
    counts = Counter[str]()
    for row in rows:
        counts[row["name"]] += row["claims"]
    chosen = sorted(counts.items(), key=lambda one: (-one[1], one[0]))[:_MOST_PEOPLE]
    if chosen:
        names = ", ".join(f"{visible(name)} ({plural(claims, 'claim')})" for name, claims in chosen)
        yield f"  {'people:':<16} {names}; all of them: amos entities"


def refused_lines(rows: Sequence[Row]) -> Iterator[str]:
    """Yield one real example for each reason."""
    for row in rows:
        said = "(the text is withheld)" if row["text"] is None else f"“{shortened(row['text'], 88)}”"
        yield f"  {row['outcome']}, {row['reason']} ({row['count']} in all): {_MEANINGS[row['outcome']]}"
        yield f"    {visible(row['author'] or 'unknown')}, {row['trust']}: {said}"


def closing_lines(folder: str | None) -> Iterator[str]:
    """Yield the next three commands; `folder` is the store that was kept, if it was."""
    yield "  amos ingest YOUR-EXPORT.zip       # a chat export, a session folder, an API log"
    yield '  amos packet "what tea do I like"  # ask it'
    if folder is None:
        yield "  amos demo --keep demo-store       # this store again, to look around in"
    else:
        yield f"  amos -s {folder} list"
