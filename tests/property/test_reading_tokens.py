"""Laws of the token kernels: linear work, sound spans, and one result however they run."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amos.extraction.grammar import load_grammar
from amos.extraction.propose import propose
from amos.extraction.read import read_matches
from amos.kernels import rows as layout
from claims_read import SATURDAY, sources

PIECES = [
    "my ", "locker ", "is ", "B12", ", ", ". ", "? ", "not ", "no longer ", "i like ", "I'll send ", "Petra",
    "'s ", '"', "'", "`", "```", "<a>", "</a>", "\n", "\n> ", "---\n", "1. ", "2) ", "and ", "but ", "if ",
    "until ", "the 14th", "next Friday", "last time the ", "worked well",
    "ü", "é", "私", "👩🏽‍🚒", "\x1a", "​",
    "’s", "…", "“", "”", ":", ";", "(", ")", "-", " – ", "http://a.b/c", "me@b.c", "remember that ",
    "ﬁ", "5kg",
]  # fmt: skip
MOST_STEPS_A_BYTE = 24


def read(texts, *, is_compiled=False):
    """Return the matches of plain texts."""
    raw = [text.encode() for text in texts]
    buffer = np.frombuffer(b"".join(raw) or b"\0", np.uint8)
    offsets = np.cumsum([0, *map(len, raw)]).astype(np.int64)
    return read_matches(buffer, offsets, load_grammar(), is_compiled=is_compiled)


def opening_words():
    """Return a string per pattern: the first alternative of each of its word elements."""
    starts = set()
    for pattern in load_grammar().patterns:
        words = [e.words[0] for e in pattern.elements if e.words and e.kind in ("one", "negates", "maybe")]
        starts.add(" ".join(words) + " ")
    return sorted(starts)


texts = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)


@pytest.mark.parametrize("tail", ["", ",", ".", "'", '"', "<", "(", " my"])
def test_work_grows_no_faster_than_the_text(tail):
    for opening in opening_words():
        text = opening * 12 + tail * 160
        assert read([text]).steps <= MOST_STEPS_A_BYTE * len(text) + 200, opening


@pytest.mark.parametrize("trigger", ["call me , ", "to reset the a: 1. ", "<b>", "my a b c d e f ", "'x "])
def test_twice_the_text_is_twice_the_work(trigger):
    short, long = trigger * 500 + "," * 500, trigger * 1000 + "," * 1000
    assert read([long]).steps <= 2.2 * read([short]).steps


@settings(max_examples=50, deadline=None)
@given(batch=st.lists(texts, min_size=1, max_size=4))
def test_every_span_lies_in_its_source_on_character_boundaries(batch):
    for claim in propose(sources(batch), load_grammar(), is_compiled=False).claims.to_pylist():
        raw = batch[claim["source_row"]].encode()
        assert 0 <= claim["start"] < claim["end"] <= len(raw)
        cited = raw[claim["start"] : claim["end"]].decode()
        assert "\x1a" not in cited


@settings(max_examples=50, deadline=None)
@given(batch=st.lists(texts, min_size=2, max_size=5))
def test_reading_apart_equals_reading_at_once(batch):
    whole = read(batch).rows
    for row, text in enumerate(batch):
        mine = whole[whole[:, layout.ROW_MESSAGE] == row][:, 1:]
        assert np.array_equal(mine, read([text]).rows[:, 1:])


@settings(max_examples=50, deadline=None)
@given(batch=st.lists(texts, min_size=1, max_size=5))
def test_compiled_and_plain_kernels_give_the_same_rows(batch):
    plain, fast = read(batch), read(batch, is_compiled=True)
    assert np.array_equal(plain.rows, fast.rows)
    assert np.array_equal(plain.notes, fast.notes)
    assert plain.steps == fast.steps


@settings(max_examples=50, deadline=None)
@given(text=texts)
def test_every_source_has_claims_or_exactly_one_note(text):
    proposal = propose(sources([text, "My crate is blue."]), load_grammar(), is_compiled=False)
    claimed = set(proposal.claims["source_row"].to_pylist())
    noted = proposal.notes["source_row"].to_pylist()
    assert sorted([*claimed, *noted]) == [0, 1]


@pytest.mark.parametrize("prefix", ["🦊 ", "Übrigens: ", "…", "well, "])
def test_a_prefix_moves_the_span_by_its_bytes(prefix):
    text = "my crate is blue"
    moved = propose(
        sources([prefix + text], at=SATURDAY), load_grammar(), is_compiled=False
    ).claims.to_pylist()
    assert [(c["start"], c["value"]) for c in moved] == [(len(prefix.encode()), "blue")]


@pytest.mark.parametrize(
    ("frame", "modality"),
    [
        ("If {}", "hypothetical"),
        ('She said "{}"', "reported"),
        ("Maybe {}", "uncertain"),
        ("{}, right?", "uncertain"),
    ],
)
def test_a_frame_around_a_statement_takes_its_assertion(frame, modality):
    text = frame.format("my crate is blue")
    found = propose(sources([text]), load_grammar(), is_compiled=False).claims["modality"].to_pylist()
    assert found == [modality]


def test_a_message_longer_than_the_room_for_rows_is_read_whole():
    text = "my a is b. " * 6000
    assert len(read([text, "my crate is blue"]).rows) == 6001
