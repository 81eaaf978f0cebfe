"""Statements: rendered sentences for each kind of claim."""

import msgspec
import pytest

from amos.atoms.statement import statement_of
from amos.schemas.labels import Label


def said(kind, fields, polarity="positive", subject="user"):
    """Return the statement of a claim with payload `fields`."""
    return statement_of(
        kind, msgspec.json.encode(fields).decode(), polarity, Label(subject, is_author=subject == "user")
    )


DIET = {"property": "diet", "value": "vegan"}
RYE = {"property": "preference", "value": "rye"}
REQUEST = {
    "property": "caffeine",
    "value": "caffeine",
    "applicability": {"request": True, "time_of_day": "evening"},
}


@pytest.mark.parametrize(
    ("statement", "sentence"),
    [
        (said("belief", DIET), "User's diet is vegan."),
        (said("belief", DIET, "negative"), "User's diet is not vegan."),
        (
            said("belief", {"property": "extension", "value": "4417"}, subject="Petra"),
            "Petra's extension is 4417.",
        ),
        (said("preference", RYE), "User likes rye."),
        (said("preference", RYE, "negative"), "User avoids rye."),
        (said("goal", {"property": "goal", "value": "learn to sail"}), "User wants to learn to sail."),
        (said("commitment", {"property": "commitment", "value": "call Bo"}), "User promised to call Bo."),
        (said("goal", {"property": "goal", "value": "saving for a kayak"}), "User is saving for a kayak."),
        (said("belief", {"property": "possession", "value": "two goats"}), "User has two goats."),
        (said("belief", {"property": "possession", "value": "car"}, "negative"), "User has no car."),
        (said("belief", {"property": "drink", "value": "tea", "claim": "I drink tea"}), "User drinks tea."),
        (
            said("belief", {"property": "eat", "value": "squid", "claim": "I can't eat squid"}, "negative"),
            "User does not eat squid.",
        ),
        (
            said("belief", {"property": "possession", "value": "owl", "article": "an"}, subject="Robin"),
            "Robin has an owl.",
        ),
        (
            said("belief", {"property": "activity", "value": "knitting my socks"}),
            "User is knitting their socks.",
        ),
        (said("belief", {"property": "activity", "value": "woodcut"}), "User's activity is woodcut."),
        (said("belief", {"property": "visited place", "value": "Riga"}), "User has been to Riga."),
        (
            said("belief", {"property": "visited place", "value": "Riga"}, "negative"),
            "User has never been to Riga.",
        ),
        (said("belief", {"property": "ability", "value": "weld"}, "negative"), "User cannot weld."),
        (said("belief", {"property": "rent", "value": "900"}), "User's rent is 900."),
        (said("belief", {"property": "rent", "value": "900"}, subject="her"), "Her rent is 900."),
        (said("belief", {"property": "name", "value": "Heron"}, subject="its"), "Its name is Heron."),
        (
            said("preference", {"property": "preference", "value": "my job"}, "negative"),
            "User avoids their job.",
        ),
        (said("belief", {"claim": "lorries leave on Mondays"}, subject="x"), "Lorries leave on Mondays."),
        (said("belief", {"claim": "I keep bees"}), "User: I keep bees."),
        (said("preference", REQUEST, "negative"), "User asks for no caffeine this evening."),
    ],
)
def test_a_claim_reads_as_a_sentence(statement, sentence):
    assert statement == sentence
