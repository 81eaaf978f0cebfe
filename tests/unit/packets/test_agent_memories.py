"""What an agent with many memories is given: the one that answers, not whatever there is most of."""

import json
from collections import Counter

import pytest
from tests.agent_memories import Memory, memories, tell, told_agent
from tests.told import Told, answer, seen

ANSWER = Memory(
    "belief", "spare key of the observatory", "under the third flowerpot",
    "The spare key of the observatory is under the third flowerpot.",
)  # fmt: skip
RITE = Memory(
    "procedure", "defrost the cold store", "empty it; open the hatch; wait",
    "To defrost the cold store: empty it, open the hatch, wait.",
    {"steps": ["empty it", "open the hatch", "wait"]},
)  # fmt: skip


def first(packet):
    return packet.items[0].statement


def test_the_generator_is_steady_and_repeats_nothing():
    made = list(memories(2_000))
    assert made == list(memories(2_000))
    assert Counter(one.type for one in made) == dict.fromkeys(
        ("belief", "preference", "procedure", "episode"), 500
    )
    assert len({one.text for one in made}) > 1_900


@pytest.mark.parametrize("profile", ["amos.v2", "amos.v1"])
@pytest.mark.parametrize(
    "question", ["where is the spare key of the observatory", "which flowerpot is the key under"]
)
def test_what_answers_comes_first_however_old_and_little_used(tmp_path, profile, question):
    told = told_agent(1_200, utility_ppm=900_000, salience_ppm=900_000)
    tell(told, ANSWER, days=2_000, utility_ppm=300_000, salience_ppm=100_000, confidence_ppm=500_000)
    packet = answer(tmp_path / "s", told, question, profile=profile)
    assert "flowerpot" in first(packet)


@pytest.mark.nightly
def test_what_answers_comes_first_among_a_hundred_thousand():
    told = told_agent(100_000, utility_ppm=900_000, salience_ppm=900_000)
    key = tell(told, ANSWER, days=2_000, utility_ppm=300_000, confidence_ppm=500_000)
    ranking = told.retriever().rank(["where is the spare key of the observatory"], seen(), 10)
    assert ranking.items["atom_id"][0].as_py() == key


@pytest.mark.parametrize("processor", ["reasoner", "planner", "executor"])
def test_forty_that_say_nearly_the_same_never_crowd_out_the_one_procedure(tmp_path, processor):
    told = told_agent(300)
    for number in range(40):
        text = f"Remember to defrost the cold store this week, notice {number}"
        tell(told, Memory("belief", "cold store defrost notice", text, text))
    tell(told, RITE, days=900, utility_ppm=300_000)
    packet = answer(
        tmp_path / "s", told, "defrost the cold store notice", max_items=8, target_processor=processor
    )
    assert [item.type for item in packet.items].count("procedure") == 1
    steps = next(item.details for item in packet.items if item.type == "procedure")
    assert steps["steps"] == ["empty it", "open the hatch", "wait"]


def test_what_was_replaced_is_history(tmp_path):
    told = told_agent(200)
    tell(told, ANSWER, intervals=[0, 1_700_000_000_000_000])
    now = Memory(
        "belief", "spare key of the observatory", "with the porter", "The key is with the porter now."
    )
    tell(told, now)
    packet = answer(tmp_path / "a", again(told), "spare key of the observatory")
    assert "porter" in first(packet)
    assert not any("flowerpot" in item.statement for item in packet.items)
    assert packet.omissions.counts["superseded"] >= 1
    past = answer(tmp_path / "b", told, "spare key of the observatory", purpose="historical")
    assert {item.freshness for item in past.items if "flowerpot" in item.statement} == {"ended"}
    assert "porter" in first(past)


def test_what_is_contradicted_comes_with_its_other_side_or_not_at_all(tmp_path):
    told = told_agent(200)
    other = Memory("belief", "spare key of the observatory", "in the shed", "The key is in the shed.")
    sides = [tell(told, one, health_status="contradicted") for one in (ANSWER, other)]
    slot = told.rows["atoms"][-2]["slot_id"]
    told.rows["atoms"][-1]["slot_id"] = slot
    told.dispute(*sides)
    both = answer(tmp_path / "a", again(told), "spare key of the observatory")
    (conflict,) = both.conflicts
    assert {side.value for side in conflict.sides} == {"under the third flowerpot", "in the shed"}
    plain = answer(tmp_path / "b", told, "spare key of the observatory", target_processor="planner")
    assert not any("key" in item.statement for item in plain.items if item.atom_id)
    assert plain.omissions.counts["contradicted"] == 2


def again(told):
    other = Told()
    other.rows = {name: list(rows) for name, rows in told.rows.items()}
    return other


@pytest.mark.parametrize("profile", ["amos.v2", "amos.v1"])
def test_a_hub_does_not_win_by_its_edges(tmp_path, profile):
    told = told_agent(200)
    key = tell(told, ANSWER)
    hub = tell(told, Memory("belief", "house rule", "log all", "Log all."))
    for row in told.rows["atoms"][:150]:
        told.edge(row["atom_id"], "supports", hub)
    told.edge(key, "supports", hub)
    packet = answer(tmp_path / "s", told, "spare key of the observatory", profile=profile)
    assert "flowerpot" in first(packet)
    found = [item for item in packet.items if "log all" in item.statement.lower()]
    assert all(item.score < packet.items[0].score for item in found)


def test_only_the_link_tells_and_it_is_told(tmp_path):
    told = told_agent(200)
    key = tell(told, ANSWER)
    note = tell(told, Memory("limitation", "porter", "off on Mondays", "The porter is off on Mondays."))
    told.edge(key, "has_limitation", note)
    packet = answer(tmp_path / "s", told, "spare key of the observatory", target_processor="executor")
    linked = next(item for item in packet.items if "Mondays" in item.statement)
    assert linked.score_components["edge_activation"] > 0.5


def test_a_question_about_nothing_stored_gets_nothing(tmp_path):
    told = told_agent(400)
    packet = answer(tmp_path / "s", told, "submarine warranty terms")
    assert packet.items == []
    assert packet.empty_reason == "no_match"


def test_a_packet_of_an_agent_is_json(tmp_path):
    from amos.packets.packet import packet_json

    packet = answer(
        tmp_path / "s", told_agent(40), "restart the chiller of room 3", target_processor="executor"
    )
    assert json.loads(packet_json(packet))["items"][0]["details"]["steps"]
