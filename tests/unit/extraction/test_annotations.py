"""Languages as shares, sentences as bytes of the text, and boundaries that are in doubt."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amos.extraction.annotations import LONGEST, annotate
from amos.extraction.grammar import CURRENT, load_grammar

GRAMMAR = load_grammar(CURRENT)


def doubts(text):
    """Return (words after the place, taken, sign)."""
    raw = text.encode()
    return [
        (raw[one.at :].decode().split()[0], one.taken, one.sign) for one in annotate(text, GRAMMAR).doubts
    ]


def test_two_languages_share_a_message():
    shares = annotate("Was ist das? I think that this is the one that we have.", GRAMMAR).languages
    assert shares["en"] > shares["de"] > 0
    assert sum(shares.values()) == 1_000_000


def test_a_script_without_a_grammar_is_of_no_known_language():
    assert annotate("我住在根特。", GRAMMAR).languages == {"und": 1_000_000}


def test_a_full_stop_of_an_abbreviation_is_in_doubt():
    assert doubts("Dr. Smith came.") == [("Smith", False, "abbreviation")]


def test_an_ellipsis_is_taken_for_an_end_and_doubted():
    assert doubts("I do not know... Then we ate.") == [("Then", True, "ellipsis")]


def test_a_broken_line_that_goes_on_is_in_doubt():
    assert [(word, sign) for word, _, sign in doubts("I wrote this on\na narrow screen")] == [
        ("a", "line_break")
    ]


@pytest.mark.parametrize("text", ["", "  \n", "x" * (LONGEST + 1)])
def test_nothing_is_said_of_nothing_and_of_what_nobody_reads(text):
    assert annotate(text, GRAMMAR) is None


PIECES = st.sampled_from(
    ["I went. ", "Ich weiß nicht... ", "z.B. Das ", "\nund ", "👍 ", "我", "ﬁne ", "e.g. X ", "​"]
)


@given(st.lists(PIECES, max_size=12).map("".join))
def test_sentences_and_doubts_stand_in_the_text(text):
    found = annotate(text, GRAMMAR)
    if found is None:
        return
    raw = text.encode()
    assert sum(found.languages.values()) == 1_000_000
    for start, end in found.sentences:
        assert raw[start:end].decode().strip()
    assert all(0 <= one.at < len(raw) for one in found.doubts)
