"""What the screen found in sources, before anything is stored."""

from __future__ import annotations

import pyarrow as pa

from amos.schemas.columns import TEXT, column

FINDINGS = pa.schema(
    [
        column("source_row", pa.int32(), "row of the batch"),
        column(
            "field",
            TEXT,
            "content, author, channel, conversation_title, session, reply_to, locator, scope_*, extra",
        ),
        column("start", pa.int64(), "first byte in the field's UTF-8 text; of `extra`: in its JSON text"),
        column("end", pa.int64(), "byte after the range"),
        column("rule", TEXT, "rule that fired"),
        column(
            "action", TEXT, "cut: overwrite before the first write; flag: keep the bytes, mark the source"
        ),
        column("reason", TEXT, "value of Reason"),
    ]
)
"""Ordered by (source_row, field, start, end, rule, reason)."""
