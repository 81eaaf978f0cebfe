"""Activation over typed edges, against a search of every path."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.told import Told, answer

from amos.retrieval.graph import Edges, arcs_between, known_factor, spread_activation
from amos.retrieval.profile import MILLION, Activation, load_profile

RELATIONS = ("supports", "contradicts", "nothing", "other")
RULE = Activation(
    hops=3,
    decay=550_000,
    reverse=800_000,
    threshold=1_000,
    seed=220_000,
    other=500_000,
    relations={"supports": 900_000, "contradicts": -650_000, "nothing": 0},
)


def edges_of(triples, factors=None):
    columns = list(zip(*triples, strict=True)) or [(), (), ()]
    return Edges(
        source=np.array(columns[0], np.int64),
        target=np.array(columns[2], np.int64),
        relation=np.array([RELATIONS.index(name) for name in columns[1]], np.int64),
        relations=RELATIONS,
        factor=np.array(factors or [MILLION] * len(triples), np.int64),
    )


def spread(triples, seeds, *, eligible=None, rule=RULE, factors=None):
    seeds = np.array(seeds, np.int64)
    shown = np.ones(len(seeds), bool) if eligible is None else np.array(eligible, bool)
    arcs = arcs_between(edges_of(triples, factors), shown, rule)
    return tuple(part.tolist() for part in spread_activation(arcs, seeds, rule))


def strongest_edges(triples, rule):
    """Return (number, source, target, weight) of one edge for each pair of claims."""
    pairs = {}
    for number, (source, relation, target) in enumerate(triples):
        weight = rule.weight(relation)
        known = pairs.get(frozenset((source, target)))
        if source != target and (known is None or abs(weight) > abs(known[3])):
            pairs[frozenset((source, target))] = (number, source, target, weight)
    return list(pairs.values())


def cut(value):
    return -(-value // MILLION) if value < 0 else value // MILLION


def steps_from(at, edges, rule):
    """Yield (edge, other end, share) of every way to leave a claim."""
    degree = sum(at in edge[1:3] for edge in edges)
    for number, source, target, weight in edges:
        if at == source:
            yield number, target, int(weight / np.sqrt(degree))
        elif at == target:
            yield number, source, int(cut(weight * rule.reverse) / np.sqrt(degree))


def by_every_path(triples, seeds, rule):
    """Return activation and inhibition by walking every path, edge by edge."""
    edges = strongest_edges(triples, rule)
    best, worst = [0] * len(seeds), [0] * len(seeds)

    def walk(at, value, last, hop):
        for number, there, share in steps_from(at, edges, rule) if hop < rule.hops else ():
            arrived = cut(value * share)
            arrived = cut(arrived * rule.decay) if hop else arrived
            if number == last:
                continue
            if arrived < 0:
                worst[there] = max(worst[there], -arrived)
            elif arrived >= rule.threshold:
                best[there] = max(best[there], arrived)
                walk(there, arrived, number, hop + 1)

    for at, seed in enumerate(seeds):
        if seed >= rule.threshold:
            walk(at, seed, None, 0)
    return best, worst


graphs = st.lists(
    st.tuples(st.integers(0, 6), st.sampled_from(RELATIONS), st.integers(0, 6)), max_size=14, unique=True
)


@given(graphs, st.lists(st.integers(0, MILLION), min_size=7, max_size=7))
def test_what_arrives_is_the_best_and_the_worst_of_all_paths(triples, seeds):
    assert spread(triples, seeds) == by_every_path(triples, seeds, RULE)


def test_hand_worked_paths():
    best, worst = spread([(0, "supports", 1), (1, "other", 2), (3, "contradicts", 0)], [MILLION, 0, 0, 0])
    # 0 has two edges: 900,000 / √2; then 1 has two: 500,000 / √2 of it, times .55
    assert best == [0, 636_396, 123_749, 0]
    # against its direction: .8 · 650,000 / √2
    assert worst == [0, 0, 0, 367_695]


def test_nothing_comes_back_over_the_edge_it_left_by():
    best, _ = spread([(0, "supports", 1)], [MILLION, 0])
    assert best == [0, 900_000]


def test_what_inhibits_goes_no_further():
    best, worst = spread([(0, "contradicts", 1), (1, "supports", 2)], [MILLION, 0, 0])
    assert best == [0, 0, 0]
    assert worst[1] > 0
    assert worst[2] == 0


def test_a_relation_of_no_weight_carries_nothing():
    assert spread([(0, "nothing", 1)], [MILLION, 0]) == ([0, 0], [0, 0])


def test_what_is_out_of_sight_is_no_way():
    triples = [(0, "supports", 1), (1, "supports", 2)]
    best, _ = spread(triples, [MILLION, 0, 0], eligible=[True, False, True])
    assert best == [0, 0, 0]


def test_no_more_than_three_edges():
    chain = [(at, "supports", at + 1) for at in range(5)]
    best, _ = spread(chain, [MILLION, 0, 0, 0, 0, 0])
    assert [bool(value) for value in best] == [False, True, True, True, False, False]


def test_a_hub_gains_nothing_by_its_edges():
    """Sixty weak matches point at a hub; the one strong match points at what it supports."""
    triples = [(2 + at, "supports", 0) for at in range(60)] + [(62, "supports", 1)]
    best, _ = spread(triples, [0, 0, *[100_000] * 60, MILLION])
    assert best[1] > best[0]
    alone, _ = spread([(2, "supports", 0)], [0, 0, 100_000])
    assert best[0] == alone[0]


def test_a_hub_that_matches_gives_each_neighbour_little():
    few, _ = spread([(0, "supports", 1)], [MILLION, 0])
    many, _ = spread([(0, "supports", at) for at in range(1, 101)], [MILLION, *[0] * 100])
    assert many[1] == few[1] // 10


def test_what_outcomes_taught_of_an_edge_counts():
    plain, _ = spread([(0, "supports", 1)], [MILLION, 0])
    taught, _ = spread([(0, "supports", 1)], [MILLION, 0], factors=[350_000])
    assert taught[1] == plain[1] * 35 // 100
    assert known_factor({b"a": 5}, [b"a", b"b"]).tolist() == [5, MILLION]


@pytest.mark.parametrize("profile", ["amos.v1", "amos.v2"])
def test_a_linked_claim_comes_without_a_word_of_the_question(tmp_path, profile):
    told = Told()
    first = told.claim(told.turn("the kiln is cold", conversation="a"), "kiln", "cold")
    second = told.claim(told.turn("glaze sheds", conversation="b"), "glaze", "sheds", confidence_ppm=100_000)
    told.claim(told.turn("the cat sleeps", conversation="c"), "cat", "asleep")
    told.edge(first, "supports", second)
    packet = answer(tmp_path / "s", told, "kiln cold", profile=profile)
    assert [item.statement for item in packet.items] == ["User's kiln is cold.", "User's glaze is sheds."]
    assert packet.items[1].score_components["edge_activation"] > 0.5


def test_a_contradiction_inhibits_by_the_default_profile(tmp_path):
    told = Told()
    first = told.claim(told.turn("the kiln is cold", conversation="a"), "kiln", "cold")
    second = told.claim(told.turn("the kiln glows", conversation="b"), "kiln", "glowing", key="b")
    told.edge(first, "contradicts", second)
    packet = answer(tmp_path / "s", told, "kiln cold")
    told = {item.statement: item.score_components for item in packet.items}
    assert told["User's kiln is glowing."]["inhibition_penalty"] > 0.5


@pytest.mark.parametrize("profile", ["amos.v1", "amos.v2", "amos.agentic", "amos.skills"])
def test_a_score_is_the_weighted_sum_of_what_is_told(tmp_path, profile):
    told = Told()
    claims = [
        told.claim(told.turn(f"the kiln number {at} is cold", conversation=str(at)), f"kiln {at}", "cold",
                   type=kind, health_status=health)
        for at, (kind, health) in enumerate(
            (("belief", "healthy"), ("goal", "overgeneralized"), ("procedure", "healthy"),
             ("limitation", "healthy"))
        )
    ]  # fmt: skip
    for at in range(3):
        told.edge(claims[at], ("supports", "contradicts", "uses")[at], claims[at + 1])
    attention = {
        "focus_terms": ["kiln 2"], "suppress_terms": ["kiln 1"], "boost_memory_types": ["goal"],
        "counterevidence_required": True, "novelty_preference": 0.7,
    }  # fmt: skip
    packet = answer(tmp_path / "s", told, "kiln cold", profile=profile, attention_context=attention)
    weights = load_profile(profile).weights
    assert len(packet.items) == 4
    for item in packet.items:
        assert all(0 <= share <= 1 for share in item.score_components.values())
        total = sum(share * getattr(weights, name) for name, share in item.score_components.items())
        assert item.score == pytest.approx(min(max(total / MILLION, 0), 1), abs=2e-6)
