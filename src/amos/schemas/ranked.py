"""Columns of a ranking and of the evidence cut for it."""

from __future__ import annotations

import pyarrow as pa

from amos.schemas.columns import ID, INTS, TEXT, TIME, column, scope_columns

COMPONENTS = (
    "direct_cue_match",
    "words",
    "neighbours",
    "holder_match",
    "recency",
    "confidence",
    "superseded",
    "contradicted",
    "session_match",
    "answers_question",
    "date_match",
    "kind_match",
    "cue_when",
    "cue_number",
    "cue_where",
    "cue_reason",
    "cue_feeling",
    "cue_name",
    "statement",
    "news",
    "length",
)
"""Score components, each absolute, 0 to 1,000,000; a ranking profile weighs them."""

SIGNALS = (
    "semantic_similarity",
    "edge_activation",
    "utility",
    "salience",
    "goal_relevance",
    "procedural_applicability",
    "attention_focus",
    "attention_type_boost",
    "attention_counterevidence",
    "attention_novelty",
    "agency_match",
    "attribution_confidence",
    "correction_learning_relevance",
    "attention_suppression_penalty",
    "staleness_penalty",
    "redundancy_penalty",
    "health_penalty",
    "access_penalty",
    "inhibition_penalty",
    "exclusion_penalty",
    "over_attribution_penalty",
    "omitted_counterevidence_penalty",
    "ignored_failure_penalty",
)
"""Further components, worked out only where a profile, attention or the state of a claim asks for them."""

RANKED = pa.schema(
    [
        column("rank", pa.int32(), "position, from 1"),
        column("item_kind", TEXT, "atom, or turn where no matching claim exists"),
        column("atom_id", ID, "claim; null for a turn", nullable=True),
        column("source_id", ID, "turn that is shown as evidence; null when out of sight", nullable=True),
        column("score_ppm", pa.int32(), "weighted sum of the components, 0 to 1,000,000"),
        *(column(f"{name}_ppm", pa.int32(), "component, 0 to 1,000,000") for name in COMPONENTS),
        column("signals", INTS, "SIGNALS, 0 to 1,000,000; null where not asked for", nullable=True),
        column("is_superseded", pa.bool_(), "no interval of the claim, or of any claim of the turn, holds"),
        column("event_time", TIME, "when it was said", nullable=True),
    ]
)
"""Ordered by (score_ppm descending, unkeyed identity)."""

OMITTED = pa.schema(
    [
        column("item_kind", TEXT, "atom or turn"),
        column("id", ID, "the row left out"),
        column("reason", TEXT, "why it was left out"),
    ]
)
"""A bounded sample of what matched and was left out; only rows that the caller may see."""

EVIDENCE = pa.schema(
    [
        column("rank", pa.int32(), "item the evidence belongs to"),
        column("source_id", ID, "source it is cut from"),
        column("kind", TEXT, "block kind of the source: text, caption …"),
        column("start", pa.int64(), "first byte of the excerpt in the stored source"),
        column("end", pa.int64(), "byte after the excerpt"),
        column("excerpt", TEXT, "exactly these bytes, with one mark for each range that was cut"),
        column("spans", INTS, "byte ranges that state the claim in this source, start and end in turn"),
        column("matches", INTS, "byte ranges of words of the question, start and end in turn"),
        column("event_time", TIME, "when it was said; null when unknown", nullable=True),
        column("author", TEXT, "who said it; `user` for the owner", nullable=True),
        column("trust", TEXT, "trust of the source"),
        column("locator", TEXT, "archive member and record number"),
    ]
)
"""Ordered by rank; the item's own turn first."""

CLAIM_CARDS = pa.schema(
    [
        column("atom_id", ID, "claim"),
        column("type", TEXT, "atom type"),
        column("statement", TEXT, "rendered claim"),
        column("subject", TEXT, "readable subject; `user` for the owner"),
        column("payload", TEXT, "canonical JSON of the typed payload"),
        column("slot_id", ID, "keyed slot key"),
        column("lifecycle_state", TEXT, "lifecycle state"),
        column("health_status", TEXT, "primary health status"),
        column("confidence_ppm", pa.int32(), "0 to 1,000,000"),
        column("evidence_count", pa.int32(), "decisions that support it"),
        column("valid_from", TIME, "start of the interval that holds, null when unknown", nullable=True),
        column("valid_until", TIME, "its end, exclusive; null when open", nullable=True),
        column("version", pa.int32(), "row version"),
        column("root_count", pa.int32(), "independent roots among its support"),
        column("salience_ppm", pa.int32(), "0 to 1,000,000, as outcomes left it"),
        column("utility_ppm", pa.int32(), "0 to 1,000,000, as outcomes left it"),
        column("updated_at", TIME, "when this version was accepted", nullable=True),
        *scope_columns(),
    ]
)
"""What a packet says of a claim, one row per atom."""

CONFLICTS = pa.schema(
    [
        column("dispute_id", ID, "dispute"),
        column("slot_id", ID, "slot in dispute"),
        column("atom_id", ID, "one side; each side is a row"),
        column("since", TIME, "when the disagreement began", nullable=True),
        column("reason", TEXT, "value of Reason"),
    ]
)
"""Open disputes about what a packet shows, ordered by (dispute_id, atom_id)."""
