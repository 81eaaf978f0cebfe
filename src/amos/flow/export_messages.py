"""Export conversations as lines of messages, as fine-tuning files have them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from amos.flow.printed import shown_time
from amos.flow.sight import Sight, is_withheld, latest_by_id
from amos.flow.streaming import rows_in_sight
from amos.flow.versions import latest
from amos.schemas.columns import ID
from amos.schemas.vocabulary import SourceFlag

LOST = [
    "claims, decisions, evidence and the journal",
    "thinking, tool calls, tool results and records that are no messages",
    "branches off the visible thread, and what the format hides",
    "withheld texts; what was cut stays cut",
    "record ids, scope and every field that has no place in the format",
]
_ROLES = ("system", "user", "assistant")
_KINDS = ("text", "code", "caption", "attachment")
_OFF = int(SourceFlag.OFF_THREAD | SourceFlag.HIDDEN | SourceFlag.SIDECHAIN | SourceFlag.NOT_A_MESSAGE)
_AT_ONCE = 32
_COLUMNS = [
    "conversation_id", "turn", "block", "delivery_key", "role", "kind", "content", "author", "is_owner",
    "flags", "event_time", "format",
]  # fmt: skip


def openai_lines(sight: Sight) -> Iterator[str]:
    """Yield one line per conversation in sight, in the order in which they began to be stored."""
    known: dict[bytes, None] = {}
    for rows in rows_in_sight(sight, "sources", ["conversation_id"]):
        known.update(dict.fromkeys(rows["conversation_id"].combine_chunks().unique().to_pylist()))
    ids = list(known)
    for start in range(0, len(ids), _AT_ONCE):
        yield from _talks(sight, ids[start : start + _AT_ONCE])


def _talks(sight: Sight, ids: Sequence[bytes]) -> Iterator[str]:
    wanted = pa.array(ids, ID)
    held = latest(sight.snapshot.lookup("sources", "conversation_id", wanted), "sources")
    seen = sight.seen("sources", held).select(_COLUMNS)
    turns: dict[bytes, list[dict[str, Any]]] = {one: [] for one in ids}
    for row in seen.to_pylist():
        turns[row["conversation_id"]].append(row)
    titles = latest_by_id(sight.snapshot, "conversations", "conversation_id", list(ids))
    for one in ids:
        messages, times = _messages(sorted(turns[one], key=lambda row: (row["turn"], row["block"])))
        if messages:
            talk = titles[one]
            facts = {"conversation": talk["conversation_key"], "format": talk["format"], "times": times}
            yield json.dumps({"messages": messages, "metadata": facts}, ensure_ascii=False)


def _messages(rows: Sequence[dict[str, Any]]) -> tuple[list[dict[str, str]], list[str | None]]:
    """Return the messages of a conversation and when each was said; blocks of one message are joined."""
    joined: dict[str, tuple[dict[str, Any], list[str]]] = {}
    for row in rows:
        if _is_spoken(row):
            joined.setdefault(row["delivery_key"], (row, []))[1].append(row["content"])
    messages, times = [], []
    for row, texts in joined.values():
        message = {"role": row["role"], "content": "\n\n".join(texts)}
        if row["role"] == "user" and not row["is_owner"] and row["author"]:
            message["name"] = row["author"]
        messages.append(message)
        times.append(shown_time(row["event_time"]))
    return messages, times


def _is_spoken(row: dict[str, Any]) -> bool:
    return (
        row["role"] in _ROLES
        and row["kind"] in _KINDS
        and not is_withheld(row["flags"])
        and not row["flags"] & _OFF
        and bool(row["content"])
    )
