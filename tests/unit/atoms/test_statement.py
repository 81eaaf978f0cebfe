"""Statements: rendered sentences for each kind of claim."""

import msgspec
import pytest

from amos.atoms.statement import statement_of


@pytest.mark.parametrize(
    ("kind", "fields", "polarity", "subject", "sentence"),
    [
        ("belief", {"property": "diet", "value": "vegan"}, "positive", "user", "User's diet is vegan."),
        ("belief", {"property": "diet", "value": "vegan"}, "negative", "user", "User's diet is not vegan."),
        ("belief", {"property": "extension", "value": "4417"}, "positive", "Petra", "Petra's extension is 4417."),
        ("preference", {"property": "preference", "value": "rye"}, "positive", "user", "User likes rye."),
        ("preference", {"property": "preference", "value": "rye"}, "negative", "user", "User avoids rye."),
        ("goal", {"property": "goal", "value": "learn to sail"}, "positive", "user", "User wants to learn to sail."),
        ("commitment", {"property": "commitment", "value": "call Bo"}, "positive", "user", "User promised to call Bo."),
        ("belief", {"property": None, "claim": "lorries leave on Mondays"}, "positive", "x", "Lorries leave on Mondays."),
        ("belief", {"property": None, "claim": "I keep bees"}, "positive", "user", "User: I keep bees."),
        (
            "preference",
            {"property": "caffeine", "value": "caffeine", "applicability": {"request": True, "time_of_day": "evening"}},
            "negative",
            "user",
            "User asks for no caffeine this evening.",
        ),
    ],
)  # fmt: skip
def test_a_claim_reads_as_a_sentence(kind, fields, polarity, subject, sentence):
    assert statement_of(kind, msgspec.json.encode(fields).decode(), polarity, subject) == sentence
