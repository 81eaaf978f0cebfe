"""What a processor needs has a place in its packet, whatever there is more of."""

import json

import pytest
from tests.told import NOW, Told, new_shard

from amos.flow.recall import Recall
from amos.packets.processors import processor_named, processor_names, slots_of
from amos.packets.render import render_packet
from amos.packets.request import PacketRequest
from amos.retrieval.visibility import OWNER
from amos.schemas.vocabulary import AtomType


@pytest.fixture
def packet_of(tmp_path):
    """Return a function that asks what a `Told` holds."""

    def ask(told, *cues, **fields):
        with new_shard(tmp_path / "store") as shard:
            told.commit(shard)
            with Recall(shard, OWNER) as recall:
                return recall.packet(PacketRequest(cues=cues, **fields), packet_id=bytes(16), now=NOW)

    return ask


def procedure(told, name, steps):
    source = told.turn(f"To {name}: {', '.join(steps)}.")
    payload = json.dumps({"property": name, "value": "; ".join(steps), "steps": steps})
    return told.claim(source, name, "steps", type="procedure", memory_class="procedure", payload=payload)


def crowd(told, count, text="Please remember to descale the kettle soon, round {}"):
    for number in range(count):
        source = told.turn(text.format(number), turn=100 + 10 * number, conversation=f"c{number}")
        told.claim(source, "kettle descale reminder", f"descale the kettle {number}", key=str(number))


def test_many_claims_of_one_kind_do_not_crowd_out_the_one_procedure(packet_of):
    told = Told()
    crowd(told, 60)
    procedure(told, "descale the big old copper kettle in the shed", ["fill with vinegar", "boil", "rinse"])
    packet = packet_of(told, "kettle descale reminder", max_items=8)
    assert [item.type for item in packet.items].count("procedure") == 1
    scores = [item.score for item in packet.items]
    assert scores == sorted(scores, reverse=True)
    assert [item.rank for item in packet.items] == list(range(1, 9))
    assert sum(packet.omissions.counts.values()) == 61 - 8


def test_without_a_need_the_best_alone_count(packet_of):
    told = Told()
    crowd(told, 60)
    procedure(told, "descale the big old copper kettle in the shed", ["fill with vinegar", "boil", "rinse"])
    packet = packet_of(told, "kettle descale reminder", max_items=8, target_processor="other")
    assert {item.type for item in packet.items} == {"belief"}


def test_what_hardly_matches_gets_no_place(packet_of):
    told = Told()
    crowd(told, 30)
    steps = ["fill the bath", "and then the bucket", "with a reminder of the sea", "wait", "dry the dog"]
    procedure(told, "wash the dog in the yard behind the house on a warm Sunday", steps)
    packet = packet_of(told, "kettle descale reminder", max_items=8)
    assert {item.type for item in packet.items} == {"belief"}


def test_a_few_places_are_the_best_items_own(packet_of):
    told = Told()
    crowd(told, 30)
    procedure(told, "descale the big old copper kettle in the shed", ["fill with vinegar", "boil"])
    packet = packet_of(told, "kettle descale reminder", max_items=3)
    assert {item.type for item in packet.items} == {"belief"}


def test_what_is_said_again_and_again_leaves_room_for_the_rest(packet_of):
    told = Told()
    for number in range(150):
        told.turn("The choir rehearses in the barn.", turn=10 * number, conversation="a")
    told.turn("Where the choir rehearses the roof leaks.", conversation="b")
    packet = packet_of(told, "where does the choir rehearse", max_items=5)
    assert [item.statement for item in packet.items] == [
        "The choir rehearses in the barn.",
        "Where the choir rehearses the roof leaks.",
    ]
    assert {item.folded for item in packet.items} == {0, 149}
    assert packet.omissions.counts == {"redundant_folded": 149}
    assert "(said 150 times)" in render_packet(packet, "text")


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_an_executor_reads_steps_under_their_heading(packet_of, form):
    told = Told()
    told.claim(told.turn("My kettle is red."), "kettle", "red")
    procedure(told, "descale the kettle", ["fill with vinegar", "boil", "rinse"])
    packet = packet_of(told, "descale the kettle", target_processor="executor")
    lines = render_packet(packet, form).splitlines()
    headings = [line for line in lines if line.strip("# :") in {"Procedures", "Also"}]
    assert [line.strip("# :") for line in headings] == ["Procedures", "Also"]
    assert any("steps: 1) fill with vinegar; 2) boil; 3) rinse" in line for line in lines)
    assert packet.items[0].details == {"steps": ["fill with vinegar", "boil", "rinse"]}


@pytest.mark.parametrize(("strength", "shown"), [("stated", None), ("strong", {"strength": "strong"})])
def test_what_says_nothing_is_no_detail(packet_of, strength, shown):
    told = Told()
    payload = json.dumps({"property": "favourite tea", "value": "mint", "strength": strength})
    source = told.turn("My favourite tea is mint.")
    told.claim(source, "favourite tea", "mint", type="preference", payload=payload)
    assert packet_of(told, "favourite tea").items[0].details == shown


def test_every_type_that_a_slot_names_exists_once():
    kinds = {kind.value for kind in AtomType}
    for name in processor_names():
        processor = processor_named(name)
        named = [kind for slot in slots_of(processor).values() for kind in slot.types]
        assert set(named) <= kinds
        assert len(named) == len(set(named))
        assert sum(processor.needs.values()) <= 50, "half of the room is for what matches best"


def test_an_unknown_processor_reads_as_any_other():
    assert processor_named("toaster") is processor_named("other")
