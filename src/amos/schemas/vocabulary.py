"""Closed word lists that columns draw from; extending one is a versioned, documented change."""

from __future__ import annotations

from enum import IntFlag, StrEnum


class SourceFlag(IntFlag):
    """Bits of the `flags` column of sources."""

    OFF_THREAD = 1  # a branch that the visible thread does not pass through
    HIDDEN = 2  # the format hides it from the reader
    SIDECHAIN = 4  # a sub-agent's conversation
    MARKUP_ONLY = 8  # nothing but command markup, not speech
    SURROGATE_REPLACED = 16  # lone surrogates became U+FFFD
    INSTRUCTION_SHAPED = 32  # set by the screen: never indexed, matched or shown
    CUT = 64  # bytes were overwritten before the first write
    TIME_INVALID = 128  # the event time could not be read or is absurd; kept as text
    NOT_A_MESSAGE = 256  # a record that is no message: kept for audit, zero bytes
    NO_STABLE_ID = 512  # the format has no ids; the key is a chained digest
    EDITED = 1024  # the format marks this delivery as an edit
    FORWARDED = 2048  # text of somebody else, passed on
    WITHHELD = 4096  # suppressed, or told again after it was forgotten: out of sight until a reviewer decides


UNSEEN = int(SourceFlag.INSTRUCTION_SHAPED | SourceFlag.WITHHELD)
"""Flags of sources whose text is never indexed, matched or shown."""


EDITED_BY_TEXT = frozenset({"memory-folder"})
"""Formats whose records have no time but that of their file: an edit is told by its text."""


class Role(StrEnum):
    """Who speaks, by the format's own word; not authorship."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    SYSTEM = "system"
    RECORD = "record"


class Trust(StrEnum):
    """How far a source's statements may go without review."""

    TRUSTED_USER = "trusted_user"
    AGENT = "agent"
    TOOL = "tool"
    UNTRUSTED_WEB = "untrusted_web"
    RECALL = "recall"


class Outcome(StrEnum):
    """What admission decided."""

    COMMIT = "commit"
    LINK = "link"
    QUARANTINE = "quarantine"
    IGNORE = "ignore"
    REJECT = "reject"


class Action(StrEnum):
    """What a candidate would do to the graph."""

    ADD = "add"
    UPDATE = "update"
    SUPERSEDE = "supersede"
    NOOP = "noop"
    REJECT = "reject"


class MemoryClass(StrEnum):
    """How long a claim can be expected to hold."""

    DURABLE_FACT = "durable_fact"
    TEMPORARY_STATE = "temporary_state"
    EPISODE = "episode"
    PROCEDURE = "procedure"
    NON_MEMORY = "non_memory"


class AtomType(StrEnum):
    """What an atom is: the closed list of types."""

    BELIEF = "belief"
    PREFERENCE = "preference"
    GOAL = "goal"
    COMMITMENT = "commitment"
    PROCEDURE = "procedure"
    EPISODE = "episode"
    SELF_MODEL = "self_model"
    RUNTIME_STATE = "runtime_state"
    CAPABILITY = "capability"
    LIMITATION = "limitation"
    SELF_ASSESSMENT = "self_assessment"
    AGENTIC_TRACE = "agentic_trace"
    ACTION_OUTCOME = "action_outcome"
    SELF_NARRATIVE = "self_narrative"
    SEMANTIC = "semantic"
    POLICY = "policy"
    COVENANT = "covenant"
    PRIMAL_GUIDANCE = "primal_guidance"
    ADJUDICATION = "adjudication"
    INTERACTION_EVENT = "interaction_event"
    DISCOURSE_THREAD = "discourse_thread"
    DISCOURSE_STATE = "discourse_state"


class ActionStatus(StrEnum):
    """What became of an action: the closed list of `success_status`."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    PARTIAL = "partial"
    BLOCKED = "blocked"
    UNKNOWN = "unknown"


class OutcomeLabel(StrEnum):
    """What came of an answer that a packet was given for; the closed list of labels."""

    OBSERVED = "observed"
    GOOD = "good"
    HELPFUL = "helpful"
    SUCCESS = "success"
    UNUSED = "unused"
    UNHELPFUL = "unhelpful"
    CORRECTED = "corrected"
    CORRECTION = "correction"
    FAILED = "failed"
    FAILURE = "failure"
    BAD = "bad"
    WRONG = "wrong"
    MISLEADING = "misleading"
    MIS_SCOPED = "mis_scoped"
    CONFOUNDING = "confounding"
    STALE = "stale"
    OVERGENERALIZED = "overgeneralized"
    CONTRADICTED = "contradicted"


class UseStatus(StrEnum):
    """What became of a packet as a whole."""

    USED = "used"
    CONTEXT_ONLY = "context_only"
    IGNORED = "ignored"
    UNUSED = "unused"


class FeedbackKind(StrEnum):
    """What an item of a packet was to what came of it; exposure is neutral."""

    USED = "used"
    FAILED = "failed"
    CORRECTED = "corrected"
    UNHELPFUL = "unhelpful"
    EXPOSURE = "exposure"


class Modality(StrEnum):
    """How a claim is put forward."""

    ASSERTED = "asserted"
    PREFERENCE = "preference"
    OBLIGATION = "obligation"
    REQUEST = "request"
    DESIRED = "desired"
    UNCERTAIN = "uncertain"
    HYPOTHETICAL = "hypothetical"
    CONDITIONAL = "conditional"
    REPORTED = "reported"
    IRONIC = "ironic"
    QUESTION = "question"
    NONE = "none"


class Reason(StrEnum):
    """Why a decision fell as it did; the closed list of reason codes, version 3."""

    NEW_FACT_FOR_SLOT = "new_fact_for_slot"
    NEW_UNKEYED_FACT = "new_unkeyed_fact"
    REFINES_CURRENT_VALUE = "refines_current_value"
    EXPLICIT_CORRECTION = "explicit_correction"
    CONTRADICTS_CURRENT_VALUE = "contradicts_current_value"
    DUPLICATE_OF_ACTIVE_RECORD = "duplicate_of_active_record"
    EQUIVALENT_VALUE = "equivalent_value"
    NO_EXTRACTABLE_CLAIM = "no_extractable_claim"
    QUESTION = "question"
    HYPOTHETICAL = "hypothetical"
    REPORTED_SPEECH = "reported_speech"
    QUOTED_OTHER = "quoted_other"
    SUSPECTED_IRONY = "suspected_irony"
    UNCERTAIN = "uncertain"
    SMALL_TALK = "small_talk"
    LOW_VALUE = "low_value"
    VALUE_TOO_LONG = "value_too_long"
    SELF_CORRECTION = "self_correction"
    HISTORICAL_OBSERVATION = "historical_observation"
    LESS_CORROBORATED = "less_corroborated"
    DISPUTED_NO_CLEAR_AUTHORITY = "disputed_no_clear_authority"
    INSTRUCTION_SHAPED_CONTENT = "instruction_shaped_content"
    SECRET_MATERIAL_DETECTED = "secret_material_detected"
    EXPLICIT_EXCLUSION_SIGNAL = "explicit_exclusion_signal"
    ENCODED_CONTENT = "encoded_content"
    MALFORMED_MODEL_OUTPUT = "malformed_model_output"
    UNSUPPORTED_BY_SOURCE = "unsupported_by_source"
    MODEL_RETURNED_NO_CLAIM = "model_returned_no_claim"
    SCHEMA_INVALID = "schema_invalid"
    TEMPORAL_INVALID = "temporal_invalid"
    UNAUTHORIZED_SCOPE = "unauthorized_scope"
    DELIVERY_CONFLICT = "delivery_conflict"
    SCOPE_MISMATCH = "scope_mismatch"
    RESOLUTION_CONTEXT_OUTSIDE_SCOPE = "resolution_context_outside_scope"
    EVIDENCE_SOURCE_DIGEST_MISMATCH = "evidence_source_digest_mismatch"
    EVIDENCE_SPAN_OUT_OF_RANGE = "evidence_span_out_of_range"
    EVIDENCE_EXCERPT_DIGEST_MISMATCH = "evidence_excerpt_digest_mismatch"
    TOMBSTONED = "tombstoned"
    TOMBSTONE_EXPIRED = "tombstone_expired"
    TENANT_BOUNDARY = "tenant_boundary"
    PRECONDITION_RECORD_NOT_ELIGIBLE = "precondition_record_not_eligible"
    STALE_PROPOSAL_GENERATION = "stale_proposal_generation"
    PRECONDITION_STATUS_CHANGED = "precondition_status_changed"
    PRECONDITION_CONTENT_CHANGED = "precondition_content_changed"
    LOW_CONFIDENCE = "low_confidence"
    SENSITIVE_CONTENT = "sensitive_content"
    THIRD_PARTY_SENSITIVE = "third_party_sensitive"
    DESTRUCTIVE_MULTI_RECORD_CHANGE = "destructive_multi_record_change"
    AMBIGUOUS_REFERENT = "ambiguous_referent"
    AMBIGUOUS_IDENTITY = "ambiguous_identity"
    UNRESOLVED_REFERENCE = "unresolved_reference"
    NON_DURABLE_CLASS = "non_durable_class"
    UNTRUSTED_SOURCE_REQUIRES_REVIEW = "untrusted_source_requires_review"
    PROCEDURE_NEEDS_REVIEW = "procedure_needs_review"
    POSSIBLE_SILENCE = "possible_silence"  # a clause beside it may ask not to keep it
    POSSIBLE_SECRET = "possible_secret"  # its value may open something
    UNREAD_LEAD = "unread_lead"  # what leads to it may make it no statement of its author
    INCOMPLETE_PROVENANCE = "incomplete_provenance"
    POLICY_REQUIRED = "policy_required"
    QUARANTINE_EXPIRED = "quarantine_expired"
    BASIS_CHANGED = "basis_changed"
    OPERATIONAL_AUTHORITY_REQUIRED = "operational_authority_required"
    APPROVED_BY_REVIEWER = "approved_by_reviewer"
    EDITED_AND_APPROVED_BY_REVIEWER = "edited_and_approved_by_reviewer"
    REJECTED_BY_REVIEWER = "rejected_by_reviewer"
    DEFERRED_BY_REVIEWER = "deferred_by_reviewer"
    NO_REFERENCE_TO_RESOLVE = "no_reference_to_resolve"
    NO_REFERENT_IN_BOUNDED_WINDOW = "no_referent_in_bounded_window"
    RESOLVED_FROM_BOUNDED_WINDOW = "resolved_from_bounded_window"
    RESOLVED_FROM_ELIGIBLE_MEMORY = "resolved_from_eligible_memory"
    RECALL_SOURCED = "recall_sourced"
    SYSTEM_PROMPT = "system_prompt"
    TOOL_ECHO = "tool_echo"
    DELIVERY_REPLAY = "delivery_replay"
    SUBSTRATE_STATEMENT = "substrate_statement"
    NOT_A_MESSAGE = "not_a_message"
    OFF_THREAD = "off_thread"
    INTERNAL_REASONING = "internal_reasoning"
    AGENT_CLAIM_ABOUT_USER = "agent_claim_about_user"
    REQUEST_NOT_MEMORY = "request_not_memory"
    NO_GRAMMAR_FOR_LANGUAGE = "no_grammar_for_language"
    FORGET_REQUESTED = "forget_requested"  # its author asks to have something forgotten
    SUPERSEDED_BY_EXTRACTOR = "superseded_by_extractor"  # another extractor read its source since


WITHDRAWN = f"{Outcome.IGNORE}:{Reason.SUPERSEDED_BY_EXTRACTOR}"
"""Gate of a candidate whose place another extractor's reading of its source has taken."""


class Cue(IntFlag):
    """Bits of the `cues` column of claims and candidates: what the claim's clause signals."""

    CORRECTION = 1  # "actually", "scratch that", "I meant", "from now on"
    REMEMBER = 2  # "remember that …"
    STANDING = 4  # "always", "from now on"
    NO_LONGER = 8  # the negation ends something that held before
    FORMER = 16  # "used to", "was": a historical observation
    QUOTED = 32  # inside quotation marks
    PASTED = 64  # inside a pasted block, quoted mail, forwarded text or markup
    CODE = 128  # inside a code block
    SENSITIVE = 256  # property or value of a sensitive kind
    THIRD_PARTY = 512  # about somebody other than the author
    PRONOUN = 1024  # the subject is a pronoun that was not resolved
    RELATIVE_TIME = 2048  # a time expression that needs the source's clock
    OPERATIONAL = 4096  # a property an operational source owns (owner, quota, on-call …)
    HEDGED = 8192  # "probably", "I think"
    TAG_QUESTION = 16384  # "…, right?"
    SELF_CORRECTED = 32768  # withdrawn later in the same message
    ZONE_ASSUMED = 65536  # the source's zone was assumed: differences under a day prove nothing
    APPROVED = 131072  # not of the clause: a reviewer let the candidate in
    AUTHORITY = 524288  # not of the clause: its source is registered as the authority for the property
    RETURNED = 262144  # not of the clause: a tombstone had kept it out until its time was over
    REMARKED = 1048576  # a clause beside it speaks of the saying in words that no rule knows
    UNREAD_LEAD = 2097152  # what leads to it may make it somebody else's, or no statement
    MAY_UNLOCK = 4194304  # a value that may open something
