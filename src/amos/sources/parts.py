"""Put the content blocks of one record together: numbered, and what is left over beside the first."""

from __future__ import annotations

from typing import Any

import msgspec

from amos.schemas.vocabulary import SourceFlag
from amos.sources.block import Block
from amos.sources.decoding import extra_json
from amos.sources.instants import Instant


class Part(msgspec.Struct, kw_only=True, gc=False):
    """One content block; None leaves a field as the record has it."""

    text: str
    kind: str = "text"
    role: str | None = None
    trust: str | None = None
    author: str | None = None
    is_owner: bool | None = None
    flags: int = 0
    reply_to: str | None = None
    extra: dict[str, Any] | None = None


def assemble(base: Block, parts: list[Part], extra: dict[str, Any]) -> list[Block]:
    """Return one block per part, in order; `extra` of the record goes to the first.

    A record without content still gives one block, with empty text.
    """
    blocks = []
    for number, part in enumerate(parts or [Part(text="")]):
        own = part.extra
        if number == 0:
            own = {**extra, **own} if own else extra
        block = msgspec.structs.replace(base) if number else base
        block.extra = extra_json(own) if own else None
        blocks.append(block)
    for number, (block, part) in enumerate(zip(blocks, parts, strict=False)):
        _fill(block, part, number)
    return blocks


def _fill(block: Block, part: Part, number: int) -> None:
    block.text = part.text
    block.kind = part.kind
    block.block = number
    block.flags = int(block.flags | part.flags)
    if part.role is not None:
        block.role = part.role
    if part.trust is not None:
        block.trust = part.trust
    if part.author is not None:
        block.author = part.author
    if part.is_owner is not None:
        block.is_owner = part.is_owner
    if part.reply_to is not None:
        block.reply_to = part.reply_to


def set_time(block: Block, instant: Instant) -> None:
    """Give `block` the time of `instant`, or the flag that it cannot be read."""
    block.event_us = instant.us
    block.event_text = instant.text
    block.zone = instant.zone
    block.is_zone_assumed = instant.is_zone_assumed
    if instant.is_invalid:
        block.flags |= SourceFlag.TIME_INVALID


def set_revision(block: Block, created: Instant, updated: Instant) -> None:
    """Give `block` the time of its last edit; an edit is one that came later than the message."""
    block.revised_us = updated.us
    if updated.us is not None and created.us is not None and updated.us > created.us:
        block.flags |= SourceFlag.EDITED


def text_or_none(value: Any) -> str | None:
    """Return `value` when it is text that says something."""
    return value if isinstance(value, str) and value else None


def joined_texts(content: Any) -> tuple[str, list[Any]]:
    """Return the texts of `content` (text, or a list of text blocks) by lines, and the rest."""
    if isinstance(content, str):
        return content, []
    if not isinstance(content, list):
        return "", [] if content is None else [content]
    texts, rest = [], []
    for item in content:
        if isinstance(item, str):
            texts.append(item)
        elif isinstance(item, dict) and isinstance(item.get("text"), str):
            texts.append(item["text"])
        elif item is not None:
            rest.append(item)
    return "\n".join(texts), rest


def without(value: dict[str, Any], *names: str) -> dict[str, Any]:
    """Return the entries of `value` but `names`, and but those that say nothing."""
    return {
        name: item
        for name, item in value.items()
        if name not in names and (item or (item is not None and item.__class__ not in _CONTAINERS))
    }


_CONTAINERS = (dict, list)
