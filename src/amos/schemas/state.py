"""The canonical tables.  `commitment` bytes of a row follow these columns in this order."""

from __future__ import annotations

import pyarrow as pa

from amos.schemas.columns import (
    DIGEST,
    ID,
    IDS,
    INTS,
    TEXT,
    TEXTS,
    TIME,
    column,
    scope_columns,
)

SALT = column("salt", pa.binary(16), "random; blinds the row commitment and dies with the row")

SOURCES = pa.schema(
    [
        column("source_id", ID, "keyed id of (format, delivery key, block)"),
        column("revision", pa.int32(), "1 at capture; raised when bytes are cut later"),
        column("format", TEXT, "reader that delivered it"),
        column("delivery_key", TEXT, "record key in its format"),
        column("block", pa.int32(), "content block inside the record"),
        column("delivery_digest", DIGEST, "HMAC of the delivered text before any cut"),
        column("content_digest", DIGEST, "SHA-256 of the stored bytes"),
        column("content", TEXT, "stored bytes; cut ranges hold 0x1A"),
        column("kind", TEXT, "block kind"),
        column("role", TEXT, "value of Role"),
        column("trust", TEXT, "value of Trust"),
        column("author", TEXT, "author as the record names them", nullable=True),
        column("author_id", ID, "entity of the author"),
        column("is_owner", pa.bool_(), "the author owns the conversation"),
        column("channel", TEXT, "channel", nullable=True),
        column("event_time", TIME, "when it was said; null when unknown", nullable=True),
        column("event_text", TEXT, "event time as written, when not canonical", nullable=True),
        column("zone", TEXT, "offset or zone name", nullable=True),
        column("is_zone_assumed", pa.bool_(), "the zone was not in the record"),
        column("ingest_time", TIME, "when this store accepted it"),
        column("conversation_id", ID, "conversation"),
        column("session", TEXT, "session inside the conversation", nullable=True),
        column("turn", pa.int64(), "position inside the conversation"),
        column("reply_to", TEXT, "record key it answers", nullable=True),
        *scope_columns(),
        column("may_retain", pa.bool_(), "durable storage is allowed"),
        column("purposes", TEXTS, "authorised purposes"),
        column("flags", pa.int32(), "bits of SourceFlag"),
        column("cut_bytes", pa.int64(), "bytes overwritten before the first write"),
        column("revises", ID, "source that this one revises", nullable=True),
        column("locator", TEXT, "archive member and record number: provenance only"),
        column("extra", TEXT, "JSON of everything else in the record", nullable=True),
        SALT,
    ]
)

CONVERSATIONS = pa.schema(
    [
        column("conversation_id", ID, "keyed id of (format, conversation key)"),
        column("version", pa.int32(), "row version, from 1"),
        column("format", TEXT, "reader"),
        column("conversation_key", TEXT, "id in its format"),
        column("title", TEXT, "title", nullable=True),
        column("started_at", TIME, "earliest known event time", nullable=True),
        column("has_unknown_time", pa.bool_(), "some turn has no event time"),
        *scope_columns(),
        SALT,
    ]
)

ENTITIES = pa.schema(
    [
        column("entity_id", ID, "keyed id of (scope, kind, owner, name)"),
        column("version", pa.int32(), "row version, from 1"),
        column("kind", TEXT, "author, person, thing or other"),
        column("name", TEXT, "canonical name; `user's …` for what is the owner_id's"),
        column("owner_id", ID, "entity it belongs to, for `my …`", nullable=True),
        column("is_owner", pa.bool_(), "printed as `user`"),
        *scope_columns(),
        SALT,
    ]
)

CANDIDATES = pa.schema(
    [
        column("candidate_id", ID, "keyed id of (source, spans, extractor, claim)"),
        column("version", pa.int32(), "row version, from 1"),
        column("source_id", ID, "source it was read from"),
        column("source_revision", pa.int32(), "revision of that source"),
        column("spans", INTS, "half-open byte ranges, start and end in turn; the claim first"),
        column("extractor", TEXT, "name@version"),
        column("pattern", TEXT, "pattern that fired"),
        column("type", TEXT, "atom type"),
        column("memory_class", TEXT, "value of MemoryClass"),
        column("subject_id", ID, "entity the claim is about"),
        column("slot_id", ID, "keyed slot key: subject, property, scope, period rules"),
        column("history_id", ID, "keyed key of the history that decides it: slot, or slot and value"),
        column("claim_id", ID, "keyed claim id = id of the atom it would be"),
        column("polarity", TEXT, "positive or negative"),
        column("modality", TEXT, "value of Modality"),
        column("payload", TEXT, "canonical JSON: subject, property, value and typed fields"),
        column("valid_from", TIME, "start of validity; null when equal to event time", nullable=True),
        column("valid_until", TIME, "end of validity, exclusive", nullable=True),
        column("event_time", TIME, "event time of the source", nullable=True),
        column("order_time", TIME, "null when equal to event time", nullable=True),
        column("conversation_id", ID, "conversation of the source"),
        column("turn", pa.int64(), "turn of the source"),
        column("conversation_order", ID, "unkeyed conversation identity: tie-break before the turn"),
        column("order_key", ID, "unkeyed source identity: the last tie-break"),
        column("extraction_confidence", pa.int32(), "0 to 100; gates review only"),
        column("cues", pa.int32(), "bits of Cue"),
        column(
            "gate", TEXT, "outcome:reason fixed before its history is read; null when eligible", nullable=True
        ),
        column("trust", TEXT, "trust of the source"),
        *scope_columns(),
        SALT,
    ]
)

DECISIONS = pa.schema(
    [
        column("decision_id", ID, "keyed id of the candidate or source decided"),
        column("version", pa.int32(), "row version, from 1; the highest is current"),
        column("candidate_id", ID, "candidate decided; null for a decision on a source", nullable=True),
        column("source_id", ID, "source decided, or of the candidate"),
        column("outcome", TEXT, "value of Outcome"),
        column("action", TEXT, "value of Action"),
        column("reasons", TEXTS, "values of Reason, the deciding one first"),
        column("modality", TEXT, "of the claim, or of the source as a whole"),
        column("policy", TEXT, "name@version of the admission policy"),
        column("extractor", TEXT, "name@version"),
        column("utility", pa.int32(), "expected use, 0 to 100"),
        column("risk", pa.int32(), "retention and error risk, 0 to 100"),
        column("atom_id", ID, "atom made or linked", nullable=True),
        column("targets", IDS, "atoms retired or linked"),
        column("deadline", TIME, "end of quarantine", nullable=True),
        SALT,
    ]
)

ATOMS = pa.schema(
    [
        column("atom_id", ID, "keyed claim id"),
        column("version", pa.int32(), "row version, from 1; the highest is current"),
        column("type", TEXT, "atom type"),
        column("memory_class", TEXT, "value of MemoryClass"),
        column("subject_id", ID, "entity it is about"),
        column("slot_id", ID, "keyed slot key"),
        column("payload", TEXT, "canonical JSON of the typed payload"),
        column("polarity", TEXT, "positive or negative"),
        column("lifecycle_state", TEXT, "proposed, active, archived, tombstoned, deleted"),
        column("health_status", TEXT, "primary health status"),
        column("intervals", INTS, "validity, microseconds, from and until in turn; see OPEN"),
        column("observed_at", TIME, "event time of the first evidence", nullable=True),
        column("source_id", ID, "source of the first evidence"),
        column("source_revision", pa.int32(), "revision of that source"),
        column("spans", INTS, "byte ranges in that source"),
        column("evidence_count", pa.int32(), "decisions that support it"),
        column("root_count", pa.int32(), "independent roots among them"),
        column("confidence_ppm", pa.int32(), "0 to 1,000,000"),
        column("salience_ppm", pa.int32(), "0 to 1,000,000"),
        column("utility_ppm", pa.int32(), "0 to 1,000,000"),
        column("layer", TEXT, "timescale layer"),
        column("retention_class", TEXT, "retention class"),
        *scope_columns(),
        SALT,
    ]
)

EDGES = pa.schema(
    [
        column("edge_id", ID, "keyed id of (from, relation, to)"),
        column("version", pa.int32(), "row version, from 1"),
        column("from_id", ID, "atom the edge leaves"),
        column("relation", TEXT, "supersedes, corrects, refines, contradicts …"),
        column("to_id", ID, "atom the edge enters"),
        column("derivation", TEXT, "path by which it was derived"),
        column("lifecycle_state", TEXT, "active or archived"),
        column("confidence_ppm", pa.int32(), "0 to 1,000,000"),
        SALT,
    ]
)

LINEAGE = pa.schema(
    [
        column("lineage_id", ID, "keyed id of (relation, predecessor, successor, decision, retraction)"),
        column("relation", TEXT, "corrects, supersedes, refines or precedes"),
        column("predecessor_id", ID, "atom that gave way"),
        column("successor_id", ID, "atom that took its place"),
        column("predecessor_digest", DIGEST, "SHA-256 of the predecessor's payload"),
        column("predecessor_version", pa.int32(), "its row version then"),
        column("decision_id", ID, "decision that caused it"),
        column("retracts", ID, "lineage row that this one withdraws", nullable=True),
        SALT,
    ]
)

DISPUTES = pa.schema(
    [
        column("dispute_id", ID, "keyed id of the history in dispute"),
        column("version", pa.int32(), "row version, from 1"),
        column("slot_id", ID, "slot in dispute"),
        column("sides", IDS, "atoms that disagree, by id of their unkeyed identity"),
        column("since", TIME, "order time of the disagreement", nullable=True),
        column("reason", TEXT, "value of Reason"),
        column("status", TEXT, "open or closed"),
        SALT,
    ]
)

ECHOES = pa.schema(
    [
        column("echo_id", ID, "keyed id of (atom, source)"),
        column("atom_id", ID, "atom that an agent's reply repeats"),
        column("source_id", ID, "the reply"),
        column("conversation_id", ID, "conversation of the reply"),
        column("kind", TEXT, "reinforcement; exposure when the atom had been given to that turn"),
        column("delta_ppm", pa.int32(), "what it may add to confidence; 0 for an exposure"),
        column("referenced_at", TIME, "event time of the reply", nullable=True),
        column("rule", TEXT, "name@version of what found it"),
        SALT,
    ]
)

OUTCOMES = pa.schema(
    [
        column("outcome_id", ID, "keyed id of (packet, what was said of it)"),
        column("source_id", ID, "record of it: who said so, when, and the note"),
        column("packet_id", ID, "packet that it is about"),
        column("packet_version", pa.int64(), "graph version that answered"),
        column("processor", TEXT, "who the packet was for"),
        column("profile", TEXT, "name of the ranking profile"),
        column("labels", TEXTS, "values of OutcomeLabel, in the order of the list"),
        column("use_status", TEXT, "value of UseStatus"),
        column("membership", TEXT, "receipt or asked_again: what the items of the packet are known from"),
        column("recorded_at", TIME, "when it was so"),
        column("rule", TEXT, "name@version of what the feedback is worth"),
        SALT,
    ]
)

FEEDBACK = pa.schema(
    [
        column("feedback_id", ID, "keyed id of (outcome, item or edge)"),
        column("outcome_id", ID, "outcome that it is part of"),
        column("source_id", ID, "record of that outcome"),
        column("packet_id", ID, "packet that held the item"),
        column("atom_id", ID, "item that is a claim", nullable=True),
        column("turn_id", ID, "item that is a turn: its source", nullable=True),
        column("edge_id", ID, "edge that joins a claim fed back to another item", nullable=True),
        column("kind", TEXT, "value of FeedbackKind"),
        column("rank", pa.int32(), "place in the packet, from 1; 0 for an edge"),
        column("score_ppm", pa.int32(), "score in the packet; 0 for an edge"),
        column("utility_ppm", pa.int32(), "what it may add to utility, once for a packet"),
        column("salience_ppm", pa.int32(), "what it may add to salience, once for a packet"),
        column("recorded_at", TIME, "when it was so"),
        SALT,
    ]
)

MENTIONS = pa.schema(
    [
        column("mention_id", ID, "keyed id of (candidate as it was read)"),
        column("version", pa.int32(), "row version, from 1; the highest is current"),
        column("candidate_id", ID, "candidate whose subject it is, as resolved"),
        column("source_id", ID, "source it stands in"),
        column("conversation_id", ID, "conversation of the source"),
        column("turn", pa.int64(), "turn of the source"),
        column("spans", INTS, "half-open byte range of the claim that it is the subject of"),
        column("owner_id", ID, "author whose word it is"),
        column("subject_id", ID, "entity as it was read: the pronoun, the bare name, the role"),
        column("name_key", ID, "keyed (owner, name), null without a name", nullable=True),
        column("role_key", ID, "keyed (owner, relation), null without one", nullable=True),
        column("referent_id", ID, "entity it was resolved to; null while unresolved", nullable=True),
        column("referents", IDS, "entities considered, the likeliest first"),
        column("scores_ppm", INTS, "their scores in parts per million; the last is that of none of them"),
        column("evidence", IDS, "sources that named the entities considered"),
        column("rule", TEXT, "name@version of what resolved it"),
        column("reason", TEXT, "value of Reason"),
        SALT,
    ]
)

TOMBSTONES = pa.schema(
    [
        column("tombstone_id", ID, "keyed id of (kind, digest)"),
        column("version", pa.int32(), "row version, from 1; the highest is current"),
        column("kind", TEXT, "what may not return: claim, source or text"),
        column("digest", DIGEST, "HMAC under the erasure key of what may not return, with its scope"),
        column("tokens", pa.int32(), "words that a forgotten text had; 0 for the other kinds"),
        column("recreation", TEXT, "forbid, require_review or allow_if_new_evidence"),
        column("reason", TEXT, "reason code of the request"),
        column("status", TEXT, "active or expired"),
        column("created_at", TIME, "when it was asked for"),
        column("expires_at", TIME, "when it stops to hold; null for ever", nullable=True),
        SALT,
    ]
)

EVENTS = pa.schema(
    [
        column("event_id", ID, "random id"),
        column("event_type", TEXT, "closed list of event types"),
        column("schema_version", TEXT, "amos.v1"),
        column("actor", TEXT, "principal that acted"),
        column("target_refs", IDS, "ids of erased rows only; empty otherwise"),
        column("payload", TEXT, "canonical JSON: operation, table, row count"),
        column("payload_refs", IDS, "contents kept elsewhere"),
        column("evidence_refs", IDS, "evidence named by the event itself"),
        column("idempotency_key", TEXT, "caller's key", nullable=True),
        column("payload_digest", DIGEST, "digest over payload and Merkle root of row commitments"),
        column("causal_parent_ids", IDS, "events that led here"),
        column("expected_versions", TEXT, "canonical JSON of expected versions", nullable=True),
        column("authorization_context", TEXT, "canonical JSON"),
        column("occurred_at", TIME, "when it happened"),
        column("accepted_at", TIME, "when it was committed; never goes backwards"),
        column("result_status", TEXT, "accepted or rejected"),
        column("projection_status", TEXT, "projected"),
        column("version", pa.int64(), "graph version that holds the event"),
        column("previous_event_hash", DIGEST, "running link before this event"),
        column("checksum", DIGEST, "digest of the event itself"),
    ]
)

TABLES: dict[str, pa.Schema] = {
    "sources": SOURCES,
    "conversations": CONVERSATIONS,
    "entities": ENTITIES,
    "candidates": CANDIDATES,
    "decisions": DECISIONS,
    "atoms": ATOMS,
    "edges": EDGES,
    "lineage": LINEAGE,
    "disputes": DISPUTES,
    "echoes": ECHOES,
    "outcomes": OUTCOMES,
    "feedback": FEEDBACK,
    "mentions": MENTIONS,
    "tombstones": TOMBSTONES,
    "events": EVENTS,
}
"""Every canonical table, in the order in which a commit writes their rows."""

PRIMARY_KEYS: dict[str, str] = {
    "sources": "source_id",
    "conversations": "conversation_id",
    "entities": "entity_id",
    "candidates": "candidate_id",
    "decisions": "decision_id",
    "atoms": "atom_id",
    "edges": "edge_id",
    "lineage": "lineage_id",
    "disputes": "dispute_id",
    "echoes": "echo_id",
    "outcomes": "outcome_id",
    "feedback": "feedback_id",
    "mentions": "mention_id",
    "tombstones": "tombstone_id",
    "events": "event_id",
}

VERSION_COLUMNS: dict[str, str] = {
    "sources": "revision",
    "conversations": "version",
    "entities": "version",
    "candidates": "version",
    "decisions": "version",
    "atoms": "version",
    "edges": "version",
    "disputes": "version",
    "mentions": "version",
    "tombstones": "version",
}
"""Tables whose current state is the highest version per id; the others only grow."""

OPEN_FROM = -(2**62)
"""In `intervals`: holds since an unknown time."""
OPEN_UNTIL = 2**62
"""In `intervals`: holds until further notice."""
ENDED_UNKNOWN = OPEN_FROM + 1
"""In `intervals`: began and ended at unknown times."""

GRAPH_VERSION = column("graph_version", pa.int64(), "commit that wrote the row; not part of its bytes")
ROW_NUMBER = column(
    "row_number", pa.int32(), "place among the rows its table got in that commit; not part of its bytes"
)


def stored(table: str) -> pa.Schema:
    """Return the columns as they stand in segments: the table's own, then the two of storage."""
    return pa.schema([*TABLES[table], GRAPH_VERSION, ROW_NUMBER])
