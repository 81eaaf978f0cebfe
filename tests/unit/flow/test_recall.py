import json

import pytest
from tests.told import NOW, NOW_US, Told, new_shard

from amos.errors import UsageError
from amos.flow.recall import Recall, interval_at
from amos.identity import id_text
from amos.packets.packet import packet_json
from amos.packets.request import PacketRequest
from amos.retrieval.profile import load_profile
from amos.retrieval.visibility import NOBODY, OWNER
from amos.schemas.state import ENDED_UNKNOWN, OPEN_FROM, OPEN_UNTIL


@pytest.fixture
def shard(tmp_path):
    with new_shard(tmp_path / "store") as opened:
        yield opened


def packet(shard, *cues, reader=OWNER, **fields):
    with Recall(shard, reader) as recall:
        made = recall.packet(PacketRequest(cues=cues, **fields), packet_id=bytes(16), now=NOW)
    return json.loads(packet_json(made))


def orchard():
    told = Told()
    for number in range(40):
        told.turn(f"Tree {number} in the orchard bears pears", conversation=f"c{number}", days=number)
    return told


def test_a_packet_has_the_contracted_keys(shard):
    told = Told()
    source = told.turn("My bicycle lock opens with 4471")
    told.claim(source, "bicycle lock code", "4471", span=(0, 31))
    told.commit(shard)
    answer = packet(shard, "bicycle lock")
    assert {
        "packet_id",
        "graph_version",
        "request",
        "items",
        "conflicts",
        "omissions",
        "degradation",
        "attention_trace",
        "empty_reason",
        "budget",
    } <= set(answer)
    (item,) = answer["items"]
    assert item["atom_id"].startswith("atm_")
    assert item["statement"] == "User's bicycle lock code is 4471."
    (evidence,) = item["evidence"]
    assert evidence["excerpt"] == "My bicycle lock opens with 4471"
    assert (evidence["start"], evidence["end"]) == (0, 31)
    assert evidence["spans"] == [[0, 31]]
    assert evidence["author"] == "user"
    assert evidence["event_time"] == "2026-06-01T09:00:00.000000Z"
    assert answer["graph_version"] == 1
    assert answer["empty_reason"] is None
    assert answer["request"] == {"cues": ["bicycle lock"]}


def test_printed_components_recompute_to_the_printed_score(shard):
    orchard().commit(shard)
    weights = load_profile().weights
    for item in packet(shard, "which tree bears pears")["items"]:
        parts = [
            getattr(weights, name) * round(share * 1e6) for name, share in item["score_components"].items()
        ]
        assert item["score"] == sum(parts) // 1_000_000 / 1e6


def test_the_budget_counts_the_whole_json(shard):
    orchard().commit(shard)
    answer = packet(shard, "orchard pears", token_budget=900)
    size = len(json.dumps(answer, ensure_ascii=False, separators=(",", ":")).encode())
    assert answer["budget"]["bytes"] == size <= 3_600
    assert answer["budget"]["tokens"] == -(-size // 4)
    assert 0 < len(answer["items"]) < 40
    assert answer["omissions"]["counts"]["budget_exhausted"] == 40 - len(answer["items"])
    assert len(answer["omissions"]["sample"]) == 5


def test_max_items_is_kept_and_the_rest_is_counted(shard):
    orchard().commit(shard)
    answer = packet(shard, "orchard pears", max_items=3)
    assert [item["rank"] for item in answer["items"]] == [1, 2, 3]
    assert answer["omissions"]["counts"]["budget_exhausted"] == 37


def test_a_budget_too_small_says_what_is_needed_and_that_is_enough(shard):
    orchard().commit(shard)
    answer = packet(shard, "orchard pears", token_budget=10)
    needed = answer["budget"]["needed_tokens"]
    assert answer["items"] == []
    assert answer["empty_reason"] is None
    assert needed > 10
    assert len(packet(shard, "orchard pears", token_budget=needed)["items"]) == 1


def test_a_large_item_does_not_keep_smaller_ones_out(shard):
    told = Told()
    told.turn("quartz " + "quartz and a great many further words about stones. " * 30, conversation="a")
    told.turn("a quartz", conversation="b")
    told.commit(shard)
    small = packet(shard, "quartz", token_budget=440)
    assert [item["evidence"][0]["excerpt"] for item in small["items"]] == ["a quartz"]


def test_a_disputed_property_shows_every_side(shard):
    told = Told()
    one, two = told.turn("The well is nine metres deep"), told.turn("The well is twelve metres deep")
    sides = [
        told.claim(one, "well depth", "9 m", health_status="contradicted"),
        told.claim(two, "well depth", "12 m", health_status="contradicted"),
    ]
    told.dispute(*sides)
    told.commit(shard)
    answer = packet(shard, "well depth", max_items=1)
    (conflict,) = answer["conflicts"]
    assert {side["value"] for side in conflict["sides"]} == {"9 m", "12 m"}
    assert conflict["property"] == "well depth"
    assert answer["items"][0]["is_disputed"]
    planned = packet(shard, "well depth", target_processor="planner")
    assert planned["conflicts"] == []
    assert planned["omissions"]["counts"]["contradicted"] == 2


def test_a_side_out_of_scope_is_not_shown(shard):
    told = Told()
    scopes = ({"project": "a"}, {"project": "b"})
    sides = [
        told.claim(
            told.turn("The well is deep", scope=scope),
            "well depth",
            value,
            health_status="contradicted",
            scope=scope,
        )
        for scope, value in zip(scopes, ("9 m", "12 m"), strict=True)
    ]
    told.dispute(*sides)
    told.commit(shard)
    answer = packet(shard, "well depth", scope={"project": "a"})
    assert "12 m" not in json.dumps(answer)
    assert answer["conflicts"] == []


def test_provenance_comes_when_asked_for(shard):
    told = Told()
    told.claim(told.turn("My scarf is wool"), "scarf", "wool")
    told.commit(shard)
    assert packet(shard, "scarf")["items"][0]["provenance"] is None
    shown = packet(shard, "scarf", include_provenance=True)["items"][0]["provenance"]
    assert shown["payload"]["value"] == "wool"


def test_an_empty_store_answers(shard):
    answer = packet(shard, "anything")
    assert answer["graph_version"] is None
    assert answer["empty_reason"] == "nothing_stored"
    assert answer["items"] == []


def test_nobody_learns_nothing(shard):
    orchard().commit(shard)
    answer = packet(shard, "orchard pears", reader=NOBODY)
    assert answer["items"] == []
    assert answer["omissions"] == {"counts": {}, "sample": [], "withheld": True}
    assert answer["empty_reason"] == "nothing_visible"


def test_a_cut_message_shows_no_control_characters_as_words(shard):
    told = Told()
    told.turn("My code is \x1a\x1a\x1a\x1a and my plant is a fern")
    told.commit(shard)
    (item,) = packet(shard, "fern")["items"]
    (evidence,) = item["evidence"]
    assert evidence["end"] == 38
    assert evidence["excerpt"] == item["statement"] == "My code is [cut] and my plant is a fern"


def test_a_message_of_which_nothing_is_left_is_counted_and_never_an_item(shard):
    told = Told()
    told.turn("Where does the ferry to the island leave", author="Bo", key="a", turn=0)
    gone = told.turn("\x1a" * 30 + ".", key="b", turn=1)
    told.turn("The ferry leaves from the northern pier", author="Bo", key="c", turn=2)
    told.commit(shard)
    answer = packet(shard, "ferry to the island northern pier")
    shown = [entry["source_id"] for item in answer["items"] for entry in item["evidence"]]
    assert len(shown) == 2
    assert id_text("sources", gone) not in shown
    assert answer["omissions"]["counts"] == {"erased": 1}
    with Recall(shard, OWNER) as recall:
        request = PacketRequest(cues=("ferry",))
        page = recall.search("ferry to the island northern pier", request, limit=9, cursor=None, now=NOW)
    assert id_text("sources", gone) not in [row["source_id"] for row in page.rows]


def test_an_excerpt_begins_where_something_is_left(shard):
    told = Told()
    told.turn("Which seeds grow on the roof", author="Bo", key="a", turn=0)
    told.turn("\x1a" * 900 + " Sow them in April, thinly. " + "Water them daily. " * 30, key="b", turn=1)
    told.turn("Do these seeds grow on the roof", author="Bo", key="c", turn=2)
    told.commit(shard)
    answer = packet(shard, "which seeds grow on the roof")
    shown = [entry["excerpt"] for item in answer["items"] for entry in item["evidence"]]
    assert len(shown) == 3
    assert any("Sow them in April" in excerpt for excerpt in shown)


def test_a_caption_that_matches_is_cited_beside_its_message(shard):
    told = Told()
    told.turn("Look at this!", key="pic", block=0)
    told.turn("a heron on a frozen pond", key="pic", block=1, kind="caption")
    told.commit(shard)
    (item,) = packet(shard, "heron")["items"]
    assert [entry["excerpt"] for entry in item["evidence"]] == ["Look at this!", "a heron on a frozen pond"]
    assert [entry["kind"] for entry in item["evidence"]] == ["text", "caption"]


def test_an_inflected_form_of_another_language_is_marked(shard):
    told = Told()
    told.turn("Wir haben die alten Häuser an der Küste gesehen")
    told.commit(shard)
    (item,) = packet(shard, "Haus")["items"]
    ((start, end),) = item["evidence"][0]["matches"]
    assert "Wir haben die alten Häuser an der Küste gesehen".encode()[start:end].decode() == "Häuser"


def pages(shard, text, limit):
    seen, cursor = [], None
    with Recall(shard, OWNER) as recall:
        while True:
            page = recall.search(text, PacketRequest(cues=(text,)), limit=limit, cursor=cursor, now=NOW)
            seen.append(page.rows)
            cursor = page.cursor
            if cursor is None:
                return seen, page.total


def test_pages_of_a_search_hold_every_row_once(shard):
    orchard().commit(shard)
    found, total = pages(shard, "orchard pears", 15)
    rows = [row for page in found for row in page]
    assert [len(page) for page in found] == [15, 15, 10]
    assert total == len({row["source_id"] for row in rows}) == 40
    assert [row["rank"] for row in rows] == list(range(1, 41))
    assert rows[0]["excerpt"].startswith("Tree")
    assert set(rows[0]) >= {
        "item_kind",
        "atom_id",
        "source_id",
        "score",
        "statement",
        "excerpt",
        "event_time",
        "author",
    }


def test_a_cursor_of_another_search_is_refused(shard):
    orchard().commit(shard)
    with Recall(shard, OWNER) as recall:
        request = PacketRequest(cues=("x",))
        cursor = recall.search("pears", request, limit=3, cursor=None, now=NOW).cursor
        with pytest.raises(UsageError):
            recall.search("orchard", request, limit=3, cursor=cursor, now=NOW)
        for nonsense in ("", "!!", "AAAA", cursor[:-5]):
            with pytest.raises(UsageError):
                recall.search("pears", request, limit=3, cursor=nonsense, now=NOW)
        with pytest.raises(UsageError):
            recall.search("pears", request, limit=0, cursor=None, now=NOW)


@pytest.mark.parametrize(
    ("intervals", "shown"),
    [
        ([OPEN_FROM, OPEN_UNTIL], (None, None)),
        ([OPEN_FROM, NOW_US - 5], (None, NOW_US - 5)),
        ([NOW_US - 5, OPEN_UNTIL], (NOW_US - 5, None)),
        ([10, 20, NOW_US - 5, OPEN_UNTIL], (NOW_US - 5, None)),
        ([OPEN_FROM, ENDED_UNKNOWN], (None, None)),
        ([], (None, None)),
    ],
)
def test_the_interval_shown_is_the_one_that_holds(intervals, shown):
    assert interval_at(intervals, NOW_US) == shown
