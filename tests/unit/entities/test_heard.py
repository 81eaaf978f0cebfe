import pytest

from amos.entities.heard import heard_in, sentence_at


def told(text):
    """Return whom a text speaks of, as short as can be read."""
    return [
        (one.role or one.name or "somebody")
        + (f" {one.name}" if one.role and one.name else "")
        + f"/{one.gender}"
        for one in heard_in(text)
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("My sister lives in Ghent.", ["sister/f"]),
        ("My sister Ana met your older brother.", ["sister Ana/f", "older brother/m"]),
        ("I had lunch with Lotte. Then I met Amara Okoro.", ["Lotte/x", "Amara Okoro/x"]),
        ("Tom called Max.", ["Tom/x", "Max/x"]),
        ("It is the Guggenheim museum, near Potter.", ["Guggenheim/u"]),
        ("My parents came.", ["parents/p"]),
        ("Her husband and a nurse were there.", ["somebody/m", "somebody/x"]),
        ("Sarah's mother knows everyone.", ["Sarah/x", "somebody/f", "somebody/p"]),
        ("My brother's wife called.", ["brother/m", "somebody/f"]),
    ],
)
def test_roles_names_and_people_without_a_name_are_heard(text, expected):
    assert told(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "I moved to Bonn on Monday.",
        "We flew back to Riga from Oslo in May.",
        "She works as a nurse.",
        "He was a driver.",
        "I work for Siemens.",
        "Yesterday I read English and German.",
        "However, it rained.",
        "Spill the beans. Kudos for that! Writing is fun. Books are gold. How's life?",
    ],
)
def test_places_days_languages_trades_and_first_words_are_nobody(text):
    assert told(text) == []


def test_a_mention_knows_its_sentence():
    text = "Ana came. Then Tom left.\nMax stayed."
    assert [one.sentence for one in heard_in(text)] == [0, 1, 2]
    assert sentence_at(text, len(text)) == 3


def test_a_long_text_is_read_in_time_that_grows_with_it():
    assert len(heard_in("My sister Ana met Tom and a nurse. " * 400)) == 1200
