"""Hard gates and graded checks that need no history: may this claim be believed at all?"""

from __future__ import annotations

from typing import Any, NamedTuple

from amos.admission.policy import Policy
from amos.schemas.vocabulary import Cue, MemoryClass, Modality, Outcome, Reason, Trust

Gate = tuple[Outcome, Reason]

# plain integers: bit tests on enum members cost half a microsecond each
_QUOTED_OR_CODE = int(Cue.QUOTED | Cue.CODE)
_DOUBTED = int(Cue.HEDGED | Cue.TAG_QUESTION)
_SELF_CORRECTED = int(Cue.SELF_CORRECTED)
_PASTED = int(Cue.PASTED)
_PRONOUN = int(Cue.PRONOUN)
_SENSITIVE = int(Cue.SENSITIVE)
_THIRD_PARTY = int(Cue.THIRD_PARTY)
_OPERATIONAL = int(Cue.OPERATIONAL)
_AUTHORITY = int(Cue.AUTHORITY)
_FORMER = int(Cue.FORMER)
_UNREAD = (
    (int(Cue.MAY_UNLOCK), Reason.POSSIBLE_SECRET),
    (int(Cue.REMARKED), Reason.POSSIBLE_SILENCE),
    (int(Cue.UNREAD_LEAD), Reason.UNREAD_LEAD),
)

_NEVER_SAID: dict[str, Reason] = {
    Modality.QUESTION: Reason.QUESTION,
    Modality.HYPOTHETICAL: Reason.HYPOTHETICAL,
    Modality.IRONIC: Reason.SUSPECTED_IRONY,
    Modality.NONE: Reason.NO_EXTRACTABLE_CLAIM,
}
_HELD_MODALITY: dict[str, Reason] = {
    Modality.UNCERTAIN: Reason.UNCERTAIN,
    Modality.CONDITIONAL: Reason.UNCERTAIN,
    Modality.REPORTED: Reason.REPORTED_SPEECH,
}
_IGNORING_VETOES = {
    Reason.QUESTION,
    Reason.HYPOTHETICAL,
    Reason.QUOTED_OTHER,
    Reason.SUSPECTED_IRONY,
    Reason.SMALL_TALK,
    Reason.LOW_VALUE,
    Reason.VALUE_TOO_LONG,
    Reason.SELF_CORRECTION,
    Reason.HISTORICAL_OBSERVATION,
    Reason.REQUEST_NOT_MEMORY,
    Reason.NO_EXTRACTABLE_CLAIM,
    Reason.AGENT_CLAIM_ABOUT_USER,
    Reason.SUBSTRATE_STATEMENT,
    Reason.NO_GRAMMAR_FOR_LANGUAGE,
}


_REJECTING_VETOES = {
    Reason.MALFORMED_MODEL_OUTPUT,
    Reason.UNSUPPORTED_BY_SOURCE,
    Reason.EVIDENCE_SPAN_OUT_OF_RANGE,
    Reason.EVIDENCE_EXCERPT_DIGEST_MISMATCH,
}
"""Found where a model's row is checked against the text: it is no claim of that text."""


class Facts(NamedTuple):
    """What the gates look at: one claim joined with its source."""

    confidence: int
    cues: int
    has_bound: bool
    is_authorised: bool
    is_ordered_in_time: bool
    is_span_sound: bool
    is_too_long: bool
    memory_class: str
    modality: str
    subject_kind: str
    trust: str
    type: str
    veto: str | None


def gate_of(facts: Facts, policy: Policy) -> Gate | None:
    """Return the outcome and reason that stop a claim before its history is read, or None.

    The first of: contract failures (reject), what was never meant as a statement (ignore),
    what may not stand without review (quarantine), utility not above risk (ignore).
    """
    return (
        _contract(facts)
        or _not_meant(facts)
        or _untrusted(facts)
        or _delicate(facts)
        or _unread(facts)
        or _graded(facts, policy)
    )


def gate_without_pronoun(facts: Facts, policy: Policy) -> Gate | None:
    """Return what stops a claim that waited for nothing but whom it is about; `facts` name no pronoun."""
    return _delicate(facts) or _unread(facts) or _graded(facts, policy)


def utility_of(memory_class: str, policy: Policy) -> int:
    """Return the expected use of a claim of `memory_class`, 0 to 100."""
    return policy.utility.get(memory_class, 0)


def risk_of(cues: int, policy: Policy) -> int:
    """Return the risk points of a claim by what its `cues` say it touches, 0 to 100."""
    if cues & _SENSITIVE:
        return policy.risk.sensitive
    return policy.risk.third_party if cues & _THIRD_PARTY else policy.risk.plain


def _contract(facts: Facts) -> Gate | None:
    if facts.veto in _REJECTING_VETOES:
        return Outcome.REJECT, Reason(facts.veto)
    if not facts.is_span_sound:
        return Outcome.REJECT, Reason.EVIDENCE_SPAN_OUT_OF_RANGE
    if not facts.is_ordered_in_time:
        return Outcome.REJECT, Reason.TEMPORAL_INVALID
    if not facts.is_authorised:
        return Outcome.REJECT, Reason.UNAUTHORIZED_SCOPE
    return None


def _not_meant(facts: Facts) -> Gate | None:
    if facts.veto is not None:
        reason = Reason(facts.veto)
        return (Outcome.IGNORE if reason in _IGNORING_VETOES else Outcome.QUARANTINE), reason
    is_bare_request = facts.modality == Modality.REQUEST and not facts.has_bound
    checks = (
        (facts.modality in _NEVER_SAID, _NEVER_SAID.get(facts.modality)),
        (facts.cues & _QUOTED_OR_CODE, Reason.QUOTED_OTHER),
        (facts.cues & _SELF_CORRECTED, Reason.SELF_CORRECTION),
        (facts.is_too_long, Reason.VALUE_TOO_LONG),
        (is_bare_request, Reason.REQUEST_NOT_MEMORY),
    )
    return next(((Outcome.IGNORE, reason) for fails, reason in checks if fails and reason), None)


def _untrusted(facts: Facts) -> Gate | None:
    is_agents_word = facts.trust == Trust.AGENT and facts.type != "commitment"
    checks: tuple[tuple[Any, Gate], ...] = (
        (facts.trust == Trust.RECALL, (Outcome.IGNORE, Reason.RECALL_SOURCED)),
        (
            facts.trust in (Trust.TOOL, Trust.UNTRUSTED_WEB) and not facts.cues & _AUTHORITY,
            (Outcome.QUARANTINE, Reason.UNTRUSTED_SOURCE_REQUIRES_REVIEW),
        ),
        (is_agents_word, (Outcome.IGNORE, Reason.AGENT_CLAIM_ABOUT_USER)),
        (facts.cues & _PASTED, (Outcome.QUARANTINE, Reason.QUOTED_OTHER)),
        (
            facts.modality in _HELD_MODALITY,
            (Outcome.QUARANTINE, _HELD_MODALITY.get(facts.modality, Reason.UNCERTAIN)),
        ),
        (facts.cues & _DOUBTED, (Outcome.QUARANTINE, Reason.UNCERTAIN)),
    )
    return next((gate for fails, gate in checks if fails), None)


def _delicate(facts: Facts) -> Gate | None:
    if facts.cues & _PRONOUN or facts.subject_kind == "pronoun":
        return Outcome.QUARANTINE, Reason.AMBIGUOUS_REFERENT
    if facts.cues & _SENSITIVE:
        is_third = facts.cues & _THIRD_PARTY
        return Outcome.QUARANTINE, Reason.THIRD_PARTY_SENSITIVE if is_third else Reason.SENSITIVE_CONTENT
    if facts.cues & _OPERATIONAL and not facts.cues & _AUTHORITY:
        return Outcome.QUARANTINE, Reason.OPERATIONAL_AUTHORITY_REQUIRED
    if facts.type == "procedure":
        return Outcome.QUARANTINE, Reason.PROCEDURE_NEEDS_REVIEW
    if facts.cues & _FORMER:
        return Outcome.IGNORE, Reason.HISTORICAL_OBSERVATION
    return None


def _unread(facts: Facts) -> Gate | None:
    """Return the gate of claims beside which the grammar left something unread that may change them."""
    return next(((Outcome.QUARANTINE, reason) for cue, reason in _UNREAD if facts.cues & cue), None)


def _graded(facts: Facts, policy: Policy) -> Gate | None:
    if facts.confidence < policy.confidence.minimum:
        return Outcome.QUARANTINE, Reason.LOW_CONFIDENCE
    is_bounded_class = facts.memory_class in (MemoryClass.TEMPORARY_STATE, MemoryClass.EPISODE)
    if is_bounded_class and (policy.review.non_durable == "wait" or not facts.has_bound):
        return Outcome.QUARANTINE, Reason.NON_DURABLE_CLASS
    if utility_of(facts.memory_class, policy) <= risk_of(facts.cues, policy):
        return Outcome.IGNORE, Reason.LOW_VALUE
    return None
