"""Which claims of which health are shown: the table of health statuses, status by status and mode by mode."""

import pytest
from tests.told import Told, answer

ORDINARY = {}
LOW = {"include_low_health": True}
HISTORY = {"purpose": "historical"}
WEIGHED = {"purpose": "deliberation", "target_processor": "planner"}
STEWARD = {"include_low_health": True, "target_processor": "steward"}
EXECUTOR = {"target_processor": "executor"}
TEAM = {"retrieval_mode": "shared_coordination"}
STRANGER = {"target_processor": "toaster"}
DANGER = {"attention_context": {"risk_posture": "high_risk"}}
PLANNER = {"target_processor": "planner"}

SHOWN = [
    ("healthy", ORDINARY), ("healthy", HISTORY), ("healthy", TEAM), ("healthy", EXECUTOR),
    ("stale", LOW), ("stale", HISTORY),
    ("redundant", LOW), ("orphaned", LOW), ("confounding", LOW), ("low_utility", LOW),
    ("contradicted", ORDINARY), ("contradicted", WEIGHED),
    ("incoherent", STEWARD),
    ("overgeneralized", ORDINARY), ("underspecified", ORDINARY),
    ("privacy_sensitive", ORDINARY),
    ("review_required", ORDINARY), ("review_required", HISTORY),
]  # fmt: skip
HIDDEN = [
    ("stale", ORDINARY, "stale_suppressed"),
    ("redundant", ORDINARY, "health_hidden"),
    ("redundant", HISTORY, "health_hidden"),
    ("orphaned", ORDINARY, "health_hidden"),
    ("confounding", ORDINARY, "confounding_suppressed"),
    ("confounding", HISTORY, "confounding_suppressed"),
    ("low_utility", ORDINARY, "health_hidden"),
    ("contradicted", PLANNER, "contradicted"),
    ("incoherent", ORDINARY, "health_hidden"),
    ("incoherent", LOW, "health_hidden"),
    ("privacy_sensitive", TEAM, "access_denied"),
    ("privacy_sensitive", STRANGER, "access_denied"),
    ("review_required", EXECUTOR, "review_required"),
    ("review_required", DANGER, "review_required"),
]


def lamp(health="healthy", **fields):
    told = Told()
    source = told.turn("so much for that", author="Bo", is_owner=False, conversation="x")
    told.claim(source, "lamp colour", "green", health_status=health, **fields)
    return told


def claims(packet):
    return [item for item in packet.items if item.atom_id]


@pytest.mark.parametrize(("health", "asked"), SHOWN)
def test_health_that_is_shown(tmp_path, health, asked):
    (item,) = claims(answer(tmp_path / "s", lamp(health), "lamp colour", **asked))
    assert item.health_status == health


@pytest.mark.parametrize(("health", "asked", "reason"), HIDDEN)
def test_health_that_is_left_out(tmp_path, health, asked, reason):
    packet = answer(tmp_path / "s", lamp(health), "lamp colour", **asked)
    assert claims(packet) == []
    assert packet.omissions.counts[reason] == 1


@pytest.mark.parametrize("health", ["overgeneralized", "underspecified"])
def test_what_is_too_broad_or_too_vague_ranks_lower(tmp_path, health):
    (healthy,) = claims(answer(tmp_path / "a", lamp(), "lamp colour"))
    (weak,) = claims(answer(tmp_path / "b", lamp(health), "lamp colour"))
    assert weak.score < healthy.score
    assert weak.score_components["health_penalty"] == 1


@pytest.mark.parametrize(
    ("health", "asked", "said"),
    [
        ("healthy", ORDINARY, "allowed"),
        ("stale", LOW, "allowed_by:include_low_health"),
        ("contradicted", ORDINARY, "allowed_by:include_conflicts"),
        ("privacy_sensitive", ORDINARY, "allowed_by:target_processor"),
    ],
)
def test_an_item_says_what_let_it_in(tmp_path, health, asked, said):
    (item,) = claims(answer(tmp_path / "s", lamp(health), "lamp colour", **asked))
    assert item.access_decision == said


@pytest.mark.parametrize(("asked", "is_shown"), [(ORDINARY, False), (LOW, False), (HISTORY, True)])
def test_what_is_archived_is_history(tmp_path, asked, is_shown):
    told = lamp(lifecycle_state="archived")
    packet = answer(tmp_path / "s", told, "lamp colour", **asked)
    assert bool(claims(packet)) == is_shown
    assert (packet.omissions.counts.get("lifecycle_hidden") == 1) != is_shown


@pytest.mark.parametrize("state", ["proposed", "tombstoned", "deleted"])
@pytest.mark.parametrize("asked", [ORDINARY, HISTORY, STEWARD])
def test_what_is_not_in_the_graph_is_in_no_packet(tmp_path, state, asked):
    assert claims(answer(tmp_path / "s", lamp(lifecycle_state=state), "lamp colour", **asked)) == []


def test_a_sensitive_claim_is_not_named_to_whom_it_is_denied(tmp_path):
    packet = answer(tmp_path / "s", lamp("privacy_sensitive"), "lamp colour", **TEAM)
    assert [row for row in packet.omissions.sample if row["reason"] == "access_denied"] == []


@pytest.mark.parametrize("kind", ["self_model", "runtime_state", "self_assessment", "self_narrative"])
def test_agents_share_memory_and_no_self(tmp_path, kind):
    packet = answer(tmp_path / "s", lamp(type=kind), "lamp colour", **TEAM)
    assert claims(packet) == []


def test_a_search_for_skills_brings_procedures_and_capabilities_alone(tmp_path):
    told = lamp(type="procedure")
    source = told.turn("the lamp colour is what it is")
    told.claim(source, "lamp colour", "said to be green", key="b")
    packet = answer(tmp_path / "s", told, "lamp colour", retrieval_mode="skill_discovery")
    assert [item.type for item in packet.items] == ["procedure"]
    assert packet.profile == "amos.skills"
