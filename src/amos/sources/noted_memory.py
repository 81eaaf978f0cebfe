"""What a memory product wrote down: the standing of an agent's notes, whoever they are about."""

from __future__ import annotations

from typing import Any, NamedTuple

from amos.sources.block import Block
from amos.sources.decoding import extra_json


class Note(NamedTuple):
    """One memory, block or fact of a product's dump."""

    format: str
    key: str
    conversation: str
    text: str
    locator: str
    extra: dict[str, Any]
    title: str | None = None
    turn: int = 0


def note_block(note: Note) -> Block:
    """Return `note` as a block that an agent wrote: kept and found, but no evidence of what a user said."""
    return Block(
        format=note.format,
        record_key=note.key,
        conversation_key=note.conversation,
        conversation_title=note.title,
        text=note.text,
        turn=note.turn,
        locator=note.locator,
        role="assistant",
        trust="agent",
        author="assistant",
        is_owner=False,
        extra=extra_json(note.extra),
    )
