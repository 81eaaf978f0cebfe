"""Loops rank as NumPy does, to the last digit: they run plain here, compiled in a process of its own."""

import subprocess
import sys
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.told import NOW_US, Told, seen

from amos.kernels.best_items import best_items
from amos.kernels.term_sums import quotient
from amos.retrieval import bulk, term_book
from amos.retrieval.retriever import Retriever
from amos.retrieval.visibility import Reader

FEW = settings(max_examples=40, deadline=None)
WORDS = (
    "pear pears plum crate crates B12 café 棚の鍵 not because seven Ada Bo went where when March shop".split()
)
TEXTS = st.lists(st.sampled_from([*WORDS, "pear?", "Crate."]), max_size=8).map(" ".join)
ASKED = [*WORDS, "zither", "peer", "I", "der", "May 2026", "colour"]
QUESTIONS = st.lists(st.sampled_from(ASKED), min_size=1, max_size=6).map(" ".join)
GROUPS = (("belief",), ("commitment", "preference"))


@pytest.fixture(autouse=True, scope="module")
def _plain_loops():
    plain = {"compiled": lambda loop: loop}
    with mock.patch.multiple(bulk, **plain), mock.patch.multiple(term_book, **plain):
        yield


@st.composite
def memories(draw):
    """Draw a memory of up to some twenty turns, with captions, long texts, claims and claims that ended."""
    told = Told()
    for number in range(draw(st.integers(0, 20))):
        text = draw(st.one_of(TEXTS, st.just("\x1a" * 9))) * draw(st.sampled_from([1, 1, 1, 1, 60]))
        fields = {
            "key": f"k{number}",
            "turn": draw(st.integers(0, 9)),
            "conversation": draw(st.sampled_from(["x", "y"])),
            "author": draw(st.sampled_from(["Ada", "Bo Plum", "Cy"])),
            "days": draw(st.sampled_from([None, 0, 3, 80])),
            "is_owner": draw(st.booleans()),
            "scope": {"project": draw(st.sampled_from([None, "a", "b"]))},
        }
        source = told.turn(text, **fields)
        if draw(st.integers(0, 4)) == 0:
            told.turn(draw(TEXTS), **fields | {"block": 1, "kind": "caption", "trust": "tool"})
        if text and draw(st.booleans()):
            ended = {"intervals": [NOW_US - 9, NOW_US - 2]} if draw(st.booleans()) else {}
            health = draw(st.sampled_from(["healthy", "contradicted", "stale"]))
            kind = draw(st.sampled_from(["belief", "commitment"]))
            value = draw(st.sampled_from(["pear", "plum crate", "shop"]))
            claim = told.claim(
                source, text.split()[0], value, key=str(number % 7), type=kind, health_status=health,
                scope=fields["scope"], **ended,
            )  # fmt: skip
            if draw(st.booleans()):
                others = [row["source_id"] for row in told.rows["sources"]]
                told.decide(draw(st.sampled_from(others)), atom=claim, outcome="link")
    return told


FILTERS = st.fixed_dictionaries(
    {},
    optional={
        "scope": st.just({"project": "a"}),
        "reader": st.just(Reader(may_read=True, scopes={"project": frozenset({"a"})})),
        "as_of_us": st.just(NOW_US - 5 * 86_400_000_000),
        "include_superseded": st.just(True),
        "include_contradicted": st.just(False),
        "types": st.sampled_from([("belief",), ("belief", "turn")]),
    },
)


def told_twice(told, asked, k):
    """Return pairs of rankings of the same questions, in NumPy and in loops."""
    corpus = told.corpus()
    loops, arrays = Retriever(corpus, is_compiled=True), Retriever(corpus)
    for cues, options in asked:
        yield tuple(one.rank(cues, seen(**options), k, GROUPS) for one in (arrays, loops))


@FEW
@given(
    told=memories(),
    asked=st.lists(st.tuples(st.lists(QUESTIONS, min_size=1, max_size=3), FILTERS), min_size=1, max_size=4),
    k=st.sampled_from([1, 3, 50]),
)
def test_loops_rank_as_numpy_does(told, asked, k):
    rows = told.rows["atoms"]
    told.rows["atoms"] = list({row["atom_id"]: row for row in rows}.values())
    for expected, found in told_twice(told, asked, k):
        assert found.items.to_pylist() == expected.items.to_pylist()
        assert found.omitted == expected.omitted
        assert found.sample.equals(expected.sample)
        assert (found.total, found.empty_reason) == (expected.total, expected.empty_reason)
        assert found.is_withheld == expected.is_withheld


def test_a_question_that_is_broken_off_leaves_nothing_behind():
    told = Told()
    told.turn("the pear is in the crate")
    told.turn("a plum")
    retriever = Retriever(told.corpus(), is_compiled=True)
    with mock.patch.object(bulk, "left_out", side_effect=KeyboardInterrupt), pytest.raises(KeyboardInterrupt):
        retriever.rank(["pear"], seen(), 5)
    alone = Retriever(told.corpus()).rank(["plum"], seen(), 5)
    assert retriever.rank(["plum"], seen(), 5).items.equals(alone.items)


def test_terms_are_found_again_when_the_book_was_full():
    told = Told()
    for word in ("pear", "plum", "shop"):
        told.turn(f"{word} and {word} crate")
    retriever, corpus = Retriever(told.corpus(), is_compiled=True), told.corpus()
    with mock.patch.object(term_book, "MOST_TERMS", 1):
        for word in ("pear crate", "plum crate", "pear crate", "shop"):
            alone = Retriever(corpus).rank([word], seen(), 5)
            assert retriever.rank([word], seen(), 5).items.equals(alone.items)


@given(other=st.integers(1, 2**40), times=st.integers(0, 2**11), less=st.integers(0, 1))
def test_quotients_of_floats_are_those_of_whole_numbers(other, times, less):
    one = max(other * times - less, 0)
    assert quotient(np.int64(one), np.int64(other)) == one // other


@given(
    drawn=st.lists(st.tuples(st.integers(-1, 3), st.integers(0, 3), st.integers(0, 2)), max_size=30),
    k=st.integers(1, 12),
)
def test_the_best_items_are_the_first_of_all_in_order(drawn, k):
    items = np.array(list(dict.fromkeys(drawn)), np.int64).reshape(-1, 3)
    claim_ties, turn_ties = np.array([7, 5, 5, 9], np.uint64), np.array([5, 8, 5, 2], np.uint64)
    is_turn = items[:, 0] < 0
    second = turn_ties[items[:, 1]]
    first = np.where(is_turn, second, claim_ties[items[:, 0]])
    row = np.where(is_turn, items[:, 1], items[:, 0])
    order = np.lexsort((row, is_turn, second, first, -items[:, 2]))
    chosen = best_items(items, k, claim_ties, turn_ties)
    keys = [(first[at], second[at], is_turn[at], row[at], items[at, 2]) for at in chosen]
    assert keys == [(first[at], second[at], is_turn[at], row[at], items[at, 2]) for at in order[:k]]


COMPILED = """
import numba
from tests.told import Told, seen
from amos.retrieval.retriever import Retriever

told = Told()
for number in range(400):
    words = [f"w{number % 11}", f"v{number % 17}", "pear" if number % 3 else "plum?", "Bo"]
    source = told.turn(" ".join(words), conversation=f"c{number // 40}", author="Bo" if number % 2 else "Cy")
    if number % 5 == 0:
        told.claim(source, f"w{number % 11}", f"v{number % 17}", key=str(number))
corpus = told.corpus()
loops, arrays = Retriever(corpus, is_compiled=True), Retriever(corpus)
asked = (["w3 v5 pear"], ["plum", "v4 w2"], ["Bo w7"], ["Bo"], ["when was the pear of May 2026"], ["nothing"])
for cues in asked:
    for options in ({}, {"types": ("belief",)}):
        found, expected = (one.rank(cues, seen(**options), 20, [("belief",)]) for one in (loops, arrays))
        assert found.items.equals(expected.items), cues
        assert (found.total, found.omitted) == (expected.total, expected.omitted)
"""


def test_compiled_loops_rank_as_numpy_does():
    done = subprocess.run([sys.executable, "-c", COMPILED], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
