"""Columns that readers produce: one row per content block, before any decision."""

from __future__ import annotations

import pyarrow as pa

from amos.schemas.columns import TEXT, TEXTS, column, scope_columns

RAW = pa.schema(
    [
        column("format", TEXT, "reader that produced the block"),
        column("record_key", TEXT, "the record's own id in its format; never path or time"),
        column("block", pa.int32(), "number of the content block inside its record, from 0"),
        column("text", TEXT, "content after decoding; lone surrogates became U+FFFD"),
        column("kind", TEXT, "text, thinking, tool_use, tool_result, attachment, caption, code, record"),
        column("role", TEXT, "user, assistant, tool, system or record"),
        column("trust", TEXT, "trusted_user, agent, tool, untrusted_web or recall"),
        column("author", TEXT, "author as the record names them", nullable=True),
        column("is_owner", pa.bool_(), "the author is the conversation's owner, printed as user"),
        column("channel", TEXT, "channel inside the conversation", nullable=True),
        column("event_us", pa.int64(), "event time, microseconds since 1970 UTC", nullable=True),
        column("event_text", TEXT, "event time as written", nullable=True),
        column("zone", TEXT, "offset or zone name of the event time", nullable=True),
        column("is_zone_assumed", pa.bool_(), "the zone was not in the record"),
        column("conversation_key", TEXT, "conversation id in its format"),
        column("conversation_title", TEXT, "title of the conversation", nullable=True),
        column("session", TEXT, "session inside the conversation", nullable=True),
        column("turn", pa.int64(), "position of the message inside the conversation"),
        column("reply_to", TEXT, "record key that this one answers", nullable=True),
        *scope_columns(),
        column("may_retain", pa.bool_(), "durable storage is allowed"),
        column("purposes", TEXTS, "purposes the source is authorised for"),
        column("flags", pa.int32(), "bits of SourceFlag"),
        column("revised_us", pa.int64(), "time of the edit the format marks", nullable=True),
        column("locator", TEXT, "archive member and record number: provenance only"),
        column("extra", TEXT, "JSON object of everything else the record holds", nullable=True),
    ]
)
