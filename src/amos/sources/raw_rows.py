"""Turn blocks into rows of the RAW schema, column by column, and back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa

from amos.schemas.raw import RAW
from amos.sources.block import Batch, Block
from amos.sources.standing import lower_trust

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
    arrays = [array_of(_COLUMNS[field.name](blocks), field.type) for field in RAW]
    return pa.Table.from_arrays(arrays, schema=RAW)


def batch_table(batch: Batch) -> pa.Table:
    """Return all that `batch` holds as RAW rows, each column in one piece."""
    if not batch.tables:
        return raw_table(batch.blocks)
    return pa.concat_tables([*batch.tables, raw_table(batch.blocks)]).combine_chunks()


def batch_blocks(batch: Batch) -> list[Block]:
    """Return all that `batch` holds as blocks."""
    return [*(block for table in batch.tables for block in _blocks(table)), *batch.blocks]


def add_table(batch: Batch, table: pa.Table) -> None:
    """Put RAW rows behind everything that `batch` holds."""
    if batch.blocks:
        batch.tables.append(raw_table(batch.blocks))
        batch.blocks = []
    batch.tables.append(table)


def lower_batch(batch: Batch, trust: str) -> None:
    """Leave nothing in `batch` more trust than `trust`."""
    for block in batch.blocks:
        block.trust = lower_trust(block.trust, trust)
    place = RAW.get_field_index("trust")
    for number, table in enumerate(batch.tables):
        words = [lower_trust(word, trust) for word in table.column(place).to_pylist()]
        batch.tables[number] = table.set_column(place, RAW.field(place), array_of(words, pa.string()))


def _blocks(table: pa.Table) -> list[Block]:
    rows = table.to_pylist()
    return [Block(**{**row, "purposes": tuple(row["purposes"])}) for row in rows]


def array_of(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """Return `values`, at least one, as an array of `kind`; cheaply when all are the same."""
    first = values[0]
    if values[-1] != first or values.count(first) != len(values):
        return pa.array(values, kind)
    return constant(first, kind, len(values))


def constant(value: Any, kind: pa.DataType, count: int) -> pa.Array:
    """Return `count` times `value`."""
    return pa.nulls(count, kind) if value is None else pa.repeat(pa.scalar(value, kind), count)
