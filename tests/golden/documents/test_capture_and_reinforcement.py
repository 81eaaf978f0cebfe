"""The document on capture and reinforcement: what of it holds for memory that is read from transcripts.

Captured interactions themselves are in `test_captured_interactions.py`; here an interaction is a pair of
turns of a transcript, and listing, `since` and limits are those of every list.
"""

import pytest

from amos.errors import EngineError
from amos.flow.look import Wanted
from amos.flow.paging import PageRequest
from remembered import remembered, told

TURNS = [
    told("m1", "My locker is 12.", 1),
    told("m2", "Noted: your locker is 12.", 2, turn=1, role="assistant"),
    told("m3", "I like olives.", 3, turn=2),
]


def listed(memory, **page):
    """Return one page of turns, newest first."""
    return memory.store.list(Wanted(kind="sources", page=PageRequest(**page))).rows


def test_a_round_trip_keeps_every_field_of_a_turn():
    line = told(
        "m1", "My locker is 12.", author="Lia", session="s1", channel="voice",
        scope={"project": "north", "agent": "aurora", "session": "s1"},
    )  # fmt: skip
    with remembered(line) as memory:
        (row,) = memory.rows("sources")
        assert (row["content"], row["author"], row["channel"]) == (line["text"], "Lia", "voice")
        assert (row["scope_project"], row["scope_agent"], row["session"]) == ("north", "aurora", "s1")


def test_a_text_alone_is_enough():
    with remembered({"text": "My locker is 12."}) as memory:
        assert memory.said() == ["User's locker is 12."]


@pytest.mark.parametrize("text", ["", "   ", "\n\t"])
def test_an_empty_turn_makes_no_memory_and_says_why(text):
    with remembered(told("m1", text)) as memory:
        ((_, outcome, reason),) = memory.decided()
        assert outcome == "ignore"
        assert reason
        assert memory.rows("atoms") == []


def test_turns_are_listed_newest_first_up_to_a_limit():
    with remembered(*TURNS) as memory:
        assert [row["text"] for row in listed(memory, limit=2)] == [
            "I like olives.",
            "Noted: your locker is 12.",
        ]


def test_since_includes_the_moment_itself():
    with remembered(*TURNS) as memory:
        found = listed(memory, since_us=_us(TURNS[1]["ts"]))
        assert [row["text"] for row in found] == ["I like olives.", "Noted: your locker is 12."]


def test_a_missing_turn_is_said_to_be_missing():
    with remembered(*TURNS) as memory:
        assert memory.store.show("src_" + "a" * 26)["found"] is False
        with pytest.raises(EngineError):
            memory.store.show("nothing like a reference")


def test_an_agents_echo_changes_no_memory_and_supports_none():
    with remembered(TURNS[0]) as memory:
        before = memory.rows("atoms")
        memory.hear(TURNS[1])
        assert memory.rows("atoms") == before
        assert {outcome for key, outcome, _ in memory.decided() if key == "m2"} == {"ignore"}


def test_what_nobody_mentions_stays_as_it_is():
    with remembered(TURNS[0]) as memory:
        before = memory.rows("atoms")
        memory.hear(TURNS[2])
        assert [row for row in memory.rows("atoms") if row in before] == before


def test_a_candidate_and_a_memory_of_equal_words_can_stand_side_by_side():
    lines = [
        told("m1", "I like mint tea."),
        told("m2", "Last time the mint tea worked well.", 2, turn=1),
    ]
    with remembered(*lines) as memory:
        said = [(row["statement"], row["outcome"]) for row in memory.listed("candidates")]
        assert ("User likes mint tea.", "commit") in said
        assert ("User likes mint tea.", "quarantine") in said
        (atom,) = [row for row in memory.listed() if row["statement"] == "User likes mint tea."]
        assert atom["evidence_count"] == 1


def _us(text):
    from amos.flow.instants import instant_us

    return instant_us(text, "--since")
