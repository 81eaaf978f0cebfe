"""Profiles that ship: their weights, and component values worked out by hand."""

import math

import pytest
from tests.told import Told, answer

from amos.errors import InputError, UsageError
from amos.retrieval.profile import (
    MILLION,
    find_profile,
    load_profile,
    profile_names,
    profile_toml,
    read_profile,
)
from amos.schemas.ranked import COMPONENTS, SIGNALS

PUBLISHED = {
    "direct_cue_match": 0.22, "semantic_similarity": 0.14, "edge_activation": 0.12, "recency": 0.08,
    "confidence": 0.12, "utility": 0.12, "salience": 0.08, "goal_relevance": 0.08,
    "procedural_applicability": 0.04, "attention_focus": 0.14, "attention_type_boost": 0.08,
    "attention_counterevidence": 0.08, "attention_novelty": 0.05, "attention_suppression_penalty": -0.20,
    "contradicted": -0.30, "staleness_penalty": -0.18, "redundancy_penalty": -0.15, "superseded": -0.20,
}  # fmt: skip


def weights_of(name):
    weights = load_profile(name).weights
    return {one: getattr(weights, one) / MILLION for one in (*COMPONENTS, *SIGNALS) if getattr(weights, one)}


def positive(name):
    return sum(value for value in weights_of(name).values() if value > 0)


def test_the_weights_of_amos_v1_are_the_published_ones():
    assert weights_of("amos.v1") == pytest.approx(PUBLISHED)


def test_agentic_recall_shares_the_same_sum_among_more():
    published = {"agency_match": 0.16, "attribution_confidence": 0.12, "correction_learning_relevance": 0.10}
    assert positive("amos.agentic") == pytest.approx(positive("amos.v1"), abs=1e-6)
    scale = positive("amos.v1") / (positive("amos.v1") + sum(published.values()))
    found = weights_of("amos.agentic")
    for name, weight in {**PUBLISHED, **published}.items():
        assert found[name] == pytest.approx(weight * scale if weight > 0 else weight, abs=5e-6)
    assert found["over_attribution_penalty"] == found["omitted_counterevidence_penalty"] == -0.25
    assert found["ignored_failure_penalty"] == -0.20


def test_skills_are_found_by_what_they_say_and_are_linked_to():
    found = weights_of("amos.skills")
    assert (found["direct_cue_match"], found["semantic_similarity"], found["edge_activation"]) == (
        0.28,
        0.3,
        0.24,
    )
    assert found["exclusion_penalty"] == -0.35
    assert "recency" not in found


def test_every_profile_that_ships_has_version_and_origin():
    names = profile_names()
    assert names[0] == "amos.v2"
    assert {"amos.v1", "amos.agentic", "amos.skills", "words.v1"} <= set(names)
    for name in names:
        profile = load_profile(name)
        assert profile.name == name
        assert profile.version >= 1
        assert profile.fitted_on


def test_a_profile_is_its_file(tmp_path):
    for name in profile_names():
        path = tmp_path / "mine.toml"
        path.write_bytes(profile_toml(load_profile(name)))
        assert read_profile(path) == load_profile(name) == find_profile(str(path)) == find_profile(name)


@pytest.mark.parametrize("text", ["name = 3", "no toml", "name = 'x'\nfitted_on = 'y'"])
def test_a_file_that_is_no_profile_is_refused(tmp_path, text):
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(InputError, match="no ranking profile"):
        find_profile(str(path))


@pytest.mark.parametrize("name", ["amos.v9", "absent.toml"])
def test_a_profile_that_is_nowhere_is_refused(name):
    with pytest.raises(UsageError):
        find_profile(name)


def vector(words, idf):
    weight = {word: (1 + math.log(words.count(word))) * idf[word] for word in words}
    length = math.sqrt(sum(value * value for value in weight.values()))
    return {word: value / length for word, value in weight.items()}


def test_similarity_is_the_cosine_worked_out_by_hand(tmp_path):
    texts = ["apple red", "apple apple ripe", "pear green"]
    told = Told()
    for key, text in enumerate(texts):
        told.turn(text, author="Bo", is_owner=False, conversation=str(key))
    packet = answer(tmp_path / "s", told, "ripe apple", profile="amos.v1")
    words = [text.split() for text in texts]
    idf = {
        word: math.log(4 / (1 + sum(word in text for text in words))) + 1
        for word in ("apple", "red", "ripe", "pear", "green")
    }
    asked = vector(["ripe", "apple"], idf)
    wanted = {
        text: sum(value * asked.get(word, 0) for word, value in vector(text.split(), idf).items())
        for text in texts[:2]
    }
    found = {item.statement: item.score_components["semantic_similarity"] for item in packet.items}
    assert found == pytest.approx(wanted, abs=5e-4)


def test_recency_of_amos_v1_ends_after_thirty_days(tmp_path):
    told = Told()
    for days in (0, 15, 30, 90):
        told.turn(f"the bell rang {days} times", days=days, conversation=str(days))
    packet = answer(tmp_path / "s", told, "bell", profile="amos.v1")
    found = {item.statement.split()[-2]: item.score_components.get("recency", 0) for item in packet.items}
    assert found == pytest.approx({"0": 1.0, "15": 0.5, "30": 0.0, "90": 0.0})


def test_utility_and_salience_are_those_of_the_claim(tmp_path):
    told = Told()
    source = told.turn("the bell is loud", conversation="a")
    told.claim(source, "bell", "loud", utility_ppm=800_000, salience_ppm=200_000)
    (item,) = answer(tmp_path / "s", told, "bell", profile="amos.v1").items
    assert (item.score_components["utility"], item.score_components["salience"]) == (0.8, 0.2)


def test_a_goal_counts_only_where_it_has_to_do_with_the_question(tmp_path):
    told = Told()
    for key, value in enumerate(("paint the fence", "learn the fiddle")):
        source = told.turn("well", author="Bo", is_owner=False, conversation=str(key))
        told.claim(source, "goal", value, type="goal", key=str(key))
    packet = answer(tmp_path / "s", told, profile="amos.v1", attention_context={"focus_terms": ["fence"]})
    found = {item.statement: item.score_components.get("goal_relevance", 0) for item in packet.items}
    assert found == {"User wants to paint the fence.": 1.0, "User wants to learn the fiddle.": 0}


def test_what_a_procedure_is_not_for_lowers_it(tmp_path):
    told = Told()
    for key, limits in enumerate(('"not_for": ["cast iron pans"],', "")):
        payload = f'{{{limits} "property": "clean pans", "value": "soap {key}", "steps": ["soap"]}}'
        source = told.turn("so", author="Bo", is_owner=False, conversation=str(key))
        told.claim(source, "clean pans", str(key), type="procedure", payload=payload)
    packet = answer(tmp_path / "s", told, "clean cast iron pans", retrieval_mode="skill_discovery")
    penalties = [item.score_components.get("exclusion_penalty", 0) for item in packet.items]
    assert penalties == [0, 1]
