import pytest
from tests.told import Told, seen

from amos.retrieval.cues import is_spellable
from amos.retrieval.spelling import slips_between


@pytest.mark.parametrize(
    ("left", "right", "slips"),
    [("barn", "barn", 0), ("barn", "bran", 1), ("barn", "ban", 1), ("barn", "burns", 2), ("barn", "x", 3)],
)
def test_slips_are_counted_up_to_the_limit(left, right, slips):
    assert slips_between(left, right, 2) == slips


@pytest.mark.parametrize(
    ("term", "holds"), [("tea", False), ("b12", False), ("teapot", True), ("会議", False)]
)
def test_short_words_ids_and_grams_are_not_mended(term, holds):
    assert is_spellable(term) is holds


def cue_of(told, text, **options):
    (cue,) = told.retriever().read_cues([text], seen(**options))
    return [tuple(text for text in term.texts if ":" not in text) for term in cue.terms]


def test_a_known_word_is_left_alone():
    told = Told()
    told.turn("barley and barely")
    assert cue_of(told, "barley") == [("barley",)]


def test_an_unknown_word_takes_the_nearest_known_ones():
    told = Told()
    told.turn("the trellis")
    told.turn("a barrel")
    assert cue_of(told, "trelis barel") == [("trelli",), ("barrel",)]


def test_a_word_nobody_may_see_mends_nothing():
    told = Told()
    told.turn("the trellis", scope={"project": "hidden"})
    told.turn("a barrel", scope={"project": "open"})
    assert cue_of(told, "trelis", scope={"project": "open"}) == [("treli",)]
