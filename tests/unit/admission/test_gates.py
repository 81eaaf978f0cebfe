"""Gates: what may be believed before any history is read."""

import pytest

from amos.admission.gates import Facts, gate_of, risk_of, utility_of
from amos.admission.policy import default_policy_text, read_policy
from amos.errors import SchemaError
from amos.schemas.vocabulary import Cue, Modality, Outcome, Reason, Trust

POLICY = read_policy(default_policy_text())
PLAIN = Facts(
    confidence=90,
    cues=0,
    has_bound=False,
    is_authorised=True,
    is_ordered_in_time=True,
    is_span_sound=True,
    memory_class="durable_fact",
    modality=Modality.ASSERTED,
    subject_kind="author",
    trust=Trust.TRUSTED_USER,
    type="belief",
    is_too_long=False,
    veto=None,
)


def gate(**changes):
    """Return the gate of a plain first-person statement with `changes`."""
    return gate_of(PLAIN._replace(**changes), POLICY)


def test_a_plain_statement_of_the_user_passes():
    assert gate() is None


@pytest.mark.parametrize(
    ("changes", "outcome", "reason"),
    [
        ({"is_span_sound": False}, Outcome.REJECT, Reason.EVIDENCE_SPAN_OUT_OF_RANGE),
        ({"is_ordered_in_time": False}, Outcome.REJECT, Reason.TEMPORAL_INVALID),
        ({"is_authorised": False}, Outcome.REJECT, Reason.UNAUTHORIZED_SCOPE),
        ({"modality": Modality.QUESTION}, Outcome.IGNORE, Reason.QUESTION),
        ({"modality": Modality.HYPOTHETICAL}, Outcome.IGNORE, Reason.HYPOTHETICAL),
        ({"modality": Modality.IRONIC}, Outcome.IGNORE, Reason.SUSPECTED_IRONY),
        ({"modality": Modality.REQUEST}, Outcome.IGNORE, Reason.REQUEST_NOT_MEMORY),
        ({"modality": Modality.REPORTED}, Outcome.QUARANTINE, Reason.REPORTED_SPEECH),
        ({"modality": Modality.UNCERTAIN}, Outcome.QUARANTINE, Reason.UNCERTAIN),
        ({"cues": int(Cue.QUOTED)}, Outcome.IGNORE, Reason.QUOTED_OTHER),
        ({"cues": int(Cue.CODE)}, Outcome.IGNORE, Reason.QUOTED_OTHER),
        ({"cues": int(Cue.PASTED)}, Outcome.QUARANTINE, Reason.QUOTED_OTHER),
        ({"cues": int(Cue.PRONOUN)}, Outcome.QUARANTINE, Reason.AMBIGUOUS_REFERENT),
        ({"cues": int(Cue.SENSITIVE)}, Outcome.QUARANTINE, Reason.SENSITIVE_CONTENT),
        (
            {"cues": int(Cue.SENSITIVE | Cue.THIRD_PARTY)},
            Outcome.QUARANTINE,
            Reason.THIRD_PARTY_SENSITIVE,
        ),
        ({"cues": int(Cue.OPERATIONAL)}, Outcome.QUARANTINE, Reason.OPERATIONAL_AUTHORITY_REQUIRED),
        ({"cues": int(Cue.TAG_QUESTION)}, Outcome.QUARANTINE, Reason.UNCERTAIN),
        ({"cues": int(Cue.SELF_CORRECTED)}, Outcome.IGNORE, Reason.SELF_CORRECTION),
        ({"cues": int(Cue.REMARKED)}, Outcome.QUARANTINE, Reason.POSSIBLE_SILENCE),
        ({"cues": int(Cue.MAY_UNLOCK)}, Outcome.QUARANTINE, Reason.POSSIBLE_SECRET),
        ({"cues": int(Cue.MAY_UNLOCK | Cue.REMARKED)}, Outcome.QUARANTINE, Reason.POSSIBLE_SECRET),
        ({"cues": int(Cue.UNREAD_LEAD)}, Outcome.QUARANTINE, Reason.UNREAD_LEAD),
        ({"cues": int(Cue.UNREAD_LEAD | Cue.SENSITIVE)}, Outcome.QUARANTINE, Reason.SENSITIVE_CONTENT),
        ({"trust": Trust.TOOL}, Outcome.QUARANTINE, Reason.UNTRUSTED_SOURCE_REQUIRES_REVIEW),
        ({"trust": Trust.UNTRUSTED_WEB}, Outcome.QUARANTINE, Reason.UNTRUSTED_SOURCE_REQUIRES_REVIEW),
        ({"trust": Trust.RECALL}, Outcome.IGNORE, Reason.RECALL_SOURCED),
        ({"trust": Trust.AGENT}, Outcome.IGNORE, Reason.AGENT_CLAIM_ABOUT_USER),
        ({"type": "procedure"}, Outcome.QUARANTINE, Reason.PROCEDURE_NEEDS_REVIEW),
        ({"confidence": 59}, Outcome.QUARANTINE, Reason.LOW_CONFIDENCE),
        ({"memory_class": "temporary_state"}, Outcome.QUARANTINE, Reason.NON_DURABLE_CLASS),
        ({"memory_class": "episode"}, Outcome.QUARANTINE, Reason.NON_DURABLE_CLASS),
        ({"is_too_long": True}, Outcome.IGNORE, Reason.VALUE_TOO_LONG),
        ({"veto": "suspected_irony"}, Outcome.IGNORE, Reason.SUSPECTED_IRONY),
        ({"veto": "ambiguous_referent"}, Outcome.QUARANTINE, Reason.AMBIGUOUS_REFERENT),
    ],
)
def test_each_gate_answers_with_its_reason(changes, outcome, reason):
    assert gate(**changes) == (outcome, reason)


def test_no_confidence_buys_back_a_missing_authority():
    assert gate(is_authorised=False, confidence=100) == (Outcome.REJECT, Reason.UNAUTHORIZED_SCOPE)


def test_a_bounded_request_may_stand():
    assert gate(modality=Modality.REQUEST, memory_class="temporary_state", has_bound=True) is None


def test_an_agent_may_promise():
    assert gate(trust=Trust.AGENT, type="commitment") is None


def test_a_tool_never_commits_even_a_promise():
    assert gate(trust=Trust.TOOL, type="commitment") is not None


def test_utility_and_risk_come_from_the_policy():
    assert utility_of("durable_fact", POLICY) == 60
    assert risk_of(int(Cue.SENSITIVE), POLICY) == 70
    assert risk_of(int(Cue.THIRD_PARTY), POLICY) == 30


def test_the_strict_review_setting_holds_every_bounded_claim():
    strict = read_policy(default_policy_text().replace('non_durable = "bounded"', 'non_durable = "wait"'))
    held = gate_of(PLAIN._replace(memory_class="episode", has_bound=True), strict)
    assert held == (Outcome.QUARANTINE, Reason.NON_DURABLE_CLASS)


def test_an_unknown_policy_key_is_named():
    with pytest.raises(SchemaError, match="surprise"):
        read_policy("surprise = 1\n" + default_policy_text())
