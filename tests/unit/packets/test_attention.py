"""Attention moves answers within the bounds of its weights, and tells what it did."""

import pytest
from tests.told import Told, answer

from amos.packets.packet import packet_json
from amos.retrieval.profile import MILLION, load_profile


def say(told, text, held, value, **fields):
    count = len(told.rows["sources"])
    source = told.turn(text, author="Bo", is_owner=False, conversation=f"c{count}")
    return told.claim(source, held, value, key=str(count), **fields)


def garden():
    """Return four claims about the pump, told apart by what attention may be on."""
    told = Told()
    say(told, "one", "pump pressure", "low in the orchard")
    say(told, "two", "pump pressure", "high in the cellar")
    say(told, "three", "pump pressure", "never measured", type="limitation")
    say(told, "four", "cellar door", "open")
    return told


def said(packet):
    return [item.statement for item in packet.items]


def about(packet, word):
    return next(item for item in packet.items if word in item.statement)


@pytest.mark.parametrize("place", ["orchard", "cellar"])
def test_what_attention_is_on_comes_first(tmp_path, place):
    packet = answer(tmp_path / "s", garden(), "pump pressure", attention_context={"focus_terms": [place]})
    assert place in packet.items[0].statement
    assert packet.items[0].score_components["attention_focus"] == 1
    assert packet.items[0].ref in packet.attention_trace["selected_item_refs"]


def test_attention_does_not_replace_the_question(tmp_path):
    packet = answer(tmp_path / "s", garden(), "pump pressure", attention_context={"focus_terms": ["cellar"]})
    assert all("pump" in statement for statement in said(packet))


def test_what_is_held_back_goes_down_and_is_named(tmp_path):
    packet = answer(
        tmp_path / "s", garden(), "pump pressure", attention_context={"suppress_terms": ["orchard"]}
    )
    held = about(packet, "orchard")
    assert held.score_components["attention_suppression_penalty"] == 1
    assert held.ref in packet.attention_trace["inhibited_refs"]
    assert packet.items[-1] is held


@pytest.mark.parametrize(
    ("context", "component"),
    [
        ({"focus_terms": ["cellar"]}, "attention_focus"),
        ({"boost_memory_types": ["limitation"]}, "attention_type_boost"),
        ({"counterevidence_required": True}, "attention_counterevidence"),
        ({"novelty_preference": 1.0}, "attention_novelty"),
        ({"suppress_terms": ["cellar"]}, "attention_suppression_penalty"),
        ({"suppress_memory_types": ["belief"]}, "attention_suppression_penalty"),
    ],
)
def test_no_effect_is_greater_than_its_weight(tmp_path, context, component):
    before = {item.ref: item.score for item in answer(tmp_path / "a", garden(), "pump pressure").items}
    packet = answer(tmp_path / "b", garden(), "pump pressure", attention_context=context)
    bound = abs(getattr(load_profile().weights, component)) / MILLION
    assert bound == packet.attention_trace["weight_adjustments"].get(component, 0) or bound == abs(
        packet.attention_trace["weight_adjustments"][component]
    )
    moved = {item.ref: item.score - before[item.ref] for item in packet.items}
    assert any(moved.values())
    assert all(abs(change) <= bound + 2e-6 for change in moved.values())


@pytest.mark.parametrize(
    "fields",
    [
        {"attention_context": {"counterevidence_required": True}},
        {"attention_context": {"risk_posture": "cautious"}},
        {"task_context": {"risk_level": "critical"}},
        {"purpose": "deliberation"},
    ],
)
def test_care_asks_for_what_speaks_against(tmp_path, fields):
    packet = answer(tmp_path / "s", garden(), "pump pressure", **fields)
    limits = about(packet, "never measured")
    assert limits.score_components["attention_counterevidence"] == 0.6
    assert "counterevidence_unavailable" not in packet.omissions.counts


def test_counterevidence_that_is_nowhere_is_missed(tmp_path):
    told = Told()
    say(told, "one", "pump pressure", "low")
    packet = answer(tmp_path / "s", told, "pump", attention_context={"counterevidence_required": True})
    assert packet.omissions.counts["counterevidence_unavailable"] == 1


def test_what_is_in_dispute_speaks_against_in_full(tmp_path):
    told = Told()
    say(told, "one", "pump pressure", "low", health_status="contradicted")
    say(told, "two", "pump pressure", "a risk to the seal")
    packet = answer(tmp_path / "s", told, "pump pressure", purpose="deliberation")
    found = {item.statement: item.score_components["attention_counterevidence"] for item in packet.items}
    assert sorted(found.values()) == [0.5, 1.0]


def test_a_short_horizon_prefers_what_is_new(tmp_path):
    def gap(horizon):
        told = Told()
        for days in (0, 20):
            told.turn(f"the pump ran on day {days}", days=days, conversation=str(days))
        packet = answer(tmp_path / horizon, told, "pump ran", attention_context={"time_horizon": horizon})
        recent = {item.statement: item.score_components["recency"] for item in packet.items}
        return recent["the pump ran on day 0"] - recent["the pump ran on day 20"]

    assert gap("immediate") > gap("short") > gap("long")


def test_without_a_question_all_that_is_in_sight_is_looked_through(tmp_path):
    packet = answer(tmp_path / "s", garden(), attention_context={"mission": "cellar"})
    assert packet.attention_trace["mode"] == "browse"
    assert len(packet.items) == 4
    assert {"cellar" in statement for statement in said(packet)[:2]} == {True}


def test_browsing_shows_messages_only_where_attention_or_the_request_asks_for_them(tmp_path):
    told = garden()
    told.turn("the hose leaks near the shed", conversation="x")
    kinds = [
        {item.item_kind for item in answer(tmp_path / str(at), again(told), **fields).items}
        for at, fields in enumerate(
            ({}, {"requested_memory_types": ["turn"]}, {"attention_context": {"focus_terms": ["hose"]}})
        )
    ]
    assert kinds == [{"atom"}, {"turn"}, {"atom", "turn"}]


def again(told):
    other = Told()
    other.rows = {name: list(rows) for name, rows in told.rows.items()}
    return other


def test_browsing_says_that_nothing_is_stored(tmp_path):
    assert answer(tmp_path / "s", Told()).empty_reason == "nothing_stored"


def test_browsing_stays_in_scope(tmp_path):
    told = Told()
    say(told, "one", "pump", "mine", scope={"project": "a"})
    say(told, "two", "pump", "hidden elsewhere", scope={"project": "b"})
    packet = answer(tmp_path / "s", told, scope={"project": "a"}, attention_context={"focus_terms": ["pump"]})
    assert said(packet) == ["User's pump is mine."]
    assert b"elsewhere" not in packet_json(packet)


def test_a_key_of_a_payload_or_the_name_of_a_field_is_no_word(tmp_path):
    packet = answer(
        tmp_path / "s", garden(), "pump pressure", attention_context={"focus_terms": ["confidence property"]}
    )
    assert all("attention_focus" not in item.score_components for item in packet.items)


def test_plain_questions_have_no_trace(tmp_path):
    packet = answer(tmp_path / "s", garden(), "pump")
    assert packet.attention_trace is None
    assert not any(name.startswith("attention") for item in packet.items for name in item.score_components)


def test_the_situation_is_the_question_where_none_is_asked(tmp_path):
    context = {"goal": "pump pressure", "entities": ["cellar"]}
    packet = answer(tmp_path / "a", garden(), task_context=context)
    assert packet.attention_trace["mode"] == "cues"
    assert len(packet.items) == 4
    beside = answer(tmp_path / "b", garden(), "pump pressure", task_context=context)
    assert "cellar" in beside.items[0].statement
    assert len(beside.items) == 3


def test_the_active_project_is_the_scope_where_none_is_named(tmp_path):
    told = Told()
    say(told, "one", "pump", "mine", scope={"project": "a"})
    say(told, "two", "pump", "theirs", scope={"project": "b"})
    packet = answer(tmp_path / "s", told, "pump", task_context={"active_project": "b"})
    assert said(packet) == ["User's pump is theirs."]
    assert packet.scope == {"project": "b"}


def test_what_the_agent_cannot_do_now_is_left_out(tmp_path):
    told = Told()
    payload = '{"property": "ability", "value": "drive the pump", "capability": "drive the pump"}'
    say(told, "one", "ability", "drive the pump", type="capability", payload=payload)
    packet = answer(
        tmp_path / "s", told, "drive pump", task_context={"denied_capabilities": ["Drive the pump"]}
    )
    assert packet.items == []
    assert packet.omissions.counts["capability_unavailable"] == 1


def act(told, value, kind="action_outcome", **payload):
    import json

    fields = json.dumps({"property": "pump repair", "value": value, **payload})
    return say(told, "so", "pump repair", value, type=kind, payload=fields)


def acts():
    told = Told()
    for number in range(5):
        act(told, f"oiled and greased {number}", agent="Kit", status="succeeded")
    act(told, "broken the seal of the old pump in the far corner of the yard", agent="Kit", status="failed")
    act(told, "done by Lou", agent="Lou", status="succeeded")
    return told


def test_successes_alone_are_no_recall_of_acts(tmp_path):
    packet = answer(
        tmp_path / "s", acts(), "pump repair oiled greased", retrieval_mode="agentic_recall",
        agentic_recall_subject="Kit", max_items=3, profile="amos.v2",
    )  # fmt: skip
    assert any("broken" in statement for statement in said(packet))
    assert not any("Lou" in statement for statement in said(packet))
    assert packet.omissions.counts["bias_guardrail_suppressed"] == 1


def test_guardrails_can_be_chosen(tmp_path):
    packet = answer(
        tmp_path / "s", acts(), "pump repair oiled greased", retrieval_mode="agentic_recall",
        agentic_recall_subject="Kit", max_items=3, profile="amos.v2", bias_guardrails=[],
    )  # fmt: skip
    assert not any("broken" in statement for statement in said(packet))


def test_whose_doing_it_was_can_be_asked_for(tmp_path):
    told = acts()
    act(told, "done together", agent="Kit", status="succeeded", responsibility_level="contributing")
    packet = answer(
        tmp_path / "s", told, "pump repair done", retrieval_mode="agentic_recall",
        agentic_recall_subject="Kit", agency_attribution_filter=["shared_system"],
    )  # fmt: skip
    assert said(packet) == ["User's pump repair is done together."]
    assert packet.profile == "amos.agentic"
    assert packet.omissions.counts["different_agent"] == 1
    assert packet.omissions.counts["attribution_not_requested"] == 6


def test_agency_is_told_and_never_guessed_from_success(tmp_path):
    told = Told()
    act(told, "done by nobody knows whom", status="succeeded")
    act(told, "done by Kit", agent="Kit", agency_confidence=0.4, correction_refs=["x"])
    packet = answer(
        tmp_path / "s",
        told,
        "pump repair done",
        retrieval_mode="agentic_recall",
        agentic_recall_subject="Kit",
    )
    unknown, kit = (about(packet, word).score_components for word in ("nobody", "Kit"))
    assert unknown["agency_match"] == 0.5
    assert unknown["over_attribution_penalty"] == 1
    assert "attribution_confidence" not in unknown
    assert (kit["agency_match"], kit["attribution_confidence"]) == (1, 0.4)
    assert kit["correction_learning_relevance"] == 1


def test_evidence_against_itself_that_is_out_of_sight_lowers_a_claim(tmp_path):
    from amos.identity import id_text

    told = Told()
    against = act(told, "failed once", agent="Kit", status="failed")
    act(told, "open about it", agent="Kit", counterevidence_refs=[id_text("atoms", against)])
    act(told, "silent about it", agent="Kit", counterevidence_refs=[id_text("atoms", bytes(range(1, 17)))])
    packet = answer(
        tmp_path / "s",
        told,
        "pump repair about",
        retrieval_mode="agentic_recall",
        agentic_recall_subject="Kit",
    )
    found = {
        word: about(packet, word).score_components.get("omitted_counterevidence_penalty", 0)
        for word in ("open", "silent")
    }
    assert found == {"open": 0, "silent": 1}
