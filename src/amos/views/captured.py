"""Show captured interactions, and what their answers reinforced."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_SHOWN_ECHOES = 20
_SHOWN_CHARS = 100


def captured_lines(receipt: Mapping[str, Any]) -> Iterator[str]:
    """Yield what was kept, and what it reinforced."""
    sources = receipt["sources"]
    yield (
        f"{sources['new']} new, {sources['linked']} known, {sources['rejected']} refused,"
        f" {sources['unreadable']} unreadable"
    )
    names = receipt["interactions"]
    if len(names) == 1:
        yield f"interaction {names[0]}"
    for problem in receipt.get("problems", [])[:_SHOWN_ECHOES]:
        yield f"{problem['file']}:{problem['record']}: {problem['message']}"
    told = receipt["reinforced"]
    if "error" in told:
        yield f"not reinforced: {told['error']}. {told['advice']}"
    elif told["echoes"]:
        yield from reinforced_lines({"interactions": len(names), **told})


def reinforced_lines(done: Mapping[str, Any]) -> Iterator[str]:
    """Yield every echo with the confidence before and after it, and how many were noted."""
    echoes = done["echoes"]
    for echo in echoes[:_SHOWN_ECHOES]:
        name = echo.get("atom_id", "the memory")
        if echo.get("kind") == "exposure":
            yield f"{name}: had been given to that turn; nothing added"
        elif echo["applied"]:
            yield f"{name}: {echo['old']:g} -> {echo['new']:g}"
        else:
            yield f"{name}: {echo.get('reason', 'noted before')}; stays at {echo['new']:g}"
    if len(echoes) > _SHOWN_ECHOES:
        yield f"… and {len(echoes) - _SHOWN_ECHOES} more; `--json` lists all"
    if not echoes:
        yield f"no memory is repeated in {done['interactions']} interaction(s)"
    elif done.get("dry_run"):
        yield "nothing was written"
    else:
        yield f"{done['written']} noted"


def listed_lines(page: Mapping[str, Any]) -> Iterator[str]:
    """Yield one line per interaction, and how to go on."""
    for row in page["interactions"]:
        where = " ".join(str(row[name]) for name in ("project", "session", "client") if row[name])
        yield f"{row['created_at'] or 'unknown time'}  {row['interaction_id']}  {where}".rstrip()
        yield f"    {_one_line(row['prompt'])}"
        if row["response_summary"]:
            yield f"    -> {_one_line(row['response_summary'])}"
    if not page["interactions"]:
        yield "no interaction; `amos capture record` keeps one"
    if page["truncated"]:
        yield f"more: --cursor {page['cursor']}"


def interaction_lines(row: Mapping[str, Any]) -> Iterator[str]:
    """Yield one interaction whole."""
    names = ("interaction_id", "created_at", "project", "session", "client", "user", "agent")
    yield from (f"{name}: {row[name]}" for name in names if row[name])
    for name in ("prompt", "response", "response_summary"):
        yield f"{name}:"
        yield from (f"    {line}" for line in (row[name] or "(none, or withheld)").splitlines())
    for name in ("memories_used", "chunks_used"):
        yield f"{name}: {', '.join(map(str, row[name])) or 'none'}"
    yield f"prompt_id: {row['prompt_id']}"
    if row["response_id"]:
        yield f"response_id: {row['response_id']}"


def _one_line(text: str | None) -> str:
    flat = " ".join((text or "(withheld)").split())
    return flat if len(flat) <= _SHOWN_CHARS else flat[:_SHOWN_CHARS] + " …"
