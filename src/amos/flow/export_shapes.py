"""The shapes in which memory is written for other tools, and what each leaves out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from amos.clock import to_us
from amos.errors import UsageError
from amos.flow import export_memories, export_messages
from amos.flow.export import LOST, export_rows, json_lines
from amos.flow.placing import write_lines
from amos.flow.sight import Sight
from amos.flow.standing import standing_bans
from amos.schemas.catalog import HoldEntry
from amos.views.plain import plural

_LINES: dict[str, Callable[[Sight], Iterator[str]]] = {
    "mem0": export_memories.mem0_lines,
    "mcp-memory": export_memories.mcp_lines,
    "openai": export_messages.openai_lines,
}
LEFT_OUT: dict[str, list[str]] = {
    "jsonl": LOST,
    "markdown": export_memories.MARKDOWN_LOST,
    "mem0": export_memories.MEM0_LOST,
    "mcp-memory": export_memories.MCP_LOST,
    "openai": export_messages.LOST,
}


def lines_of(sight: Sight, form: str) -> Iterator[str]:
    """Yield the lines of a shape that is one file.  Raises UsageError for any other."""
    if form not in _LINES:
        raise UsageError(f"there is no shape {form!r} of one file", advice=f"Shapes: {', '.join(_LINES)}.")
    return _LINES[form](sight)


FOLDERS = ("markdown",)
"""Shapes that are a folder."""


def left_out(sight: Sight, form: str, holds: Sequence[HoldEntry]) -> list[str]:
    """Return what a shape leaves out of what is stored; holds: of the shard."""
    found = list(LEFT_OUT[form])
    bans = standing_bans(sight.current("tombstones"), to_us(sight.now))
    if bans:
        found.append(f"the bans on what was forgotten ({plural(bans, 'tombstone')}): the key binds them")
    standing = sum(hold.released_us is None for hold in holds)
    if standing and (form != "jsonl" or sight.scope):
        found.append(plural(standing, "legal hold"))
    return found


def write_shape(
    sight: Sight, form: str, place: Path, tables: Sequence[str] = (), holds: Sequence[HoldEntry] = ()
) -> dict[str, Any]:
    """Write a shape to the empty file or folder `place`; return the receipt without the place."""
    facts: dict[str, Any]
    if form in FOLDERS:
        rows, size = export_memories.write_markdown(sight, place)
        facts = {"rows": rows, "bytes": size}
    else:
        lines = json_lines(export_rows(sight, tables, holds)) if form == "jsonl" else lines_of(sight, form)
        done = write_lines(lines, place)
        facts = {"rows": done.lines, "bytes": done.byte_count, "sha256": done.sha256}
    return {
        "format": form,
        **facts,
        "graph_version": sight.snapshot.version or None,
        "lossless": False,
        "left_out": left_out(sight, form, holds),
    }
