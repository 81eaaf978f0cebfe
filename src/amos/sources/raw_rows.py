"""Turn blocks into rows of the RAW schema, column by column."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa

from amos.schemas.raw import RAW
from amos.sources.block import Block

# One comprehension per column: reading a named attribute is several times cheaper than `getattr`.
_COLUMNS: dict[str, Callable[[Sequence[Block]], list[Any]]] = {
    "format": lambda blocks: [block.format for block in blocks],
    "record_key": lambda blocks: [block.record_key for block in blocks],
    "block": lambda blocks: [block.block for block in blocks],
    "text": lambda blocks: [block.text for block in blocks],
    "kind": lambda blocks: [block.kind for block in blocks],
    "role": lambda blocks: [block.role for block in blocks],
    "trust": lambda blocks: [block.trust for block in blocks],
    "author": lambda blocks: [block.author for block in blocks],
    "is_owner": lambda blocks: [block.is_owner for block in blocks],
    "channel": lambda blocks: [block.channel for block in blocks],
    "event_us": lambda blocks: [block.event_us for block in blocks],
    "event_text": lambda blocks: [block.event_text for block in blocks],
    "zone": lambda blocks: [block.zone for block in blocks],
    "is_zone_assumed": lambda blocks: [block.is_zone_assumed for block in blocks],
    "conversation_key": lambda blocks: [block.conversation_key for block in blocks],
    "conversation_title": lambda blocks: [block.conversation_title for block in blocks],
    "session": lambda blocks: [block.session for block in blocks],
    "turn": lambda blocks: [block.turn for block in blocks],
    "reply_to": lambda blocks: [block.reply_to for block in blocks],
    "scope_project": lambda blocks: [block.scope_project for block in blocks],
    "scope_user": lambda blocks: [block.scope_user for block in blocks],
    "scope_agent": lambda blocks: [block.scope_agent for block in blocks],
    "scope_session": lambda blocks: [block.scope_session for block in blocks],
    "scope_task": lambda blocks: [block.scope_task for block in blocks],
    "scope_tool_environment": lambda blocks: [block.scope_tool_environment for block in blocks],
    "may_retain": lambda blocks: [block.may_retain for block in blocks],
    "purposes": lambda blocks: [block.purposes for block in blocks],
    "flags": lambda blocks: [block.flags for block in blocks],
    "revised_us": lambda blocks: [block.revised_us for block in blocks],
    "locator": lambda blocks: [block.locator for block in blocks],
    "extra": lambda blocks: [block.extra for block in blocks],
}


def raw_table(blocks: Sequence[Block]) -> pa.Table:
    """Return `blocks` as RAW rows in the same order."""
    if not blocks:
        return RAW.empty_table()
    arrays = [_array(_COLUMNS[field.name](blocks), field.type) for field in RAW]
    return pa.Table.from_arrays(arrays, schema=RAW)


def _array(values: list[Any], kind: pa.DataType) -> pa.Array:
    first = values[0]
    if values.count(first) != len(values):
        return pa.array(values, kind)
    if first is None:
        return pa.nulls(len(values), kind)
    return pa.repeat(pa.scalar(first, kind), len(values))
