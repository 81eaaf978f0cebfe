"""Talks of several named speakers: what is printed of each, found for each, and forgotten of each."""

import json

import pytest

from amos.clock import utc_now
from amos.errors import UsageError
from amos.flow.entity_rows import entity_rows
from amos.flow.sight import Sight
from amos.flow.tables import visible_table
from remembered import remembered, told

TALK = (
    told("a1", "My puppy is called Rolf.", author="Ann", turn=0),
    told("b1", "My puppy is called Max.", author="Bob", turn=1),
    told("a2", "My sister's dog is called Fluff.", author="Ann", turn=2),
    told("b2", "My sister's dog is called Biff.", author="Bob", turn=3),
    told("a3", "My locker number is 12. I like my garden. I don't eat fennel.", author="Ann", turn=4),
    told("b3", "My locker number is 14. I like my balcony. I don't eat celery.", author="Bob", turn=5),
)


def best(memory, question):
    """Return the statement of the first claim of the answer to a question."""
    return next(item["statement"] for item in memory.packet(question)["items"] if item["statement"])


def test_what_belongs_to_a_speaker_is_told_under_their_name():
    with remembered(*TALK) as memory:
        assert memory.said() == [
            "Ann does not eat fennel.",
            "Ann likes their garden.",
            "Ann's locker number is 12.",
            "Ann's puppy's name is Rolf.",
            "Ann's sister's dog is called Fluff.",
            "Bob does not eat celery.",
            "Bob likes their balcony.",
            "Bob's locker number is 14.",
            "Bob's puppy's name is Max.",
            "Bob's sister's dog is called Biff.",
        ]
        assert {row["subject"] for row in memory.listed()} == {
            "Ann", "Bob", "Ann's puppy", "Bob's puppy", "Ann's sister", "Bob's sister",
        }  # fmt: skip


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What is Ann's puppy called?", "Ann's puppy's name is Rolf."),
        ("What is Bob's puppy called?", "Bob's puppy's name is Max."),
        ("What is Bob's sister's dog called?", "Bob's sister's dog is called Biff."),
        ("Which locker does Ann have?", "Ann's locker number is 12."),
        ("What does Bob not eat?", "Bob does not eat celery."),
    ],
)
def test_a_question_about_a_speaker_finds_theirs_first(question, answer):
    with remembered(*TALK) as memory:
        assert best(memory, question) == answer


def test_two_speakers_who_tell_the_same_are_two_items_of_an_answer():
    same = [told(f"{name}1", "My puppy is called Rolf.", author=name) for name in ("Ann", "Bob")]
    with remembered(*same) as memory:
        told_of = {item["statement"] for item in memory.packet("Whose puppy is called Rolf?")["items"]}
        assert told_of == {"Ann's puppy's name is Rolf.", "Bob's puppy's name is Rolf."}


def test_every_list_calls_what_is_theirs_by_their_name():
    with remembered(*TALK) as memory, memory.store.shard.pin() as snapshot:
        sight = Sight(snapshot=snapshot, now=utc_now())
        names = {row["name"] for row in entity_rows(sight, memory.store.shard.key, text="puppy")}
        assert names == {"Ann's puppy", "Bob's puppy"}
        table = visible_table(sight, "entities")
        assert not any(name.startswith("user's") for name in table["name"].to_pylist())
        (ref,) = [row["atom_id"] for row in memory.listed() if row["value"] == "Rolf"]
        assert memory.store.show(ref)["item"]["statement"] == "Ann's puppy's name is Rolf."
        about = memory.store.why(ref)["item"]
        assert about["statement"] == "Ann's puppy's name is Rolf."


def test_a_subject_is_forgotten_by_the_name_it_is_printed_under():
    with remembered(*TALK) as memory:
        memory.store.forget(subject="Bob's puppy")
        assert "Ann's puppy's name is Rolf." in memory.said()
        assert "Bob's puppy's name is Max." not in memory.said()
        with pytest.raises(UsageError, match="no subject"):
            memory.store.forget(subject="user's puppy")


def test_what_was_forgotten_of_a_speaker_does_not_return_as_told_to_them():
    echoes = ("Bob's puppy's name is Max.", "Your puppy's name is Max.", "User's puppy's name is Max.")
    with remembered(*TALK) as memory:
        memory.store.forget(subject="Bob's puppy")
        memory.hear(*(told(f"e{at}", text, 2, role="assistant") for at, text in enumerate(echoes)))
        kept = [row["content"] for row in memory.rows("sources") if row["role"] == "assistant"]
        assert not any("Max" in text for text in kept)


def test_how_things_went_for_one_speaker_is_no_repetition_of_how_they_went_for_another():
    lines = [
        told(f"{name}{at}", text, author=name, turn=at)
        for at, name in enumerate(("Ann", "Bob"))
        for text in ["The night bus made me sick last week."]
    ]
    with remembered(*lines) as memory:
        assert memory.said() == [
            "Ann: The night bus made me sick last week.",
            "Bob: The night bus made me sick last week.",
        ]
        assert {row["evidence_count"] for row in memory.listed()} == {1}


def test_what_nobody_owns_is_one_fact_whoever_tells_it():
    lines = [told(name, "The bakery closes at six.", author=name) for name in ("Ann", "Bob")]
    with remembered(*lines) as memory:
        (row,) = memory.listed()
        assert (row["statement"], row["evidence_count"]) == ("The bakery closes at six.", 2)


def test_a_talk_in_a_file_of_talks_keeps_its_speakers_apart(tmp_path):
    turns = [
        {"speaker": "Ann", "dia_id": "D1:1", "text": "My puppy is called Rolf."},
        {"speaker": "Bob", "dia_id": "D1:2", "text": "My puppy is called Max."},
    ]
    talk = {"speaker_a": "Ann", "speaker_b": "Bob", "session_1_date_time": "1:56 pm on 8 May, 2026"}
    path = tmp_path / "talks.json"
    path.write_text(json.dumps([{"sample_id": "s1", "qa": [], "conversation": {**talk, "session_1": turns}}]))
    with remembered() as memory:
        memory.read(path, format="locomo")
        assert memory.said() == ["Ann's puppy's name is Rolf.", "Bob's puppy's name is Max."]


@pytest.mark.parametrize(
    "names",
    [("Zo\u00eb", "Zoe\u0308"), ("Ann", " Ann "), ("Ann  Lee", "Ann Lee"), ("Ann", "\u200eAnn\u202c")],
)
def test_one_name_in_two_encodings_is_one_speaker(names):
    first, second = names
    lines = [
        told("m1", "I live in Ghent.", 1, author=first),
        told("m2", "I live in Riga.", 2, author=second),
    ]
    with remembered(*lines) as memory, remembered(*reversed(lines)) as other:
        (statement,) = memory.said()
        assert statement.endswith("home city is Riga.")
        assert other.said() == [statement]
        assert memory.said("superseded") == [statement.replace("Riga", "Ghent")]


@pytest.mark.parametrize(
    "names", [("Ann", "ann"), ("Ann", "Anna"), ("User", None), ("Assistant", "assistant"), ("James", "Jame")]
)
def test_names_of_other_letters_are_other_speakers(names):
    lines = [
        {key: value for key, value in line.items() if value is not None}
        for at, name in enumerate(names)
        for line in [told(f"m{at}", f"My puppy is called {'Rolf' if at else 'Max'}.", at + 1, author=name)]
    ]
    with remembered(*lines) as memory:
        assert len({row["subject_id"] for row in memory.rows("atoms")}) == 2
        assert len(memory.said()) == 2


@pytest.mark.parametrize("name", ["", " ", "\u200b"])
def test_a_blank_name_names_nobody(name):
    with remembered(told("m1", "I live in Ghent."), told("m2", "I live in Riga.", 2, author=name)) as memory:
        assert memory.said() == ["User's home city is Riga."]
        assert [row["name"] for row in memory.rows("entities")] == ["user"]


def test_two_people_of_one_name_are_told_apart_by_scope_alone():
    def lines(**scopes):
        return [
            told(f"m{at}", f"My puppy is called {called}.", at + 1, author="Ann", conversation=talk, **scope)
            for at, (talk, called) in enumerate({"one": "Rolf", "two": "Max"}.items())
            for scope in [{"scope": {"project": scopes[talk]}} if scopes else {}]
        ]

    with remembered(*lines()) as memory:
        assert memory.said() == ["Ann's puppy's name is Max."]
    with remembered(*lines(one="choir", two="allotment")) as memory:
        assert memory.said() == ["Ann's puppy's name is Max.", "Ann's puppy's name is Rolf."]


def test_a_named_assistant_promises_under_its_own_name():
    lines = [
        told("m1", "I'll send you the list tomorrow.", role="assistant", author="Iris"),
        told("m2", "I'll send you the list tomorrow.", role="assistant", author="Max"),
    ]
    with remembered(*lines) as memory:
        assert memory.said() == [
            "Iris promised to send you the list tomorrow.",
            "Max promised to send you the list tomorrow.",
        ]
