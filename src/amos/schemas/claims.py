"""Columns between extraction and admission: what a message seems to say, not yet believed."""

from __future__ import annotations

import pyarrow as pa

from amos.schemas.columns import INTS, TEXT, TIME, column

SEGMENTABLE = pa.schema(
    [
        column("content", TEXT, "stored text of the source, cuts applied"),
        column("role", TEXT, "role of the source"),
        column("kind", TEXT, "block kind of the source"),
        column("trust", TEXT, "trust of the source"),
        column("event_time", TIME, "the source's own clock", nullable=True),
        column("zone", TEXT, "offset or zone name of the event time", nullable=True),
        column("flags", pa.int32(), "bits of SourceFlag"),
    ]
)

CLAIMS = pa.schema(
    [
        column("source_row", pa.int32(), "row of the batch that the claim was read from"),
        column("pattern", TEXT, "grammar pattern that fired"),
        column("type", TEXT, "atom type"),
        column("memory_class", TEXT, "value of MemoryClass, from the claim's own clause"),
        column(
            "subject_kind",
            TEXT,
            "author, thing (of the author), person, pronoun, other, or agent (by the name it acts under)",
        ),
        column("subject", TEXT, "readable subject; `user` for the author"),
        column("property", TEXT, "normalised property; null for an unkeyed statement", nullable=True),
        column("value", TEXT, "normalised value", nullable=True),
        column("value_kind", TEXT, "text, name, number, quantity, date, time, boolean"),
        column("arity", TEXT, "single, set or per_scope"),
        column("polarity", TEXT, "positive or negative"),
        column("modality", TEXT, "value of Modality"),
        column("applicability", TEXT, "canonical JSON of the conditions it holds under", nullable=True),
        column("start", pa.int64(), "first byte of the claim in the stored source"),
        column("end", pa.int64(), "byte after the claim"),
        column("more_spans", INTS, "further spans, start and end in turn"),
        column("valid_from", TIME, "start of validity; null when not stated", nullable=True),
        column("valid_until", TIME, "end of validity, exclusive; null when not stated", nullable=True),
        column("time_text", TEXT, "the time expression as written", nullable=True),
        column("time_precision", TEXT, "minute, day, month, year, relative or unresolved", nullable=True),
        column(
            "payload", TEXT, "canonical JSON of typed fields beyond subject, property, value", nullable=True
        ),
        column("confidence", pa.int32(), "extraction confidence, 0 to 100"),
        column("cues", pa.int32(), "bits of Cue"),
        column("veto", TEXT, "reason code that keeps the claim out, null when none", nullable=True),
    ]
)
"""`propose` output: ordered by (source_row, start, end, pattern)."""

SOURCE_NOTES = pa.schema(
    [
        column("source_row", pa.int32(), "row of the batch"),
        column("reason", TEXT, "why the source yields no claim"),
        column("modality", TEXT, "value of Modality"),
    ]
)
"""For each source without a claim: the reason code of its source-level decision."""
