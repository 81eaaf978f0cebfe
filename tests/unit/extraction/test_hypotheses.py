"""A preference that one good outcome suggests: proposed as what it is, an unsure generalisation."""

import json

import pytest

from claims_read import claims_of, excerpt


def hypotheses(text, **settings):
    return [claim for claim in claims_of(text, **settings) if claim["pattern"].endswith(".hypothesis")]


@pytest.mark.parametrize(
    ("text", "thing"),
    [
        ("Last time the mint tea worked well.", "mint tea"),
        ("The oat soup did the trick last time.", "oat soup"),
        ("Last time the sage balm helped a lot for my elbow.", "sage balm"),
    ],
)
def test_a_good_outcome_suggests_a_preference_that_cites_the_thing_alone(text, thing):
    (claim,) = hypotheses(text)
    assert (claim["type"], claim["subject"], claim["value"]) == ("preference", "user", thing)
    assert (claim["polarity"], claim["confidence"], claim["time_text"]) == ("positive", 40, None)
    assert excerpt(text, claim) == thing
    assert json.loads(claim["payload"])["derivation"] == "generalised_from_one_outcome"


@pytest.mark.parametrize(
    "text",
    [
        "Last time the new glue failed on the chair.",
        "Last time the mint tea kept me awake.",
        "Last time the soup tasted awful.",
        "My old tent failed last time.",
        "I like mint tea.",
    ],
)
def test_what_did_no_good_suggests_nothing(text):
    assert hypotheses(text) == []


def test_a_doubted_or_supposed_outcome_suggests_no_more_than_itself():
    (claim,) = hypotheses("Maybe last time the sage balm worked well for my elbow.")
    assert claim["modality"] == "uncertain"
    assert {one["modality"] for one in hypotheses("If last time the sage tea worked well, fine.")} <= {
        "hypothetical"
    }


def test_the_rules_as_they_were_suggest_nothing():
    from amos.extraction.grammar import load_grammar
    from amos.extraction.propose import propose
    from claims_read import sources

    table = sources(["Last time the mint tea worked well."])
    claims = propose(table, load_grammar("rules@1"), is_compiled=False).claims
    assert claims["type"].to_pylist() == ["episode"]
