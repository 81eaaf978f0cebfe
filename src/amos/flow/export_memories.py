"""Export claims in the shapes of other products: mem0, the MCP memory server, Markdown files."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from amos.flow.memories import Memory, by_subject, memories
from amos.flow.placing import write_synced
from amos.flow.printed import shown_id
from amos.flow.sight import Sight
from amos.flow.streaming import rows_in_sight
from amos.schemas.cuts import marked

_LOST = ["the journal, decisions and versions", "all evidence of a claim but the first"]
MEM0_LOST = [*_LOST, "messages that no claim cites", "everything but the statement, its scope and times"]
MCP_LOST = [
    *_LOST,
    "messages",
    "claims that no longer hold",
    "times, confidence, scope and evidence",
    "relations between claims",
]
MARKDOWN_LOST = [*_LOST, "messages that no claim cites", "relations between claims"]
_MARKS = re.compile(r"([\\`*_{}\[\]<>#|!~])")
_UNSAFE = re.compile(r"[^a-z0-9]+")
_LONGEST_NAME = 60


def mem0_lines(sight: Sight) -> Iterator[str]:
    """Yield the lines of one JSON document: an object whose `results` are memories."""
    yield '{"results": ['
    waiting: str | None = None
    for memory in memories(sight):
        if waiting is not None:
            yield f"{waiting},"
        waiting = json.dumps(_mem0(memory), ensure_ascii=False)
    if waiting is not None:
        yield waiting
    yield "]}"


def _mem0(memory: Memory) -> dict[str, Any]:
    ends = [span["until"] for span in memory.validity]
    held = {"type": memory.type, "state": memory.state, "subject": memory.subject,
            "confidence": memory.confidence, "validity": memory.validity, "source": memory.source,
            "excerpt": memory.excerpt, "author": memory.author}  # fmt: skip
    others = ("project", "task", "tool_environment")
    scope = {name: memory.scope[name] for name in others if name in memory.scope}
    return {
        "id": memory.ref,
        "memory": memory.statement,
        "hash": hashlib.md5(memory.statement.encode(), usedforsecurity=False).hexdigest(),
        "user_id": memory.scope.get("user"),
        "agent_id": memory.scope.get("agent"),
        "run_id": memory.scope.get("session"),
        "categories": [memory.type],
        "created_at": memory.observed_at,
        "updated_at": memory.observed_at,
        "expiration_date": ends[-1][:10] if ends and ends[-1] else None,
        "metadata": {**held, **scope},
    }


def mcp_lines(sight: Sight) -> Iterator[str]:
    """Yield one line per subject with what holds of it now, then one per owned thing."""
    names: dict[bytes, str] = {}
    taken: set[str] = set()
    for identifier, label, found in by_subject(sight):
        name = label if label not in taken else f"{label} ({shown_id('entity_id', identifier)})"
        taken.add(name)
        names[identifier] = name
        said = list(dict.fromkeys(one.statement for one in found if one.state == "active"))
        kind = "person" if label == "user" else "subject"
        yield json.dumps(
            {"type": "entity", "name": name, "entityType": kind, "observations": said}, ensure_ascii=False
        )
    yield from _relations(sight, names)


def _relations(sight: Sight, names: dict[bytes, str]) -> Iterator[str]:
    for rows in rows_in_sight(sight, "entities", ["entity_id", "owner_id"]):
        owned = rows.filter(pc.is_in(rows["entity_id"], value_set=pa.array(list(names), pa.binary(16))))
        for row in owned.to_pylist():
            if row["owner_id"] in names:
                relation = {"from": names[row["owner_id"]], "to": names[row["entity_id"]]}
                yield json.dumps({"type": "relation", **relation, "relationType": "has"}, ensure_ascii=False)


def write_markdown(sight: Sight, folder: Path) -> tuple[int, int]:
    """Write a file per subject and an index to the empty folder; return how many claims and bytes."""
    index = ["# Memory", ""]
    count = size = 0
    for identifier, label, found in by_subject(sight):
        name = _file_name(label, identifier)
        payload = ("\n".join(_page(label, found)) + "\n").encode()
        write_synced(folder / name, payload)
        index.append(f"- [{_plain(label)}]({name}): {len(found)}")
        count, size = count + len(found), size + len(payload)
    payload = ("\n".join(index) + "\n").encode()
    write_synced(folder / "index.md", payload)
    return count, size + len(payload)


def _file_name(label: str, identifier: bytes) -> str:
    words = _UNSAFE.sub("-", label.casefold()).strip("-")[:_LONGEST_NAME] or "subject"
    return f"{words}-{identifier.hex()[:8]}.md"


def _page(label: str, found: list[Memory]) -> Iterator[str]:
    yield f"# {_plain(label)}"
    cited = list(dict.fromkeys(one.source for one in found if one.source))
    numbers = {source: number for number, source in enumerate(cited, start=1)}
    for title, is_wanted in (("What holds", True), ("What held once", False)):
        chosen = [one for one in found if (one.state == "active") == is_wanted]
        if chosen:
            yield from ("", f"## {title}", "")
            for one in chosen:
                yield from _entry(one, numbers)
    if cited:
        yield from ("", "## Sources", "")
        yield from (f"{number}. `{source}`" for source, number in numbers.items())


def _entry(memory: Memory, numbers: dict[str, int]) -> Iterator[str]:
    mark = f" [{numbers[memory.source]}]" if memory.source else ""
    yield f"- {_plain(memory.statement)}{mark} ({memory.type}, `{memory.ref}`)"
    if memory.excerpt is not None:
        when = memory.observed_at[:10] if memory.observed_at else "at an unknown time"
        yield f"  > {_plain(memory.excerpt)}  "
        yield f"  > {_plain(memory.author or 'unknown')}, {when}"


def _plain(text: str) -> str:
    """Return text on one line, with every mark of Markdown and HTML as the character it is."""
    return _MARKS.sub(r"\\\1", " ".join(marked(text).split()))
