"""Laws of recall: isolation, determinism, explained scores, order of arrival, budgets."""

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.told import NOW, NOW_US, Told, seen

from amos.packets.build import Recalled, build_packet
from amos.packets.packet import packet_json
from amos.packets.request import PacketRequest
from amos.retrieval.profile import load_profile
from amos.retrieval.visibility import Reader
from amos.schemas.ranked import CLAIM_CARDS, COMPONENTS, CONFLICTS, EVIDENCE

FEW = settings(max_examples=25, deadline=None)
WORDS = ["pear", "pears", "plum", "crate", "crates", "B12", "88-401", "café", "棚の鍵", "not", "the", "sort"]
TEXTS = st.lists(st.sampled_from(WORDS), max_size=7).map(" ".join)
QUESTIONS = st.lists(st.sampled_from([*WORDS, "zither", "peer"]), min_size=1, max_size=4).map(" ".join)


@st.composite
def messages(draw, *, projects=(None, "a")):
    """Draw up to a dozen messages, some of them with a claim."""
    return [
        {
            "text": draw(TEXTS),
            "key": f"k{number}",
            "turn": draw(st.integers(0, 5)),
            "conversation": draw(st.sampled_from(["x", "y"])),
            "author": draw(st.sampled_from(["Ada", "Bo"])),
            "days": draw(st.sampled_from([None, 0, 3, 40])),
            "scope": {"project": draw(st.sampled_from(projects))},
            "has_claim": draw(st.booleans()),
        }
        for number in range(draw(st.integers(0, 12)))
    ]


def told_of(drawn):
    told = Told()
    for message in drawn:
        fields = {name: value for name, value in message.items() if name not in {"has_claim", "text"}}
        source = told.turn(message["text"], **fields)
        if message["has_claim"] and message["text"]:
            claim = (message["text"].split()[0], message["text"][:20])
            told.claim(source, *claim, key=message["key"], scope=message["scope"])
    return told


def ranked(told, question, **options):
    result = told.retriever().rank([question], seen(**options), 50)
    return result.items, result.omitted, result.empty_reason


@FEW
@given(shown=messages(), hidden=messages(projects=("b",)), question=QUESTIONS)
def test_rows_of_another_scope_change_nothing(shown, hidden, question):
    others = [message | {"key": f"hidden {message['key']}"} for message in hidden]
    alone = ranked(told_of(shown), question, scope={"project": "a"})
    among = ranked(told_of(others + shown), question, scope={"project": "a"})
    assert among[0].equals(alone[0])
    assert among[1] == alone[1]
    if alone[2] != "nothing_stored":
        assert among[2] == alone[2]


@FEW
@given(shown=messages(), hidden=messages(projects=("b",)), question=QUESTIONS)
def test_rows_a_reader_may_not_see_change_nothing(shown, hidden, question):
    reader = Reader(may_read=True, scopes={"project": frozenset({"a"})})
    others = [message | {"key": f"hidden {message['key']}"} for message in hidden]
    alone = ranked(told_of(shown), question, reader=reader)
    among = ranked(told_of(shown + others), question, reader=reader)
    assert among[0].equals(alone[0])
    assert among[1] == alone[1]


@FEW
@given(drawn=messages(), question=QUESTIONS)
def test_components_recompute_to_every_score(drawn, question):
    weights = load_profile().weights
    for row in ranked(told_of(drawn), question)[0].to_pylist():
        total = sum(row[f"{name}_ppm"] * getattr(weights, name) for name in COMPONENTS)
        assert row["score_ppm"] == min(max(total // 1_000_000, 0), 1_000_000)


@FEW
@given(drawn=messages(), question=QUESTIONS, data=st.data())
def test_the_order_of_arrival_does_not_matter(drawn, question, data):
    moved = data.draw(st.permutations(drawn))
    assert ranked(told_of(moved), question)[0].equals(ranked(told_of(drawn), question)[0])


FILTERS = st.fixed_dictionaries(
    {},
    optional={
        "scope": st.just({"project": "a"}),
        "as_of_us": st.just(NOW_US - 5 * 86_400_000_000),
        "now_us": st.just(NOW_US + 1),
        "include_superseded": st.booleans(),
        "types": st.just(("belief",)),
    },
)


@FEW
@given(drawn=messages(), asked=st.lists(st.tuples(QUESTIONS, FILTERS), max_size=5))
def test_many_questions_at_once_equal_one_by_one(drawn, asked):
    told = told_of(drawn)
    many = told.retriever().rank_many([([text], seen(**options)) for text, options in asked], 20)
    for (text, options), together in zip(asked, many, strict=True):
        alone = told.retriever().rank([text], seen(**options), 20)
        assert together.items.equals(alone.items)
        assert together.omitted == alone.omitted


@FEW
@given(drawn=messages(), question=QUESTIONS, k=st.integers(1, 12))
def test_fewer_items_are_the_first_of_more(drawn, question, k):
    retriever = told_of(drawn).retriever()
    few, many = (retriever.rank([question], seen(), count) for count in (k, 50))
    assert few.items.equals(many.items.slice(0, k))
    assert few.total == many.total == many.items.num_rows


@FEW
@given(drawn=messages(), question=QUESTIONS)
def test_no_turn_and_no_claim_is_shown_twice(drawn, question):
    items = ranked(told_of(drawn), question)[0]
    turns = items.filter(items["atom_id"].is_null())["source_id"].to_pylist()
    claims = items["atom_id"].drop_null().to_pylist()
    assert len(set(turns)) == len(turns)
    assert len(set(claims)) == len(claims)


@FEW
@given(
    drawn=messages(),
    question=QUESTIONS,
    items=st.integers(1, 6),
    tokens=st.sampled_from([200, 420, 900, 6_000]),
)
def test_a_packet_stays_within_its_budget(tokens, drawn, question, items):
    result = told_of(drawn).retriever().rank([question], seen(), items + 16)
    recalled = Recalled(
        items=result.items,
        evidence=EVIDENCE.empty_table(),
        claims=CLAIM_CARDS.empty_table(),
        conflicts=CONFLICTS.empty_table(),
        sample=result.sample,
        omitted=result.omitted,
        empty_reason=result.empty_reason,
        total=result.total,
        is_withheld=result.is_withheld,
        profile=result.profile,
        graph_version=1,
    )
    request = PacketRequest(cues=(question,), max_items=items, token_budget=tokens)
    packet = build_packet(request, recalled, packet_id=bytes(16), now=NOW).packet
    size = len(packet_json(packet))
    assert packet.budget.bytes == size
    assert len(packet.items) <= items
    assert size <= tokens * 4 or not packet.items
    left_out = sum(packet.omissions.counts.get(name, 0) for name in ("budget_exhausted", "redundant_folded"))
    assert len(packet.items) + left_out == result.total
    assert msgspec.json.decode(packet_json(packet))["budget"]["items"] == len(packet.items)
