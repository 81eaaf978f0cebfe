"""How many independent roots a claim has: copies, edits, quotes and echoes support nothing."""

from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from amos.admission.roots import root_codes
from amos.flow.review_cases import QueueFilter
from amos.schemas.columns import ID
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


@pytest.mark.parametrize(
    "chain", [{"b": "a", "c": "a"}, {"b": "a", "c": "b"}, {"b": "x", "x": "a", "c": "x"}]
)
@pytest.mark.parametrize("at_hand", ["bc", "abc", "cab", "bdc"])
def test_edits_of_a_message_are_one_root_whether_or_not_it_is_at_hand(chain, at_hand):
    """What else the histories of a batch cite must not decide how many roots a claim has."""

    def origins(ids, columns):
        rows = [{"source_id": one, "revises": told_before(one)} for one in ids.to_pylist()]
        table = {"content_digest": [one["source_id"] for one in rows], "flags": [0] * len(rows)}
        held = {name: [one[name] for one in rows] for name in ("source_id", "revises")}
        kinds = {"kind": ["text"] * len(rows)}
        return pa.table(held | table | kinds, SOURCES).select(list(columns))

    def told_before(one):
        before = chain.get(one.decode().strip("\0"))
        return None if before is None else source(before)

    rows = pa.table({"source_id": [source(one) for one in at_hand], "cues": [0] * len(at_hand),
                     "trust": ["trusted_user"] * len(at_hand)}, CITING)  # fmt: skip
    encoded = SimpleNamespace(
        rows=np.arange(len(at_hand)), claim=np.zeros(len(at_hand), np.int64), claim_count=1,
        conversation=np.zeros(len(at_hand), np.int64),
    )  # fmt: skip
    codes, _ = root_codes(encoded, rows, origins)
    roots = dict(zip(at_hand, codes.tolist(), strict=True))
    assert len({roots[one] for one in at_hand if one != "d"}) == 1
    assert len(set(roots.values())) == (2 if "d" in at_hand else 1)


def source(letter):
    return letter.encode().ljust(16, b"\0")


SOURCES = pa.schema(
    [("source_id", ID), ("revises", ID), ("content_digest", ID), ("flags", pa.int32()), ("kind", pa.string())]
)
CITING = pa.schema([("source_id", ID), ("cues", pa.int32()), ("trust", pa.string())])
