"""How many independent roots a claim has: copies, edits, quotes and echoes support nothing."""

import pytest

from amos.flow.review_cases import QueueFilter
from laws import digest_of
from remembered import remembered, told

LONG = (
    "My boat is Petrel. The quarterly inspection of the north hall was moved to the second Tuesday of every "
    "March, and the key is with the harbour master."
)
SHORT = "My boat is Petrel."


def support(memory, word="boat"):
    (atom,) = [atom for atom in memory.rows("atoms") if f'"{word}' in atom["payload"]]
    return atom["evidence_count"], atom["root_count"]


def days(text, *numbers, **fields):
    return [told(f"m{day}", text, day, conversation=f"c{day}", **fields) for day in numbers]


def approve(memory):
    memory.store.decide("approve", wanted=QueueFilter(kinds=("claim",)))


def test_a_long_text_that_is_copied_is_one_root():
    with remembered(*days(LONG, 1, 2, 3)) as memory:
        assert support(memory) == (3, 1)


def test_short_words_said_again_elsewhere_are_roots_of_their_own():
    with remembered(*days(SHORT, 1, 2, 3)) as memory:
        assert support(memory) == (3, 3)


def test_a_long_text_of_other_words_is_another_root():
    with remembered(*days(LONG, 1, 2), *days(f"{LONG} Ask Lia.", 3)) as memory:
        assert support(memory) == (3, 2)


@pytest.mark.parametrize("parts", [[1, 2, 3], [3, 1, 2]])
def test_copies_are_known_whichever_run_brings_them(parts):
    lines = dict(zip((1, 2, 3), days(LONG, 1, 2, 3), strict=True))
    with remembered(*lines.values()) as once, remembered() as apart:
        for part in parts:
            apart.hear(lines[part])
        assert support(apart) == (3, 1)
        assert digest_of(apart.store) == digest_of(once.store)


def test_a_quoted_or_pasted_claim_supports_nothing_beside_what_it_repeats():
    quote = told("m2", "> My boat is Petrel.\n\nThat is what I wrote.", 2, conversation="b")
    with remembered(told("m1", SHORT), quote) as memory:
        approve(memory)
        assert support(memory)[1] == 1


@pytest.mark.parametrize(("talk", "roots"), [("talk", 1), ("elsewhere", 2)])
def test_what_a_tool_says_again_in_the_same_talk_is_an_echo(talk, roots):
    buoy = "The buoy of lane 3 is orange."
    echo = told("m2", buoy, 2, turn=1, role="tool", conversation=talk)
    with remembered(told("m1", buoy), echo) as memory:
        approve(memory)
        (atom,) = memory.rows("atoms")
        assert (atom["evidence_count"], atom["root_count"]) == (2, roots)


def test_an_echo_alone_is_one_root():
    with remembered(*days(LONG, 1, role="tool"), *days(LONG, 2, role="tool")) as memory:
        approve(memory)
        boats = [atom for atom in memory.rows("atoms") if '"boat"' in atom["payload"]]
        assert {atom["root_count"] for atom in boats} == {1}


def test_forgetting_one_root_leaves_the_copies_as_the_other():
    with remembered(
        *days(LONG, 1, 2), *days("The boat of mine is called Petrel. My boat is Petrel.", 3)
    ) as memory:
        assert support(memory) == (3, 2)
        (source,) = [row for row in memory.listed("sources") if row["event_time"].startswith("2026-05-03")]
        memory.store.forget(source["source_id"])
        assert support(memory) == (2, 1)
