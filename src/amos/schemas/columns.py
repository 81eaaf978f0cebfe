"""Build Arrow fields whose meaning and unit travel with them."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

ID = pa.binary(16)
DIGEST = pa.binary(32)
TIME = pa.timestamp("us", tz="UTC")
TEXT = pa.string()
IDS = pa.list_(pa.field("item", ID, nullable=False))
INTS = pa.list_(pa.field("item", pa.int64(), nullable=False))
TEXTS = pa.list_(pa.field("item", pa.string(), nullable=False))


def column(name: str, kind: pa.DataType, meaning: str, *, nullable: bool = False) -> pa.Field:
    """Return a field with `meaning` (unit included) in its metadata; non-null unless asked."""
    return pa.field(name, kind, nullable=nullable, metadata={"meaning": meaning})


def scope_columns() -> list[pa.Field]:
    """Return the six scope columns inside a shard; tenant and workspace are the shard itself."""
    names = ("project", "user", "agent", "session", "task", "tool_environment")
    return [
        column(f"scope_{name}", TEXT, f"{name} the row belongs to; null is unscoped", nullable=True)
        for name in names
    ]


SCOPE_NAMES = ("project", "user", "agent", "session", "task", "tool_environment")


def select_fields(schema: pa.Schema, names: Sequence[str]) -> pa.Schema:
    """Return the part of `schema` that holds `names`, in that order."""
    return pa.schema([schema.field(name) for name in names])
