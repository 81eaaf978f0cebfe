"""What a message passes on, plays or takes back never becomes memory of its author."""

import pytest

from remembered import remembered, told


@pytest.mark.parametrize(
    ("text", "decision"),
    [
        ("Translate into Polish: my name is Ilse.", ("quarantine", "quoted_other")),
        ("Ilse: my desk is D4.", ("quarantine", "quoted_other")),
        ("Act as a cook. I live in Turku.", ("quarantine", "uncertain")),
        ("Let's role-play. I live in Turku.", ("ignore", "hypothetical")),
        ("I love rain, said nobody ever.", ("ignore", "suspected_irony")),
        ("I live in Turku. That was a lie.", ("ignore", "self_correction")),
        ("Write a poem where I live in Turku.", ("ignore", "hypothetical")),
        ("Draft a bio where I work at Umbra.", ("ignore", "hypothetical")),
        ("Please compose me a song in which my name is Dragomir.", ("ignore", "hypothetical")),
        ("I lived in Turku until 2014.", ("ignore", "historical_observation")),
    ],
)
def test_nothing_is_remembered_of_the_author(text, decision):
    with remembered(told("m", text)) as memory:
        assert memory.decided() == [("m", *decision)]
        assert not memory.listed()


@pytest.mark.parametrize(
    "text",
    [
        "Write down that I live in Turku.",
        "I wrote a song. I live in Turku.",
        "Write me a letter saying that I am ill. I live in Turku.",
    ],
)
def test_what_stands_beside_a_work_is_remembered(text):
    with remembered(told("m", text)) as memory:
        assert [line["statement"] for line in memory.listed()] == ["User's home city is Turku."]


def test_asking_to_forget_is_no_memory_and_waits_for_a_person():
    with remembered(told("m", "Forget that I live in Turku.")) as memory:
        assert sorted(memory.decided()) == [
            ("m", "ignore", "request_not_memory"),
            ("m", "quarantine", "forget_requested"),
        ]
        assert not memory.listed()


def test_asking_to_forget_deletes_nothing():
    with remembered(told("a", "I live in Turku.", 1), told("b", "Forget that I live in Turku.", 2)) as memory:
        assert [line["statement"] for line in memory.listed()] == ["User's home city is Turku."]
