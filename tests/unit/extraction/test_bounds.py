"""What is told as past is history, whatever the clock of its source says."""

import pytest

from amos.extraction.bounds import mark_former
from amos.extraction.grammar import load_grammar
from amos.extraction.propose import propose
from amos.schemas.claims import CLAIMS
from amos.schemas.vocabulary import Cue
from claims_read import sources


def is_former(text, **settings):
    """Tell whether the one claim of `text` is marked as over."""
    table = sources([text], **settings)
    claims = propose(table, load_grammar(), is_compiled=False).claims
    assert claims.num_rows == 1, claims.to_pylist()
    return bool(mark_former(claims, table)["cues"][0].as_py() & Cue.FORMER)


@pytest.mark.parametrize("at", [1_767_427_200_000_000, None])
@pytest.mark.parametrize("text", ["I lived in Turku until 2014.", "My desk was D4 until June 2019."])
def test_a_past_told_with_its_end_is_history(text, at):
    assert is_former(text, at=at)


@pytest.mark.parametrize(
    "text",
    [
        "My shift is nights until 2 February 2020.",
        "I lived in Turku from 2010 to 2014.",
        "I live in Turku.",
        "My desk is D4 until June 2031.",
    ],
)
def test_what_is_told_as_present_or_bounded_on_both_sides_is_not(text):
    assert not is_former(text)


def test_nothing_in_gives_nothing_out():
    assert mark_former(CLAIMS.empty_table(), sources([])).equals(CLAIMS.empty_table())
