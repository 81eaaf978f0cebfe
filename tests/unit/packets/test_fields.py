"""What a request may say and a packet tells, field by field."""

import json

import msgspec
import pytest
from tests.told import NOW, Told, answer, new_shard

from amos.api import Store
from amos.errors import BusyError, UsageError
from amos.flow.recall import Recall
from amos.packets.packet import Packet, PacketItem, packet_json
from amos.packets.render import render_packet
from amos.packets.request import PacketRequest, read_request
from amos.retrieval.visibility import OWNER


def mugs(count=1, **fields):
    told = Told()
    for number in range(count):
        source = told.turn(f"My mug number {number} is blue", turn=10 * number, conversation=f"c{number}")
        told.claim(source, f"mug number {number}", "blue", **fields)
    return told


def plain(packet):
    return json.loads(packet_json(packet))


def test_a_request_has_every_field_of_the_contract():
    wanted = {
        "request_id", "client_identity", "target_processor", "retrieval_mode", "cues", "attention_context",
        "task_context", "scope", "shared_view_ref", "agentic_recall_subject", "agency_attribution_filter",
        "bias_guardrails", "requested_memory_types", "payload_filter", "result_payload_filter", "max_items",
        "consistency_requirement", "include_conflicts", "include_archived", "include_low_health",
        "include_superseded", "include_provenance", "rendering_target",
    }  # fmt: skip
    assert wanted <= set(PacketRequest.__struct_fields__)
    assert read_request({"token_or_byte_budget": {"bytes": 400}}).token_budget == 100


def test_a_packet_has_every_field_of_the_contract():
    wanted = {
        "packet_id", "schema_version", "request", "graph_version", "generated_at", "target_processor",
        "retrieval_mode", "scope", "shared_view_ref", "pressure_mode", "degradation", "items", "conflicts",
        "omissions", "attention_trace", "provenance", "cache_policy",
    }  # fmt: skip
    assert wanted <= set(Packet.__struct_fields__)
    wanted = {
        "atom_id", "type", "score", "score_components", "item_kind", "lifecycle_state", "health_status",
        "rank", "confidence", "salience", "utility", "statement", "evidence", "access_decision",
        "freshness", "scope", "updated_at", "version", "provenance",
    }  # fmt: skip
    assert wanted <= set(PacketItem.__struct_fields__)


def test_a_claim_tells_its_worth_version_and_time(tmp_path):
    packet = answer(
        tmp_path / "s", mugs(utility_ppm=700_000, salience_ppm=300_000, scope={"project": "tea"}), "mug"
    )
    (item,) = plain(packet)["items"]
    assert (item["utility"], item["salience"], item["version"]) == (0.7, 0.3, 1)
    assert item["scope"] == {"project": "tea"}
    assert item["updated_at"].startswith("2026-06-01T09:00:00")
    assert (item["freshness"], item["access_decision"]) == ("current", "allowed")


def test_a_message_has_no_worth_and_no_version(tmp_path):
    told = Told()
    told.turn("the mug is blue")
    (item,) = plain(answer(tmp_path / "s", told, "mug"))["items"]
    assert not {"utility", "salience", "version", "updated_at", "scope"} & set(item)


def test_the_callers_own_names_come_back(tmp_path):
    packet = plain(
        answer(
            tmp_path / "s", mugs(), "mug", request_id="r-7", shared_view_ref="team", client_identity="bot",
            scope={"project": "tea"},
        )
    )  # fmt: skip
    assert (packet["request_id"], packet["shared_view_ref"], packet["scope"]) == (
        "r-7", "team", {"project": "tea"},
    )  # fmt: skip
    assert packet["request"]["client_identity"] == "bot"


@pytest.mark.parametrize(
    ("level", "has_payload", "has_counts"), [(False, 0, 0), ("refs", 0, 1), (True, 1, 1)]
)
def test_provenance_comes_in_levels(tmp_path, level, has_payload, has_counts):
    packet = plain(answer(tmp_path / "s", mugs(), "mug", include_provenance=level))
    told = packet["items"][0]["provenance"] or {}
    assert ("payload" in told) == has_payload
    assert ("root_count" in told) == has_counts
    assert ("provenance" in packet) == has_counts


@pytest.mark.parametrize(
    "fields",
    [
        {"purpose": "sport"},
        {"consistency_requirement": "sometimes"},
        {"rendering_target": "song"},
        {"include_provenance": "some"},
        {"requested_memory_types": ["dream"]},
        {"agency_attribution_filter": ["fate"]},
        {"bias_guardrails": ["luck"]},
        {"attention_context": {"risk_posture": "wild"}},
        {"attention_context": {"novelty_preference": 2}},
        {"attention_context": {"focus_terms": [" "]}},
        {"attention_context": {"boost_memory_types": ["dream"]}},
        {"task_context": {"mood": "blue"}},
        {"task_context": {"entities": ["x"] * 65}},
        {"token_budget": 5, "token_or_byte_budget": 20},
        {"token_or_byte_budget": {"words": 3}},
        {"payload_filter": {str(number): 1 for number in range(17)}},
    ],
)
def test_what_makes_no_sense_is_refused(fields):
    with pytest.raises(UsageError):
        read_request({"cues": ["x"], **fields})


@pytest.mark.parametrize("processor", ["reasoner", "planner", "executor", "critic"])
def test_the_envelope_takes_a_twentieth_of_six_thousand_tokens_at_most(tmp_path, processor):
    told = mugs(60)
    for number in range(20):
        source = told.turn(f"the mug number {number} was red", conversation=f"old{number}")
        told.claim(source, f"mug number {number}", "red", intervals=[0, 1], key="old")
        stale = told.turn(f"the mug number {number} was lost", conversation=f"lost{number}")
        told.claim(stale, f"mug number {number}", "lost", health_status="stale", key="lost")
    packet = answer(
        tmp_path / "s", told, "which mug number is blue", token_budget=6_000, max_items=200,
        target_processor=processor,
    )  # fmt: skip
    assert packet.budget.tokens <= 6_000
    assert len(packet.omissions.counts) >= 3
    items = sum(len(msgspec.json.encode(item)) + 1 for item in packet.items)
    assert packet.budget.bytes - items <= packet.budget.bytes / 20


def test_equal_requests_have_equal_keys_whatever_they_are_called(tmp_path):
    with new_shard(tmp_path / "s") as shard:
        mugs().commit(shard)

        def key(**fields):
            request = read_request({"cues": ["mug"], **fields})
            with Recall(shard, OWNER) as recall:
                return recall.packet(request, packet_id=bytes(16), now=NOW).cache_policy

        assert key(request_id="a").key == key(request_id="b").key
        assert key().key != key(max_items=3).key
        assert not key().is_cacheable
        assert key(as_of_us=1_770_000_000_000_000).is_cacheable
        before = key().key
        mugs(2).commit(shard)
        assert key().key != before


def test_a_payload_filter_decides_what_is_considered_and_the_other_what_is_shown(tmp_path):
    told = mugs(3)
    asked = {"cues": ("mug number",), "include_provenance": True}
    for number, name in enumerate(("payload_filter", "result_payload_filter")):
        packet = answer(
            tmp_path / str(number), told_again(told), *asked["cues"], **{name: {"property": "mug number 1"}}
        )
        assert [item.statement for item in packet.items] == ["User's mug number 1 is blue."]
        assert packet.omissions.counts["payload_filtered"] == 2


def told_again(told):
    """Return a copy of what was told, which a commit empties."""
    other = Told()
    other.rows = {name: list(rows) for name, rows in told.rows.items()}
    return other


def test_parts_are_named_in_json_where_the_reader_wants_them(tmp_path):
    told = mugs()
    source = told.turn("I promised the mug to Bo", conversation="p")
    told.claim(source, "commitment", "give the mug to Bo", type="commitment")
    packet = plain(answer(tmp_path / "s", told, "mug", target_processor="planner", rendering_target="json"))
    ranks = {part["title"]: part["ranks"] for part in packet["sections"]}
    kinds = {item["rank"]: item["type"] for item in packet["items"]}
    assert [kinds[rank] for rank in ranks["Commitments"]] == ["commitment"]
    assert sorted(rank for part in ranks.values() for rank in part) == sorted(kinds)


@pytest.mark.parametrize("processor", ["reasoner", "planner", "executor", "critic"])
@pytest.mark.parametrize("form", ["text", "markdown", "json"])
def test_every_reader_gets_every_form(tmp_path, processor, form):
    told = mugs(1, health_status="contradicted")
    steps = json.dumps({"property": "wash the mug", "value": "rinse; dry", "steps": ["rinse", "dry"]})
    source = told.turn("To wash the mug, rinse and dry", conversation="p")
    told.claim(source, "wash the mug", "x", type="procedure", memory_class="procedure", payload=steps)
    packet = answer(tmp_path / "s", told, "mug", target_processor=processor, include_conflicts=True)
    said = render_packet(packet, form)
    assert "rinse" in said
    if processor == "executor":
        assert "dry" in said.split("steps", 1)[1]
    if form != "json":
        assert ("confidence 0.90" in said) == (processor == "critic")
        assert ("contradicted" in said) == (processor == "critic")


def test_a_dispute_is_shown_with_both_values_and_both_sides(tmp_path):
    told = Told()
    first, second = (told.turn(f"the gate is {word}", conversation=word) for word in ("red", "blue"))
    sides = [
        told.claim(source, "gate colour", word, key=word, health_status="contradicted")
        for source, word in ((first, "red"), (second, "blue"))
    ]
    told.dispute(*sides)
    packet = answer(tmp_path / "s", told, "gate colour red")
    (conflict,) = packet.conflicts
    assert {side.value for side in conflict.sides} == {"red", "blue"}
    assert all(item.is_disputed for item in packet.items)


@pytest.mark.parametrize("requirement", ["strong", "monotonic"])
def test_a_version_that_is_not_there_is_waited_for(tmp_path, monkeypatch, requirement):
    monkeypatch.setattr("amos.flow.moments.WAIT_SECONDS", 0.01)
    with Store.create(tmp_path / "s") as store, pytest.raises(BusyError, match="not there yet"):
        store.packet("mug", min_graph_version=9, consistency_requirement=requirement)


def test_an_eventual_answer_says_that_it_lags(tmp_path):
    with Store.create(tmp_path / "s") as store:
        mugs().commit(store.shard)
        behind = store.packet("mug", min_version=9, consistency_requirement="eventual")
        assert behind.items
        assert behind.degradation.index_freshness == "behind"
        assert "consistency_lag" in behind.degradation.reason_codes
        even = store.packet("mug", min_version=1, consistency_requirement="eventual")
        assert even.degradation.reason_codes == []


def test_a_strong_answer_is_never_of_an_older_state(tmp_path):
    with Store.create(tmp_path / "s") as store:
        mugs().commit(store.shard)
        for older in ({"at_version": 1}, {"known_at": "2026-06-01T10:00:00Z"}):
            with pytest.raises(UsageError, match="newest state"):
                store.packet("mug", consistency_requirement="strong", **older)
        assert store.packet("mug", consistency_requirement="strong", min_version=1).graph_version == 1
